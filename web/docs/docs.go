// Package docs is the public documentation, rendered from what the code itself
// says, so that it cannot say anything else. It needs no session, runs no script
// and asks no other host for anything.
package docs

import (
	"bytes"
	_ "embed"
	"fmt"
	"html/template"
	"net/http"

	"github.com/labstack/echo/v4"

	"github.com/botix-pro/platform/app/models"
)

// Where the pages are (contract §8). Every error's type URL points to its own
// heading on the page about error codes.
const (
	pathRoot       = "/docs"
	pathErrorCodes = pathRoot + "/error-codes"
	pathChangelog  = pathRoot + "/changelog"
	pathStyle      = pathRoot + "/docs.css"
)

// policy lets a page load its stylesheet and nothing else.
const policy = "default-src 'none'; style-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

var (
	//go:embed layout.html
	layoutSource string
	//go:embed error_codes.html
	errorCodesSource string
	//go:embed changelog.html
	changelogSource string
	//go:embed docs.css
	style []byte
)

// Docs is the rendered pages. They are made once: they depend on nothing that
// changes while the program runs.
type Docs struct {
	rendered map[string][]byte // by path
}

// page is one page and what it is rendered from.
type page struct {
	Path, Title string
	source      string
	content     any
}

func pages() []page {
	return []page{
		{pathErrorCodes, "Error codes", errorCodesSource, byStatus(models.Catalogue())},
		{pathChangelog, "Changelog", changelogSource, models.Changelog()},
	}
}

// view is what the layout shows.
type view struct {
	page

	Style   string
	Pages   []page
	Content any
}

// statusGroup is the codes of one HTTP status.
type statusGroup struct {
	Status  int
	Text    string
	Entries []models.CatalogueEntry
}

// New renders the pages.
func New() (*Docs, error) {
	d := &Docs{rendered: map[string][]byte{}}
	for _, p := range pages() {
		html, err := render(p)
		if err != nil {
			return nil, fmt.Errorf("render the page %s: %w", p.Path, err)
		}
		d.rendered[p.Path] = html
	}
	return d, nil
}

func render(p page) ([]byte, error) {
	layout, err := template.New("layout").Funcs(template.FuncMap{"yes": yes, "outcome": outcome}).Parse(layoutSource)
	if err != nil {
		return nil, fmt.Errorf("parse the layout: %w", err)
	}
	if layout, err = layout.Parse(p.source); err != nil {
		return nil, fmt.Errorf("parse: %w", err)
	}
	var out bytes.Buffer
	if err := layout.Execute(&out, view{page: p, Style: pathStyle, Pages: pages(), Content: p.content}); err != nil {
		return nil, fmt.Errorf("execute: %w", err)
	}
	return out.Bytes(), nil
}

// Pages returns what answers GET and HEAD of each path.
func (d *Docs) Pages() map[string]echo.HandlerFunc {
	pages := map[string]echo.HandlerFunc{
		pathRoot:  headers(func(c echo.Context) error { return c.Redirect(http.StatusFound, pathErrorCodes) }),
		pathStyle: headers(func(c echo.Context) error { return c.Blob(http.StatusOK, "text/css; charset=utf-8", style) }),
	}
	for path, html := range d.rendered {
		pages[path] = headers(func(c echo.Context) error { return c.Blob(http.StatusOK, "text/html; charset=utf-8", html) })
	}
	return pages
}

func headers(next echo.HandlerFunc) echo.HandlerFunc {
	return func(c echo.Context) error {
		header := c.Response().Header()
		header.Set("Content-Security-Policy", policy)
		header.Set("X-Content-Type-Options", "nosniff")
		header.Set("Referrer-Policy", "no-referrer")
		header.Set("Cache-Control", "public, max-age=300")
		return next(c)
	}
}

// byStatus groups entries that are ordered by status.
func byStatus(entries []models.CatalogueEntry) []statusGroup {
	var groups []statusGroup
	for _, entry := range entries {
		if len(groups) == 0 || groups[len(groups)-1].Status != entry.Status {
			groups = append(groups, statusGroup{Status: entry.Status, Text: http.StatusText(entry.Status)})
		}
		last := &groups[len(groups)-1]
		last.Entries = append(last.Entries, entry)
	}
	return groups
}

func yes(b bool) string {
	if b {
		return "Yes"
	}
	return "No"
}

// outcome says in words whether anything was applied.
func outcome(o models.Outcome) string {
	switch o {
	case models.Applied:
		return "Yes, as the problem document says."
	case models.OutcomeUnknown:
		return "Not known yet."
	default:
		return "No, unless the problem document says otherwise."
	}
}
