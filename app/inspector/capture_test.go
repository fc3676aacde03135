package inspector_test

import (
	"encoding/json"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/botix-pro/platform/app/inspector"
	"github.com/botix-pro/platform/app/models"
)

// Any method, any path below the bin, any query and any body is kept as it came.
func TestEverythingIsCaptured(t *testing.T) {
	t.Parallel()
	s := newSite(t, inspector.Limits{})
	bin := s.newBin()
	for _, method := range []string{"GET", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "HEAD", "TRACE", "PROPFIND", "x-any", "PRI"} {
		got, err := s.send(t.Context(), method, "/"+bin.ID+"/a%2Fb/../c//d?q=1&q=%zz", "body of "+method)
		require.NoError(t, err, method)
		require.Equal(t, http.StatusOK, got.status, method)
		one := s.shown(bin.ID)[0]
		require.Equal(t, method, one.Method)
		require.Equal(t, "/"+bin.ID+"/a%2Fb/../c//d", one.Path)
		require.Equal(t, "q=1&q=%zz", one.Query)
		require.Equal(t, "body of "+method, string(one.Body))
		require.EqualValues(t, len(one.Body), one.BodyBytes)
		require.False(t, one.Truncated)
		require.Equal(t, models.SourceExternal, one.Source)
		require.Equal(t, models.AnswerGiven, one.AnswerOutcome)
		require.Equal(t, http.StatusOK, one.Answer.Status)
		require.NotEmpty(t, one.RemoteAddr)
		require.Equal(t, s.project, one.ProjectID)
	}
	require.Equal(t, "HTTP/1.1 200 OK", s.raw("CONNECT /"+bin.ID+" HTTP/1.1\r\nHost: x\r\n\r\n"))
	require.Equal(t, "CONNECT", s.shown(bin.ID)[0].Method)
	require.EqualValues(t, 12, s.bin(bin.ID).Captured)
}

// Nothing that was sent, and nothing that a script says, comes back as anything
// but text in a sandbox, refusals included.
func TestAnswersAreTextInASandbox(t *testing.T) {
	t.Parallel()
	const script = `<script>alert(1)</script>`
	s := newSite(t, inspector.Limits{PerMinute: 3})
	for _, status := range []int{200, 302, 404, 500} {
		bin := s.newBin(models.BinScript{Then: models.BinAnswer{Status: status, Body: script}})
		for range 4 { // the fourth is over the bin's rate
			got, err := s.send(t.Context(), http.MethodPost, "/"+bin.ID+"/"+script+"?"+script, script)
			require.NoError(t, err)
			requireSandboxed(t, got)
		}
	}
	got, err := s.send(t.Context(), http.MethodGet, "/"+script, "")
	require.NoError(t, err)
	require.Equal(t, http.StatusNotFound, got.status)
	requireSandboxed(t, got)
	require.NotContains(t, got.body, "<")
}

func requireSandboxed(t *testing.T, got reply) {
	t.Helper()
	require.Equal(t, "text/plain; charset=utf-8", got.header.Get("Content-Type"))
	require.Equal(t, "sandbox; default-src 'none'", got.header.Get("Content-Security-Policy"))
	require.Equal(t, "nosniff", got.header.Get("X-Content-Type-Options"))
	require.Equal(t, "no-store", got.header.Get("Cache-Control"))
	require.Empty(t, got.header.Get("Access-Control-Allow-Origin"))
	if to := got.header.Get("Location"); to != "" {
		require.Equal(t, "https://example.com/", to)
	}
}

