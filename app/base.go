package app

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/url"
	"os"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/redis/go-redis/v9"

	"github.com/botix-pro/platform/app/inspector"
	"github.com/botix-pro/platform/app/store"
	"github.com/botix-pro/platform/internal/clock"
	"github.com/botix-pro/platform/internal/config"
	"github.com/botix-pro/platform/internal/egress"
	"github.com/botix-pro/platform/internal/lifecycle"
	"github.com/botix-pro/platform/internal/seal"
	"github.com/botix-pro/platform/internal/telemetry"
	"github.com/botix-pro/platform/migrations"
)

// base is what every program needs.
type base struct {
	cfg      config.Config
	log      *slog.Logger
	clock    clock.Clock
	store    *store.Store
	redis    redis.UniversalClient // never repeats a command; see newRedis
	queue    redis.UniversalClient // asynq's
	registry *prometheus.Registry
}

// newBase connects to PostgreSQL and checks that its schema is this binary's.
// Redis is not asked: everything works without it.
func newBase(ctx context.Context, cfg config.Config, log *slog.Logger, program string) (*base, error) {
	box, err := seal.New(cfg.EncryptionKeys)
	if err != nil {
		return nil, fmt.Errorf("encryption keys: %w", err)
	}
	client, err := newRedis(cfg.RedisURL)
	if err != nil {
		return nil, err
	}
	queue, err := newQueueRedis(cfg.RedisURL)
	if err != nil {
		return nil, errors.Join(err, client.Close())
	}
	st, err := store.Open(ctx, store.Config{
		URL: cfg.DatabaseURL, MaxConns: cfg.DatabaseMaxConns, Application: "botix-" + program,
	}, box)
	if err != nil {
		return nil, errors.Join(err, client.Close(), queue.Close())
	}
	b := &base{cfg: cfg, log: log, clock: clock.System{}, store: st, redis: client, queue: queue, registry: telemetry.NewRegistry()}
	if err := migrations.Check(ctx, st.DB()); err != nil {
		return nil, errors.Join(fmt.Errorf("%w; run: server migrate", err), b.close())
	}
	if err := st.KeepPartitions(ctx); err != nil {
		return nil, errors.Join(err, b.close())
	}
	return b, nil
}

func (b *base) close() error {
	return errors.Join(b.redis.Close(), b.queue.Close(), b.store.Close())
}

// checks are what the process depends on, by the names that /readyz shows.
func (b *base) checks() []telemetry.Check {
	return []telemetry.Check{
		{Name: "postgres", Vital: true, Ask: b.store.Ping},
		{Name: "redis", Ask: func(ctx context.Context) error { return b.redis.Ping(ctx).Err() }},
	}
}

// internal serves metrics and health on the internal address.
func (b *base) internal(ctx context.Context) (lifecycle.Named, error) {
	server, err := lifecycle.ListenHTTP(ctx, b.cfg.InternalAddr, telemetry.Internal(b.registry, b.checks()...), b.log)
	if err != nil {
		return lifecycle.Named{}, fmt.Errorf("internal listener: %w", err)
	}
	return lifecycle.Named{Name: "internal listener", Service: server}, nil
}

func listen(ctx context.Context, addr string) (net.Listener, error) {
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", addr)
	if err != nil {
		return nil, fmt.Errorf("listen on %s: %w", addr, err)
	}
	return listener, nil
}

// newGuard is the door through which connections leave that tenants can influence.
func newGuard(cfg config.Config) *egress.Guard {
	inspector, err := url.Parse(cfg.InspectorURL)
	if err != nil || inspector.Host == "" { // there is none
		return egress.New(cfg.EgressAllow)
	}
	return egress.New(cfg.EgressAllow, egress.WithDirect(inspector, cfg.InspectorDirect()))
}

// newDesk is what people do with the inspector's bins.
func newDesk(b *base) *inspector.Desk {
	return inspector.NewDesk(b.store, webhooksUserAgent(b.cfg), b.cfg.InspectorURL)
}

func webhooksUserAgent(cfg config.Config) string { return "BOTIX-Webhooks/" + cfg.Version }

// start logs what a program runs with.
func start(cfg config.Config, program string) *slog.Logger {
	log := telemetry.NewLogger(os.Stdout, cfg.LogLevel, cfg.LogFormat).With("program", program)
	useLog(log)
	log.Info("starting", "config", cfg)
	for _, warning := range cfg.Warnings() {
		log.Warn(warning)
	}
	return log
}

// Migrate applies the pending migrations. It does not use the store's pool: an
// index on a large table may take longer than any request's statement may.
func Migrate(ctx context.Context, cfg config.Config) error {
	db, err := store.OpenUnbounded(cfg.DatabaseURL)
	if err != nil {
		return err
	}
	return errors.Join(migrations.Up(ctx, db), db.Close())
}
