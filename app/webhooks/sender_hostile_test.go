package webhooks_test

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/stretchr/testify/require"

	"github.com/botix-pro/platform/app/models"
	"github.com/botix-pro/platform/app/webhooks"
	"github.com/botix-pro/platform/internal/egress"
)

func newPool(certs ...*x509.Certificate) *x509.CertPool {
	pool := x509.NewCertPool()
	for _, cert := range certs {
		pool.AddCert(cert)
	}
	return pool
}

// Guarantee: no redirect is followed, whatever it says, and its owner reads
// where it pointed.
func TestRedirectsAreNotFollowed(t *testing.T) {
	t.Parallel()
	var followed atomic.Int64
	target := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { followed.Add(1) }))
	t.Cleanup(target.Close)
	for _, location := range []string{
		target.URL, "http://169.254.169.254/latest/meta-data", "http://10.0.0.1/", "%zz://[", "file:///etc/passwd",
	} {
		for _, status := range []string{"301", "302", "303", "307", "308"} {
			receiver := answering(t, "HTTP/1.1 "+status+" Go\r\nLocation: "+location+"\r\nContent-Length: 0\r\n\r\n")
			outcome := send(t, receiver.url())
			require.Equal(t, models.ErrorRedirect, outcome.ErrorClass, location)
			require.Equal(t, webhooks.Retry, outcome.Verdict().Kind)
			require.Contains(t, outcome.Error, "to "+location)
			require.EqualValues(t, 1, receiver.requests.Load())
		}
	}
	require.Zero(t, followed.Load())
}

// Guarantee: a body that drips is cut when the exchange's time is up, and a 200
// stays a 200.
func TestDrippingBody(t *testing.T) {
	t.Parallel()
	receiver := newRawReceiver(t, func(r *rawReceiver, conn net.Conn) {
		if r.readRequest(bufio.NewReader(conn)) {
			_, _ = io.WriteString(conn, "HTTP/1.1 200 OK\r\nContent-Length: 100000\r\n\r\n")
			drip(conn)
		}
	})
	cfg := patient
	cfg.TotalTimeout = 400 * time.Millisecond
	outcome := newSender(t, cfg, nil).Send(t.Context(), newAttempt(receiver.url()))
	require.Equal(t, webhooks.Delivered, outcome.Verdict().Kind)
	require.True(t, outcome.ResponseTruncated)
	require.Contains(t, outcome.BodyError, "the whole exchange took too long")
	require.Less(t, outcome.Timing.Total, waitFor)
}

// Guarantee: the same over HTTP/2, where one connection carries others' requests.
func TestHangingBodyOverHTTP2(t *testing.T) {
	t.Parallel()
	receiver := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.WriteString(w, "part")
		_ = http.NewResponseController(w).Flush()
		<-r.Context().Done()
	}))
	receiver.EnableHTTP2 = true
	receiver.StartTLS()
	t.Cleanup(receiver.Close)
	cfg := patient
	cfg.TotalTimeout = 400 * time.Millisecond
	outcome := newSender(t, cfg, newPool(receiver.Certificate())).Send(t.Context(), newAttempt(receiver.URL))
	require.Equal(t, webhooks.Delivered, outcome.Verdict().Kind, outcome.Error)
	require.Equal(t, "part", string(outcome.ResponseBody))
	require.Contains(t, outcome.BodyError, "the whole exchange took too long")
}

// drip writes a byte every few milliseconds until the other side is gone.
func drip(conn net.Conn) {
	ticker := time.NewTicker(tick)
	defer ticker.Stop()
	for range ticker.C {
		if _, err := conn.Write([]byte("x")); err != nil {
			return
		}
	}
}

// Guarantee: headers that drip do not outlive the time for an answer.
func TestDrippingHeaders(t *testing.T) {
	t.Parallel()
	receiver := newRawReceiver(t, func(r *rawReceiver, conn net.Conn) {
		if r.readRequest(bufio.NewReader(conn)) {
			_, _ = io.WriteString(conn, "HTTP/1.1 200 OK\r\nX-Slow: ")
			drip(conn)
		}
	})
	cfg := patient
	cfg.AnswerTimeout = 100 * time.Millisecond
	outcome := newSender(t, cfg, nil).Send(t.Context(), newAttempt(receiver.url()))
	require.Equal(t, models.ErrorReadTimeout, outcome.ErrorClass)
	require.Zero(t, outcome.StatusCode)
}

