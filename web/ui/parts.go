package ui

import (
	"fmt"

	"github.com/botix-pro/platform/app/models"
)

// The kinds of [Pill], each with its icon and colour. Any other kind is shown
// as pending.
const (
	PillDelivered = "delivered" // done, accepted, active
	PillRetrying  = "retrying"  // failed so far, will be tried again
	PillFailed    = "failed"    // this one failed
	PillDead      = "dead"      // given up
	PillPending   = "pending"   // not begun
	PillRunning   = "running"   // under way
	PillInspector = "inspector" // a copy for the inspector
)

// Pill is a state as icon, word and what stands beside it: template "pill".
type Pill struct {
	Kind string
	Word string
	Note string // may be empty
}

// Link is a name with an address.
type Link struct{ Name, Address string }

// Head is the head of a page: template "head".
type Head struct {
	Crumb   *Link // the page above; may be nil
	Title   string
	ID      string    // beside the title; may be empty
	Lead    string    // what is on the page; may be empty
	Updated *Sentence // when the page was made; may be nil
	Refresh *Link     // may be nil
}

// Empty stands in place of a list without rows: template "empty". It says what
// to do.
type Empty struct {
	Title, Text string
	Hint        string
	Actions     []Link
	Example     string // a command to copy; may be empty
	ExampleName string
	CopyName    string
	CopyWord    string
}

// WithExample adds a command to copy.
func (e Empty) WithExample(words *Words, name, command string) Empty {
	e.Example, e.ExampleName, e.CopyName, e.CopyWord = command, name, fmt.Sprintf(words.CopyOfF, name), words.Copy
	return e
}

// PagesView are the ways to newer and older rows: template "pages".
type PagesView struct {
	Words        *Words
	Newer, Older string // empty: there is none
}

// Chip is a filter that is on: template "chips".
type Chip struct{ Name, Address, RemoveName string }

// ChipsView are all filters that are on: template "chips".
type ChipsView struct {
	Words    *Words
	Chips    []Chip
	ClearAll string
}

// Add appends a chip for a filter in words.
func (c *ChipsView) Add(name, without string) {
	name = Visible(name)
	c.Chips = append(c.Chips, Chip{Name: name, Address: without, RemoveName: fmt.Sprintf(c.Words.RemoveFilterF, name)})
}

// BodyView is a body from outside with what is said about it: template "body".
type BodyView struct {
	ID   string // the element's, unique on the page
	Name string // for screen readers
	Text string
	Note string
}

// IDLine is an identifier to copy: template "ids", for a list.
type IDLine struct {
	Name, Value        string
	Address            string // a page about it; may be empty
	CopyName, CopyWord string
}

// IDLines finishes a list of identifiers: those without a value are left out,
// the others made visible and given their names for copying.
func IDLines(words *Words, lines ...IDLine) []IDLine {
	var shown []IDLine
	for _, line := range lines {
		if line.Value == "" {
			continue
		}
		line.Value = Visible(line.Value)
		line.CopyName, line.CopyWord = fmt.Sprintf(words.CopyOfF, line.Name), words.Copy
		shown = append(shown, line)
	}
	return shown
}

// Notices are what was told and can be dismissed: template "notices".
type Notices struct {
	Title, Dismiss string
	List           []Notice
}

// Notice is one of them.
type Notice struct {
	Kind    string // the colour's name
	Subject string // what it is about
	Text    *Sentence
	At      Instant
	Action  string // where the form that takes it away goes
	Name    string // of that form's button
}

// Progress is how far something is: template "progress". Without Max it is not
// known how much there is.
type Progress struct {
	ID, Name   string
	Value, Max int64
	Text       string // the same in words
}

// Option is a choice of a <select>.
type Option struct {
	Value, Name string
	Chosen      bool
}

// Languages are the choices of the language.
func (s Shell) Languages() []Option {
	var options []Option
	for _, l := range Languages() {
		options = append(options, Option{Value: string(l), Name: s.Words.LanguageNames[l], Chosen: l == s.Locale.Language})
	}
	return options
}

// Themes are the choices of colours.
func (s Shell) Themes() []Option {
	var options []Option
	for _, theme := range []string{"", "light", "dark"} {
		options = append(options, Option{Value: theme, Name: s.Words.ThemeNames[theme], Chosen: theme == s.Theme})
	}
	return options
}

// Email is the signed-in person's address.
func (s Shell) Email() string { return Visible(s.Member.Email) }

// ProjectName is a project's name as it is shown.
func (s Shell) ProjectName(p models.Project) string { return Visible(p.Name) }

// ModeWord is the project's environment.
func (s Shell) ModeWord() string { return Word(s.Words.Modes, s.Member.Project.Mode) }

// PlanWord is the project's plan.
func (s Shell) PlanWord() string { return Word(s.Words.Plans, s.Member.Project.PlanID) }
