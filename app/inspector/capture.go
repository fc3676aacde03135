package inspector

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/botix-pro/platform/app/models"
	"github.com/botix-pro/platform/app/store"
	"github.com/botix-pro/platform/internal/clock"
)

// finishTimeout bounds writing down what became of an answer.
const finishTimeout = 5 * time.Second

// CaptureConfig sets a handler up.
type CaptureConfig struct {
	Store    *store.Store
	Clock    clock.Clock
	Log      *slog.Logger
	Registry prometheus.Registerer
	Limits   Limits
}

// Capture is the handler of the inspector's listener. It takes any method, any
// path below /{bin} and any body.
type Capture struct {
	cfg     CaptureConfig
	gate    *gate
	metrics *metrics
	hurry   chan struct{} // closed: no answer waits any more
	once    sync.Once
}

// NewCapture returns a handler.
func NewCapture(cfg CaptureConfig) *Capture {
	return &Capture{cfg: cfg, gate: newGate(cfg.Limits), metrics: newMetrics(cfg.Registry), hurry: make(chan struct{})}
}

// Hurry ends the waiting of all answers: the process stops.
func (h *Capture) Hurry() { h.once.Do(func() { close(h.hurry) }) }

// Flush writes down how many requests were refused.
func (h *Capture) Flush(ctx context.Context) {
	now := h.cfg.Clock.Now()
	for bin, count := range h.gate.takeRefused(now) {
		if err := h.cfg.Store.CountRefused(ctx, bin, count, now); err != nil {
			h.cfg.Log.WarnContext(ctx, "refused requests could not be counted", "bin", bin, "count", count, "error", err)
		}
	}
}

// ServeHTTP implements http.Handler.
func (h *Capture) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	begin := h.cfg.Clock.Now()
	harden(w.Header())
	bin := binOf(r.URL.Path)
	if bin == "" {
		h.refuse(w, http.StatusNotFound, refusedUnknown)
		return
	}
	c := h.receive(w, r, bin)
	if c == nil {
		return
	}
	c.DurationMs = h.since(begin)
	h.reply(w, r, c, begin)
}

// harden sets the headers of every answer: nothing of it is ever anything but
// text, and no browser does anything for it.
func harden(header http.Header) {
	header.Set("Content-Type", "text/plain; charset=utf-8")
	header.Set("Content-Security-Policy", "sandbox; default-src 'none'")
	header.Set("X-Content-Type-Options", "nosniff")
	header.Set("Cache-Control", "no-store")
}

// refusals are what a sender reads.
var refusals = map[string]string{
	refusedUnknown:  "There is no such bin, or it has expired.\n",
	refusedRate:     "This bin gets more requests than it takes; this one was not captured.\n",
	refusedFull:     "This bin has stored as much today as it may; this request was not captured.\n",
	refusedBusy:     "The inspector has no room right now; this request was not captured.\n",
	refusedDatabase: "This request could not be captured.\n",
}

// refuse answers a request that is not captured, and ends the connection: its
// body was not read.
func (h *Capture) refuse(w http.ResponseWriter, status int, reason string) {
	h.metrics.refused.WithLabelValues(reason).Inc()
	w.Header().Set("Connection", "close")
	if status == http.StatusTooManyRequests || status == http.StatusServiceUnavailable {
		w.Header().Set("Retry-After", "60")
	}
	w.WriteHeader(status)
	_, _ = w.Write([]byte(refusals[reason])) // the sender is gone if it fails
}

// receive reads a request and stores it, or refuses it and returns nil.
func (h *Capture) receive(w http.ResponseWriter, r *http.Request, bin string) *models.CapturedRequest {
	if h.gate.flooded(bin, h.cfg.Clock.Now()) {
		h.refuse(w, http.StatusTooManyRequests, refusedRate)
		return nil
	}
	if !h.gate.room() {
		h.refuse(w, http.StatusServiceUnavailable, refusedBusy)
		return nil
	}
	defer h.gate.leaveRoom()
	switch lives, err := h.cfg.Store.BinLives(r.Context(), bin); {
	case err != nil:
		h.failed(r.Context(), w, err)
		return nil
	case !lives:
		h.refuse(w, http.StatusNotFound, refusedUnknown)
		return nil
	case !h.gate.enter(bin, h.cfg.Clock.Now()):
		h.refuse(w, http.StatusTooManyRequests, refusedRate)
		return nil
	}
	defer h.gate.leave(bin)
	return h.store(w, r, bin)
}

// failed answers a request that could not be stored by our fault.
func (h *Capture) failed(ctx context.Context, w http.ResponseWriter, err error) {
	h.cfg.Log.ErrorContext(ctx, "a request could not be captured", "error", err)
	h.refuse(w, http.StatusServiceUnavailable, refusedDatabase)
}

// store reads the body and stores the request. A sender who leaves meanwhile does
// not undo it.
func (h *Capture) store(w http.ResponseWriter, r *http.Request, bin string) *models.CapturedRequest {
	c, err := captured(r, bin, h.cfg.Clock.Now())
	if err != nil {
		h.failed(r.Context(), w, err)
		return nil
	}
	h.plan(c, readBody(c, r.Body))
	err = h.cfg.Store.Capture(context.WithoutCancel(r.Context()), c)
	switch {
	case errors.Is(err, store.ErrBinFull):
		h.gate.refuse(bin)
		h.refuse(w, http.StatusTooManyRequests, refusedFull)
		return nil
	case err != nil:
		h.failed(r.Context(), w, err)
		return nil
	}
	return c
}

// plan decides what the script has no say in.
func (h *Capture) plan(c *models.CapturedRequest, body error) {
	c.AnswerOutcome = models.AnswerPending
	switch {
	case errors.Is(body, errTooLarge):
		c.AnswerOutcome = models.AnswerTooLarge
		c.Answer = &models.BinAnswer{Status: http.StatusRequestEntityTooLarge, Body: "The body is larger than the inspector reads.\n"}
	case body != nil:
		c.AnswerOutcome = models.AnswerBrokenBody
		c.Answer = &models.BinAnswer{Status: http.StatusBadRequest, Body: "The body broke off or took too long.\n"}
	}
}

// reply answers a captured request and takes note of what became of that.
func (h *Capture) reply(w http.ResponseWriter, r *http.Request, c *models.CapturedRequest, begin time.Time) {
	cut := false
	if c.AnswerOutcome == models.AnswerPending {
		c.AnswerOutcome, cut = h.answer(w, r, c)
	} else {
		w.Header().Set("Connection", "close")
		write(w, *c.Answer)
	}
	c.DurationMs = h.since(begin)
	h.metrics.captured.WithLabelValues(string(c.AnswerOutcome)).Inc()
	h.finish(r.Context(), c)
	if cut {
		panic(http.ErrAbortHandler) // net/http's way to cut a connection
	}
}

func (h *Capture) finish(ctx context.Context, c *models.CapturedRequest) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), finishTimeout)
	defer cancel()
	if err := h.cfg.Store.FinishCapture(ctx, c); err != nil {
		h.cfg.Log.WarnContext(ctx, "what became of a captured request's answer is not known", "request", c.ID, "error", err)
	}
}

// since is the milliseconds from begin to now; a clock that was set back counts as
// none.
func (h *Capture) since(begin time.Time) int {
	return int(max(h.cfg.Clock.Now().Sub(begin), 0).Milliseconds())
}