// Guarantee: an endless body costs 16 KiB and the connection, not its length.
func TestEndlessBody(t *testing.T) {
	t.Parallel()
	closed := make(chan struct{})
	receiver := newRawReceiver(t, func(r *rawReceiver, conn net.Conn) {
		if !r.readRequest(bufio.NewReader(conn)) {
			return
		}
		defer close(closed)
		_, err := io.WriteString(conn, "HTTP/1.1 200 OK\r\n\r\n")
		for chunk := bytes.Repeat([]byte("y"), 32<<10); err == nil; {
			_, err = conn.Write(chunk)
		}
	})
	outcome := send(t, receiver.url())
	require.Equal(t, webhooks.Delivered, outcome.Verdict().Kind)
	require.Len(t, outcome.ResponseBody, webhooks.MaxResponseBody)
	require.True(t, outcome.ResponseTruncated)
	require.Empty(t, outcome.BodyError)
	select {
	case <-closed:
	case <-time.After(waitFor):
		t.Fatal("the connection was not closed: the body is still being drained")
	}
}

func TestBodyOfExactlyTheLimitIsWhole(t *testing.T) {
	t.Parallel()
	for size, truncated := range map[int]bool{
		webhooks.MaxResponseBody: false, webhooks.MaxResponseBody + 1: true, 0: false,
	} {
		receiver := answering(t, "HTTP/1.1 200 OK\r\n\r\n"+strings.Repeat("z", size))
		outcome := send(t, receiver.url())
		require.Len(t, outcome.ResponseBody, min(size, webhooks.MaxResponseBody))
		require.Equal(t, truncated, outcome.ResponseTruncated)
	}
}

// Guarantee: compressed bytes are kept as they came and never unfolded, be they
// a bomb or broken, and the verdict is the status's.
func TestCompressedBodies(t *testing.T) {
	t.Parallel()
	var bomb bytes.Buffer
	writer := gzip.NewWriter(&bomb)
	_, err := io.CopyN(writer, zeros{}, 20<<20)
	require.NoError(t, err)
	require.NoError(t, writer.Close())
	for _, sent := range [][]byte{bomb.Bytes(), []byte("not gzip at all"), {0x1f, 0x8b}} {
		receiver := answering(t, "HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\n\r\n"+string(sent))
		outcome := send(t, receiver.url())
		require.Equal(t, webhooks.Delivered, outcome.Verdict().Kind)
		require.Equal(t, sent[:min(len(sent), webhooks.MaxResponseBody)], outcome.ResponseBody)
		require.Equal(t, []string{"gzip"}, outcome.ResponseHeaders["Content-Encoding"])
	}
}

type zeros struct{}

func (zeros) Read(p []byte) (int, error) {
	clear(p)
	return len(p), nil
}

// Guarantee: bytes that are no text are kept as they are in the body and made
// printable everywhere else.
func TestBytesThatAreNoText(t *testing.T) {
	t.Parallel()
	receiver := answering(t, "HTTP/1.1 302 \xff\xfe\r\nX-Odd: a\xff\xfeb\r\nLocation: /\xc3\x28\r\n\r\n\x00\xff\xfe\x00")
	outcome := send(t, receiver.url())
	require.Equal(t, 302, outcome.StatusCode)
	require.Equal(t, []byte("\x00\xff\xfe\x00"), outcome.ResponseBody)
	require.Equal(t, []string{"a\uFFFDb"}, outcome.ResponseHeaders["X-Odd"])
	requirePrintable(t, outcome)

	receiver = answering(t, "HTTP/1.1 200\x00OK\r\nX-Nul: a\x00b\r\n\r\n")
	outcome = send(t, receiver.url())
	require.Equal(t, models.ErrorBadResponse, outcome.ErrorClass)
	requirePrintable(t, outcome)
}

func requirePrintable(t *testing.T, outcome webhooks.Outcome) {
	t.Helper()
	texts := []string{outcome.Error, outcome.BodyError}
	for _, headers := range []http.Header{outcome.Sent.ShownHeader(), outcome.ResponseHeaders} {
		for name, values := range headers {
			texts = append(append(texts, name), values...)
		}
	}
	for _, text := range texts {
		require.True(t, utf8.ValidString(text), "%q", text)
		require.NotContains(t, text, "\x00")
		require.LessOrEqual(t, utf8.RuneCountInString(text), 2000)
	}
	require.LessOrEqual(t, utf8.RuneCountInString(outcome.Error), 500)
}

func TestAnswersThatAreNotHTTP(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		"SSH-2.0-OpenSSH_9.6\r\n", "\x15\x03\x01\x00\x02\x02\x46garbage\r\n", "HTTP/1.1 abc\r\n\r\n",
		"HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\n", "HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nxx",
		"HTTP/1.1 200 OK\r\nno colon here\r\n\r\n", strings.Repeat("\xff", 5000) + "\r\n\r\n",
		"HTTP/1.1 200 OK\r\n" + "X-Big: " + strings.Repeat("h", 1<<20) + "\r\n\r\n",
	} {
		outcome := send(t, answering(t, text).url())
		require.Equal(t, models.ErrorBadResponse, outcome.ErrorClass, "%.40q: %s", text, outcome.Error)
		require.Equal(t, webhooks.Retry, outcome.Verdict().Kind)
		require.Zero(t, outcome.StatusCode)
		requirePrintable(t, outcome)
	}
}

