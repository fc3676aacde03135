package deliveries

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/botix-pro/platform/web/ui"
)

// maxArgument is less than what a program takes as one argument (128 KiB on
// Linux).
const maxArgument = 96 << 10

// headerName is what a header's name consists of: anything else would be an
// option's or a file's name to curl.
var headerName = regexp.MustCompile("^[A-Za-z0-9!#$%&'*+.^_`|~-]+$")

// curlOf is the line that sends an attempt's request again: the same address,
// the same body to the byte, the headers as they were sent, what was masked still
// masked. It works in any POSIX shell, whatever is in it.
func curlOf(address string, headers, body []byte) string {
	lines := []string{"curl --globoff --request POST --url " + quote(address)}
	var sent http.Header
	if json.Unmarshal(headers, &sent) == nil {
		for _, name := range slices.Sorted(maps.Keys(sent)) {
			lines = append(lines, headerArguments(name, sent[name])...)
		}
	}
	command := strings.Join(lines, " \\\n  ")
	if quoted := quote(string(body)); len(quoted) <= maxArgument && plain(body) {
		return command + " \\\n  --data-raw " + quoted
	}
	return "printf '%b' " + quote(escape(body)) + " | \\\n" + command + " \\\n  --data-binary @-"
}

func headerArguments(name string, values []string) []string {
	if !headerName.MatchString(name) || strings.EqualFold(name, "Content-Length") || strings.EqualFold(name, "Host") {
		return nil
	}
	lines := make([]string, 0, len(values))
	for _, value := range values {
		switch value = ui.Visible(strings.TrimSpace(value)); value {
		case "": // curl would take the header away
			lines = append(lines, "--header "+quote(name+";"))
		default:
			lines = append(lines, "--header "+quote(name+": "+value))
		}
	}
	return lines
}

// quote makes one word of a text for a shell.
func quote(text string) string { return "'" + strings.ReplaceAll(text, "'", `'\''`) + "'" }

// plain reports whether a body survives being shown and copied.
func plain(body []byte) bool {
	return utf8.Valid(body) && ui.Visible(string(body)) == string(body) && !slices.Contains(body, '\r')
}

// escape writes bytes for printf's %b.
func escape(body []byte) string {
	var out strings.Builder
	for _, c := range body {
		if c == '\\' || c < ' ' || c >= 0x7f {
			fmt.Fprintf(&out, `\0%03o`, c)
		} else {
			out.WriteByte(c)
		}
	}
	return out.String()
}
