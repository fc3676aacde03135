package ui

import "strings"

// Cell is one value in a table or among facts: template "cell". What is empty is
// left out.
type Cell struct {
	Text     string
	Code     bool   // an identifier or the like
	Address  string // Text leads there
	Pill     *Pill
	At       *Instant
	Note     string // beside it
	Fault    string // an error's code, beside it: it may break at its underscores
	Progress *Progress
	Links    []Link
	Spark    *Spark
	Share    *Share
}

// Empty reports whether there is nothing to show.
func (c Cell) Empty() bool {
	return c.Text == "" && c.Pill == nil && c.At == nil && c.Note == "" && c.Fault == "" && c.Progress == nil && len(c.Links) == 0 &&
		c.Spark == nil && c.Share == nil
}

// FaultParts are the parts of the code between which a line may break.
func (c Cell) FaultParts() []string { return strings.SplitAfter(c.Fault, "_") }

// IDCell is an identifier of ours that leads to its page; empty without one.
func IDCell(path, id string) Cell {
	if id == "" {
		return Cell{}
	}
	return Cell{Text: Visible(id), Code: true, Address: Root + path + id}
}

// Column is a column of a [Table].
type Column struct {
	Name   string
	Number bool // its values stand to the right
	Own    bool // it is the reader's, and stands out
}

// Columns are columns of those names.
func Columns(names ...string) []Column {
	columns := make([]Column, len(names))
	for i, name := range names {
		columns[i].Name = name
	}
	return columns
}

// Table is a table whose first column names the rows: template "rows".
type Table struct {
	Caption string // for screen readers
	Columns []Column
	Rows    [][]Cell
	None    string // in place of a table without rows; may be empty
}

// Fact is a value under its name: template "facts", for a list.
type Fact struct {
	Name string
	Cell Cell
	Wide bool
}

// ListView is a page that is a list: template "list".
type ListView struct {
	Shell

	Head    Head
	Tabs    []Tab  // may be empty
	Actions []Link // the first is the main one; may be empty
	Filters Filters
	Problem Problem // of the filters
	Chips   ChipsView
	Table   Table
	Ways    PagesView
	Empty   Empty // in place of a table without rows
}

// Tab is a page beside others: template "tabs", for a list.
type Tab struct {
	Link

	Current bool
}
