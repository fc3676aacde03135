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

	"github.com/botix-pro/platform/app/models"
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

// cutShort sends less of a request's body than was announced, and no more.
func (h *harness) cutShort(t *testing.T, c call) answer {
	t.Helper()
	connection, err := (&net.Dialer{}).DialContext(t.Context(), "tcp", strings.TrimPrefix(h.url, "http://"))
	require.NoError(t, err)
	defer func() { _ = connection.Close() }()
	request, err := http.NewRequestWithContext(t.Context(), c.method, h.url+c.path, nil)
	require.NoError(t, err)
	_, err = fmt.Fprintf(connection, "%s %s HTTP/1.1\r\nHost: test\r\nAuthorization: Bearer %s\r\nIdempotency-Key: cut\r\nContent-Length: 100\r\n\r\n{", c.method, c.path, or(c.key, h.key))
	require.NoError(t, err)
	require.NoError(t, connection.(*net.TCPConn).CloseWrite())
	response, err := http.ReadResponse(bufio.NewReader(connection), request)
	require.NoError(t, err)
	defer func() { _ = response.Body.Close() }()
	body, err := io.ReadAll(response.Body)
	require.NoError(t, err)
	got := answer{status: response.StatusCode, header: response.Header, body: body}
	checkAgainstSpec(t, request, got)
	return got
}

// A body that did not arrive leaves the key free: the same request, whole this
// time, is carried out.
func TestRequestThatWasCutShortCanBeRepeated(t *testing.T) {
	t.Parallel()
	h := newHarness(t)
	cut := h.cutShort(t, post(""))
	require.Equal(t, models.CodeRequestTimeout, cut.code(t))
	require.Equal(t, []any{true, "not_applied", "request"}, []any{cut.object(t)["retryable"], cut.object(t)["outcome"], cut.object(t)["scope"]})
	whole := h.do(t, with(post(`{}`), func(c *call) { c.idempotency = "cut" }))
	require.Equal(t, http.StatusCreated, whole.status, "%s", whole.body)
}
