package telemetry

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"time"
)

// ReadyTimeout bounds a readiness check, below any orchestrator's own limit.
const ReadyTimeout = 2 * time.Second

// What a readiness check comes to.
const (
	OK          = "ok"
	Degraded    = "degraded"    // works, less well
	Unavailable = "unavailable" // cannot work
	failed      = "failed"      // one check
)

// Check asks one thing that a process depends on.
type Check struct {
	Name string // as shown, e.g. "postgres"
	// Vital: without it the process cannot work; without another one it works
	// less well.
	Vital bool
	// Ask returns nil if the thing answers. The error is not shown: /readyz may
	// be public.
	Ask func(ctx context.Context) error
}

// Findings is the answer of /readyz.
type Findings struct {
	Status string            `json:"status"` // OK, Degraded or Unavailable
	Checks map[string]string `json:"checks"` // by name: ok or failed
}

// Health answers /healthz (the process lives) and /readyz (what it depends on
// answers too): 200 with status ok or degraded, or 503 with unavailable.
func Health(checks ...Check) http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /healthz", func(w http.ResponseWriter, _ *http.Request) {
		report(w, http.StatusOK, map[string]string{"status": OK})
	})
	mux.HandleFunc("GET /readyz", func(w http.ResponseWriter, r *http.Request) {
		ctx, cancel := context.WithTimeout(r.Context(), ReadyTimeout)
		defer cancel()
		found := Readiness(ctx, checks)
		code := http.StatusOK
		if found.Status == Unavailable {
			code = http.StatusServiceUnavailable
		}
		report(w, code, found)
	})
	return mux
}

// Readiness asks every check, all at once: one that hangs until ctx is over
// must not use up the others' time. One that does not heed ctx has failed.
func Readiness(ctx context.Context, checks []Check) Findings {
	answers := make([]chan error, len(checks))
	for i, check := range checks {
		answers[i] = make(chan error, 1)
		go func() { answers[i] <- check.Ask(ctx) }()
	}
	found := Findings{Status: OK, Checks: make(map[string]string, len(checks))}
	for i, check := range checks {
		found.note(check, await(ctx, answers[i]))
	}
	return found
}

func await(ctx context.Context, answer <-chan error) error {
	select {
	case err := <-answer:
		return err
	case <-ctx.Done():
	}
	select { // whoever answered in time is believed, whichever case was taken
	case err := <-answer:
		return err
	default:
		return errors.New("no answer in time")
	}
}

func (f *Findings) note(check Check, err error) {
	switch {
	case err == nil:
		f.Checks[check.Name] = OK
		return
	case check.Vital:
		f.Status = Unavailable
	case f.Status == OK:
		f.Status = Degraded
	}
	f.Checks[check.Name] = failed
}

func report(w http.ResponseWriter, status int, body any) {
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Cache-Control", "no-store")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(body) // the client is gone if it fails
}
