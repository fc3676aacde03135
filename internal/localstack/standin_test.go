package localstack

import (
	"context"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"
)

// standInStack is a Redis on the in-process stand-in, whatever is installed.
func standInStack(t *testing.T) (*Redis, *redis.Client) {
	t.Helper()
	server := &Redis{home: t.TempDir(), password: "secret", server: newStandIn("secret")}
	require.NoError(t, server.Start(t.Context()))
	t.Cleanup(func() { require.NoError(t, server.Stop(context.Background())) })
	options, err := redis.ParseURL(server.URL())
	require.NoError(t, err)
	options.MaxRetries, options.DialerRetries = -1, 1
	client := redis.NewClient(options)
	t.Cleanup(func() { _ = client.Close() })
	return server, client
}

func TestTheStandInExpiresKeys(t *testing.T) {
	t.Parallel()
	_, client := standInStack(t)
	require.NoError(t, client.Set(t.Context(), "short", "v", 100*time.Millisecond).Err())
	require.NoError(t, client.Set(t.Context(), "long", "v", time.Hour).Err())
	require.Eventually(t, func() bool { return client.Exists(t.Context(), "short").Val() == 0 }, 10*time.Second, 10*time.Millisecond)
	require.EqualValues(t, 1, client.Exists(t.Context(), "long").Val())
}

func TestTheStandInStopsAndComesBack(t *testing.T) {
	t.Parallel()
	server, client := standInStack(t)
	location := server.URL()
	require.NoError(t, client.Set(t.Context(), "k", "v", 0).Err())
	require.NoError(t, server.Kill())
	require.Zero(t, server.PID())
	require.Error(t, client.Ping(t.Context()).Err())
	require.NoError(t, server.Start(t.Context()))
	require.Equal(t, location, server.URL())
	require.Zero(t, client.Exists(t.Context(), "k").Val(), "a crash forgets")
}

func TestTheStandInAsksForThePassword(t *testing.T) {
	t.Parallel()
	server, _ := standInStack(t)
	open := redis.NewClient(&redis.Options{Addr: server.Addr()})
	t.Cleanup(func() { _ = open.Close() })
	require.ErrorContains(t, open.Ping(t.Context()).Err(), "NOAUTH")
}

func TestTwoStandInsOnOnePort(t *testing.T) {
	t.Parallel()
	server, _ := standInStack(t)
	err := newStandIn("other").start(t.Context(), server.port)
	require.ErrorIs(t, err, errPortTaken)
}
