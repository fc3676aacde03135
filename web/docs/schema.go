package docs

import (
	"html/template"
	"slices"
	"strings"
)

// schema is a shape as the reference shows it.
type schema struct {
	Name        string // of the field; empty for the body itself
	Type        string
	Bounds      string
	Required    bool
	Description template.HTML
	Fields      []schema // an object's
	Choices     []schema // one of them
	// Fold: it is so deep that its fields are behind a click.
	Fold bool
}

// foldBelow is how deep fields are shown at once.
const foldBelow = 2

// schema turns a place in the description into what is shown. path is the
// references on the way here: one that comes again is only named.
func (b *builder) schema(name string, n node, path []string) schema {
	s := schema{Name: name, Type: typeOf(n), Bounds: bounds(n), Description: b.html(n.at("description")), Fold: len(path) >= foldBelow}
	if slices.Contains(path, n.name) && n.name != "" {
		return s
	}
	path = append(slices.Clone(path), n.name)
	b.fields(&s, n, path)
	return s
}

// fields adds what is inside: an object's fields, those of a list's elements,
// and every way in which it may look.
func (b *builder) fields(s *schema, n node, path []string) {
	required := n.at("required").texts()
	for _, m := range n.at("properties").members() {
		field := b.schema(m.Name, m.Value, path)
		field.Required = slices.Contains(required, m.Name)
		s.Fields = append(s.Fields, field)
	}
	if more := n.at("additionalProperties"); more.at("type").there() || more.name != "" {
		s.Fields = append(s.Fields, b.schema("…", more, path))
	}
	if items := n.at("items"); items.there() {
		inner := b.schema("", items, path)
		s.Fields, s.Choices = append(s.Fields, inner.Fields...), append(s.Choices, inner.Choices...)
	}
	for _, part := range n.at("allOf").items() {
		inner := b.schema("", part, path)
		s.Fields, s.Choices = append(s.Fields, inner.Fields...), append(s.Choices, inner.Choices...)
	}
	choices := notNull(append(n.at("oneOf").items(), n.at("anyOf").items()...))
	if len(choices) == 1 { // the thing or null
		inner := b.schema("", choices[0], path)
		s.Fields, s.Choices = append(s.Fields, inner.Fields...), append(s.Choices, inner.Choices...)
		if s.Description == "" {
			s.Description = inner.Description
		}
		if s.Bounds == "" {
			s.Bounds = inner.Bounds
		}
		return
	}
	for _, choice := range choices {
		s.Choices = append(s.Choices, b.schema(choice.name, choice, path))
	}
}

// notNull leaves out the choice that says "or null".
func notNull(choices []node) []node {
	return slices.DeleteFunc(choices, func(n node) bool { return n.at("type").text() == "null" })
}

// typeOf names a type in a few words: "array of string, or null".
func typeOf(n node) string {
	types := n.at("type").texts()
	choices := append(n.at("oneOf").items(), n.at("anyOf").items()...)
	nullable := slices.Contains(types, "null")
	types = slices.DeleteFunc(slices.Clone(types), func(t string) bool { return t == "null" })
	if len(choices) > 0 {
		rest := notNull(slices.Clone(choices))
		nullable = nullable || len(rest) < len(choices)
		if len(rest) == 1 {
			types = []string{strings.TrimSuffix(typeOf(rest[0]), ", or null")}
		} else {
			types = []string{"any of these"}
		}
	}
	name := strings.Join(types, " or ")
	if name == "array" {
		name = strings.TrimSuffix("array of "+typeOf(n.at("items")), " of ")
	}
	if format := n.at("format").text(); format != "" && name == "string" {
		name += " (" + format + ")"
	}
	if name == "" && (n.at("properties").there() || n.at("allOf").there()) {
		name = "object"
	}
	if name == "" {
		name = "any value"
	}
	if nullable {
		name += ", or null"
	}
	return name
}

// boundNames are the words for the limits of a value, in the order in which
// they are shown.
func boundNames() [][2]string {
	return [][2]string{
		{"minLength", "at least %s characters"}, {"maxLength", "at most %s characters"},
		{"minimum", "at least %s"}, {"maximum", "at most %s"}, {"exclusiveMinimum", "more than %s"}, {"exclusiveMaximum", "less than %s"},
		{"minItems", "at least %s items"}, {"maxItems", "at most %s items"},
		{"minProperties", "at least %s names"}, {"maxProperties", "at most %s names"},
		{"default", "default %s"}, {"const", "always %s"}, {"pattern", "matches %s"},
	}
}

// bounds are the limits of a value in words.
func bounds(n node) string {
	var words []string
	if values := n.at("enum").texts(); len(values) > 0 {
		words = append(words, "one of "+strings.Join(values, ", "))
	}
	for _, bound := range boundNames() {
		value := n.at(bound[0]).text()
		if value == "" {
			continue
		}
		word := strings.ReplaceAll(bound[1], "%s", value)
		if value == "1" {
			word = strings.TrimSuffix(word, "s") // "at least 1 character"
		}
		words = append(words, word)
	}
	if n.at("uniqueItems").yes() {
		words = append(words, "no item twice")
	}
	return strings.Join(words, "; ")
}
