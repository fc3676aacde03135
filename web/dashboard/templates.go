package dashboard

import (
	"bytes"
	"embed"
	"fmt"
	"html/template"
	"net/http"
)

//go:embed templates
var templateFiles embed.FS

// templates holds every page, parsed. All pages share the layout and the parts.
type templates struct{ pages map[string]*template.Template }

func parseTemplates() (*templates, error) {
	parsed := &templates{pages: map[string]*template.Template{}}
	for _, name := range []string{"signin", "deliveries", "attempt", "error"} {
		page, err := template.New(name).Option("missingkey=error").ParseFS(templateFiles,
			"templates/layout.html", "templates/parts.html", "templates/detail.html", "templates/"+name+".html")
		if err != nil {
			return nil, fmt.Errorf("parse the page %q: %w", name, err)
		}
		parsed.pages[name] = page
	}
	return parsed, nil
}

// render makes a whole page of a view.
func (t *templates) render(name string, status int, view any) (reply, error) {
	return t.execute(name, "layout", status, view)
}

// fragment makes one part of a page, to be put into it by the script.
func (t *templates) fragment(page, part string, view any) (reply, error) {
	return t.execute(page, part, http.StatusOK, view)
}

// execute renders into memory, so that a fault gives an error and not half a page.
func (t *templates) execute(page, part string, status int, view any) (reply, error) {
	var out bytes.Buffer
	if err := t.pages[page].ExecuteTemplate(&out, part, view); err != nil {
		return reply{}, fmt.Errorf("render the page %q: %w", page, err)
	}
	return reply{status: status, body: out.Bytes()}, nil
}

// shell is what every page has around its content.
type shell struct {
	Words  *messages
	Title  string
	Assets string      // the static files' path, with its last slash
	Member *memberView // nil: nobody is signed in
}

// memberView is the header's account part.
type memberView struct {
	Email, Project, Mode, ModeWord, Plan string
}

func (d *Dashboard) shell(title string, m *member) shell {
	s := shell{Words: d.words, Title: title, Assets: d.assets.prefix}
	if m != nil {
		s.Member = &memberView{
			Email: visible(m.Email), Project: visible(m.Project.Name), Mode: string(m.Project.Mode),
			ModeWord: word(d.words.Modes, m.Project.Mode), Plan: word(d.words.Plans, m.Project.PlanID),
		}
	}
	return s
}
