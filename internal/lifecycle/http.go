package lifecycle

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"sync/atomic"
	"time"
)

// Limits of every HTTP server of ours. There is no write timeout, which would
// cut streams; handlers bound what they write themselves.
const (
	readHeaderTimeout = 10 * time.Second
	idleTimeout       = 120 * time.Second
	maxHeaderBytes    = 64 << 10
)

// HTTPServer serves a handler on a listener that is already bound, so that its
// address is known, and its failure seen, before anything else starts.
type HTTPServer struct {
	listener net.Listener
	server   *http.Server
	failed   chan error
	started  atomic.Bool
}

// NewHTTPServer returns a service for the handler.
func NewHTTPServer(listener net.Listener, handler http.Handler, log *slog.Logger) *HTTPServer {
	return &HTTPServer{
		listener: listener, failed: make(chan error, 1),
		server: &http.Server{
			Handler: handler, ReadHeaderTimeout: readHeaderTimeout, IdleTimeout: idleTimeout, MaxHeaderBytes: maxHeaderBytes,
			ErrorLog: slog.NewLogLogger(log.Handler(), slog.LevelDebug),
		},
	}
}

// Start implements [Service].
func (s *HTTPServer) Start(context.Context) error {
	s.started.Store(true)
	go func() {
		if err := s.server.Serve(s.listener); !errors.Is(err, http.ErrServerClosed) {
			s.failed <- err
		}
	}()
	return nil
}

// Stop implements [Service]: requests in flight are answered first.
func (s *HTTPServer) Stop(ctx context.Context) error {
	if !s.started.Swap(false) {
		return nil
	}
	if err := s.server.Shutdown(ctx); err != nil {
		return errors.Join(fmt.Errorf("requests were cut off: %w", err), s.server.Close())
	}
	return nil
}

// Failed implements [Failing].
func (s *HTTPServer) Failed() <-chan error { return s.failed }
