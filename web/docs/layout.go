package docs

import (
	"bytes"
	"embed"
	"fmt"
	"html/template"
)

// slugMissing is the page for what is not there: no address leads to it.
const slugMissing = "404"

//go:embed pages
var pageFiles embed.FS

// layout is what stands around the pages of one language.
type layout struct {
	base     string
	lang     language
	pages    []page
	template *template.Template
}

func newLayout(base string, lang language, pages []page) (*layout, error) {
	parsed, err := template.ParseFS(pageFiles, "pages/layout.html")
	if err != nil {
		return nil, fmt.Errorf("parse the layout: %w", err)
	}
	return &layout{base: base, lang: lang, pages: pages, template: parsed}, nil
}

// view is what the layout shows.
type view struct {
	Base      string
	Lang      language
	Words     *words
	Page      page
	Path      string
	Default   string // the page's address in the first language
	Home      string
	Known     bool // the page has an address of its own
	Foreign   bool // the page is not in the reader's language
	Languages []otherLanguage
	Nav       []navItem
}

// otherLanguage is the same page in a language.
type otherLanguage struct {
	Lang       language
	Name, Path string
}

// navItem is a page in the navigation, with those under it.
type navItem struct {
	Path, Title      string
	Current, Foreign bool
	English          bool // its title is not in the language of the page
	Items            []navItem
}

// render is a whole page.
func (l *layout) render(p page) ([]byte, error) {
	v := view{
		Base: l.base, Lang: l.lang, Words: l.lang.words(), Page: p, Path: l.lang.path(p.Slug), Home: l.lang.path(""),
		Default: english.path(p.Slug), Known: p.Slug != slugMissing, Foreign: p.Foreign && l.lang != english, Nav: l.nav(p),
	}
	for _, lang := range languages() {
		path := lang.path(p.Slug)
		if !v.Known {
			path = lang.path("")
		}
		v.Languages = append(v.Languages, otherLanguage{Lang: lang, Name: lang.words().Name, Path: path})
	}
	var out bytes.Buffer
	if err := l.template.Execute(&out, v); err != nil {
		return nil, fmt.Errorf("execute the layout: %w", err)
	}
	return out.Bytes(), nil
}

// nav is the navigation as one page shows it: pages of a group only while the
// reader is in it.
func (l *layout) nav(current page) []navItem {
	var items []navItem
	for _, p := range l.pages {
		item := navItem{Path: l.lang.path(p.Slug), Title: p.Title, Current: p.Slug == current.Slug, Foreign: p.Foreign}
		if title := l.lang.words().Titles[p.Slug]; title != "" {
			item.Title = title
		} else {
			item.English = p.Foreign && l.lang != english
		}
		if p.Group == "" {
			items = append(items, item)
			continue
		}
		if open := current.Group == p.Group || current.Slug == p.Group; open {
			parent := &items[len(items)-1]
			parent.Items = append(parent.Items, item)
		}
	}
	return items
}

// missing is the text of the page for what is not there.
func (l *layout) missing() template.HTML {
	words := l.lang.words()
	return template.HTML("<p>" + template.HTMLEscapeString(words.MissingIs) + ` <a href="` + l.lang.path("") + `">` + //nolint:gosec // escaped, or ours
		template.HTMLEscapeString(words.Docs) + "</a></p>")
}

// execute renders one of the pages that are templates.
func execute(name string, lang language, content any) (template.HTML, error) {
	parsed, err := template.New(name).Funcs(template.FuncMap{
		"outcome": outcome, "path": lang.path,
		"code": func(kind, name, body string) template.HTML { return codeBlock(lang, kind, name, body) },
	}).ParseFS(pageFiles, "pages/"+name)
	if err != nil {
		return "", fmt.Errorf("parse %s: %w", name, err)
	}
	var out bytes.Buffer
	if err := parsed.Execute(&out, content); err != nil {
		return "", fmt.Errorf("execute %s: %w", name, err)
	}
	return template.HTML(out.String()), nil //nolint:gosec // html/template escaped it
}
