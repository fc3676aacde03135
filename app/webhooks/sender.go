package webhooks

import (
	"cmp"
	"context"
	"errors"
	"net/http"
	"net/url"
	"time"

	"github.com/botix-pro/platform/app/models"
)

// MaxResponseBody is how much of an answer's body is kept, in bytes (contract §5).
const MaxResponseBody = 16 << 10

// SenderConfig bounds an attempt. Every zero field means the value named beside
// it, which is the contract's.
type SenderConfig struct {
	ConnectTimeout time.Duration // DNS, TCP and TLS together: 10 s
	AnswerTimeout  time.Duration // connected to headers received: 30 s
	TotalTimeout   time.Duration // the whole exchange, body included: 40 s
	UserAgent      string        // BOTIX-Webhooks/dev
	// Rewrite is where a URL is really sent to, egress.Guard.Rewrite; nil: itself.
	Rewrite func(*url.URL) *url.URL
}

const (
	defaultConnectTimeout = 10 * time.Second
	defaultAnswerTimeout  = 30 * time.Second
	defaultTotalTimeout   = 40 * time.Second
	defaultUserAgent      = "BOTIX-Webhooks/dev"
)

// Attempt is what one physical request needs to know.
type Attempt struct {
	URL       string
	Body      []byte // the same bytes on every attempt
	EventID   string
	EventType string
	Number    int    // from 1, X-Delivery-Attempt
	RequestID string // new each attempt
	Headers   map[string]string
	Secrets   []Secret // newest first, see [ActiveSecrets]
	StartedAt time.Time
}

// Outcome is what came of an attempt. Its texts are valid UTF-8 without NUL and
// bounded, whatever the receiver sent; only ResponseBody is as received.
type Outcome struct {
	StatusCode        int                 // 0: no answer
	ErrorClass        models.ErrorClass   // empty when delivered
	Error             string              // one readable sentence, empty when delivered
	Sent              *models.SentRequest // nil: no request could be made
	ResponseHeaders   http.Header
	ResponseBody      []byte // at most MaxResponseBody bytes, as received
	ResponseTruncated bool   // there was more, or the body broke off
	BodyError         string // why the body broke off; changes no verdict
	Timing            Timing
	RemoteAddr        string        // "ip:port", empty without a connection
	RetryAfter        time.Duration // 0: none to obey, see egress.ParseRetryAfter
	Resent            bool          // see [Sender.Send]
}

// Verdict applies the contract's table to the outcome.
func (o Outcome) Verdict() Verdict { return Classify(o.StatusCode, o.RetryAfter, o.ErrorClass) }

// Sender makes attempts over one shared transport. It is safe for concurrent use.
type Sender struct {
	shared *http.Transport
	fresh  *http.Transport // as shared, but every request on a connection of its own
	cfg    SenderConfig
}

// NewSender returns a sender over transport, which must be guarded
// (egress.Guard.Transport). The requests go to the transport itself and not
// through an http.Client: nothing in between follows redirects, keeps cookies
// or fails over a Location header that cannot be parsed.
func NewSender(transport *http.Transport, cfg SenderConfig) *Sender {
	cfg.ConnectTimeout = cmp.Or(cfg.ConnectTimeout, defaultConnectTimeout)
	cfg.AnswerTimeout = cmp.Or(cfg.AnswerTimeout, defaultAnswerTimeout)
	cfg.TotalTimeout = cmp.Or(cfg.TotalTimeout, defaultTotalTimeout)
	cfg.UserAgent = cmp.Or(cfg.UserAgent, defaultUserAgent)
	if cfg.Rewrite == nil {
		cfg.Rewrite = func(u *url.URL) *url.URL { return u }
	}
	fresh := transport.Clone()
	fresh.DisableKeepAlives = true
	return &Sender{shared: transport, fresh: fresh, cfg: cfg}
}

// The reasons for which an attempt is cut short.
var (
	errConnectTimeout = errors.New("connecting took too long")
	errAnswerTimeout  = errors.New("no answer in time")
	errTotalTimeout   = errors.New("the whole exchange took too long")
)

// Send makes one attempt and says what came of it. When ctx ends first the
// outcome is worker_lost: nobody knows whether the receiver got the request.
//
// An attempt is one physical request. The transport's own silent resending is
// off (the request cannot be rewound); the one exception is made here and shown
// as Outcome.Resent: a request of which provably nothing was taken is repeated
// once, on a connection of its own. That is a kept connection that turns out
// closed before a single byte was written, and an HTTP/2 receiver that says it
// refused the stream unprocessed (RFC 9113 §8.7). A kept connection that breaks
// after the first byte is a failed attempt like any other.
func (s *Sender) Send(ctx context.Context, a Attempt) Outcome {
	begin := monotonic()
	limited, cancel := context.WithTimeoutCause(ctx, s.cfg.TotalTimeout, errTotalTimeout)
	defer cancel()

	x := s.exchange(limited, s.shared, a)
	resent := x.err != nil && limited.Err() == nil && x.probe.unsent(x.err)
	if resent {
		x = s.exchange(limited, s.fresh, a)
	}
	defer x.release()

	outcome := x.outcome(ctx, a, begin)
	outcome.Resent = resent
	return outcome
}

// exchange is one request on the wire with its answer's head.
type exchange struct {
	request  *http.Request
	sent     *models.SentRequest
	response *http.Response // nil when err is not
	err      error
	probe    *probe
	cancel   context.CancelCauseFunc
}

func (s *Sender) exchange(ctx context.Context, transport *http.Transport, a Attempt) *exchange {
	ctx, cancel := context.WithCancelCause(ctx)
	x := &exchange{cancel: cancel, probe: newProbe(cancel, s.cfg)}
	x.request, x.sent, x.err = s.newRequest(x.probe.trace(ctx), a, transport.DisableKeepAlives)
	if x.err != nil {
		x.probe.stop()
		return x
	}
	x.response, x.err = transport.RoundTrip(x.request) //nolint:bodyclose // closed in outcome
	x.probe.stop()
	if x.err != nil && ctx.Err() != nil {
		x.err = context.Cause(ctx)
	}
	return x
}

// release ends what the exchange still holds.
func (x *exchange) release() { x.cancel(nil) }

// monotonic is read only to measure how long something took; the time of day
// comes from the caller.
func monotonic() time.Time { return time.Now() }
