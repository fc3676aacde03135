package ui

import (
	"bytes"
	"embed"
	"fmt"
	"html/template"
	"io/fs"
	"net/http"
	"path"
	"strings"
)

//go:embed templates
var frameFiles embed.FS

// Views are the pages of a package, parsed, each with the layout, the shared
// parts and the package's own parts.
type Views struct{ pages map[string]*template.Template }

// ParseViews parses the folder templates of files. A file called *.part.html holds
// parts for all pages of the package; each other one is a page that defines
// "content", called by its name without .html.
func ParseViews(files fs.FS) (*Views, error) {
	base, err := template.New("").Option("missingkey=error").ParseFS(frameFiles, "templates/*.html")
	if err != nil {
		return nil, fmt.Errorf("parse the layout: %w", err)
	}
	parts, pages, err := templateNames(files)
	if err != nil {
		return nil, err
	}
	parsed := &Views{pages: make(map[string]*template.Template, len(pages))}
	for _, file := range pages {
		page, err := base.Clone()
		if err == nil {
			page, err = page.ParseFS(files, append(parts, file)...)
		}
		if err != nil {
			return nil, fmt.Errorf("parse the page %s: %w", file, err)
		}
		parsed.pages[strings.TrimSuffix(path.Base(file), ".html")] = page
	}
	return parsed, nil
}

func templateNames(files fs.FS) (parts, pages []string, err error) {
	all, err := fs.Glob(files, "templates/*.html")
	if err != nil {
		return nil, nil, fmt.Errorf("list the templates: %w", err)
	}
	for _, file := range all {
		if strings.HasSuffix(file, ".part.html") {
			parts = append(parts, file)
		} else {
			pages = append(pages, file)
		}
	}
	return parts, pages, nil
}

// Render makes a whole page of a view, which embeds a [Shell].
func (t *Views) Render(page string, status int, view any) (Reply, error) {
	return t.execute(page, "layout", status, view)
}

// Page is [Views.Render] with status 200.
func (t *Views) Page(page string, view any) (Reply, error) {
	return t.Render(page, http.StatusOK, view)
}

// Fragment makes one part of a page, to be put into it by the script.
func (t *Views) Fragment(page, part string, view any) (Reply, error) {
	return t.execute(page, part, http.StatusOK, view)
}

// execute renders into memory, so that a fault gives an error and not half a page.
func (t *Views) execute(page, part string, status int, view any) (Reply, error) {
	parsed, ok := t.pages[page]
	if !ok {
		return Reply{}, fmt.Errorf("there is no page %q", page)
	}
	var out bytes.Buffer
	if err := parsed.ExecuteTemplate(&out, part, view); err != nil {
		return Reply{}, fmt.Errorf("render the page %q: %w", page, err)
	}
	return Reply{Status: status, Body: out.Bytes()}, nil
}
