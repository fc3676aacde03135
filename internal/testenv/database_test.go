package testenv_test

import (
	"context"
	"os"
	"sync"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	"github.com/botix-pro/platform/internal/localstack"
	"github.com/botix-pro/platform/internal/testenv"
)

func TestMain(m *testing.M) { testenv.Main(m) }

func ask[T any](t *testing.T, location, query string) T {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), location)
	require.NoError(t, err)
	defer func() { _ = conn.Close(context.Background()) }()
	var value T
	require.NoError(t, conn.QueryRow(t.Context(), query).Scan(&value))
	return value
}

func createTable(t *testing.T, location, name string) {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), location)
	require.NoError(t, err)
	defer func() { _ = conn.Close(context.Background()) }()
	_, err = conn.Exec(t.Context(), "CREATE TABLE "+name+" ()")
	require.NoError(t, err)
}

const (
	isMigrated = "SELECT to_regclass('goose_db_version') IS NOT NULL"
	hasMine    = "SELECT to_regclass('mine') IS NOT NULL"
)

func TestThePackageHasOneDatabase(t *testing.T) {
	t.Parallel()
	location := testenv.DatabaseURL(t)
	require.Equal(t, location, testenv.DatabaseURL(t))
	require.True(t, ask[bool](t, location, isMigrated))
	require.Equal(t, "on", ask[string](t, location, "SHOW synchronous_commit"))
}

func TestFreshDatabasesAreMigratedAndApart(t *testing.T) {
	t.Parallel()
	first, second := testenv.FreshDatabaseURL(t), testenv.FreshDatabaseURL(t)
	createTable(t, first, "mine")
	require.True(t, ask[bool](t, first, hasMine))
	require.False(t, ask[bool](t, second, hasMine))
	require.False(t, ask[bool](t, testenv.DatabaseURL(t), hasMine))
	require.True(t, ask[bool](t, second, isMigrated))
}

func TestAFreshDatabaseEndsWithItsTest(t *testing.T) {
	t.Parallel()
	var location string
	t.Run("uses it", func(t *testing.T) {
		location = testenv.FreshDatabaseURL(t)
		conn, err := pgx.Connect(t.Context(), location) // left open: the drop has to cut it
		require.NoError(t, err)
		require.NoError(t, conn.Ping(t.Context()))
	})
	_, err := pgx.Connect(t.Context(), location)
	require.ErrorContains(t, err, "does not exist")
}

func TestManyDatabasesCanBeMadeAtOnce(t *testing.T) {
	t.Parallel()
	var wait sync.WaitGroup
	urls := make([]string, 12)
	for i := range urls {
		wait.Go(func() { urls[i] = testenv.FreshDatabaseURL(t) })
	}
	wait.Wait()
	for _, location := range urls {
		require.True(t, ask[bool](t, location, isMigrated))
	}
}

func TestPrivatePostgresCanBeKilledAndStarted(t *testing.T) {
	t.Parallel()
	server := testenv.PrivatePostgres(t)
	location := server.URL(localstack.DefaultDatabase)
	require.True(t, ask[bool](t, location, isMigrated))
	createTable(t, location, "mine")
	require.NoError(t, server.Kill())
	require.NoError(t, server.Start(t.Context()))
	require.True(t, ask[bool](t, location, hasMine))
}

func client(t *testing.T, location string) *redis.Client {
	t.Helper()
	options, err := redis.ParseURL(location)
	require.NoError(t, err)
	options.MaxRetries, options.DialerRetries = -1, 1
	c := redis.NewClient(options)
	t.Cleanup(func() { _ = c.Close() })
	return c
}

func TestRedisIsThePackagesOwn(t *testing.T) {
	t.Parallel()
	location := testenv.RedisURL(t)
	require.Equal(t, location, testenv.RedisURL(t))
	require.NoError(t, client(t, location).Set(t.Context(), "k", "v", 0).Err())
	require.Zero(t, client(t, testenv.PrivateRedis(t).URL()).Exists(t.Context(), "k").Val())
}

func TestPrivateRedisComesBackEmptyAtTheSameAddress(t *testing.T) {
	t.Parallel()
	server := testenv.PrivateRedis(t)
	c := client(t, server.URL())
	require.NoError(t, c.Set(t.Context(), "k", "v", 0).Err())
	require.NoError(t, server.Kill())
	require.Error(t, c.Ping(t.Context()).Err())
	require.NoError(t, server.Start(t.Context()))
	require.Zero(t, c.Exists(t.Context(), "k").Val())
}

func TestChromiumIsAProgram(t *testing.T) {
	t.Parallel()
	info, err := os.Stat(testenv.Chromium(t))
	require.NoError(t, err)
	require.NotZero(t, info.Mode().Perm()&0o111)
}
