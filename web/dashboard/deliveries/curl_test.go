package deliveries

import (
	"io"
	"net/http"
	"net/http/httptest"
	"os/exec"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/botix-pro/platform/app/models"
	"github.com/botix-pro/platform/web/ui"
)

// The command that is shown, run by a shell, sends the same bytes; and it holds
// nothing that acts on whoever looks at it.
func TestTheCurlCommandSendsTheSameBytes(t *testing.T) {
	t.Parallel()
	for _, body := range []string{
		`{"a":1}`, `{"name":"O'Neill $(id) \u0060 \\ \"x\""}`, "{\"a\":\"\u202e\u2028 \\\\ '%s %b' \u200b\"}", `{"мир":"!"}`,
	} {
		got := make(chan string, 1)
		server := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
			raw, _ := io.ReadAll(r.Body)
			got <- r.Header.Get("X-Odd") + string(raw)
		}))
		t.Cleanup(server.Close)
		command := curl(&models.WebhookAttempt{URL: server.URL + "/in?a='b'", RequestHeaders: []byte(`{"X-Odd":["it's"]}`)}, []byte(body))
		require.Equal(t, ui.Visible(command), command)
		out, err := exec.CommandContext(t.Context(), "sh", "-c", command).CombinedOutput()
		require.NoError(t, err, "%s: %s", command, out)
		require.Equal(t, "it's"+body, <-got)
	}
}