// What names no bin is not found, whatever it is.
func TestUnknownBins(t *testing.T) {
	t.Parallel()
	s := newSite(t, inspector.Limits{})
	bin := s.newBin()
	for _, path := range []string{
		"/", "/bin_", "/bin_0", "/" + models.NewSecretID(models.PrefixBin), "/" + strings.ToLower(bin.ID), "//" + bin.ID, "/x/" + bin.ID,
		"/" + bin.ID + "x", "/metrics", "/healthz", "/developers",
	} {
		got, err := s.send(t.Context(), http.MethodPost, path, "x")
		require.NoError(t, err)
		require.Equal(t, http.StatusNotFound, got.status, path)
	}
	require.Equal(t, "HTTP/1.1 404 Not Found", s.raw("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"))
	require.Equal(t, "HTTP/1.1 404 Not Found", s.raw("CONNECT x:443 HTTP/1.1\r\nHost: x:443\r\n\r\n"))
	require.Equal(t, "HTTP/1.1 200 OK", s.raw("OPTIONS * HTTP/1.1\r\nHost: x\r\n\r\n"), "net/http's own answer, without a body")
	require.Empty(t, s.shown(bin.ID))

	s.exec(`UPDATE inspector_bins SET expires_at = now() WHERE id = $1`, bin.ID)
	require.Equal(t, http.StatusNotFound, s.post(bin).status, "expired")
	require.InDelta(t, 14, metric(t, s, "botix_inspector_refused_total", "unknown"), 0.1)
}

// Whatever bytes a request holds, the bin can show them.
func TestHostileBytes(t *testing.T) {
	t.Parallel()
	s := newSite(t, inspector.Limits{})
	bin := s.newBin()
	const odd = "\xff\xfe\xc3\x28"
	require.Equal(t, "HTTP/1.1 200 OK", s.raw("POST /"+bin.ID+"/"+odd+"%00?"+odd+"=%00 HTTP/1.1\r\nHost: "+"x\r\nX-Odd: "+odd+
		"\r\nX-Ok: h\u00e9\r\nX-Many: 1\r\nX-Many: 2\r\nContent-Length: 6\r\n\r\n\x00\xff<b>\n"))
	one := s.shown(bin.ID)[0]
	require.Equal(t, "/"+bin.ID+"/%FF%FE%C3%28%00", strings.ReplaceAll(one.Path, "(", "%28"))
	require.Equal(t, "\u00ff\u00fe\u00c3(=%00", one.Query)
	require.Equal(t, "\x00\xff<b>\n", string(one.Body))
	var headers map[string][]string
	require.NoError(t, json.Unmarshal(one.Headers, &headers))
	require.Equal(t, []string{"\u00ff\u00fe\u00c3("}, headers["X-Odd"])
	require.Equal(t, []string{"h\u00e9"}, headers["X-Ok"])
	require.Equal(t, []string{"1", "2"}, headers["X-Many"])
	require.Equal(t, []string{"x"}, headers["Host"])

	for name, request := range map[string]string{
		"NUL in a header":      "POST /" + bin.ID + " HTTP/1.1\r\nHost: x\r\nX-Nul: a\x00b\r\n\r\n",
		"NUL in the path":      "POST /" + bin.ID + "/\x00 HTTP/1.1\r\nHost: x\r\n\r\n",
		"no host":              "POST /" + bin.ID + " HTTP/1.1\r\n\r\n",
		"two lengths":          "POST /" + bin.ID + " HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nab",
		"folded header":        "POST /" + bin.ID + " HTTP/1.1\r\nHost: x\r\n X-Fold: a\r\n\r\n",
		"a space in the name":  "POST /" + bin.ID + " HTTP/1.1\r\nHost: x\r\nX Bad: a\r\n\r\n",
		"a method that is not": "PO\x00ST /" + bin.ID + " HTTP/1.1\r\nHost: x\r\n\r\n",
	} {
		require.Contains(t, s.raw(request), " 400 ", name)
	}
	require.Contains(t, s.raw("POST /"+bin.ID+" HTTP/1.1\r\nHost: x\r\nX-Long: ", strings.Repeat("a", 1<<20), "\r\n\r\n"), " 431 ")
	require.Len(t, s.shown(bin.ID), 1)
}

// Of a long body the beginning is kept, and how long it was; one beyond all bounds
// is not read to its end.
func TestLongBodies(t *testing.T) {
	t.Parallel()
	s := newSite(t, inspector.Limits{})
	bin := s.newBin()
	for size, want := range map[int]int{models.MaxCaptured: 200, models.MaxCaptured + 1: 200, 10 << 20: 200, 16<<20 + 1: 413} {
		got, err := s.send(t.Context(), http.MethodPost, "/"+bin.ID, strings.Repeat("b", size))
		require.NoError(t, err)
		require.Equal(t, want, got.status, size)
		one := s.shown(bin.ID)[0]
		require.EqualValues(t, size, one.BodyBytes)
		require.Len(t, one.Body, min(size, models.MaxCaptured))
		require.Equal(t, size > models.MaxCaptured, one.Truncated)
		require.Equal(t, want, one.Answer.Status)
	}
}

