package app

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// A client that sends all of a large body before it reads gets the refusal, not a
// reset connection; one that announces an absurd one gets it at once.
func TestRefusalReachesAClientThatIsStillSending(t *testing.T) {
	t.Parallel()
	h := newHarness(t)
	body := strings.Repeat("a", 12<<20)
	for name, test := range map[string]struct {
		key, framing, body string
		status             int
	}{
		"too large":             {h.key, fmt.Sprintf("Content-Length: %d", len(body)), body, http.StatusRequestEntityTooLarge},
		"too large, in chunks":  {h.key, "Transfer-Encoding: chunked", fmt.Sprintf("%x\r\n%s\r\n0\r\n\r\n", len(body), body), http.StatusRequestEntityTooLarge},
		"without a usable key":  {"nobody", fmt.Sprintf("Content-Length: %d", len(body)), body, http.StatusUnauthorized},
		"nothing of it is sent": {h.key, "Content-Length: 99999999999", "", http.StatusRequestEntityTooLarge},
		"asked before sending":  {h.key, "Expect: 100-continue\r\nContent-Length: 1048577", "", http.StatusRequestEntityTooLarge},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			connection, err := (&net.Dialer{}).DialContext(t.Context(), "tcp", strings.TrimPrefix(h.url, "http://"))
			require.NoError(t, err)
			defer func() { _ = connection.Close() }()
			_, err = fmt.Fprintf(connection, "POST /contacts HTTP/1.1\r\nHost: test\r\nAuthorization: Bearer %s\r\nIdempotency-Key: k\r\n%s\r\n\r\n", test.key, test.framing)
			require.NoError(t, err)
			_, err = io.WriteString(connection, test.body)
			require.NoError(t, err)
			response, err := http.ReadResponse(bufio.NewReader(connection), nil)
			require.NoError(t, err)
			defer func() { _ = response.Body.Close() }()
			require.Equal(t, test.status, response.StatusCode)
		})
	}
}
