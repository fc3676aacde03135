package docs

import (
	"fmt"
	"html/template"
	"net/http"
	"strings"

	"github.com/labstack/echo/v4"

	"github.com/botix-pro/platform/app/models"
)

// pathRoot is where the pages are (contract §8); other languages have their
// code before it. Every error's type URL points to its own heading on the page
// about error codes.
const pathRoot = "/docs"

// Docs is the rendered pages. They are made once: they depend on nothing that
// changes while the program runs.
type Docs struct {
	files   map[string]file     // by path
	missing map[language][]byte // the page for what is not there
}

// page is one page in one language.
type page struct {
	Slug    string // "" for the first page, "api/contacts"
	Title   string
	Summary string // a sentence for search engines
	Body    template.HTML
	Toc     []heading
	// Foreign: the page exists in English only and says so elsewhere.
	Foreign bool
	// Group is the slug of the page under which the navigation shows this one.
	Group string
}

// heading is a place on a page.
type heading struct{ ID, Text string }

// New renders the pages of a platform that answers at publicURL.
func New(publicURL string) (*Docs, error) {
	base := strings.TrimSuffix(publicURL, "/")
	d := &Docs{files: map[string]file{}, missing: map[language][]byte{}}
	for _, lang := range languages() {
		if err := d.add(base, lang); err != nil {
			return nil, fmt.Errorf("render the documentation in %s: %w", lang, err)
		}
	}
	return d, d.addData(base)
}

// add renders the pages of one language.
func (d *Docs) add(base string, lang language) error {
	pages, err := pagesIn(base, lang)
	if err != nil {
		return err
	}
	set, err := newLayout(base, lang, pages)
	if err != nil {
		return err
	}
	for _, p := range pages {
		html, err := set.render(p)
		if err != nil {
			return fmt.Errorf("page %q: %w", p.Slug, err)
		}
		d.files[lang.path(p.Slug)] = newFile(typeHTML, html)
	}
	d.missing[lang], err = set.render(page{Title: lang.words().Missing, Body: set.missing(), Slug: slugMissing})
	return err
}

// addData adds what is the same in every language.
func (d *Docs) addData(base string) error {
	feed, err := atomFeed(base, models.Changelog())
	if err != nil {
		return err
	}
	card, err := cardJSON(base)
	if err != nil {
		return err
	}
	d.files[pathFeed] = newFile("application/atom+xml; charset=utf-8", feed)
	d.files[pathCard] = newFile("application/json", card)
	for path, static := range statics() {
		d.files[path] = static
	}
	return nil
}

// pagesIn returns the pages of a language in the order of the navigation.
func pagesIn(base string, lang language) ([]page, error) {
	var pages []page
	for _, slug := range guideSlugs() {
		p, err := guide(base, lang, slug)
		if err != nil {
			return nil, fmt.Errorf("guide %q: %w", slug, err)
		}
		pages = append(pages, p)
	}
	for _, make := range []func(string, language) ([]page, error){errorCodes, changelog, reference} {
		more, err := make(base, lang)
		if err != nil {
			return nil, err
		}
		pages = append(pages, more...)
	}
	return pages, nil
}

// Pages returns what answers GET and HEAD of each path, and of all that is missing
// under them.
func (d *Docs) Pages() map[string]echo.HandlerFunc {
	pages := map[string]echo.HandlerFunc{}
	for path, f := range d.files {
		pages[path] = headers(f.serve)
	}
	for _, lang := range languages() {
		pages[lang.path("")+"/*"] = headers(d.absent(lang))
	}
	return pages
}

// absent answers for what is not there: a page's path with a slash behind it leads
// to the page.
func (d *Docs) absent(lang language) echo.HandlerFunc {
	html := d.missing[lang]
	return func(c echo.Context) error {
		if path := strings.TrimRight(c.Request().URL.Path, "/"); path != c.Request().URL.Path && d.files[path].body != nil {
			return c.Redirect(http.StatusMovedPermanently, path)
		}
		return c.Blob(http.StatusNotFound, typeHTML, html)
	}
}
