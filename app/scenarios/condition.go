package scenarios

import (
	"cmp"
	stdjson "encoding/json"
	"reflect"
	"slices"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/botix-pro/platform/app/models"
)

// Condition goes one of two ways.
type Condition struct {
	head

	If   *Test   `json:"if"`
	Then *string `json:"then"`
	Else *string `json:"else"`

	Yes int `json:"-"` // the index that Then means; that of the next step without it
	No  int `json:"-"` // the same for Else
}

// Test compares one field with a value.
type Test struct {
	Field string         `json:"field"`
	Op    string         `json:"op"`
	Value jsontext.Value `json:"value"`

	want any // what Value means
}

// The operators.
const (
	opEqual       = "eq"
	opNotEqual    = "ne"
	opGreater     = "gt"
	opAtLeast     = "gte"
	opLess        = "lt"
	opAtMost      = "lte"
	opContains    = "contains"
	opContainsNot = "not_contains"
	opIn          = "in"
	opNotIn       = "not_in"
	opExists      = "exists"
	opExistsNot   = "not_exists"
)

var operators = []string{
	opEqual, opNotEqual, opGreater, opAtLeast, opLess, opAtMost, opContains, opContainsNot, opIn, opNotIn, opExists, opExistsNot,
}

func (p *parser) condition(i int, at string, c *Condition) {
	step := &p.steps[i]
	if c.If == nil {
		p.found.Add(at+"/if", models.FieldMissing, "A condition needs an if.")
	} else {
		p.test(at+"/if", c.If)
	}
	if c.Then == nil && c.Else == nil {
		p.found.Add(at+"/then", models.FieldMissing, "A condition needs a then or an else: the id of a later step, or %q.", End)
	}
	c.Yes, c.No = i+1, i+1
	// A jump of the step itself is where the condition's missing branch goes.
	for k := range p.jumps {
		if p.jumps[k].from == i {
			p.jumps[k].set = func(to int) { step.Next, c.Yes, c.No = to, to, to }
		}
	}
	if c.Then != nil {
		p.jump(i, at+"/then", *c.Then, func(to int) { c.Yes = to })
	}
	if c.Else != nil {
		p.jump(i, at+"/else", *c.Else, func(to int) { c.No = to })
	}
}

func (p *parser) test(at string, t *Test) {
	if !fieldForm.MatchString(t.Field) {
		p.found.Add(at+"/field", models.FieldFormat,
			"A field is contact.name, .email, .phone, .external_id or .tags, contact.identities.x, contact.attributes.x, or variables.x.")
	}
	needless := t.Op == opExists || t.Op == opExistsNot
	switch {
	case !slices.Contains(operators, t.Op):
		p.found.Add(at+"/op", models.FieldFormat, "The operators are %s.", strings.Join(operators, ", "))
	case needless && len(t.Value) > 0:
		p.found.Add(at+"/value", models.FieldFormat, "%s compares with nothing.", t.Op)
	case !needless && len(t.Value) == 0:
		p.found.Add(at+"/value", models.FieldMissing, "%s needs a value to compare with.", t.Op)
	case !needless:
		p.comparison(at+"/value", t)
	}
}

// comparison checks that the operator can do something with the value.
func (p *parser) comparison(at string, t *Test) {
	kind := t.Value.Kind()
	switch t.Op {
	case opGreater, opAtLeast, opLess, opAtMost:
		if kind != '0' && kind != '"' {
			p.found.Add(at, models.FieldType, "%s compares numbers or texts.", t.Op)
		}
	case opIn, opNotIn:
		if kind != '[' {
			p.found.Add(at, models.FieldType, "%s needs an array of values.", t.Op)
		}
	}
	if err := json.Unmarshal(t.Value, &t.want); err != nil {
		p.found.Add(at, models.FieldType, "This number is out of range.")
	}
}

// Holds reports whether the test is true of a field's value; known is false for
// a field that is not there. Nothing is equal to, contained in, less or more than
// what is not there.
func (t *Test) Holds(got any, known bool) bool {
	got = plain(got)
	switch t.Op {
	case opExists:
		return known
	case opExistsNot:
		return !known
	case opEqual:
		return known && same(got, t.want)
	case opNotEqual:
		return !known || !same(got, t.want)
	case opContains:
		return known && contains(got, t.want)
	case opContainsNot:
		return !known || !contains(got, t.want)
	case opIn:
		return known && contains(t.want, got)
	case opNotIn:
		return !known || !contains(t.want, got)
	default:
		return known && ordered(t.Op, got, t.want)
	}
}

// plain turns numbers as they are written into those that can be compared.
func plain(value any) any {
	switch x := value.(type) {
	case stdjson.Number:
		number, _ := x.Float64() // what is too large is infinite
		return number
	case []any:
		list := make([]any, len(x))
		for i := range x {
			list[i] = plain(x[i])
		}
		return list
	case map[string]any:
		object := make(map[string]any, len(x))
		for name := range x {
			object[name] = plain(x[name])
		}
		return object
	default:
		return value
	}
}

// same compares decoded JSON.
func same(a, b any) bool { return reflect.DeepEqual(a, b) }

// contains reports whether a list has an element, or a text a part.
func contains(whole, part any) bool {
	switch w := whole.(type) {
	case []any:
		return slices.ContainsFunc(w, func(element any) bool { return same(element, part) })
	case string:
		text, ok := part.(string)
		return ok && strings.Contains(w, text)
	default:
		return false
	}
}

// ordered compares two numbers, or two texts byte by byte, which puts times of
// one form in their order. Anything else has no order.
func ordered(op string, a, b any) bool {
	var order int
	switch x := a.(type) {
	case float64:
		y, ok := b.(float64)
		if !ok {
			return false
		}
		order = cmp.Compare(x, y)
	case string:
		y, ok := b.(string)
		if !ok {
			return false
		}
		order = cmp.Compare(x, y)
	default:
		return false
	}
	switch op {
	case opGreater:
		return order > 0
	case opAtLeast:
		return order >= 0
	case opLess:
		return order < 0
	default:
		return order <= 0
	}
}
