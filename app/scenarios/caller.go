package scenarios

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptrace"
	"net/url"
	"strings"
	"sync/atomic"
	"time"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/botix-pro/platform/internal/clock"
	"github.com/botix-pro/platform/internal/egress"
)

const (
	// maxBody is how much of an answer's body is kept, in bytes.
	maxBody = 16 << 10
	// maxDepth is how deep a body may be nested that is kept as JSON.
	maxDepth = 32
)

// call is one request.
type call struct {
	method, url string
	headers     map[string]string
	body        []byte // nil: none
	key         string // Idempotency-Key
}

// caller sends requests, each exactly once.
type caller struct {
	transport *http.Transport
	timeout   time.Duration
	userAgent string
	rewrite   func(*url.URL) *url.URL // nil: none
	clock     clock.Clock
}

// newCaller returns a caller over a guarded transport. net/http would by itself
// send a request again that carries an Idempotency-Key, or is a GET, when a kept
// connection turns out closed, and HTTP/2 when a stream is refused. So each
// request has an HTTP/1.1 connection of its own, on which neither happens: what
// goes out is what was counted. It goes to the transport itself, so redirects are
// not followed either.
func newCaller(cfg Config) *caller {
	single := cfg.Transport.Clone()
	single.DisableKeepAlives = true
	single.Protocols = new(http.Protocols)
	single.Protocols.SetHTTP1(true)
	return &caller{transport: single, timeout: cfg.Timeout, userAgent: cfg.UserAgent, rewrite: cfg.Rewrite, clock: cfg.Clock}
}

// send makes one request and says what came of it. It never fails: whatever a
// receiver does is an answer.
func (c *caller) send(ctx context.Context, what call) answer {
	ctx, cancel := context.WithTimeout(ctx, c.timeout)
	defer cancel()
	var connected atomic.Bool
	request, err := http.NewRequestWithContext(httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{
		GotConn: func(httptrace.GotConnInfo) { connected.Store(true) },
	}), what.method, what.url, bytes.NewReader(what.body))
	if err != nil {
		return answer{problem: "the address is not a URL", refused: true}
	}
	if c.rewrite != nil {
		request.URL = c.rewrite(request.URL)
	}
	request.GetBody = nil
	if what.body == nil {
		request.Body = http.NoBody
	}
	request.Header = c.header(what)
	response, err := c.transport.RoundTrip(request) //nolint:bodyclose // closed in read
	if err != nil {
		return noAnswer(err, connected.Load())
	}
	return c.read(response)
}

// header returns what the request carries; ours win whatever was stored.
func (c *caller) header(what call) http.Header {
	h := http.Header{}
	for name, value := range what.headers {
		h.Set(name, value)
	}
	if what.body != nil {
		h.Set("Content-Type", "application/json")
	}
	h.Set("User-Agent", c.userAgent)
	h.Set("Idempotency-Key", what.key)
	return h
}

// noAnswer sorts what a transport says. Without a connection nothing was sent.
func noAnswer(err error, connected bool) answer {
	a := answer{unsent: !connected, problem: "the connection to the receiver failed"}
	var blocked *egress.BlockedError
	var dns *net.DNSError
	switch {
	case errors.As(err, &blocked):
		a.problem, a.refused = "the receiver's address may not be reached: "+blocked.Error(), true
	case errors.As(err, &dns):
		a.problem = "the receiver's name does not resolve"
	case errors.Is(err, context.DeadlineExceeded) && !connected:
		a.problem = "no connection to the receiver in time"
	case connected:
		a.problem = "the receiver did not answer"
	}
	return a
}

// read keeps the answer. Its status is final whatever becomes of its body.
func (c *caller) read(response *http.Response) answer {
	defer func() { _ = response.Body.Close() }()
	body, err := io.ReadAll(io.LimitReader(response.Body, maxBody+1))
	a := answer{status: response.StatusCode, body: body[:min(len(body), maxBody)], truncated: err != nil || len(body) > maxBody}
	a.after = egress.ParseRetryAfter(response.Header.Values("Retry-After"), c.clock.Now())
	return a
}

// saved is an answer as a run's variable: its status, and its body as JSON where
// it is some, otherwise as text.
func (a answer) saved() map[string]any {
	return map[string]any{"status": a.status, "body": a.content(), "truncated": a.truncated}
}

func (a answer) content() any {
	switch {
	case len(bytes.TrimSpace(a.body)) == 0:
		return nil
	case !a.truncated && harmless(a.body):
		return jsontext.Value(a.body)
	default:
		text := strings.ToValidUTF8(string(a.body), string(utf8.RuneError))
		return strings.ReplaceAll(text, "\x00", string(utf8.RuneError))
	}
}

// harmless reports whether a body is strict JSON that everything further on can
// hold: no NUL, not too deep.
func harmless(body []byte) bool {
	decoder := jsontext.NewDecoder(bytes.NewReader(body))
	for {
		token, err := decoder.ReadToken()
		if errors.Is(err, io.EOF) {
			return true
		}
		if err != nil || decoder.StackDepth() > maxDepth || (token.Kind() == '"' && strings.ContainsRune(token.String(), 0)) {
			return false
		}
	}
}
