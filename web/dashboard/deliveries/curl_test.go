package deliveries

import (
	"io"
	"net/http"
	"net/http/httptest"
	"os/exec"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/botix-pro/platform/web/ui"
)

// What is shown, run by a shell, sends the same bytes and headers to the same
// address; and it holds nothing that acts on whoever looks at it.
func TestTheCurlCommandSendsTheSameBytes(t *testing.T) {
	t.Parallel()
	every := make([]byte, 0, 512)
	for c := range 256 {
		every = append(every, byte(c), '\'')
	}
	for name, body := range map[string]string{
		"JSON": `{"a":1}`, "quotes": "{\"name\":\"O'Neill $(id) \\u0060 \\\\ ${HOME} `id` !! %s\"}", "other letters": `{"мир":"!"}`,
		"acting characters": "{\"a\":\"\u202e\u2028 \\\\ '%s %b' \u200b\"}", "line ends": "a\r\nb\n\n", "empty": "", "at": "@/etc/passwd", "every byte": string(every),
		"large": strings.Repeat("'x' ", 40_000),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := make(chan string, 1)
			server := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
				raw, _ := io.ReadAll(r.Body)
				got <- r.Method + r.RequestURI + strings.Join(r.Header["X-Odd"], ",") + strings.Join(r.Header["X-Empty"], "empty") + string(raw)
			}))
			t.Cleanup(server.Close)
			headers := []byte(`{"X-Odd":["it's","$(id)"],"X-Empty":[""],"Content-Length":["7"],"-o /tmp/x":["y"]}`)
			command := curlOf(server.URL+"/in?a=['b']{1,2}", headers, []byte(body))
			require.Equal(t, ui.Visible(command), command)
			run := exec.CommandContext(t.Context(), "sh")
			run.Stdin = strings.NewReader(command) // as pasted: a line of a shell may be longer than a program's argument
			out, err := run.CombinedOutput()
			require.NoError(t, err, "%s", out)
			require.Equal(t, "POST/in?a=['b']{1,2}it's,$(id)"+body, <-got)
		})
	}
}
