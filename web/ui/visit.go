package ui

import (
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"time"

	"github.com/botix-pro/platform/app/models"
)

// Visit is one request for a page.
type Visit struct {
	*http.Request
	Locale Locale
	Now    time.Time
	Member *Member // nil: nobody is signed in

	// Frame is what the page will stand in. The dashboard fills it in; a page
	// takes it by [Visit.Shell].
	Frame Frame
}

// Frame is what is the same for all pages of a visit.
type Frame struct {
	Assets string        // the static files' path, with its last slash
	Theme  string        // "", "light" or "dark"
	Notice func() string // what the request before has done, said once; may be nil
}

// Shell is what a page's view embeds: all that the layout shows around it.
type Shell struct {
	Words  *Words
	Locale Locale
	Now    time.Time
	Title  string
	Assets string
	Theme  string
	Here   string // this page's address, to come back to
	Notice string
	Member *Member // nil: nobody is signed in
	Nav    []NavGroup
	Once   string // for a form that acts once, see [FieldOnce]
	Charts bool   // the page draws charts: their script and styles are needed
}

// Shell makes the frame of a whole page. active is the key of the page's place
// in the navigation, see nav.go; it may be empty.
func (v *Visit) Shell(title, active string) Shell {
	shell := Shell{
		Words: WordsIn(v.Locale.Language), Locale: v.Locale, Now: v.Now, Title: title,
		Assets: v.Frame.Assets, Theme: v.Frame.Theme, Here: v.URL.RequestURI(), Member: v.Member, Once: v.Once(),
	}
	if v.Method != http.MethodGet && v.Method != http.MethodHead {
		shell.Here = Root
	}
	if v.Frame.Notice != nil {
		shell.Notice = v.Frame.Notice()
	}
	if v.Member != nil {
		shell.Nav = navigation(v, active)
	}
	return shell
}

// Updated is the sentence that says when the page was made.
func (s Shell) Updated() *Sentence { return s.Locale.At(s.Words.Updated, s.Now) }

// ZoneNote says once in which zone times are written.
func (s Shell) ZoneNote() string {
	return fmt.Sprintf(s.Words.TimesInF, s.Locale.ZoneName(s.Now))
}

// MaxFormBytes bounds a posted form.
const MaxFormBytes = 256 << 10

// ErrForm says that what was posted is no form, or too large.
var ErrForm = errors.New("the form cannot be read")

// Form reads a posted form, or returns [ErrForm].
func (v *Visit) Form() (url.Values, error) {
	v.Body = http.MaxBytesReader(nil, v.Body, MaxFormBytes)
	if err := v.ParseForm(); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrForm, err)
	}
	return v.PostForm, nil
}

// FieldOnce is the hidden field by which a form that is sent twice, by a double
// click or a repeat after a lost answer, is known to be the same.
const FieldOnce = "once"

// Once is a fresh mark for [FieldOnce].
func (v *Visit) Once() string { return models.NewID("", v.Now) }

// once is the mark of the form that was posted, nil when it has none.
func (v *Visit) once() *string {
	mark := v.PostForm.Get(FieldOnce)
	if !models.ValidID("", mark) {
		return nil
	}
	return &mark
}

// Partial reports whether the script asks for a part of a page.
func (v *Visit) Partial() bool {
	return v.Header.Get("X-Part") != "" || v.Header.Get("Hx-Request") != "" || v.Header.Get("Sec-Fetch-Mode") == "cors"
}
