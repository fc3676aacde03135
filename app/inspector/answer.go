package inspector

import (
	"context"
	"net/http"
	"strconv"
	"time"

	"github.com/botix-pro/platform/app/models"
)

// answer gives a captured request the answer that its bin's script has for it. cut
// says that the connection is to be cut now.
func (h *Capture) answer(w http.ResponseWriter, r *http.Request, c *models.CapturedRequest) (outcome models.AnswerOutcome, cut bool) {
	a := *c.Answer
	if a.Waits() > 0 {
		if !h.gate.wait(c.BinID) {
			c.Answer = &models.BinAnswer{Status: http.StatusServiceUnavailable, RetryAfter: 60, Body: "Too many answers of this bin are waiting.\n"}
			write(w, *c.Answer)
			return models.AnswerBusy, false
		}
		defer h.gate.stopWaiting(c.BinID)
	}
	if !h.pause(r.Context(), time.Duration(a.DelayMs)*time.Millisecond) {
		return models.AnswerSenderLeft, false
	}
	switch {
	case a.Drop == models.DropBefore:
		return models.AnswerDropped, true
	case a.Drop == models.DropDuring:
		return models.AnswerDropped, h.half(w, r, a)
	case a.DripMs > 0:
		return h.drip(w, r, a), false
	default:
		write(w, a)
		return models.AnswerGiven, false
	}
}

// pause waits, unless the process stops; false: the sender left meanwhile.
func (h *Capture) pause(ctx context.Context, d time.Duration) bool {
	if d <= 0 {
		return true
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-h.hurry:
		return true
	case <-ctx.Done():
		return false
	}
}

// head writes the status with its headers.
func head(w http.ResponseWriter, a models.BinAnswer) {
	if a.RetryAfter > 0 {
		w.Header().Set("Retry-After", strconv.Itoa(a.RetryAfter))
	}
	if to := a.Location(); to != "" {
		w.Header().Set("Location", to)
	}
	w.WriteHeader(a.Status)
}

// write sends a whole answer. That the sender is gone changes nothing.
func write(w http.ResponseWriter, a models.BinAnswer) {
	head(w, a)
	if a.Body != "" {
		_, _ = w.Write([]byte(a.Body))
	}
}

// half promises a body and sends a part of it.
func (h *Capture) half(w http.ResponseWriter, r *http.Request, a models.BinAnswer) bool {
	w.Header().Set("Content-Length", strconv.Itoa(len(a.Body)+1))
	head(w, a)
	if r.Method != http.MethodHead {
		_, _ = w.Write([]byte(a.Body[:len(a.Body)/2]))
	}
	_ = http.NewResponseController(w).Flush()
	return true
}

// drip sends the body a byte at a time.
func (h *Capture) drip(w http.ResponseWriter, r *http.Request, a models.BinAnswer) models.AnswerOutcome {
	w.Header().Set("Content-Length", strconv.Itoa(len(a.Body)))
	head(w, a)
	if r.Method == http.MethodHead {
		return models.AnswerGiven
	}
	flusher := http.NewResponseController(w)
	for i := range len(a.Body) {
		if !h.pause(r.Context(), time.Duration(a.DripMs)*time.Millisecond) {
			return models.AnswerSenderLeft
		}
		_, err := w.Write([]byte{a.Body[i]})
		if err == nil {
			err = flusher.Flush()
		}
		if err != nil {
			return models.AnswerSenderLeft
		}
	}
	return models.AnswerGiven
}
