package handlers

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"mime"
	"slices"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/botix-pro/platform/app/middleware"
	"github.com/botix-pro/platform/app/models"
)

const jsonType = "application/json"

// maxDepth is how deep a body may be nested: far more than anybody means, far
// less than what exhausts a parser's stack, PostgreSQL's included.
const maxDepth = 64

// Codes of the entries in a problem's errors.
const (
	fieldUnknown   = models.FieldUnknown
	fieldType      = models.FieldType
	fieldFormat    = models.FieldFormat
	fieldTooLong   = models.FieldTooLong
	fieldTooShort  = models.FieldTooShort
	fieldTooMany   = models.FieldTooMany
	fieldDuplicate = models.FieldDuplicate
	fieldSyntax    = models.FieldSyntax
	fieldReserved  = models.FieldReserved
	fieldRange     = models.FieldRange
	fieldRefused   = models.FieldRefused
	fieldTooDeep   = models.FieldTooDeep
	fieldNotFound  = models.FieldNotFound
)

// nullIsNoText refuses null where a text must be, as an element or as the value of
// a name: the decoder would make an empty text of it.
var nullIsNoText = json.WithUnmarshalers(json.UnmarshalFromFunc(func(decoder *jsontext.Decoder, _ *string) error {
	if decoder.PeekKind() == 'n' {
		return errors.New("null is no text")
	}
	return errors.ErrUnsupported // leaves it to the decoder
}))

// decode reads a request's JSON object strictly (contract §1): the right media
// type, UTF-8, no unknown field, no wrong type, no name twice, no NUL. The error
// names the JSON pointer. null leaves the field as if it were absent.
func decode[T any](r *middleware.Request) (T, error) { return decodeAs[T](r, jsonType) }

// decodeOptional does the same, and takes no body at all for an empty object.
func decodeOptional[T any](r *middleware.Request) (T, error) {
	if len(r.Body) == 0 {
		var nothing T
		return nothing, nil
	}
	return decode[T](r)
}

// noBody refuses a body that says something where nothing can be said: an empty
// object, or none.
func noBody(r *middleware.Request) error {
	_, err := decodeOptional[struct{}](r)
	return err
}

// decodeAs does the same for the given media types.
func decodeAs[T any](r *middleware.Request, mediaTypes ...string) (T, error) {
	var value T
	if err := checkMediaType(r, mediaTypes); err != nil {
		return value, err
	}
	if err := checkObject(r.Body); err != nil {
		return value, err
	}
	if err := json.Unmarshal(r.Body, &value, json.RejectUnknownMembers(true), nullIsNoText); err != nil {
		return value, decodeError(err)
	}
	return value, nil
}

func checkMediaType(r *middleware.Request, want []string) error {
	for _, encoding := range r.Header.Values("Content-Encoding") {
		if !strings.EqualFold(encoding, "identity") {
			return models.NewError(models.CodeUnsupportedMediaType, "Content-Encoding %q is not supported; send the body as it is.", encoding)
		}
	}
	got, parameters, err := mime.ParseMediaType(r.Header.Get("Content-Type"))
	if err != nil || !slices.Contains(want, got) {
		return models.NewError(models.CodeUnsupportedMediaType, "Content-Type must be %s.", strings.Join(want, " or "))
	}
	if charset := parameters["charset"]; charset != "" && !strings.EqualFold(charset, "utf-8") {
		return models.NewError(models.CodeUnsupportedMediaType, "The charset must be UTF-8.")
	}
	return nil
}

// checkObject walks the whole body once for what the decoder into Go values
// would let pass: a value that is no object (null decodes into anything) and
// NUL, which PostgreSQL's text cannot hold.
func checkObject(body []byte) error {
	decoder := jsontext.NewDecoder(bytes.NewReader(body))
	if kind := decoder.PeekKind(); kind != '{' && len(bytes.TrimSpace(body)) > 0 && kind != 0 {
		return models.Invalid(models.FieldError{Pointer: "", Code: fieldType, Detail: "The body must be a JSON object."})
	}
	for {
		token, err := decoder.ReadToken()
		if errors.Is(err, io.EOF) && len(bytes.TrimSpace(body)) > 0 {
			return nil
		}
		if err != nil {
			return malformed(string(decoder.StackPointer()), err)
		}
		if decoder.StackDepth() > maxDepth {
			return models.Invalid(models.FieldError{
				Pointer: outermost(string(decoder.StackPointer())), Code: fieldTooDeep,
				Detail: fmt.Sprintf("Objects and arrays may be nested %d deep.", maxDepth),
			})
		}
		if token.Kind() == '"' && strings.ContainsRune(token.String(), 0) {
			return malformed(withoutNUL(string(decoder.StackPointer())), errors.New("a string holds the character NUL"))
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
		return malformed("", err)
	}
	field := models.FieldError{Pointer: string(semantic.JSONPointer), Code: fieldType, Detail: "The value has the wrong type."}
	if errors.Is(err, json.ErrUnknownName) {
		field.Code, field.Detail = fieldUnknown, "There is no such field."
	}
	return models.Invalid(field)
}

func malformed(pointer string, err error) error {
	detail := strings.TrimPrefix(err.Error(), "jsontext: ")
	var syntactic *jsontext.SyntacticError
	if errors.As(err, &syntactic) {
		pointer = string(syntactic.JSONPointer)
	}
	if errors.Is(err, io.EOF) {
		detail = "the body is empty"
	}
	problem := models.NewError(models.CodeMalformedJSON, "The body is not valid JSON.")
	problem.Fields = []models.FieldError{{Pointer: pointer, Code: fieldSyntax, Detail: detail}}
	return problem
}
