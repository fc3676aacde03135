package middleware

import (
	"bufio"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/labstack/echo/v4"
	"github.com/stretchr/testify/require"
)

// bodies serves a handler that reads a body of at most limit bytes, which may
// take 50 ms.
func bodies(t *testing.T, limit int64) (address string) {
	t.Helper()
	spools := NewSpools(t.TempDir())
	spools.small, spools.large = 50*time.Millisecond, 50*time.Millisecond
	e := echo.New()
	e.HTTPErrorHandler = NewProblems("", slog.New(slog.DiscardHandler)).Handle
	e.POST("/", func(c echo.Context) error {
		content, err := spools.readBody(c, limit, io.Discard)
		if err != nil {
			return err
		}
		defer content.close()
		return c.NoContent(http.StatusNoContent)
	})
	server := httptest.NewServer(e)
	t.Cleanup(server.Close)
	return strings.TrimPrefix(server.URL, "http://")
}

// A body that stalls is a failure of the way, which the same request may not
// meet again; one whose chunks are no chunks is the caller's own. Neither waits
// for more than its time, and the connection is not used again.
func TestStalledBodyIsTimedOut(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		limit   int64
		request string
		want    string
	}{
		"small":           {maxBody, "Content-Length: 100\r\n\r\n{", "REQUEST_TIMEOUT"},
		"bulk":            {2 * maxBody, "Content-Length: 100\r\n\r\n[", "REQUEST_TIMEOUT"},
		"spooled":         {2 * maxBody, "Content-Length: 2000000\r\n\r\n[", "REQUEST_TIMEOUT"},
		"between chunks":  {maxBody, "Transfer-Encoding: chunked\r\n\r\n1\r\n{\r\n", "REQUEST_TIMEOUT"},
		"broken chunking": {maxBody, "Transfer-Encoding: chunked\r\n\r\nxyz\r\n", "INVALID_REQUEST"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			connection, err := (&net.Dialer{}).DialContext(t.Context(), "tcp", bodies(t, test.limit))
			require.NoError(t, err)
			defer func() { _ = connection.Close() }()
			require.NoError(t, connection.SetDeadline(time.Now().Add(discardTimeout-time.Second)))
			_, err = fmt.Fprint(connection, "POST / HTTP/1.1\r\nHost: test\r\n"+test.request)
			require.NoError(t, err)
			answer, err := io.ReadAll(bufio.NewReader(connection))
			require.NoError(t, err, "the server closes the connection")
			require.Contains(t, string(answer), `"code":"`+test.want+`"`)
			require.Contains(t, string(answer), "Connection: close")
		})
	}
}
