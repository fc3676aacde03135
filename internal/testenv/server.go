package testenv

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"testing"
	"time"

	"github.com/botix-pro/platform/internal/localstack"
)

// stopTimeout bounds the stop of one server.
const stopTimeout = 30 * time.Second

// testSettings leave room for all packages' pools. synchronous_commit stays on,
// as in production: the code under test relies on it.
var testSettings = map[string]string{"max_connections": "300"}

// server is a PostgreSQL with the throw-away folder of its data.
type server struct {
	postgres *localstack.Postgres
	folder   *folder
}

// startServer starts a PostgreSQL that keeps nothing.
func startServer(ctx context.Context, mayInstall bool, log *slog.Logger) (*server, error) {
	place, err := newFolder()
	if err != nil {
		return nil, err
	}
	postgres, err := localstack.StartPostgres(ctx, localstack.Options{
		Dir: place.path, Settings: testSettings, Log: log, AllowInstall: mayInstall, Ephemeral: true,
	})
	if err != nil {
		return nil, errors.Join(err, place.remove())
	}
	return &server{postgres: postgres, folder: place}, nil
}

// adminURL is the superuser's way in.
func (s *server) adminURL() string { return s.postgres.URL("postgres") }

func (s *server) stop(ctx context.Context) error {
	return errors.Join(s.postgres.Remove(ctx), s.folder.remove())
}

// PrivatePostgres returns a server for this test alone, which it may kill and
// restart. Its database localstack.DefaultDatabase ("botix") is migrated.
func PrivatePostgres(t testing.TB) *localstack.Postgres {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), setUpTimeout)
	defer cancel()
	private, err := startServer(ctx, false, nil)
	if err != nil {
		t.Fatalf("testenv: %v", err)
	}
	t.Cleanup(func() { stopAfter(t, private.stop) })
	if err := migrate(ctx, private.postgres.URL(localstack.DefaultDatabase)); err != nil {
		t.Fatalf("testenv: %v", err)
	}
	return private.postgres
}

// RedisURL returns the URL of the package's own Redis. It has no neighbours,
// but the package's tests share it: use keys of one's own, and never FLUSHALL.
func RedisURL(t testing.TB) string {
	t.Helper()
	pkg.require(t)
	shared, err := pkg.redis()
	if err != nil {
		t.Fatalf("testenv: %v", err)
	}
	return shared.URL()
}

func (p *testPackage) startRedis() (*localstack.Redis, error) {
	ctx, cancel := context.WithTimeout(context.Background(), setUpTimeout)
	defer cancel()
	started, stop, err := startRedis(ctx)
	if err != nil {
		return nil, err
	}
	p.later(stop)
	return started, nil
}

// PrivateRedis returns a Redis for this test alone, which it may kill and start
// again. It keeps nothing on disk: after Kill or Stop it comes back empty.
func PrivateRedis(t testing.TB) *localstack.Redis {
	t.Helper()
	started, stop, err := startRedis(t.Context())
	if err != nil {
		t.Fatalf("testenv: %v", err)
	}
	t.Cleanup(func() { stopAfter(t, stop) })
	return started
}

func startRedis(ctx context.Context) (started *localstack.Redis, stop func(context.Context) error, err error) {
	place, err := newFolder()
	if err != nil {
		return nil, nil, err
	}
	started, err = localstack.StartRedis(ctx, localstack.Options{
		Dir: place.path, Log: slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: slog.LevelWarn})),
		Ephemeral: true,
	})
	if err != nil {
		return nil, nil, errors.Join(fmt.Errorf("start Redis: %w", err), place.remove())
	}
	stop = func(ctx context.Context) error { return errors.Join(started.Remove(ctx), place.remove()) }
	return started, stop, nil
}

// stopAfter is a test's clean-up: its context is over by then.
func stopAfter(t testing.TB, stop func(context.Context) error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.WithoutCancel(t.Context()), stopTimeout)
	defer cancel()
	if err := stop(ctx); err != nil {
		t.Errorf("testenv: %v", err)
	}
}
