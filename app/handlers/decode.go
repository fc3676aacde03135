package handlers

import (
	"mime"
	"slices"
	"strings"

	"github.com/botix-pro/platform/app/middleware"
	"github.com/botix-pro/platform/app/models"
)

const jsonType = "application/json"

// Codes of the entries in a problem's errors.
const (
	fieldUnknown   = models.FieldUnknown
	fieldType      = models.FieldType
	fieldFormat    = models.FieldFormat
	fieldTooLong   = models.FieldTooLong
	fieldTooShort  = models.FieldTooShort
	fieldTooMany   = models.FieldTooMany
	fieldDuplicate = models.FieldDuplicate
	fieldReserved  = models.FieldReserved
	fieldRange     = models.FieldRange
	fieldRefused   = models.FieldRefused
	fieldTooDeep   = models.FieldTooDeep
	fieldNotFound  = models.FieldNotFound
)

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
	err := models.DecodeObject(r.Body, &value)
	return value, err
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
