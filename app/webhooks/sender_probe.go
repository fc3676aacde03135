package webhooks

import (
	"context"
	"crypto/tls"
	"math"
	"net"
	"net/http/httptrace"
	"strings"
	"sync"
	"time"

	"github.com/botix-pro/platform/app/models"
)

// Timing splits an attempt. A part that did not happen is zero: a kept
// connection needs no DNS, no connect and no TLS.
type Timing struct {
	DNS       time.Duration
	Connect   time.Duration
	TLS       time.Duration
	FirstByte time.Duration // from having a connection to the answer's first byte
	Total     time.Duration // the whole exchange, body included
}

// Model returns the timing in the whole milliseconds that are stored, each part
// rounded up, so that only what did not happen is 0.
func (t Timing) Model() models.AttemptTiming {
	return models.AttemptTiming{
		DNSMs:       milliseconds(t.DNS),
		ConnectMs:   milliseconds(t.Connect),
		TLSMs:       milliseconds(t.TLS),
		FirstByteMs: milliseconds(t.FirstByte),
		DurationMs:  milliseconds(t.Total),
	}
}

func milliseconds(d time.Duration) int {
	return int(min((d+time.Millisecond-1)/time.Millisecond, math.MaxInt32))
}

// phase is how far an exchange has come.
type phase int

const (
	phaseStart phase = iota
	phaseDNS
	phaseConnect
	phaseTLS
	phaseConnected
	phaseAnswering // the first byte of the answer has come
)

// probe watches one exchange: where its time goes, how far it came, and whether
// a phase takes too long. Its callbacks run on the transport's goroutines, some
// of them after the exchange has ended.
type probe struct {
	abort  context.CancelCauseFunc
	answer time.Duration

	mu            sync.Mutex
	timer         *time.Timer // of the current phase; nil once stopped
	timing        Timing
	began         [phaseAnswering + 1]time.Time
	phase         phase
	remote        string
	reused        bool
	http2         bool
	counter       byteCounter
	writtenBefore int64
}

// byteCounter is a connection that counts what is written to it (egress.Conn).
type byteCounter interface{ BytesWritten() int64 }

// newProbe starts the connect phase's clock.
func newProbe(abort context.CancelCauseFunc, cfg SenderConfig) *probe {
	p := &probe{abort: abort, answer: cfg.AnswerTimeout}
	p.timer = time.AfterFunc(cfg.ConnectTimeout, func() { abort(errConnectTimeout) })
	return p
}

// stop ends the phase clocks: the answer's head is there, or never will be.
func (p *probe) stop() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.timer != nil {
		p.timer.Stop()
		p.timer = nil
	}
}

// trace attaches the probe to a request's context.
func (p *probe) trace(ctx context.Context) context.Context {
	return httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{
		DNSStart:             func(httptrace.DNSStartInfo) { p.enter(phaseDNS) },
		DNSDone:              func(httptrace.DNSDoneInfo) { p.leave(phaseDNS, &p.timing.DNS) },
		ConnectStart:         func(string, string) { p.enter(phaseConnect) },
		ConnectDone:          func(string, string, error) { p.leave(phaseConnect, &p.timing.Connect) },
		TLSHandshakeStart:    func() { p.enter(phaseTLS) },
		TLSHandshakeDone:     func(tls.ConnectionState, error) { p.leave(phaseTLS, &p.timing.TLS) },
		GotConn:              p.gotConn,
		GotFirstResponseByte: p.firstByte,
	})
}

// enter notes the begin of a phase. Several addresses may be dialled at once:
// the first begin counts.
func (p *probe) enter(next phase) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.phase = max(p.phase, next)
	if p.began[next].IsZero() {
		p.began[next] = monotonic()
	}
}

func (p *probe) leave(done phase, spent *time.Duration) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if begin := p.began[done]; !begin.IsZero() {
		*spent = monotonic().Sub(begin)
	}
}

func (p *probe) gotConn(info httptrace.GotConnInfo) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.phase = phaseConnected
	p.began[phaseConnected] = monotonic()
	p.reused = info.Reused
	p.remote = info.Conn.RemoteAddr().String()
	p.inspect(info.Conn)
	if p.timer != nil {
		p.timer.Stop()
		p.timer = time.AfterFunc(p.answer, func() { p.abort(errAnswerTimeout) })
	}
}

// inspect looks through TLS at the connection that counts.
func (p *probe) inspect(conn net.Conn) {
	if secure, ok := conn.(*tls.Conn); ok {
		p.http2 = secure.ConnectionState().NegotiatedProtocol == "h2"
		conn = secure.NetConn()
	}
	if counter, ok := conn.(byteCounter); ok {
		p.counter, p.writtenBefore = counter, counter.BytesWritten()
	}
}

func (p *probe) firstByte() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.phase = phaseAnswering
	p.timing.FirstByte = monotonic().Sub(p.began[phaseConnected])
}

// seen is a copy of what the probe knows.
type seen struct {
	timing Timing
	phase  phase
	remote string
}

func (p *probe) seen() seen {
	p.mu.Lock()
	defer p.mu.Unlock()
	return seen{timing: p.timing, phase: p.phase, remote: p.remote}
}

// unsent reports whether err means that the receiver took nothing of the
// request. An HTTP/2 connection is shared, so its count says nothing about one
// request; there the receiver's own word is needed.
func (p *probe) unsent(err error) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.http2 {
		return refusedUnprocessed(err)
	}
	return p.reused && p.counter != nil && p.counter.BytesWritten() == p.writtenBefore
}

// refusedUnprocessed recognises what net/http says, in words only, when an
// HTTP/2 receiver refused a stream (RST_STREAM REFUSED_STREAM) or went away
// without having looked at it (GOAWAY), and the body cannot be rewound. It also
// says so of a PROTOCOL_ERROR, which promises nothing. Should the words change,
// such an attempt merely fails and follows the schedule; a test watches them.
func refusedUnprocessed(err error) bool {
	text := err.Error()
	return strings.Contains(text, "http2: Transport: cannot retry err") &&
		!strings.Contains(text, "PROTOCOL_ERROR")
}
