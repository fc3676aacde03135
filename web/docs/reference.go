package docs

import (
	"fmt"
	"html/template"
	"slices"
	"strings"
)

// slugReference is the first page of the reference; each tag has one under it.
const slugReference = "api"

// operation is one method of one path.
type operation struct {
	ID, Method, Path, Summary string
	Tag                       string
	Description               template.HTML
	Parameters                []parameter
	Body                      *body
	Answers                   []answer
	Refusals                  []answer
	Example                   template.HTML // with curl
}

// parameter is what stands in the path, the query or a header.
type parameter struct {
	Name, In, Type, Bounds, Example string
	Required                        bool
	Description                     template.HTML
}

// body is what is sent, or what comes back.
type body struct {
	Description template.HTML
	Contents    []content
}

// content is a body of one media type.
type content struct {
	Type     string
	Schema   schema
	Examples []example
}

type example struct {
	Summary string
	Code    template.HTML
}

// answer is what one status means.
type answer struct {
	Status      string
	Description template.HTML
	Headers     []parameter
	Contents    []content
	Codes       []string // of the errors that come with it
}

// tag is a group of operations and the page that shows it.
type tag struct {
	Name, Slug  string
	Description template.HTML
	Operations  []operation
}

// builder makes the pages of the reference in one language's frame. Its texts
// are those of the description, which are English.
type builder struct {
	base string
	lang language
	spec *spec
	text *markdown
	err  error // the first one
}

// reference is the API's description as pages: an overview and one a tag.
func reference(base string, lang language) ([]page, error) {
	described, err := readSpec()
	if err != nil {
		return nil, err
	}
	b := &builder{base: base, lang: lang, spec: described, text: newMarkdown(lang, false)}
	tags := b.tags()
	if b.err != nil {
		return nil, b.err
	}
	overview, err := b.overview(tags)
	pages := []page{overview}
	for _, t := range tags {
		p, failed := b.tagPage(t)
		if err == nil {
			err = failed
		}
		pages = append(pages, p)
	}
	return pages, err
}

// overview is the description's own introduction and the list of operations.
func (b *builder) overview(tags []tag) (page, error) {
	intro, toc, err := b.text.render(withIDs(b.spec.root.at("info", "description").text()))
	if err != nil {
		return page{}, err
	}
	html, err := execute("api.html", b.lang, struct {
		Intro template.HTML
		Tags  []tag
	}{intro, tags})
	return page{
		Slug: slugReference, Title: "API reference", Foreign: true, Body: html,
		Toc:     append(toc, heading{ID: "operations", Text: "Operations"}),
		Summary: "Every operation of the BOTIX API: parameters, bodies, answers, errors and examples.",
	}, err
}

func (b *builder) tagPage(t tag) (page, error) {
	html, err := execute("api_tag.html", b.lang, t)
	var toc []heading
	for _, o := range t.Operations {
		toc = append(toc, heading{ID: o.ID, Text: o.Summary})
	}
	return page{
		Slug: t.Slug, Title: t.Name, Foreign: true, Body: html, Toc: toc, Group: slugReference,
		Summary: t.Name + " in the BOTIX API: " + fmt.Sprint(len(toc)) + " operations with their parameters, bodies, answers and errors.",
	}, err
}

// withIDs gives the headings of a description the ids that ours must have.
func withIDs(text string) []byte {
	lines := strings.Split(text, "\n")
	for i, line := range lines {
		if title, found := strings.CutPrefix(line, "## "); found {
			lines[i] = line + " {#" + slugOf(title) + "}"
		}
	}
	return []byte(strings.Join(lines, "\n"))
}

func slugOf(title string) string { return strings.ReplaceAll(strings.ToLower(title), " ", "-") }

// tags are the groups in their order, each with its operations in theirs.
func (b *builder) tags() []tag {
	var tags []tag
	for _, t := range b.spec.root.at("tags").items() {
		name := t.at("name").text()
		tags = append(tags, tag{Name: name, Slug: slugReference + "/" + slugOf(name), Description: b.html(t.at("description"))})
	}
	for _, path := range b.spec.root.at("paths").members() {
		for _, method := range path.Value.members() {
			if !method.Value.at("operationId").there() {
				continue
			}
			o := b.operation(strings.ToUpper(method.Name), path.Name, method.Value, path.Value)
			at := slices.IndexFunc(tags, func(t tag) bool { return t.Name == o.Tag })
			if at < 0 {
				b.fail(fmt.Errorf("%s has the tag %q, which is not described", o.ID, o.Tag))
				continue
			}
			tags[at].Operations = append(tags[at].Operations, o)
		}
	}
	return tags
}

