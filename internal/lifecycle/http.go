package lifecycle

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"time"
)

// Limits of every HTTP server of ours.
const (
	readHeaderTimeout = 10 * time.Second
	// readTimeout covers the body too: before an answer is written, net/http reads
	// what is left of one, even from a caller who was refused and never sends it.
	readTimeout = 35 * time.Second
	// writeTimeout counts from the request's header: the body's time, an
	// operation's, and what a slow reader needs. A handler that streams sets its own.
	writeTimeout   = 2 * time.Minute
	idleTimeout    = 120 * time.Second
	maxHeaderBytes = 64 << 10
)

// HTTPServer serves a handler on a listener that is already bound, so that its
// address is known, and its failure seen, before anything else starts.
type HTTPServer struct {
	listener net.Listener
	server   *http.Server
	failed   chan error
}

// NewHTTPServer returns a service for the handler. It owns the listener: Stop
// closes it, also when the server was never started.
func NewHTTPServer(listener net.Listener, handler http.Handler, log *slog.Logger) *HTTPServer {
	return &HTTPServer{
		listener: listener, failed: make(chan error, 1),
		server: &http.Server{
			Handler: handler, ReadHeaderTimeout: readHeaderTimeout, ReadTimeout: readTimeout, WriteTimeout: writeTimeout,
			IdleTimeout: idleTimeout, MaxHeaderBytes: maxHeaderBytes,
			// What it logs is what clients do wrong: broken handshakes, aborted requests.
			ErrorLog: slog.NewLogLogger(log.Handler(), slog.LevelDebug),
		},
	}
}

// ListenHTTP binds addr ("host:port", port 0 for a free one) and returns a
// service for the handler on it.
func ListenHTTP(ctx context.Context, addr string, handler http.Handler, log *slog.Logger) (*HTTPServer, error) {
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", addr)
	if err != nil {
		return nil, fmt.Errorf("listen on %s: %w", addr, err)
	}
	return NewHTTPServer(listener, handler, log), nil
}

// Addr is the address that is bound, with the port that was really taken.
func (s *HTTPServer) Addr() net.Addr { return s.listener.Addr() }

// Start implements [Service].
func (s *HTTPServer) Start(context.Context) error {
	go func() {
		if err := s.server.Serve(s.listener); !errors.Is(err, http.ErrServerClosed) {
			s.failed <- err
		}
	}()
	return nil
}

// Stop implements [Service]: no new requests come in and those in flight are
// answered. What is still running when ctx ends is cut off, and said so.
func (s *HTTPServer) Stop(ctx context.Context) error {
	err := s.server.Shutdown(ctx)
	_ = s.listener.Close() // closed already, unless it was never served
	if err != nil {
		return errors.Join(fmt.Errorf("requests were cut off: %w", err), s.server.Close())
	}
	return nil
}

// Failed implements [Failing].
func (s *HTTPServer) Failed() <-chan error { return s.failed }