func TestManyHeadersAreKeptWithinBounds(t *testing.T) {
	t.Parallel()
	receiver := answering(t, "HTTP/1.1 200 OK\r\n"+strings.Repeat("X-Many: "+strings.Repeat("v", 5000)+"\r\n", 12)+"\r\n")
	outcome := send(t, receiver.url())
	require.Equal(t, webhooks.Delivered, outcome.Verdict().Kind)
	require.Len(t, outcome.ResponseHeaders["X-Many"], 8)
	requirePrintable(t, outcome)
}

// Guarantee: a receiver that takes the request and says nothing costs the time
// for an answer; one that does not finish the handshake, that for connecting.
func TestSilentReceivers(t *testing.T) {
	t.Parallel()
	silent := newRawReceiver(t, func(_ *rawReceiver, conn net.Conn) { hold(conn) })
	cfg := patient
	cfg.AnswerTimeout = 80 * time.Millisecond
	outcome := newSender(t, cfg, nil).Send(t.Context(), newAttempt(silent.url()))
	require.Equal(t, models.ErrorReadTimeout, outcome.ErrorClass)
	require.Equal(t, "the receiver did not answer in time", outcome.Error)
	require.Equal(t, silent.addr, outcome.RemoteAddr)

	cfg = patient
	cfg.ConnectTimeout = 80 * time.Millisecond
	outcome = newSender(t, cfg, nil).Send(t.Context(), newAttempt("https://"+silent.addr+"/"))
	require.Equal(t, models.ErrorConnectTimeout, outcome.ErrorClass)

	cfg = patient
	cfg.TotalTimeout = 80 * time.Millisecond
	outcome = newSender(t, cfg, nil).Send(t.Context(), newAttempt(silent.url()))
	require.Equal(t, models.ErrorTimeout, outcome.ErrorClass)
}

// Guarantee: a body that breaks off after its status changes nothing, and the
// record says that it broke off.
func TestBodiesThatBreakOff(t *testing.T) {
	t.Parallel()
	reset := newRawReceiver(t, func(r *rawReceiver, conn net.Conn) {
		if r.readRequest(bufio.NewReader(conn)) {
			_, _ = io.WriteString(conn, "HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\npart")
			_ = conn.(*net.TCPConn).SetLinger(0)
		}
	})
	short := answering(t, "HTTP/1.1 201 Created\r\nContent-Length: 100\r\n\r\npart")
	badChunk := answering(t, "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzzzz\r\npart")
	for _, receiver := range []*rawReceiver{reset, short, badChunk} {
		outcome := send(t, receiver.url())
		require.Equal(t, webhooks.Delivered, outcome.Verdict().Kind, "%+v", outcome)
		require.Empty(t, outcome.ErrorClass)
		require.True(t, outcome.ResponseTruncated)
		require.Contains(t, outcome.BodyError, "broke off")
		require.EqualValues(t, 1, receiver.requests.Load())
	}
	refused := answering(t, "HTTP/1.1 401 No\r\nContent-Length: 100\r\n\r\npart")
	require.Equal(t, webhooks.DeadLetter, send(t, refused.url()).Verdict().Kind)
}

func TestBodiesThatShouldNotBe(t *testing.T) {
	t.Parallel()
	noContent := send(t, answering(t, "HTTP/1.1 204 No Content\r\nContent-Length: 4\r\n\r\nbody").url())
	require.Equal(t, webhooks.Delivered, noContent.Verdict().Kind)
	require.Equal(t, 204, noContent.StatusCode)
	require.Empty(t, noContent.ResponseBody)

	switching := newRawReceiver(t, func(r *rawReceiver, conn net.Conn) {
		if r.readRequest(bufio.NewReader(conn)) {
			_, _ = io.WriteString(conn, "HTTP/1.1 101 Switching Protocols\r\nConnection: upgrade\r\nUpgrade: x\r\n\r\n")
			hold(conn)
		}
	})
	outcome := send(t, switching.url())
	require.Equal(t, models.ErrorHTTP1xx, outcome.ErrorClass)
	require.Equal(t, webhooks.Retry, outcome.Verdict().Kind)
	require.Less(t, outcome.Timing.Total, waitFor)

	hints := send(t, answering(t, "HTTP/1.1 103 Early Hints\r\nLink: </x>\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n").url())
	require.Equal(t, webhooks.Delivered, hints.Verdict().Kind)
}