func (b *builder) fail(err error) {
	if b.err == nil {
		b.err = err
	}
}

// html renders a description.
func (b *builder) html(description node) template.HTML {
	html, _, err := b.text.render([]byte(description.text()))
	if err != nil {
		b.fail(err)
	}
	return html
}

func (b *builder) operation(method, path string, n, parent node) operation {
	o := operation{
		ID: n.at("operationId").text(), Method: method, Path: path, Summary: n.at("summary").text(), Description: b.html(n.at("description")),
	}
	if tags := n.at("tags").texts(); len(tags) > 0 {
		o.Tag = tags[0]
	}
	for _, p := range append(parent.at("parameters").items(), n.at("parameters").items()...) {
		o.Parameters = append(o.Parameters, b.parameter(p.at("name").text(), p))
	}
	if request := n.at("requestBody"); request.there() {
		o.Body = &body{Description: b.html(request.at("description")), Contents: b.contents(request)}
	}
	for _, response := range n.at("responses").members() {
		a := b.answer(response.Name, response.Value)
		if len(a.Codes) > 0 {
			o.Refusals = append(o.Refusals, a)
		} else {
			o.Answers = append(o.Answers, a)
		}
	}
	o.Example = codeBlock(b.lang, "sh", o.ID+".sh", b.curl(o, n))
	return o
}

func (b *builder) parameter(name string, p node) parameter {
	s := p.at("schema")
	return parameter{
		Name: name, In: p.at("in").text(), Required: p.at("required").yes(), Type: typeOf(s), Bounds: bounds(s),
		Description: b.html(p.at("description")), Example: p.at("example").text(),
	}
}

func (b *builder) contents(of node) []content {
	var list []content
	for _, m := range of.at("content").members() {
		c := content{Type: m.Name, Schema: b.schema("", m.Value.at("schema"), nil)}
		for _, e := range m.Value.at("examples").members() {
			value := e.Value.at("value")
			if !value.there() {
				continue
			}
			summary := e.Value.at("summary").text()
			c.Examples = append(c.Examples, example{Summary: summary, Code: codeBlock(b.lang, "json", summary, value.example())})
		}
		list = append(list, c)
	}
	return list
}

// answer of an error has the codes of its examples, which lead to the page of
// error codes instead of repeating one shape on every page.
func (b *builder) answer(status string, n node) answer {
	a := answer{Status: status, Description: b.html(n.at("description"))}
	for _, e := range n.at("content", "application/problem+json", "examples").members() {
		if code := e.Value.at("value", "code").text(); !slices.Contains(a.Codes, code) {
			a.Codes = append(a.Codes, code)
		}
	}
	if len(a.Codes) > 0 {
		return a
	}
	for _, h := range n.at("headers").members() {
		a.Headers = append(a.Headers, b.parameter(h.Name, h.Value))
	}
	a.Contents = b.contents(n)
	return a
}

// curl is the operation as a command, with the description's own examples.
func (b *builder) curl(o operation, n node) string {
	path := o.Path
	lines := []string{""}
	for _, p := range o.Parameters {
		switch {
		case p.In == "path":
			path = strings.ReplaceAll(path, "{"+p.Name+"}", p.Example)
		case p.Name == "Idempotency-Key":
			lines = append(lines, `--header "Idempotency-Key: $(uuidgen)"`)
		case p.In == "header" && p.Required:
			lines = append(lines, `--header '`+p.Name+": "+p.Example+`'`)
		}
	}
	if security := n.at("security"); !security.there() || len(security.items()) > 0 {
		lines = append(lines[:1], append([]string{`--header "Authorization: Bearer $BOTIX_API_KEY"`}, lines[1:]...)...)
	}
	if o.Body != nil {
		lines = append(lines, bodyOf(n)...)
	}
	lines[0] = "curl --include "
	if o.Method != "GET" && o.Method != "POST" {
		lines[0] += "--request " + o.Method + " "
	} else if o.Method == "POST" && o.Body == nil {
		lines[0] += "--request POST "
	}
	lines[0] += `"` + b.base + path + `"`
	return strings.Join(lines, " \\\n  ")
}

// bodyOf is the first example of what an operation is sent.
func bodyOf(n node) []string {
	for _, m := range n.at("requestBody", "content").members() {
		for _, e := range m.Value.at("examples").members() {
			data := strings.ReplaceAll(e.Value.at("value").example(), "'", `'\''`)
			return []string{`--header 'Content-Type: ` + m.Name + `'`, `--data-binary '` + data + `'`}
		}
	}
	return nil
}
