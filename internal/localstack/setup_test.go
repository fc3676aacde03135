package localstack_test

import (
	"context"
	"os"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	"github.com/botix-pro/platform/internal/localstack"
)

// TestMain lets this binary stand for a program that uses the stack and that a
// test can interrupt or kill.
func TestMain(m *testing.M) {
	if dir := os.Getenv(programFolder); dir != "" {
		os.Exit(program(dir))
	}
	os.Exit(m.Run())
}

// folder returns a folder that an unprivileged server account can get into,
// which t.TempDir is not for root.
func folder(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "botix-localstack-")
	require.NoError(t, err)
	require.NoError(t, os.Chmod(dir, 0o711))
	t.Cleanup(func() { require.NoError(t, os.RemoveAll(dir)) })
	return dir
}

// fast trades durability against power loss for speed.
func fast(dir string) localstack.Options {
	return localstack.Options{Dir: dir, Ephemeral: true, Settings: map[string]string{}}
}

func startPostgres(t *testing.T, opts localstack.Options) *localstack.Postgres {
	t.Helper()
	server, err := localstack.StartPostgres(t.Context(), opts)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, server.Stop(context.Background())) })
	return server
}

func startRedis(t *testing.T, opts localstack.Options) *localstack.Redis {
	t.Helper()
	server, err := localstack.StartRedis(t.Context(), opts)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, server.Stop(context.Background())) })
	return server
}

// ask runs one query and returns its single value as text.
func ask(t *testing.T, location, query string) string {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), location)
	require.NoError(t, err)
	defer func() { _ = conn.Close(context.Background()) }()
	var value string
	require.NoError(t, conn.QueryRow(t.Context(), query).Scan(&value))
	return value
}

// keep writes a word that found reads back.
func keep(t *testing.T, location, word string) {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), location)
	require.NoError(t, err)
	defer func() { _ = conn.Close(context.Background()) }()
	_, err = conn.Exec(t.Context(), "CREATE TABLE kept AS SELECT $$"+word+"$$::text AS word")
	require.NoError(t, err)
}

func found(t *testing.T, location string) string {
	t.Helper()
	return ask(t, location, "SELECT word FROM kept")
}

// client connects to a Redis and makes one try per command.
func client(t *testing.T, location string) *redis.Client {
	t.Helper()
	options, err := redis.ParseURL(location)
	require.NoError(t, err)
	options.MaxRetries, options.DialerRetries = -1, 1
	c := redis.NewClient(options)
	t.Cleanup(func() { _ = c.Close() })
	return c
}
