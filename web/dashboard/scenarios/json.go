package scenarios

import (
	"bytes"
	"errors"
	"io"
	"regexp"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
)

// masked stands in place of the values of headers, which are often secrets.
const masked = "•••"

var headerValue = regexp.MustCompile(`^/[0-9]+/headers/[^/]+$`)

// shown is a definition for people: indented, its headers' values hidden.
func shown(steps []byte) string {
	decoder := jsontext.NewDecoder(bytes.NewReader(steps))
	var out bytes.Buffer
	encoder := jsontext.NewEncoder(&out, jsontext.WithIndent("  "))
	for {
		token, err := decoder.ReadToken()
		if errors.Is(err, io.EOF) {
			return strings.TrimSpace(out.String())
		}
		if err != nil {
			return ""
		}
		if kind, n := decoder.StackIndex(decoder.StackDepth()); kind == '{' && n%2 == 0 && headerValue.MatchString(string(decoder.StackPointer())) {
			token = jsontext.String(masked)
		}
		if err := encoder.WriteToken(token); err != nil {
			return ""
		}
	}
}

// indented is JSON for people to change, its numbers as they were written.
func indented(raw []byte) string {
	value := jsontext.Value(raw).Clone()
	if err := value.Indent(jsontext.CanonicalizeRawInts(false), jsontext.WithIndent("  ")); err != nil {
		return string(raw)
	}
	return string(value)
}

// syntaxError finds where a text stops being JSON; ok is false where it does not.
func syntaxError(text string) (line, column int, ok bool) {
	decoder := jsontext.NewDecoder(strings.NewReader(text))
	var syntactic *jsontext.SyntacticError
	for {
		_, err := decoder.ReadToken()
		switch {
		case errors.As(err, &syntactic):
			line, column = lineAt(text, int(syntactic.ByteOffset))
			return line, column, true
		case errors.Is(err, io.EOF):
			return 0, 0, false
		case err != nil:
			line, column = lineAt(text, len(text))
			return line, column, true
		}
	}
}

// lineAt is the line and the column of a byte of a text, from 1.
func lineAt(text string, offset int) (line, column int) {
	before := text[:min(max(offset, 0), len(text))]
	return strings.Count(before, "\n") + 1, len([]rune(before[strings.LastIndexByte(before, '\n')+1:])) + 1
}

// lineOf is the line of what a pointer means in a JSON text, or of what is around
// it where that is not there.
func lineOf(text, pointer string) int {
	lines := map[string]int{}
	decoder := jsontext.NewDecoder(strings.NewReader(text))
	for {
		if _, err := decoder.ReadToken(); err != nil {
			break
		}
		at := string(decoder.StackPointer())
		if _, known := lines[at]; !known {
			lines[at], _ = lineAt(text, int(decoder.InputOffset()))
		}
	}
	for pointer != "" {
		if line, known := lines[pointer]; known {
			return line
		}
		pointer = pointer[:max(strings.LastIndexByte(pointer, '/'), 0)]
	}
	return 1
}
