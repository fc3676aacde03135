package models

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// maxDepth is how deep a body may be nested: far more than anybody means, far
// less than what exhausts a parser's stack, PostgreSQL's included.
const maxDepth = 64

// nullIsNoText refuses null where a text must be, as an element or as the value of
// a name: the decoder would make an empty text of it.
var nullIsNoText = json.WithUnmarshalers(json.UnmarshalFromFunc(func(decoder *jsontext.Decoder, _ *string) error {
	if decoder.PeekKind() == 'n' {
		return errors.New("null is no text")
	}
	return errors.ErrUnsupported // leaves it to the decoder
}))

// DecodeObject reads a caller's JSON object strictly (contract §1) into the
// struct that value points at: UTF-8, no unknown field, no wrong type, no name
// twice, no NUL. null leaves a field as if it were absent. Errors:
// MALFORMED_JSON and VALIDATION_FAILED, which name the JSON pointer.
func DecodeObject(body []byte, value any) error {
	if err := checkObject(body); err != nil {
		return err
	}
	if err := json.Unmarshal(body, value, json.RejectUnknownMembers(true), nullIsNoText); err != nil {
		return decodeError(err)
	}
	return nil
}

// checkObject walks the whole body once for what the decoder into Go values
// would let pass: a value that is no object (null decodes into anything) and
// NUL, which PostgreSQL's text cannot hold.
func checkObject(body []byte) error {
	decoder := jsontext.NewDecoder(bytes.NewReader(body))
	if kind := decoder.PeekKind(); kind != '{' && len(bytes.TrimSpace(body)) > 0 && kind != 0 {
		return Invalid(FieldError{Pointer: "", Code: FieldType, Detail: "The body must be a JSON object."})
	}
	for {
		token, err := decoder.ReadToken()
		if errors.Is(err, io.EOF) && len(bytes.TrimSpace(body)) > 0 {
			return nil
		}
		if err != nil {
			return Malformed(string(decoder.StackPointer()), err)
		}
		if decoder.StackDepth() > maxDepth {
			return Invalid(FieldError{
				Pointer: outermost(string(decoder.StackPointer())), Code: FieldTooDeep,
				Detail: fmt.Sprintf("Objects and arrays may be nested %d deep.", maxDepth),
			})
		}
		if token.Kind() == '"' && strings.ContainsRune(token.String(), 0) {
			return Malformed(withoutNUL(string(decoder.StackPointer())), errors.New("a string holds the character NUL"))
		}
	}
}

// outermost is the first part of a pointer.
func outermost(pointer string) string {
	first, _, _ := strings.Cut(strings.TrimPrefix(pointer, "/"), "/")
	return "/" + first
}

// withoutNUL cuts a pointer before the name that holds a NUL: the error itself
// must not carry one.
func withoutNUL(pointer string) string {
	if at := strings.IndexByte(pointer, 0); at >= 0 {
		return pointer[:strings.LastIndexByte(pointer[:at], '/')]
	}
	return pointer
}

func decodeError(err error) error {
	var semantic *json.SemanticError
	if !errors.As(err, &semantic) {
		return Malformed("", err)
	}
	field := FieldError{Pointer: string(semantic.JSONPointer), Code: FieldType, Detail: "The value has the wrong type."}
	if errors.Is(err, json.ErrUnknownName) {
		field.Code, field.Detail = FieldUnknown, "There is no such field."
	}
	return Invalid(field)
}

// Malformed is MALFORMED_JSON from what a JSON decoder complained about; pointer
// says where, unless the decoder did.
func Malformed(pointer string, err error) *Error {
	detail := strings.TrimPrefix(err.Error(), "jsontext: ")
	var syntactic *jsontext.SyntacticError
	if errors.As(err, &syntactic) {
		pointer = string(syntactic.JSONPointer)
	}
	if errors.Is(err, io.EOF) {
		detail = "the body is empty"
	}
	problem := NewError(CodeMalformedJSON, "The body is not valid JSON.")
	problem.Fields = []FieldError{{Pointer: pointer, Code: FieldSyntax, Detail: detail}}
	return problem
}
