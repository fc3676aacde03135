package app

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"runtime/debug"
	"strings"
	"time"

	"github.com/botix-pro/platform/app/inspector"
	"github.com/botix-pro/platform/app/middleware"
	"github.com/botix-pro/platform/app/webhooks"
	"github.com/botix-pro/platform/internal/config"
	"github.com/botix-pro/platform/internal/lifecycle"
	"github.com/botix-pro/platform/web/dashboard"
	"github.com/botix-pro/platform/web/docs"
)

const (
	// keyUsesEvery is how far last_used_at of a key may lag behind.
	keyUsesEvery = 10 * time.Second
	// requestLogEvery keeps the request log within a second (contract §3).
	requestLogEvery = 500 * time.Millisecond
	// refusalsEvery is how far a bin's count of refused requests may lag behind.
	refusalsEvery = 10 * time.Second
	// gcPercent lets a server's small heap grow fivefold between collections,
	// which spares a tenth of its CPU time; GOGC in the environment wins.
	gcPercent = 400
	// incarnationEvery bounds how long a failover behind a pooler goes unnoticed.
	incarnationEvery = 5 * time.Second
)

// RunServer answers the API and the dashboard until ctx is over, then ends the
// requests in flight and returns.
func RunServer(ctx context.Context, cfg config.Config) error {
	log := start(cfg, "server")
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(gcPercent)
	}
	b, err := newBase(ctx, cfg, log, "server")
	if err != nil {
		return err
	}
	services, err := serverServices(ctx, b)
	if err == nil {
		err = lifecycle.Run(ctx, log, cfg.ShutdownTimeout, func() {
			log.InfoContext(ctx, "ready", "addr", cfg.Addr, "url", cfg.PublicURL)
		}, services...)
	}
	return errors.Join(err, b.close())
}

// serverServices are the parts of a server, in the order in which they start.
func serverServices(ctx context.Context, b *base) ([]lifecycle.Named, error) {
	internal, err := b.internal(ctx)
	if err != nil {
		return nil, err
	}
	listener, err := listen(ctx, b.cfg.Addr)
	if err != nil {
		return nil, err
	}
	api, err := apiServices(b, listener) //nolint:contextcheck // requests have their own
	if err != nil {
		return nil, errors.Join(err, listener.Close())
	}
	services := append([]lifecycle.Named{internal}, api...)
	if b.cfg.InspectorURL == "" {
		return services, nil
	}
	captures, err := listen(ctx, b.cfg.InspectorAddr)
	if err != nil {
		return nil, errors.Join(err, listener.Close())
	}
	return append(services, inspectorServices(b, captures)...), nil
}

// inspectorServices are what captures requests on the inspector's address. The
// last one stops first: no answer keeps the listener waiting.
func inspectorServices(b *base, listener net.Listener) []lifecycle.Named {
	capture := inspector.NewCapture(inspector.CaptureConfig{Store: b.store, Clock: b.clock, Log: b.log, Registry: b.registry})
	return []lifecycle.Named{
		{Name: "inspector's refusals", Service: lifecycle.NewEvery(refusalsEvery, capture.Flush)},
		{Name: "inspector listener", Service: lifecycle.NewHTTPServer(listener, capture, b.log)},
		{Name: "inspector's waiting answers", Service: lifecycle.OnStop(capture.Hurry)},
	}
}

// apiServices are what answers the public address.
func apiServices(b *base, listener net.Listener) ([]lifecycle.Named, error) {
	hinter := webhooks.NewHinter(b.queue, b.log)
	pages, err := dashboard.New(dashboard.Config{
		Queries: b.store, DB: b.store.DB(), Log: b.log, Clock: b.clock,
		PublicURL: b.cfg.PublicURL, Secure: strings.HasPrefix(b.cfg.PublicURL, "https://"),
		Hint: hinter.Hint, URLs: newGuard(b.cfg), Inspector: newDesk(b),
	})
	if err != nil {
		return nil, fmt.Errorf("dashboard: %w", err)
	}
	public, err := docs.New(b.cfg.PublicURL)
	if err != nil {
		return nil, fmt.Errorf("docs: %w", err)
	}
	notes := newNotes(b)
	e := newEcho(b, notes, hinter.Hint)
	pages.Register(e)
	for path, page := range public.Pages() {
		middleware.Public(e, path, page)
	}
	return append(notes.services(), []lifecycle.Named{
		{Name: "hints", Service: hinter},
		{Name: "incarnation", Service: lifecycle.NewEvery(incarnationEvery, b.store.LearnIncarnation)},
		{Name: "dashboard", Service: lifecycle.OnStop(pages.Close)},
		{Name: "public listener", Service: lifecycle.NewHTTPServer(listener, e, b.log)},
	}...), nil
}

// notes is what requests leave behind without waiting for it.
type notes struct {
	uses     *middleware.KeyUses
	requests *middleware.RequestLog
}

func newNotes(b *base) *notes {
	return &notes{
		uses:     middleware.NewKeyUses(b.store.TouchAPIKeys, b.log),
		requests: middleware.NewRequestLog(b.store.RecordRequests, b.log),
	}
}

func (n *notes) services() []lifecycle.Named {
	return []lifecycle.Named{
		{Name: "key uses", Service: lifecycle.NewEvery(keyUsesEvery, n.uses.Flush)},
		{Name: "request log", Service: lifecycle.NewEvery(requestLogEvery, n.requests.Flush)},
	}
}