// A body that breaks off or dawdles is captured as far as it came, and holds
// nobody else up; slow headers get nowhere.
func TestSlowAndBrokenSenders(t *testing.T) {
	t.Parallel()
	s := newSite(t, inspector.Limits{}, func(server *http.Server) {
		server.ReadHeaderTimeout, server.ReadTimeout = 300*time.Millisecond, 600*time.Millisecond
	})
	bin := s.newBin()
	head := "POST /" + bin.ID + " HTTP/1.1\r\nHost: x\r\n"
	require.Empty(t, s.raw(head), "no answer to a head without its end")
	require.Empty(t, s.shown(bin.ID))
	require.Contains(t, s.raw(head+"Content-Length: 9\r\n\r\nhalf"), " 400 ", "the rest never comes")
	require.Contains(t, s.raw(head+"Transfer-Encoding: chunked\r\n\r\n4\r\nhalf\r\nnonsense\r\n"), " 400 ")
	list := s.shown(bin.ID)
	require.Len(t, list, 2)
	for _, one := range list {
		require.Equal(t, "half", string(one.Body))
		require.True(t, one.Truncated)
		require.Equal(t, models.AnswerBrokenBody, one.AnswerOutcome)
	}
	require.Zero(t, s.bin(bin.ID).ScriptHits, "the script had no say")
}

// A thousand at once: each is captured or refused with 429, none is lost and none
// counted twice.
func TestFlood(t *testing.T) {
	t.Parallel()
	const senders = 1000
	s := newSite(t, inspector.Limits{PerMinute: 300})
	bin := s.newBin()
	statuses := make(chan int, senders)
	for range senders {
		go func() {
			got, err := s.send(t.Context(), http.MethodPost, "/"+bin.ID, "x")
			if err != nil {
				got.status = -1
			}
			statuses <- got.status
		}()
	}
	count := map[int]int{}
	for range senders {
		count[<-statuses]++
	}
	s.capture.Flush(t.Context())
	seen := s.bin(bin.ID)
	require.Equal(t, senders, count[200]+count[429]+count[503], "%v", count)
	require.EqualValues(t, count[200], seen.Captured)
	require.EqualValues(t, count[429], seen.Refused)
	require.Positive(t, count[200])
	require.LessOrEqual(t, count[200], 600, "the flood may lie across the edge of a minute")
	list, err := s.store.CapturedRequests(t.Context(), seen, 0, senders)
	require.NoError(t, err)
	require.Len(t, list, count[200])
	for i, one := range list {
		require.EqualValues(t, len(list)-i, one.Seq, "the places have no gap")
	}
	s.capture.Flush(t.Context())
	require.EqualValues(t, count[429], s.bin(bin.ID).Refused, "written down once")
}

// One bin's slow senders take up that bin's places only.
func TestAFullBinLeavesOthersAlone(t *testing.T) {
	t.Parallel()
	s := newSite(t, inspector.Limits{AtOnce: 3, AtOncePerBin: 2})
	slow, other := s.newBin(), s.newBin()
	var open []net.Conn
	for range 2 {
		conn, err := (&net.Dialer{}).DialContext(t.Context(), "tcp", s.addr)
		require.NoError(t, err)
		_, err = io.WriteString(conn, "POST /"+slow.ID+" HTTP/1.1\r\nHost: x\r\nContent-Length: 9\r\n\r\nhalf")
		require.NoError(t, err)
		open = append(open, conn)
	}
	require.Eventually(t, func() bool { return s.post(slow).status == http.StatusTooManyRequests }, waitFor, tick)
	require.Equal(t, http.StatusOK, s.post(other).status)
	for _, conn := range open {
		require.NoError(t, conn.Close())
	}
	require.Eventually(t, func() bool { return s.post(slow).status == http.StatusOK }, waitFor, tick, "the places are free again")
}
