package ui

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"unicode/utf8"
)

const (
	// Beyond these a body is shown as it came: indenting writes each level's
	// spaces before each line, which a few thousand brackets turn into megabytes.
	maxIndentDepth = 32
	maxIndented    = 512 << 10

	maxHostRunes = 100
)

// Content is a body from outside, ready to be shown.
type Content struct {
	Text string
	Size int  // bytes as received
	Hex  bool // Text is a hex dump: the bytes are not UTF-8
}

// ShowPayload shows what was sent: JSON, indented on the bytes themselves, so
// that numbers keep every digit.
func ShowPayload(raw []byte) Content {
	if nesting(raw) <= maxIndentDepth {
		var out bytes.Buffer
		if err := json.Indent(&out, raw, "", "  "); err == nil && out.Len() <= maxIndented {
			return Content{Text: Visible(out.String()), Size: len(raw)}
		}
	}
	return ShowBytes(raw, false)
}

// nesting returns how deep a JSON text goes. What is no JSON gives some number.
func nesting(raw []byte) int {
	depth, deepest, quoted := 0, 0, false
	for i := 0; i < len(raw); i++ {
		switch c := raw[i]; {
		case quoted && c == '\\':
			i++
		case c == '"':
			quoted = !quoted
		case quoted:
		case c == '{' || c == '[':
			depth++
			deepest = max(deepest, depth)
		case c == '}' || c == ']':
			depth--
		}
	}
	return deepest
}

// ShowBytes shows whatever a receiver answered: as text if it is UTF-8, as a
// hex dump otherwise. A cut may have split the last character of a text.
func ShowBytes(raw []byte, cut bool) Content {
	text := raw
	if cut {
		text = withoutSplitEnd(raw)
	}
	if utf8.Valid(text) {
		return Content{Text: Visible(string(text)), Size: len(raw)}
	}
	return Content{Text: hex.Dump(raw), Size: len(raw), Hex: true}
}

// withoutSplitEnd drops the beginning of a character whose rest was cut off.
func withoutSplitEnd(raw []byte) []byte {
	for back := 1; back < utf8.UTFMax && back <= len(raw); back++ {
		tail := raw[len(raw)-back:]
		if utf8.RuneStart(tail[0]) {
			if !utf8.FullRune(tail) {
				return raw[:len(raw)-back]
			}
			return raw
		}
	}
	return raw
}

// Visible makes every character of a text from outside seen, and none of them
// act: control characters become their pictures, and those that turn or hide
// the text around them become their numbers.
func Visible(text string) string {
	text = strings.ToValidUTF8(text, string(utf8.RuneError))
	if !strings.ContainsFunc(text, acts) {
		return text
	}
	var out strings.Builder
	for _, c := range text {
		switch {
		case !acts(c):
			out.WriteRune(c)
		case c < ' ':
			out.WriteRune('␀' + c)
		case c == 0x7f:
			out.WriteRune('␡')
		default:
			fmt.Fprintf(&out, "⟨U+%04X⟩", c)
		}
	}
	return out.String()
}

// acts reports whether a character does something instead of being something:
// C0 and C1 controls except tab and line ends, bidirectional controls, the
// zero-width ones, and the line separators.
func acts(c rune) bool {
	switch {
	case c == '\t' || c == '\n' || c == '\r':
		return false
	case c < ' ', c >= 0x7f && c <= 0x9f:
		return true
	case c >= 0x200b && c <= 0x200f, c >= 0x2028 && c <= 0x202e, c >= 0x2060 && c <= 0x2069:
		return true
	}
	return c == 0x061c || c == 0xfeff
}

// HeaderLine is one header of a request or an answer.
type HeaderLine struct{ Name, Value string }

// ShowHeaders lists stored headers, a JSON object of lists, by name. Something
// else, written by other hands, is shown as it is under an empty name.
func ShowHeaders(raw []byte) []HeaderLine {
	if len(raw) == 0 {
		return nil
	}
	var header http.Header
	if err := json.Unmarshal(raw, &header); err != nil {
		return []HeaderLine{{Value: Visible(string(raw))}}
	}
	var lines []HeaderLine
	for _, name := range slices.Sorted(maps.Keys(header)) {
		for _, value := range header[name] {
			lines = append(lines, HeaderLine{Visible(name), Visible(value)})
		}
	}
	return lines
}

// HostOf returns the host, with its port, of an endpoint's URL.
func HostOf(address string) string {
	host := address
	if parsed, err := url.Parse(address); err == nil && parsed.Host != "" {
		host = parsed.Host
	}
	return Shorten(Visible(host), maxHostRunes)
}

// Shorten cuts a text to so many characters and marks the cut.
func Shorten(text string, maxRunes int) string {
	runes := []rune(text)
	if len(runes) <= maxRunes {
		return text
	}
	return string(runes[:maxRunes]) + "…"
}
