// Package telemetry is how operators see a process: its log, its metrics and
// its health.
package telemetry

import (
	"context"
	"encoding/json"
	"io"
	"log/slog"
	"net/http"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"
)

// ReadyTimeout bounds a readiness check, below any orchestrator's own limit.
const ReadyTimeout = 2 * time.Second

// NewLogger returns a logger that writes to w, as "json" or "text".
func NewLogger(w io.Writer, level slog.Level, format string) *slog.Logger {
	options := &slog.HandlerOptions{Level: level}
	if format == "text" {
		return slog.New(slog.NewTextHandler(w, options))
	}
	return slog.New(slog.NewJSONHandler(w, options))
}

// NewRegistry returns a metrics registry that already has the process's own
// figures.
func NewRegistry() *prometheus.Registry {
	registry := prometheus.NewRegistry()
	registry.MustRegister(collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	return registry
}

// Check asks one thing that a process depends on.
type Check struct {
	Name string // as shown, e.g. "postgresql"
	// Vital: without it the process cannot work; without another one it works
	// less well.
	Vital bool
	Ask   func(ctx context.Context) error
}

// Health answers /healthz (the process lives) and /readyz (what it depends on
// answers too): 200 with status ok or degraded, or 503 with unavailable.
func Health(checks ...Check) http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /healthz", func(w http.ResponseWriter, _ *http.Request) {
		report(w, http.StatusOK, map[string]string{"status": "ok"})
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

// What a readiness check comes to.
const (
	OK          = "ok"
	Degraded    = "degraded"    // works, less well
	Unavailable = "unavailable" // cannot work
)

// Findings is the answer of /readyz.
type Findings struct {
	Status string            `json:"status"`
	Checks map[string]string `json:"checks"` // by name: ok or failed
}

// Readiness asks every check.
func Readiness(ctx context.Context, checks []Check) Findings {
	found := Findings{Status: OK, Checks: map[string]string{}}
	for _, check := range checks {
		found.Checks[check.Name] = OK
		if check.Ask(ctx) == nil {
			continue
		}
		found.Checks[check.Name] = "failed"
		switch {
		case check.Vital:
			found.Status = Unavailable
		case found.Status == OK:
			found.Status = Degraded
		}
	}
	return found
}

func report(w http.ResponseWriter, status int, body any) {
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Cache-Control", "no-store")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(body) // the client is gone if it fails
}

// Internal is what a process answers on its internal address: health and
// /metrics.
func Internal(registry *prometheus.Registry, checks ...Check) http.Handler {
	mux := http.NewServeMux()
	mux.Handle("GET /metrics", promhttp.HandlerFor(registry, promhttp.HandlerOpts{}))
	mux.Handle("/", Health(checks...))
	return mux
}
