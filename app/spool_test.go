package app

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/botix-pro/platform/app/models"
	"github.com/botix-pro/platform/internal/config"
)

// spooling is a harness with a spool directory of its own.
func spooling(t *testing.T) (h *harness, dir string) {
	t.Helper()
	dir = t.TempDir()
	return newHarness(t, func(c *config.Config) { c.SpoolDir = dir }), dir
}

// spooled counts the files of a spool directory that this process has open,
// those without a name included.
func spooled(t *testing.T, dir string) (count int) {
	t.Helper()
	entries, err := os.ReadDir("/proc/self/fd")
	require.NoError(t, err)
	for _, entry := range entries {
		target, err := os.Readlink(filepath.Join("/proc/self/fd", entry.Name()))
		if err == nil && strings.HasPrefix(target, dir) {
			count++
		}
	}
	return count
}

// upload begins one of a megabyte and a half and stops in the middle.
func (h *harness) upload(t *testing.T, framing string) net.Conn {
	t.Helper()
	connection, err := (&net.Dialer{}).DialContext(t.Context(), "tcp", strings.TrimPrefix(h.url, "http://"))
	require.NoError(t, err)
	t.Cleanup(func() { _ = connection.Close() })
	_, err = fmt.Fprintf(connection, "POST /contacts/bulk HTTP/1.1\r\nHost: test\r\nAuthorization: Bearer %s\r\nIdempotency-Key: hung\r\nContent-Type: application/json\r\n%s", h.key, framing)
	require.NoError(t, err)
	_, err = io.WriteString(connection, strings.Repeat(" ", 3<<19))
	require.NoError(t, err)
	return connection
}

// Four large bodies at once; a fifth is asked to come again and its key stays
// free. Small ones are not held up. An upload that breaks off leaves no file and
// frees its place.
func TestFifthLargeBodyIsAskedToComeAgain(t *testing.T) {
	t.Parallel()
	h, dir := spooling(t)
	const length = "Content-Length: 2000000\r\n\r\n"
	const chunked = "Transfer-Encoding: chunked\r\n\r\n200000\r\n"
	uploads := []net.Conn{h.upload(t, length), h.upload(t, length), h.upload(t, chunked), h.upload(t, chunked)}
	require.Eventually(t, func() bool {
		entries, err := os.ReadDir(dir)
		return err == nil && len(entries) == 0 && spooled(t, dir) == len(uploads)
	}, 10*time.Second, 5*time.Millisecond, "a file that is written to has no name that could be left behind")

	large := array(numbered(10)) + strings.Repeat(" ", 1<<20)
	key := func(c *call) { c.idempotency = "fifth" }
	fifth := h.bulk(t, "", "application/json", large, key)
	require.Equal(t, models.CodeServiceUnavailable, fifth.code(t))
	require.Equal(t, []any{"2", "not_applied", "request"}, []any{fifth.header.Get("Retry-After"), fifth.object(t)["outcome"], fifth.object(t)["scope"]})
	require.Equal(t, models.CodeNotFound, h.get(t, "/idempotency-keys/fifth").code(t))
	require.Equal(t, http.StatusAccepted, h.bulk(t, "", "application/json", array(numbered(10))).status, "small ones need no file")
	require.Equal(t, len(uploads), spooled(t, dir))

	require.NoError(t, uploads[0].Close())
	require.NoError(t, uploads[2].Close())
	require.Eventually(t, func() bool { return spooled(t, dir) == len(uploads)-2 }, 10*time.Second, 5*time.Millisecond)
	again := h.bulk(t, "", "application/json", large, key)
	require.Equal(t, http.StatusAccepted, again.status, "%s", again.body)
	require.Empty(t, again.header.Get("Idempotent-Replayed"))
	for _, upload := range uploads {
		_ = upload.Close()
	}
	require.Eventually(t, func() bool { return spooled(t, dir) == 0 }, 10*time.Second, 5*time.Millisecond)
	require.Equal(t, models.CodeNotFound, h.get(t, "/idempotency-keys/hung").code(t), "what broke off did nothing")
}

// However a large body ends, its file is gone.
func TestSpoolFilesAreNeverLeft(t *testing.T) {
	t.Parallel()
	h, dir := spooling(t)
	wide := strings.Repeat(" ", 1<<20)
	for name, test := range map[string]struct {
		kind, body string
		status     int
	}{
		"accepted":  {"application/json", array(numbered(3)) + wide, http.StatusAccepted},
		"replayed":  {"application/json", array(numbered(3)) + wide, http.StatusAccepted},
		"malformed": {"application/json", "[{" + wide, http.StatusBadRequest},
		"no type":   {"text/plain", wide + "x", http.StatusUnsupportedMediaType},
		"too large": {"application/json", strings.Repeat(wide, 17), http.StatusRequestEntityTooLarge},
	} {
		key := func(c *call) { c.idempotency = strings.ReplaceAll(name, " ", "-") }
		require.Equal(t, test.status, h.bulk(t, "", test.kind, test.body, key).status, name)
		require.Equal(t, test.status, h.bulk(t, "", test.kind, test.body, key).status, name)
		// The answer is there a moment before the request is over.
		require.Eventually(t, func() bool { return spooled(t, dir) == 0 }, 10*time.Second, time.Millisecond, name)
	}
	for range 6 { // more than there are places: each was freed
		connection := h.upload(t, "Transfer-Encoding: chunked\r\n\r\n1000001\r\n")
		_, err := io.WriteString(connection, strings.Repeat(" ", 16<<20+1-3<<19)+"\r\n0\r\n\r\n")
		require.NoError(t, err)
		response, err := http.ReadResponse(bufio.NewReader(connection), nil)
		require.NoError(t, err)
		require.NoError(t, response.Body.Close())
		require.Equal(t, http.StatusRequestEntityTooLarge, response.StatusCode)
		require.Eventually(t, func() bool { return spooled(t, dir) == 0 }, 10*time.Second, time.Millisecond)
	}
	entries, err := os.ReadDir(dir)
	require.NoError(t, err)
	require.Empty(t, entries)
}

// A disk that cannot take the body is ours to answer for, and nothing was done.
func TestBodyThatCannotBeSpooledIsNotTheCallersFault(t *testing.T) {
	t.Parallel()
	h := newHarness(t, func(c *config.Config) { c.SpoolDir = "/nowhere" })
	for range 6 { // and takes no place
		got := h.bulk(t, "", "application/json", "[{}]"+strings.Repeat(" ", 1<<20))
		require.Equal(t, models.CodeServiceUnavailable, got.code(t))
		require.Equal(t, "1", got.header.Get("Retry-After"))
	}
	require.Equal(t, http.StatusAccepted, h.bulk(t, "", "application/json", "[{}]").status)
}
