package parts

import (
	"fmt"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/botix-pro/platform/web/ui"
)

// Filter is one way to narrow a list: the form's control, and how it reads when
// it is on.
type Filter struct {
	Name    string // of the parameter
	Label   string
	Kind    string      // ui.FieldSelect, or the type of an <input>
	Options []ui.Option // of a select, without the one for all
	Fault   string      // what is wrong with the value; empty: nothing
}

// Place is a list under its filters.
type Place struct {
	ui.Pager

	v       *ui.Visit
	filters []Filter
}

// At reads the place in a list from the visit's address. valid judges a row's id.
func At(v *ui.Visit, filters []Filter, valid func(id string) bool) Place {
	names := make([]string, len(filters))
	for i, f := range filters {
		names[i] = f.Name
	}
	return Place{Pager: ui.PagerOf(v.URL, names, valid), v: v, filters: filters}
}

// Value is what a filter is set to, nil where it is off.
func (p Place) Value(name string) *string {
	value := strings.TrimSpace(p.v.URL.Query().Get(name))
	switch {
	case value == "":
		return nil
	case !Asked(value):
		p.Fault(name, WordsOf(p.v).BadFilters)
		return nil
	}
	return &value
}

// maxAsked is the longest text that is searched for, in bytes.
const maxAsked = 1000

// Asked reports whether the database can be asked for a text that came from a
// reader.
func Asked(text string) bool {
	return text != "" && len(text) <= maxAsked && utf8.ValidString(text) && !strings.ContainsRune(text, 0)
}

// Fault marks a filter whose value cannot be used.
func (p Place) Fault(name, text string) {
	for i := range p.filters {
		if p.filters[i].Name == name {
			p.filters[i].Fault = text
		}
	}
}

// Chosen is a select's value; one that is not among its options is a fault.
func (p Place) Chosen(name string) *string {
	value := p.Value(name)
	if value == nil {
		return nil
	}
	for _, f := range p.filters {
		for _, option := range f.Options {
			if f.Name == name && option.Value == *value {
				return value
			}
		}
	}
	p.Fault(name, WordsOf(p.v).BadFilters)
	return value
}

// Since is a time; what is none is a fault.
func (p Place) Since(name string) *time.Time {
	value := p.Value(name)
	if value == nil {
		return nil
	}
	at, err := ParseTime(p.v.Locale, *value)
	if err != nil {
		p.Fault(name, WordsOf(p.v).BadTime)
		return nil
	}
	return &at
}

// ParseTime reads a time as a form gives it, in the reader's zone, or in RFC 3339.
func ParseTime(l ui.Locale, text string) (time.Time, error) {
	if at, err := time.Parse(time.RFC3339Nano, text); err == nil {
		return at, nil
	}
	zone := l.Zone
	if zone == nil {
		zone = time.UTC
	}
	for _, layout := range []string{"2006-01-02T15:04", "2006-01-02T15:04:05", "2006-01-02 15:04"} {
		if at, err := time.ParseInLocation(layout, text, zone); err == nil {
			return at, nil
		}
	}
	at, err := time.ParseInLocation(time.DateOnly, text, zone)
	if err != nil {
		return at, fmt.Errorf("read a time: %w", err)
	}
	return at, nil
}

// Faulty reports whether a filter cannot be used: there is no list then.
func (p Place) Faulty() bool {
	for _, f := range p.filters {
		if f.Fault != "" {
			return true
		}
	}
	return false
}

// Fill puts the filters, their chips and the ways to other pages into a list;
// more: there are older rows than the one called last.
func (p Place) Fill(list *ui.ListView, more bool, last string) {
	w := WordsOf(p.v)
	path := p.v.URL.Path
	list.Filters = ui.Filters{Action: path, Name: w.Filters, Apply: w.Apply}
	list.Chips = ui.ChipsView{Words: list.Words, ClearAll: path}
	for _, f := range p.filters {
		value := p.Value(f.Name)
		field := ui.Field{Name: f.Name, Label: f.Label, Kind: f.Kind, Error: f.Fault}
		if value != nil {
			field.Value = *value
			list.Chips.Add(fmt.Sprintf(w.FilterF, f.Label, named(f.Options, *value)), p.With(f.Name, ""))
		}
		if f.Kind == ui.FieldSelect {
			field.Options = append([]ui.Option{{Name: w.All}}, chosen(f.Options, field.Value)...)
		}
		if f.Fault != "" {
			list.Problem.Title = w.BadFilters
			list.Problem.Items = append(list.Problem.Items, ui.Link{Name: f.Label + ": " + f.Fault, Address: "#" + f.Name})
		}
		list.Filters.Fields = append(list.Filters.Fields, field)
	}
	if len(list.Chips.Chips) > 0 || p.Before != "" {
		list.Empty = ui.Empty{Title: w.NoMatch, Text: w.NoMatchHint, Actions: []ui.Link{{Name: list.Words.ClearAll, Address: path}}}
	}
	list.Ways = ui.PagesView{Words: list.Words, Newer: p.Newer()}
	if more {
		list.Ways.Older = p.Older(last)
	}
}

func named(options []ui.Option, value string) string {
	for _, option := range options {
		if option.Value == value {
			return option.Name
		}
	}
	return value
}

func chosen(options []ui.Option, value string) []ui.Option {
	marked := make([]ui.Option, len(options))
	for i, option := range options {
		option.Chosen = option.Value == value
		marked[i] = option
	}
	return marked
}

// Cut is a page of rows of which one more than [RowsPerPage] was asked for.
func Cut[T any](rows []T) (page []T, more bool) {
	if len(rows) > RowsPerPage {
		return rows[:RowsPerPage], true
	}
	return rows, false
}

// Lines are a text's lines without the empty ones.
func Lines(text string) []string {
	lines := []string{}
	for line := range strings.Lines(text) {
		if line = strings.TrimSpace(line); line != "" {
			lines = append(lines, line)
		}
	}
	return lines
}