func TestCertificates(t *testing.T) {
	t.Parallel()
	ca, stranger := newAuthority(t), newAuthority(t)
	valid := time.Now().Add(time.Hour)
	for name, tt := range map[string]struct {
		cert tls.Certificate
		want models.ErrorClass
		text string
	}{
		"expired":     {ca.issue(t, "", time.Now().Add(-time.Hour)), models.ErrorTLSExpired, "has expired"},
		"wrong name":  {ca.issue(t, "other.example.test", valid), models.ErrorTLSName, "for another name"},
		"self-signed": {stranger.issue(t, "", valid), models.ErrorTLSUntrusted, "known authority"},
	} {
		receiver := newTLSReceiver(t, tt.cert)
		outcome := newSender(t, patient, ca.pool()).Send(t.Context(), newAttempt("https://"+receiver.addr+"/"))
		require.Equal(t, tt.want, outcome.ErrorClass, name)
		require.Contains(t, outcome.Error, tt.text, name)
		require.Equal(t, webhooks.Retry, outcome.Verdict().Kind, name)
	}
}

func TestTLSFailures(t *testing.T) {
	t.Parallel()
	garbage := newRawReceiver(t, func(_ *rawReceiver, conn net.Conn) {
		_, _ = io.WriteString(conn, "HTTP/1.1 400 Bad Request\r\n\r\n")
	})
	hangUp := newRawReceiver(t, func(_ *rawReceiver, conn net.Conn) { _, _ = conn.Read(make([]byte, 1)) })
	ca := newAuthority(t)
	demanding := newRawReceiver(t, func(_ *rawReceiver, conn net.Conn) {
		cert := ca.issue(t, "", time.Now().Add(time.Hour))
		hold(tls.Server(conn, &tls.Config{Certificates: []tls.Certificate{cert}, ClientAuth: tls.RequireAnyClientCert}))
	})
	for name, receiver := range map[string]*rawReceiver{"garbage": garbage, "client certificate": demanding} {
		outcome := newSender(t, patient, ca.pool()).Send(t.Context(), newAttempt("https://"+receiver.addr+"/"))
		require.Equal(t, models.ErrorTLS, outcome.ErrorClass, "%s: %s", name, outcome.Error)
	}
	outcome := newSender(t, patient, nil).Send(t.Context(), newAttempt("https://"+hangUp.addr+"/"))
	require.Contains(t, []models.ErrorClass{models.ErrorTLS, models.ErrorReset}, outcome.ErrorClass)
}

func TestNoConnection(t *testing.T) {
	t.Parallel()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	addr := listener.Addr().String()
	require.NoError(t, listener.Close())
	outcome := send(t, "http://"+addr+"/")
	require.Equal(t, models.ErrorRefused, outcome.ErrorClass)
	require.Equal(t, "the receiver refused the connection: connection refused", outcome.Error)
	require.Empty(t, outcome.RemoteAddr)
}

// Guarantee: an address that may not be reached is not, and the reason is kept.
func TestBlockedAddress(t *testing.T) {
	t.Parallel()
	receiver := answering(t, "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")
	sender := webhooks.NewSender(egress.New(nil).Transport(egress.TransportConfig{}), patient)
	outcome := sender.Send(t.Context(), newAttempt(receiver.url()))
	require.Equal(t, models.ErrorBlockedAddress, outcome.ErrorClass)
	require.Equal(t, "the receiver's address may not be reached: 127.0.0.1 is a loopback address", outcome.Error)
	require.Zero(t, receiver.requests.Load())
}

// Guarantee: a name that does not resolve is a class of its own, and the text
// does not name our resolver.
func TestNameThatDoesNotResolve(t *testing.T) {
	t.Parallel()
	failing := &net.Resolver{PreferGo: true, Dial: func(context.Context, string, string) (net.Conn, error) {
		return nil, errors.New("dial udp 192.0.2.53:53: unreachable")
	}}
	silent := &net.Resolver{PreferGo: true, Dial: func(ctx context.Context, _, _ string) (net.Conn, error) {
		<-ctx.Done()
		return nil, ctx.Err()
	}}
	for resolver, text := range map[*net.Resolver]string{
		failing: "hooks.example.test does not resolve: the look-up failed",
		silent:  "the receiver's name did not resolve in time",
	} {
		cfg := patient
		if resolver == silent {
			cfg.ConnectTimeout = 100 * time.Millisecond
		}
		sender := webhooks.NewSender(egress.New(nil, egress.WithResolver(resolver)).Transport(egress.TransportConfig{}), cfg)
		outcome := sender.Send(t.Context(), newAttempt("http://hooks.example.test/"))
		require.Equal(t, models.ErrorDNS, outcome.ErrorClass, text)
		require.Equal(t, text, outcome.Error)
	}
}
