package api

import (
	"fmt"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// Optional is a field of a merge patch (RFC 7396), in which absent, null and a
// value are three things:
//
//   - absent: the zero Optional; leave the field as it is;
//   - null: Set and Null; clear the field;
//   - a value: Set and not Null; Value is what to store.
type Optional[T any] struct {
	// Set says that the field is in the body at all.
	Set bool
	// Null says that it is there as null; Value is then zero.
	Null bool
	// Value is the new value where Set and not Null.
	Value T
}

// Some returns an Optional that sets the field to value.
func Some[T any](value T) Optional[T] { return Optional[T]{Set: true, Value: value} }

// Null returns an Optional that clears the field.
func Null[T any]() Optional[T] { return Optional[T]{Set: true, Null: true} }

// OrNull sets the field to what value points to, and clears it when that is nothing.
func OrNull[T any](value *T) Optional[T] {
	if value == nil {
		return Null[T]()
	}
	return Some(*value)
}

// UnmarshalJSONFrom implements json.UnmarshalerFrom. It reads from the caller's
// decoder, so the caller's strictness and its JSON pointers hold for the value too.
func (o *Optional[T]) UnmarshalJSONFrom(dec *jsontext.Decoder) error {
	*o = Optional[T]{Set: true}
	if dec.PeekKind() == 'n' {
		o.Null = true
		return dec.SkipValue()
	}
	return json.UnmarshalDecode(dec, &o.Value)
}

// MarshalJSONTo implements json.MarshalerTo. An absent field is left out by its
// omitzero tag and never gets here; elsewhere there is nothing to write for it,
// which is an error.
func (o Optional[T]) MarshalJSONTo(enc *jsontext.Encoder) error {
	switch {
	case !o.Set:
		return fmt.Errorf("an absent %T cannot be written", o.Value)
	case o.Null:
		return enc.WriteToken(jsontext.Null)
	default:
		return json.MarshalEncode(enc, o.Value)
	}
}
