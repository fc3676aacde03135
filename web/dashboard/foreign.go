package dashboard

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

// content is a body from outside, ready to be shown.
type content struct {
	Text string
	Size int  // bytes as received
	Hex  bool // Text is a hex dump: the bytes are not UTF-8
}

// showPayload shows what was sent: JSON, indented on the bytes themselves, so
// that numbers keep every digit.
func showPayload(raw []byte) content {
	if nesting(raw) <= maxIndentDepth {
		var out bytes.Buffer
		if err := json.Indent(&out, raw, "", "  "); err == nil && out.Len() <= maxIndented {
			return content{Text: visible(out.String()), Size: len(raw)}
		}
	}
	return showBytes(raw, false)
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

// showBytes shows whatever a receiver answered: as text if it is UTF-8, as a
// hex dump otherwise. A cut may have split the last character of a text.
func showBytes(raw []byte, cut bool) content {
	text := raw
	if cut {
		text = withoutSplitEnd(raw)
	}
	if utf8.Valid(text) {
		return content{Text: visible(string(text)), Size: len(raw)}
	}
	return content{Text: hex.Dump(raw), Size: len(raw), Hex: true}
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

// visible makes every character of a text from outside seen, and none of them
// act: control characters become their pictures, and those that turn or hide
// the text around them become their numbers.
func visible(text string) string {
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

// headerLine is one header of a request or an answer.
type headerLine struct{ Name, Value string }

// showHeaders lists stored headers, a JSON object of lists, by name. Something
// else, written by other hands, is shown as it is under an empty name.
func showHeaders(raw []byte) []headerLine {
	if len(raw) == 0 {
		return nil
	}
	var header http.Header
	if err := json.Unmarshal(raw, &header); err != nil {
		return []headerLine{{Value: visible(string(raw))}}
	}
	var lines []headerLine
	for _, name := range slices.Sorted(maps.Keys(header)) {
		for _, value := range header[name] {
			lines = append(lines, headerLine{visible(name), visible(value)})
		}
	}
	return lines
}

// hostOf returns the host, with its port, of an endpoint's URL.
func hostOf(address string) string {
	host := address
	if parsed, err := url.Parse(address); err == nil && parsed.Host != "" {
		host = parsed.Host
	}
	return shorten(visible(host), maxHostRunes)
}

// shorten cuts a text to so many characters and marks the cut.
func shorten(text string, maxRunes int) string {
	runes := []rune(text)
	if len(runes) <= maxRunes {
		return text
	}
	return string(runes[:maxRunes]) + "…"
}
