package models

import (
	"bytes"
	"fmt"
	"maps"
	"net/mail"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// Bounds of a contact's fields, as api/openapi.yaml has them. Lengths are in
// characters unless said otherwise.
const (
	maxName       = 200
	maxEmail      = 254
	maxExternalID = 255
	maxIdentities = 10
	maxIdentity   = 255
	maxTags       = 50
	maxTag        = 64
	maxAttributes = 100
	// MaxAttributeBytes is the size of a contact's attributes as they are written.
	MaxAttributeBytes = 16 << 10
)

// Codes of the entries in a problem's errors.
const (
	FieldUnknown   = "UNKNOWN_FIELD"
	FieldMissing   = "MISSING"
	FieldType      = "INVALID_TYPE"
	FieldFormat    = "INVALID_FORMAT"
	FieldTooLong   = "TOO_LONG"
	FieldTooShort  = "TOO_SHORT"
	FieldTooMany   = "TOO_MANY"
	FieldDuplicate = "DUPLICATE"
	FieldSyntax    = "SYNTAX"
	FieldReserved  = "RESERVED"
	FieldRange     = "OUT_OF_RANGE"
	FieldRefused   = "REFUSED"
	FieldTooDeep   = "TOO_DEEP"
	FieldNotFound  = "NOT_FOUND"
)

var (
	phonePattern   = regexp.MustCompile(`^\+[1-9][0-9]{6,14}$`)
	channelPattern = regexp.MustCompile(`^[a-z][a-z0-9_]{0,31}$`)
)

// Faults collects what is wrong with a request, so that a caller learns all of
// it at once.
type Faults []FieldError

// maxFaults bounds an answer: a small body must not cause a huge one.
const maxFaults = 50

// Add takes note of a fault; format and args are those of fmt.Sprintf.
func (f *Faults) Add(pointer, code, format string, args ...any) {
	if len(*f) < maxFaults {
		*f = append(*f, FieldError{Pointer: pointer, Code: code, Detail: fmt.Sprintf(format, args...)})
	}
}

// Length checks a text's characters against its bounds, both inclusive.
func (f *Faults) Length(pointer, text string, low, high int) {
	switch n := utf8.RuneCountInString(text); {
	case n < low:
		f.Add(pointer, FieldTooShort, "At least %d characters are needed.", low)
	case n > high:
		f.Add(pointer, FieldTooLong, "At most %d characters are allowed; there are %d.", high, n)
	}
}

// Plain adds a fault unless the text can be stored and shown as it is: valid UTF-8
// without NUL. JSON was held to that when it was decoded; what forms send was not.
func (f *Faults) Plain(pointer, text string) {
	if !plainText(text) {
		f.Add(pointer, FieldFormat, "This is no text: it is not UTF-8, or has a NUL.")
	}
}

// OptionalLength does the same where there is a text.
func (f *Faults) OptionalLength(pointer string, text *string, low, high int) {
	if text != nil {
		f.Length(pointer, *text, low, high)
	}
}

// Err returns VALIDATION_FAILED, or nil if nothing was found.
func (f Faults) Err() error {
	if len(f) == 0 {
		return nil
	}
	return Invalid(f...)
}

// Check returns what is wrong with a contact as it would be stored.
func (c *Contact) Check() Faults {
	var found Faults
	found.OptionalLength("/external_id", c.ExternalID, 1, maxExternalID)
	found.OptionalLength("/name", c.Name, 0, maxName)
	found.email("/email", c.Email)
	found.phone("/phone", c.Phone)
	found.identities("/identities", c.Identities)
	found.tags("/tags", c.Tags)
	found.Attributes("/attributes", c.Attributes)
	return found
}

func (f *Faults) email(pointer string, email *string) {
	if email == nil {
		return
	}
	f.Length(pointer, *email, 3, maxEmail)
	// ParseAddress also takes "Name <address>"; only the bare address will do.
	if address, err := mail.ParseAddress(*email); err != nil || address.Address != *email {
		f.Add(pointer, FieldFormat, "This is not an e-mail address.")
	}
}

func (f *Faults) phone(pointer string, phone *string) {
	if phone != nil && !phonePattern.MatchString(*phone) {
		f.Add(pointer, FieldFormat, "A phone number is written in E.164: +, country code, number, 7 to 15 digits.")
	}
}

func (f *Faults) identities(pointer string, identities map[string]string) {
	if len(identities) > maxIdentities {
		f.Add(pointer, FieldTooMany, "At most %d identities are allowed.", maxIdentities)
		return
	}
	for channel, address := range identities {
		at := pointer + "/" + EscapePointer(channel)
		if !channelPattern.MatchString(channel) {
			f.Add(at, FieldFormat, "A channel's name is lower-case letters, digits and underscores, at most 32.")
		}
		f.Length(at, address, 1, maxIdentity)
	}
}

func (f *Faults) tags(pointer string, tags []string) {
	if len(tags) > maxTags {
		f.Add(pointer, FieldTooMany, "At most %d tags are allowed.", maxTags)
		return
	}
	seen := make(map[string]bool, len(tags))
	for i, tag := range tags {
		at := pointer + "/" + strconv.Itoa(i)
		f.Tag(at, tag)
		if seen[tag] {
			f.Add(at, FieldDuplicate, "This tag is there twice.")
		}
		seen[tag] = true
	}
}

// Tag checks one tag.
func (f *Faults) Tag(pointer, tag string) { f.Length(pointer, tag, 1, maxTag) }

// Attributes checks a JSON value that is to be a contact's attributes.
func (f *Faults) Attributes(pointer string, attributes jsontext.Value) {
	if attributes.Kind() != '{' {
		f.Add(pointer, FieldType, "Attributes are a JSON object.")
		return
	}
	if len(attributes) > MaxAttributeBytes {
		f.Add(pointer, FieldTooLong, "At most %d bytes are allowed; there are %d.", MaxAttributeBytes, len(attributes))
	}
	if n := countMembers(attributes); n > maxAttributes {
		f.Add(pointer, FieldTooMany, "At most %d names are allowed; there are %d.", maxAttributes, n)
	}
}

// countMembers counts the names of a JSON object that was already checked.
func countMembers(object jsontext.Value) int {
	decoder := jsontext.NewDecoder(strings.NewReader(string(object)))
	count := 0
	for {
		token, err := decoder.ReadToken()
		if err != nil {
			return count
		}
		if token.Kind() == '"' && decoder.StackDepth() == 1 {
			if _, seen := decoder.StackIndex(1); seen%2 == 1 {
				count++
			}
		}
	}
}

// EscapePointer makes a name a part of a JSON pointer (RFC 6901).
func EscapePointer(token string) string {
	return strings.NewReplacer("~", "~0", "/", "~1").Replace(token)
}

// MergePatch applies RFC 7396 §2 to two JSON values. What it does not touch
// stays as it was written, digits of numbers included.
func MergePatch(target, patch jsontext.Value) (jsontext.Value, error) {
	if patch.Kind() != '{' {
		return patch, nil
	}
	members, changes := map[string]jsontext.Value{}, map[string]jsontext.Value{}
	if target.Kind() == '{' {
		if err := json.Unmarshal(target, &members); err != nil {
			return nil, fmt.Errorf("decode the target: %w", err)
		}
	}
	if err := json.Unmarshal(patch, &changes); err != nil {
		return nil, fmt.Errorf("decode the patch: %w", err)
	}
	for name, change := range changes {
		if change.Kind() == 'n' {
			delete(members, name)
			continue
		}
		merged, err := MergePatch(members[name], change)
		if err != nil {
			return nil, err
		}
		members[name] = merged
	}
	return json.Marshal(members, json.Deterministic(true))
}

// SameJSON reports whether two JSON values differ in nothing but space and the
// order of names. Numbers are compared as they are written.
func SameJSON(a, b jsontext.Value) bool {
	a, b = a.Clone(), b.Clone()
	asWritten := []jsontext.Options{jsontext.CanonicalizeRawInts(false), jsontext.CanonicalizeRawFloats(false)}
	return a.Canonicalize(asWritten...) == nil && b.Canonicalize(asWritten...) == nil && bytes.Equal(a, b)
}

// ChangedFields names the fields in which after differs, in the order of the
// alphabet.
func (c *Contact) ChangedFields(after *Contact) []string {
	changed := []string{}
	for name, same := range map[string]bool{
		"external_id": reflect.DeepEqual(c.ExternalID, after.ExternalID),
		"name":        reflect.DeepEqual(c.Name, after.Name),
		"email":       reflect.DeepEqual(c.Email, after.Email),
		"phone":       reflect.DeepEqual(c.Phone, after.Phone),
		"identities":  maps.Equal(c.Identities, after.Identities),
		"tags":        slices.Equal(c.Tags, after.Tags),
		"attributes":  SameJSON(c.Attributes, after.Attributes),
	} {
		if !same {
			changed = append(changed, name)
		}
	}
	slices.Sort(changed)
	return changed
}
