package docs

import (
	"bytes"
	"fmt"
	"html/template"
	"strings"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	extast "github.com/yuin/goldmark/extension/ast"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/renderer"
	"github.com/yuin/goldmark/renderer/html"
	"github.com/yuin/goldmark/text"
	"github.com/yuin/goldmark/util"
)

// priority is above goldmark's own renderers.
const priority = 100

// markdown renders Markdown the way our pages need it: headings that link to
// themselves, tables and code that scroll inside the page and have a name, and
// links that stay in the page's language.
type markdown struct {
	lang   language
	engine goldmark.Markdown
}

// newMarkdown trusts the texts of this package to hold HTML, and nobody else's.
func newMarkdown(lang language, trusted bool) *markdown {
	m := &markdown{lang: lang}
	own := []renderer.Option{renderer.WithNodeRenderers(util.Prioritized(m, priority))}
	if trusted {
		own = append(own, html.WithUnsafe())
	}
	m.engine = goldmark.New(
		goldmark.WithExtensions(extension.Table),
		goldmark.WithParserOptions(parser.WithHeadingAttribute()),
		goldmark.WithRendererOptions(own...),
	)
	return m
}

// render returns the HTML and the headings of the second level.
func (m *markdown) render(source []byte) (template.HTML, []heading, error) {
	document := m.engine.Parser().Parse(text.NewReader(source))
	toc, err := m.prepare(document, source)
	if err != nil {
		return "", nil, err
	}
	var out bytes.Buffer
	if err := m.engine.Renderer().Render(&out, source, document); err != nil {
		return "", nil, fmt.Errorf("render Markdown: %w", err)
	}
	return template.HTML(out.String()), toc, nil //nolint:gosec // goldmark escapes what is not ours
}

// prepare gives tables the name of their section and links their language.
func (m *markdown) prepare(document ast.Node, source []byte) ([]heading, error) {
	var toc []heading
	section := ""
	err := ast.Walk(document, func(node ast.Node, entering bool) (ast.WalkStatus, error) {
		if !entering {
			return ast.WalkContinue, nil
		}
		switch n := node.(type) {
		case *ast.Heading:
			section = plain(n, source)
			id, found := n.AttributeString("id")
			if !found {
				return ast.WalkStop, fmt.Errorf("the heading %q has no {#id}", section)
			}
			if n.Level == 2 {
				toc = append(toc, heading{ID: asText(id), Text: section})
			}
		case *extast.Table:
			n.SetAttributeString("name", section)
			label(n, source)
		case *ast.Link:
			if dest := string(n.Destination); dest == pathRoot || strings.HasPrefix(dest, pathRoot+"/") {
				n.Destination = []byte(m.lang.prefix() + dest)
			}
		}
		return ast.WalkContinue, nil
	})
	return toc, err
}

// label gives each cell its column's name, which narrow windows show where a
// wide table becomes cards. The roles keep it a table for screen readers then.
func label(table *extast.Table, source []byte) {
	var columns []string
	for row := table.FirstChild(); row != nil; row = row.NextSibling() {
		if row.Kind() == extast.KindTableHeader {
			for cell := row.FirstChild(); cell != nil; cell = cell.NextSibling() {
				columns = append(columns, plain(cell, source))
			}
			continue
		}
		row.SetAttributeString("role", "row")
		at := 0
		for cell := row.FirstChild(); cell != nil; cell = cell.NextSibling() {
			cell.SetAttributeString("role", "cell")
			cell.SetAttributeString("data-label", template.HTMLEscapeString(columns[at]))
			at++
		}
	}
}

// RegisterFuncs implements [renderer.NodeRenderer].
func (m *markdown) RegisterFuncs(r renderer.NodeRendererFuncRegisterer) {
	r.Register(ast.KindHeading, m.heading)
	r.Register(ast.KindFencedCodeBlock, m.code)
	r.Register(extast.KindTable, m.table)
}

func (m *markdown) heading(w util.BufWriter, _ []byte, node ast.Node, entering bool) (ast.WalkStatus, error) {
	n := node.(*ast.Heading) //nolint:forcetypeassert // registered for this kind
	id, _ := n.AttributeString("id")
	if entering {
		_, _ = fmt.Fprintf(w, `<h%d id="%s"><a href="#%s">`, n.Level, asText(id), asText(id))
	} else {
		_, _ = fmt.Fprintf(w, "</a></h%d>\n", n.Level)
	}
	return ast.WalkContinue, nil
}

func (m *markdown) table(w util.BufWriter, _ []byte, node ast.Node, entering bool) (ast.WalkStatus, error) {
	if entering {
		name, _ := node.AttributeString("name")
		_, _ = fmt.Fprintf(w, `<div class="scroll" role="region" tabindex="0" aria-label="%s: %s"><table role="table">`+"\n",
			m.lang.words().Table, template.HTMLEscapeString(asText(name)))
	} else {
		_, _ = w.WriteString("</table></div>\n")
	}
	return ast.WalkContinue, nil
}

// code shows a block under the name of its file: the second word of "```sh a.sh".
func (m *markdown) code(w util.BufWriter, source []byte, node ast.Node, entering bool) (ast.WalkStatus, error) {
	if !entering {
		return ast.WalkContinue, nil
	}
	n := node.(*ast.FencedCodeBlock) //nolint:forcetypeassert // registered for this kind
	info := ""
	if n.Info != nil {
		info = string(n.Info.Segment.Value(source))
	}
	kind, name, _ := strings.Cut(info, " ")
	var body strings.Builder
	for i := range n.Lines().Len() {
		line := n.Lines().At(i)
		body.Write(line.Value(source))
	}
	_, _ = w.WriteString(string(codeBlock(m.lang, kind, name, body.String())))
	return ast.WalkSkipChildren, nil
}

// codeBlock is a block of code with its name and, by script, a button that
// copies it. The name tells apart what a screen reader reads.
func codeBlock(lang language, kind, name, body string) template.HTML {
	words := lang.words()
	label := strings.TrimSpace(words.Code + ": " + name)
	if name == "" {
		label = words.Code + ": " + firstLine(body)
	}
	escape := template.HTMLEscapeString
	return template.HTML(`<figure class="code" data-copy="` + words.Copy + `" data-copied="` + words.Copied + `">` + //nolint:gosec // escaped here
		`<figcaption>` + escape(name) + `</figcaption>` +
		`<pre tabindex="0" role="region" aria-label="` + escape(label) + `"><code class="` + escape(kind) + `" lang="en">` +
		escape(body) + "</code></pre></figure>\n")
}

func firstLine(body string) string {
	const most = 60
	line, _, _ := strings.Cut(body, "\n")
	if runes := []rune(line); len(runes) > most {
		return string(runes[:most]) + "…"
	}
	return line
}

// plain is the text of a node without its markup.
func plain(node ast.Node, source []byte) string {
	var out strings.Builder
	for child := node.FirstChild(); child != nil; child = child.NextSibling() {
		if segment, ok := child.(*ast.Text); ok {
			out.Write(segment.Value(source))
			continue
		}
		out.WriteString(plain(child, source))
	}
	return out.String()
}

// asText is the value of an attribute: goldmark keeps bytes or a string.
func asText(value any) string {
	if bytes, ok := value.([]byte); ok {
		return string(bytes)
	}
	return fmt.Sprint(value)
}
