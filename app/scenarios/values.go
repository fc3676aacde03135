package scenarios

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/url"
	"regexp"
	"slices"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/botix-pro/platform/app/models"
)

// fieldForm is what a condition or a placeholder may name.
var fieldForm = regexp.MustCompile(
	`^(contact\.(id|name|email|phone|external_id|tags|identities\.[a-z][a-z0-9_]{0,31}|attributes(\.[^.{}]+)+)|variables(\.[^.{}]+)+|run\.id)$`)

// placeholder is {{field}}, blanks allowed inside the braces.
var placeholder = regexp.MustCompile(`\{\{\s*([^{}]*?)\s*\}\}`)

// values is what a run's steps can refer to.
type values map[string]any

// newValues collects a run's values as decoded JSON.
func newValues(run *models.ScenarioRun, contact *models.Contact) (values, error) {
	var variables, attributes map[string]any
	if err := decodeExactly(run.Variables, &variables); err != nil {
		return nil, fmt.Errorf("decode the variables of run %s: %w", run.ID, err)
	}
	if err := decodeExactly(contact.Attributes, &attributes); err != nil {
		return nil, fmt.Errorf("decode the attributes of contact %s: %w", contact.ID, err)
	}
	identities, tags := map[string]any{}, []any{}
	for channel, address := range contact.Identities {
		identities[channel] = address
	}
	for _, tag := range contact.Tags {
		tags = append(tags, tag)
	}
	about := map[string]any{"id": contact.ID, "identities": identities, "tags": tags, "attributes": attributes}
	for name, field := range map[string]*string{
		"name": contact.Name, "email": contact.Email, "phone": contact.Phone, "external_id": contact.ExternalID,
	} {
		if field != nil {
			about[name] = *field
		}
	}
	return values{"contact": about, "variables": variables, "run": map[string]any{"id": run.ID}}, nil
}

// decodeExactly keeps numbers as they are written.
func decodeExactly(raw []byte, into *map[string]any) error {
	decoder := json.NewDecoder(bytes.NewReader(raw))
	decoder.UseNumber()
	return decoder.Decode(into)
}

// find returns a field's value; null counts as not there.
func (v values) find(field string) (value any, known bool) {
	value = map[string]any(v)
	for part := range strings.SplitSeq(field, ".") {
		object, ok := value.(map[string]any)
		if !ok {
			return nil, false
		}
		value = object[part]
	}
	return value, value != nil
}

// missingError says that a placeholder stands for nothing.
type missingError struct{ field string }

func (e missingError) Error() string {
	return fmt.Sprintf("The step names %q, which has no value in this run.", e.field)
}

// fillJSON replaces the placeholders in the texts of a JSON value. A text that is
// one placeholder and nothing else becomes its value, whatever type it has. What
// has none stays as it was written, digits of numbers included.
func (v values) fillJSON(raw jsontext.Value) (jsontext.Value, error) {
	if !bytes.Contains(raw, []byte("{{")) {
		return raw, nil
	}
	var out bytes.Buffer
	decoder, encoder := jsontext.NewDecoder(bytes.NewReader(raw)), jsontext.NewEncoder(&out)
	for {
		err := v.fillNext(decoder, encoder)
		if errors.Is(err, io.EOF) {
			return bytes.TrimSpace(out.Bytes()), nil
		}
		if err != nil {
			return nil, err
		}
	}
}

// fillNext copies a token, or what a text stands for.
func (v values) fillNext(decoder *jsontext.Decoder, encoder *jsontext.Encoder) error {
	if decoder.PeekKind() == '0' {
		number, err := decoder.ReadValue() // a token would lose digits
		if err != nil {
			return err
		}
		return encoder.WriteValue(number)
	}
	token, err := decoder.ReadToken()
	if err != nil {
		return err
	}
	kind, read := decoder.StackIndex(decoder.StackDepth())
	if isName := kind == '{' && read%2 == 1; token.Kind() != '"' || isName {
		return encoder.WriteToken(token)
	}
	filled, err := v.fillString(token.String())
	if err != nil {
		return err
	}
	encoded, err := json.Marshal(filled)
	if err != nil {
		return fmt.Errorf("encode what was filled in: %w", err)
	}
	return encoder.WriteValue(encoded)
}

func (v values) fillString(text string) (any, error) {
	if at := placeholder.FindStringSubmatchIndex(text); at != nil && at[0] == 0 && at[1] == len(text) {
		return v.must(text[at[2]:at[3]])
	}
	return v.fillText(text, func(value string) string { return value })
}

func (v values) must(field string) (any, error) {
	value, known := v.find(field)
	if !known {
		return nil, missingError{field}
	}
	return value, nil
}

// fillURL replaces the placeholders of a URL's path and query; what they stand
// for stays one part of it, whatever characters it has.
func (v values) fillURL(raw string) (string, error) {
	return v.fillText(raw, func(text string) string { return strings.ReplaceAll(url.QueryEscape(text), "+", "%20") })
}

func (v values) fillText(text string, escape func(string) string) (string, error) {
	var failed error
	filled := placeholder.ReplaceAllStringFunc(text, func(match string) string {
		value, err := v.must(placeholder.FindStringSubmatch(match)[1])
		if err != nil {
			failed = err
			return ""
		}
		if text, ok := value.(string); ok {
			return escape(text)
		}
		encoded, err := json.Marshal(value)
		if err != nil {
			failed = err
		}
		return escape(string(encoded))
	})
	return filled, failed
}

// flat lists the variables that a message's template may name: nested ones by
// their path. Only those that it does name are in it.
func (v values) flat(template string) map[string]any {
	list := map[string]any{}
	var walk func(prefix string, value any)
	walk = func(prefix string, value any) {
		object, nested := value.(map[string]any)
		if !nested {
			if _, isList := value.([]any); !isList && value != nil && strings.Contains(template, prefix) {
				list[prefix] = value
			}
			return
		}
		for name, member := range object {
			walk(strings.TrimPrefix(prefix+"."+name, "."), member)
		}
	}
	walk("", v["variables"])
	return list
}

// placeholders checks the placeholders in a JSON value's texts.
func (p *parser) placeholders(at string, raw jsontext.Value) {
	if bytes.Contains(raw, []byte("{{")) || bytes.Contains(raw, []byte("}}")) {
		var decoded any
		if json.Unmarshal(raw, &decoded) == nil {
			p.placeholdersIn(at, decoded)
		}
	}
}

func (p *parser) placeholdersIn(at string, value any) {
	switch x := value.(type) {
	case map[string]any:
		for _, name := range slices.Sorted(maps.Keys(x)) {
			p.placeholdersIn(at+"/"+models.EscapePointer(shorten(name)), x[name])
		}
	case []any:
		for i := range x {
			p.placeholdersIn(fmt.Sprintf("%s/%d", at, i), x[i])
		}
	case string:
		p.braces(at, x)
	}
}

// braces refuses a placeholder that names no field, and what only looks like one.
func (p *parser) braces(at, text string) {
	for _, match := range placeholder.FindAllStringSubmatch(text, -1) {
		if !fieldForm.MatchString(match[1]) {
			p.found.Add(at, models.FieldNotFound, "%q is no field that a placeholder can name, as {{contact.name}} or {{variables.x}} do.", shorten(match[1]))
		}
	}
}
