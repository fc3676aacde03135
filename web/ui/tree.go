package ui

import (
	"bytes"
	"fmt"

	"github.com/go-json-experiment/json/jsontext"
)

// A JSON text with more values, or nested deeper, is not shown as a tree.
const (
	maxTreeNodes = 2000
	maxTreeDepth = maxIndentDepth
)

// Tree is a value of a JSON text with those inside it: template "tree".
type Tree struct {
	Name   string // of the member, or its place in an array; empty: the whole
	Value  string // as it was written; empty for an object or an array
	Size   string // of an object "{2}", of an array "[2]"
	Inside []Tree
}

// ShowTree reads an object or an array from outside, and returns nil for anything
// else and for what is too large. Numbers and the order of members stay as they
// were written.
func ShowTree(raw []byte) *Tree {
	reader := treeReader{decoder: jsontext.NewDecoder(bytes.NewReader(raw), jsontext.AllowDuplicateNames(true))}
	switch reader.decoder.PeekKind() {
	case '{', '[':
	default:
		return nil
	}
	tree, ok := reader.read("")
	if !ok || len(bytes.TrimSpace(raw[reader.decoder.InputOffset():])) > 0 {
		return nil
	}
	return &tree
}

type treeReader struct {
	decoder *jsontext.Decoder
	nodes   int
}

// read reads one value; ok is false where that cannot be shown.
func (r *treeReader) read(name string) (tree Tree, ok bool) {
	if r.nodes++; r.nodes > maxTreeNodes || r.decoder.StackDepth() > maxTreeDepth {
		return tree, false
	}
	tree.Name = Visible(name)
	switch r.decoder.PeekKind() {
	case '{':
		return r.inside(tree, "{%d}", func(int) (string, bool) {
			token, err := r.decoder.ReadToken()
			if err != nil {
				return "", false
			}
			return token.String(), true
		})
	case '[':
		return r.inside(tree, "[%d]", func(i int) (string, bool) { return fmt.Sprint(i), true })
	default:
		value, err := r.decoder.ReadValue()
		tree.Value = Visible(string(value))
		return tree, err == nil
	}
}

// inside reads what is in an object or an array; name says what each is called.
func (r *treeReader) inside(tree Tree, size string, name func(int) (string, bool)) (Tree, bool) {
	if _, err := r.decoder.ReadToken(); err != nil {
		return tree, false
	}
	for kind := r.decoder.PeekKind(); kind != '}' && kind != ']'; kind = r.decoder.PeekKind() {
		called, ok := name(len(tree.Inside))
		if !ok {
			return tree, false
		}
		child, ok := r.read(called)
		if !ok {
			return tree, false
		}
		tree.Inside = append(tree.Inside, child)
	}
	tree.Size = fmt.Sprintf(size, len(tree.Inside))
	_, err := r.decoder.ReadToken()
	return tree, err == nil
}
