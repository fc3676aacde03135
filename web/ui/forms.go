package ui

import (
	"fmt"
	"strings"

	"github.com/botix-pro/platform/app/models"
)

// The kinds of [Field] besides the types of an <input>.
const (
	FieldArea     = "textarea"
	FieldCode     = "code" // a textarea for JSON and the like
	FieldSelect   = "select"
	FieldCheckbox = "checkbox" // on where Value is not empty
	FieldHidden   = "hidden"
)

// Field is a control of a form with its label: template "field".
type Field struct {
	Name    string
	ID      string // the element's; empty: Name. For a form that a page has many of
	Label   string
	Kind    string // "text", "email", …, or one of the kinds above
	Value   string
	Options []Option // of a select
	Rows    int      // of a textarea
	Hint    string   // may be empty
	Error   string   // may be empty
	Needed  bool     // the browser asks for it
}

// Element is the id of the control's element.
func (f Field) Element() string {
	if f.ID != "" {
		return f.ID
	}
	return f.Name
}

// Describes is what describes the control: its hint, its error, or both.
func (f Field) Describes() string {
	var ids []string
	if f.Hint != "" {
		ids = append(ids, f.Element()+"-hint")
	}
	if f.Error != "" {
		ids = append(ids, f.Element()+"-error")
	}
	return strings.Join(ids, " ")
}

// Choices makes the options of a select of values, with their names.
func Choices[K ~string](values []K, names map[K]string, chosen string) []Option {
	options := make([]Option, len(values))
	for i, value := range values {
		options[i] = Option{Value: string(value), Name: Word(names, value), Chosen: string(value) == chosen}
	}
	return options
}

// Problem is what was wrong with a form, above it: template "problem".
type Problem struct {
	Title string // empty: nothing was wrong
	Items []Link // to the fields; some may lead nowhere
}

// FormView is a form that acts: template "form".
type FormView struct {
	Action  string
	Problem Problem
	Fields  []Field
	Submit  string
	Once    string // see [FieldOnce]; empty: doing it again is no other deed
	Danger  bool   // it takes something away
	Back    *Link  // the way out; may be nil
}

// Blame puts what is wrong beside the fields that the pointers begin with, and
// all of it into the summary.
func (f *FormView) Blame(l Locale, title string, faults []models.FieldError) {
	f.Problem.Title = title
	for _, fault := range faults {
		text := Visible(FaultText(l, fault))
		name, rest, nested := strings.Cut(strings.TrimPrefix(fault.Pointer, "/"), "/")
		if nested {
			text = fmt.Sprintf("%s: %s", Visible(rest), text)
		}
		f.Problem.Items = append(f.Problem.Items, f.blame(name, text))
	}
}

func (f *FormView) blame(name, text string) Link {
	for i := range f.Fields {
		field := &f.Fields[i]
		if field.Name != name || field.Kind == FieldHidden {
			continue
		}
		field.Error = strings.TrimSpace(field.Error + "\n" + text)
		return Link{Name: field.Label + ": " + text, Address: "#" + field.Element()}
	}
	return Link{Name: text}
}

// Confirm is a deed that is asked about first: template "confirm" is a button
// that opens the question in a dialog; without the script it leads to the same
// question on a page of its own, template "confirm-page".
type Confirm struct {
	ID      string // the dialog's element
	Open    string // the button's name
	Address string // of the page of its own
	Title   string // the question
	Text    string // what will happen
	Form    FormView
}

// Filters is a form that narrows a list: template "filters".
type Filters struct {
	Action string
	Name   string // for screen readers
	Fields []Field
	Apply  string
}
