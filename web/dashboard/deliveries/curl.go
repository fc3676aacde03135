package deliveries

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"

	"github.com/botix-pro/platform/app/models"
	"github.com/botix-pro/platform/web/ui"
)

// curl is an attempt's request as a command: the same body and headers. Header
// values that are secret were masked when they were stored.
func curl(a *models.WebhookAttempt, body []byte) string {
	var header http.Header
	_ = json.Unmarshal(a.RequestHeaders, &header) // shown as it is elsewhere; here it is left out
	var out strings.Builder
	out.WriteString("curl -X POST " + quoted(a.URL))
	for _, name := range slices.Sorted(maps.Keys(header)) {
		for _, value := range header[name] {
			out.WriteString(" \\\n  -H " + quoted(name+": "+value))
		}
	}
	out.WriteString(" \\\n  --data-raw " + quoted(string(body)))
	return out.String()
}

// quoted is a text as one word of a POSIX shell. Characters that would act on
// whoever looks at it are written as the bytes they are.
func quoted(text string) string {
	if ui.Visible(text) == text {
		return "'" + strings.ReplaceAll(text, "'", `'\''`) + "'"
	}
	var out strings.Builder
	for _, c := range text {
		switch part := string(c); {
		case ui.Visible(part) != part:
			for _, b := range []byte(part) {
				fmt.Fprintf(&out, `\0%03o`, b)
			}
		case c == '\\':
			out.WriteString(`\\`)
		case c == '\'':
			out.WriteString(`'\''`)
		default:
			out.WriteRune(c)
		}
	}
	return `"$(printf '%b' '` + out.String() + `')"`
}
