package docs

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/botix-pro/platform/api"
)

// spec is openapi.yaml as a tree, in the order in which it is written.
type spec struct{ root node }

// node is a place in the tree with its references followed. The zero node is
// one that is not there; its texts are empty and it has no children.
type node struct {
	yaml *yaml.Node
	spec *spec
	name string // the last word of the reference that led here, "ContactID"
}

// member is a name and its value.
type member struct {
	Name  string
	Value node
}

func readSpec() (*spec, error) {
	var document yaml.Node
	if err := yaml.Unmarshal(api.Spec, &document); err != nil {
		return nil, fmt.Errorf("read the API's description: %w", err)
	}
	s := &spec{}
	s.root = node{yaml: document.Content[0], spec: s}
	return s, nil
}

// at follows names into the tree.
func (n node) at(names ...string) node {
	for _, name := range names {
		n = n.child(name)
	}
	return n
}

func (n node) child(name string) node {
	for _, m := range n.members() {
		if m.Name == name {
			return m.Value
		}
	}
	return node{}
}

// members are the entries of a mapping in their order.
func (n node) members() []member {
	if n.yaml == nil || n.yaml.Kind != yaml.MappingNode {
		return nil
	}
	var list []member
	for i := 0; i+1 < len(n.yaml.Content); i += 2 {
		list = append(list, member{Name: n.yaml.Content[i].Value, Value: n.follow(n.yaml.Content[i+1])})
	}
	return list
}

// items are the elements of a sequence.
func (n node) items() []node {
	if n.yaml == nil || n.yaml.Kind != yaml.SequenceNode {
		return nil
	}
	var list []node
	for _, item := range n.yaml.Content {
		list = append(list, n.follow(item))
	}
	return list
}

// follow goes where a $ref points; one that points nowhere is empty.
func (n node) follow(to *yaml.Node) node {
	if to.Kind == yaml.AliasNode {
		to = to.Alias
	}
	found := node{yaml: to, spec: n.spec}
	if to.Kind != yaml.MappingNode || len(to.Content) < 2 || to.Content[0].Value != "$ref" {
		return found
	}
	names := strings.Split(strings.TrimPrefix(to.Content[1].Value, "#/"), "/")
	found = n.spec.root.at(names...)
	found.name = names[len(names)-1]
	return found
}

// text is a scalar as it is written.
func (n node) text() string {
	if n.yaml == nil || n.yaml.Kind != yaml.ScalarNode {
		return ""
	}
	return n.yaml.Value
}

func (n node) yes() bool { return n.text() == "true" }

func (n node) there() bool { return n.yaml != nil }

// texts are the scalars of a sequence, or the one that stands in its place.
func (n node) texts() []string {
	if text := n.text(); text != "" {
		return []string{text}
	}
	var list []string
	for _, item := range n.items() {
		list = append(list, item.text())
	}
	return list
}

// example is a value as it goes over the wire: text as it is, everything else
// as JSON in the order in which it is written.
func (n node) example() string {
	if n.yaml.Kind == yaml.ScalarNode && n.yaml.Tag == "!!str" {
		return n.yaml.Value
	}
	var compact, out bytes.Buffer
	n.writeJSON(&compact)
	if json.Indent(&out, compact.Bytes(), "", "  ") != nil {
		return compact.String()
	}
	return out.String()
}

func (n node) writeJSON(out *bytes.Buffer) {
	switch n.yaml.Kind {
	case yaml.MappingNode:
		separator := "{"
		for _, m := range n.members() {
			out.WriteString(separator)
			writeJSONText(out, m.Name)
			out.WriteByte(':')
			m.Value.writeJSON(out)
			separator = ","
		}
		out.WriteString(strings.TrimPrefix(separator+"}", ","))
	case yaml.SequenceNode:
		separator := "["
		for _, item := range n.items() {
			out.WriteString(separator)
			item.writeJSON(out)
			separator = ","
		}
		out.WriteString(strings.TrimPrefix(separator+"]", ","))
	default:
		if n.yaml.Tag == "!!str" || n.yaml.Tag == "!!timestamp" {
			writeJSONText(out, n.yaml.Value)
			return
		}
		out.WriteString(n.yaml.Value)
	}
}

func writeJSONText(out *bytes.Buffer, text string) {
	encoder := json.NewEncoder(out)
	encoder.SetEscapeHTML(false)
	_ = encoder.Encode(text) // text into memory cannot fail
	out.Truncate(out.Len() - 1)
}
