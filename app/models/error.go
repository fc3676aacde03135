package models

import (
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"
)

// Code is the stable part of an error: what callers switch on (contract §2).
type Code string

// Outcome says whether what the caller asked for has happened.
type Outcome string

// The outcomes, contract §2.
const (
	NotApplied     Outcome = "not_applied"
	Applied        Outcome = "applied"
	OutcomeUnknown Outcome = "unknown"
)

// FieldError is one fault in a request's body or parameters.
type FieldError struct {
	Pointer string `json:"pointer"` // RFC 6901, into the body; "?name" for a query parameter
	Code    string `json:"code"`    // machine-readable, e.g. INVALID_FORMAT
	Detail  string `json:"detail"`
}

// Error is the one error type that reaches a caller. Everything else becomes
// INTERNAL_ERROR at the edge, without detail.
type Error struct {
	Code   Code
	Detail string // for people; may change between releases
	Fields []FieldError
	// RetryAfter is sent as Retry-After when positive, in whole seconds, rounded up.
	RetryAfter time.Duration
	// Outcome overrides the catalogue's answer when not empty.
	Outcome Outcome
	// Early: given before the idempotency key was looked up, so that the outcome
	// speaks of this physical request only (contract §2).
	Early bool
	// Allow lists the methods of a path, for METHOD_NOT_ALLOWED.
	Allow []string
	cause error
}

// NewError returns an Error whose detail is formatted like fmt.Sprintf.
func NewError(code Code, format string, args ...any) *Error {
	return &Error{Code: code, Detail: fmt.Sprintf(format, args...)}
}

// Invalid returns VALIDATION_FAILED about the given fields.
func Invalid(fields ...FieldError) *Error {
	return &Error{Code: CodeValidationFailed, Detail: "The request is well-formed but its content is not valid.", Fields: fields}
}

// Unavailable returns SERVICE_UNAVAILABLE caused by err. The cause is logged,
// never shown.
func Unavailable(err error, outcome Outcome) *Error {
	return &Error{
		Code: CodeServiceUnavailable, Detail: "A part of the platform that this request needs cannot be reached right now.",
		RetryAfter: time.Second, Outcome: outcome, cause: err,
	}
}

// MethodNotAllowed returns METHOD_NOT_ALLOWED about a path that has the methods.
func MethodNotAllowed(methods ...string) *Error {
	err := NewError(CodeMethodNotAllowed, "This path answers %s.", strings.Join(methods, ", "))
	err.Allow = methods
	return err
}

// Internal returns INTERNAL_ERROR caused by err.
func Internal(err error) *Error {
	return &Error{Code: CodeInternalError, Detail: "Something went wrong on our side; nothing was applied.", cause: err}
}

// AsError returns the [*Error] in err's chain, or INTERNAL_ERROR wrapping err.
func AsError(err error) *Error {
	var known *Error
	if errors.As(err, &known) {
		return known
	}
	return Internal(err)
}

// Error implements error. It includes the cause, so it is for logs only.
func (e *Error) Error() string {
	text := string(e.Code)
	if e.Detail != "" {
		text += ": " + e.Detail
	}
	if e.cause != nil {
		text += ": " + e.cause.Error()
	}
	return text
}

// Unwrap returns what caused the error, or nil.
func (e *Error) Unwrap() error { return e.cause }

// Entry returns the error's line in the catalogue; a code that is missing there
// answers like INTERNAL_ERROR, and a test keeps that from happening.
func (e *Error) Entry() CatalogueEntry {
	if entry, ok := catalogue[e.Code]; ok {
		return entry
	}
	return catalogue[CodeInternalError]
}

// Status is the HTTP status of the error.
func (e *Error) Status() int { return e.Entry().Status }

// Applied is the error's outcome: its own, or the catalogue's.
func (e *Error) Applied() Outcome {
	if e.Outcome != "" {
		return e.Outcome
	}
	return e.Entry().Outcome
}

// Stored reports whether the error, returned by an execution, is kept with the
// idempotency key and replayed (contract §3).
func (e *Error) Stored() bool { return e.Entry().Stored }

// ServerFault reports whether the platform is at fault: such an error is never
// stored and is logged with its cause.
func (e *Error) ServerFault() bool { return e.Status() >= http.StatusInternalServerError }

// What callers sent may come back in an error, cut to these lengths: in
// characters and, for pointers, in bytes.
const (
	MaxDetail      = 2000
	maxFieldDetail = 500
	maxPointer     = 1000
)

// Bounded returns entries whose pointers and details are short enough to come back
// in an answer, whatever the caller sent.
func Bounded(fields []FieldError) []FieldError {
	var short []FieldError
	for _, field := range fields {
		field.Pointer, field.Detail = nearest(field.Pointer), Cut(field.Detail, maxFieldDetail)
		short = append(short, field)
	}
	return short
}

// nearest is the pointer, or the longest one to what holds the place when that
// one is too long.
func nearest(pointer string) string {
	if len(pointer) <= maxPointer {
		return pointer
	}
	return pointer[:max(strings.LastIndexByte(pointer[:maxPointer], '/'), 0)]
}

// Cut shortens a text to so many characters.
func Cut(text string, most int) string {
	count := 0
	for at := range text {
		if count++; count > most {
			return text[:at]
		}
	}
	return text
}
