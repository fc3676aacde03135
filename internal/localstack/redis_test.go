package localstack_test

import (
	"net/url"
	"testing"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	"github.com/botix-pro/platform/internal/localstack"
)

func TestRedisKeepsDataAndAddressOverRestarts(t *testing.T) {
	t.Parallel()
	dir := folder(t)
	// Every write reaches the disk, so that even Kill loses none.
	opts := localstack.Options{Dir: dir, Settings: map[string]string{"appendfsync": "always"}}
	server := startRedis(t, opts)
	c := client(t, server.URL())
	require.NoError(t, c.Set(t.Context(), "word", "kept", 0).Err())

	require.NoError(t, server.Kill())
	require.Zero(t, server.PID())
	require.Error(t, c.Ping(t.Context()).Err())
	require.NoError(t, server.Start(t.Context()))
	require.NoError(t, server.Start(t.Context()), "starting twice is fine")
	require.Equal(t, "kept", c.Get(t.Context(), "word").Val())

	require.NoError(t, server.Stop(t.Context()))
	require.NoError(t, server.Stop(t.Context()), "stopping twice is fine")
	again := startRedis(t, opts)
	require.Equal(t, "kept", client(t, again.URL()).Get(t.Context(), "word").Val())
}

func TestRedisIsPrivate(t *testing.T) {
	t.Parallel()
	server := startRedis(t, localstack.Options{Dir: folder(t)})
	c := client(t, server.URL())
	for name, value := range map[string]string{
		"bind": "127.0.0.1", "maxmemory-policy": "noeviction", "appendonly": "yes", "save": "",
	} {
		require.Equal(t, value, c.ConfigGet(t.Context(), name).Val()[name], name)
	}
	open := redis.NewClient(&redis.Options{Addr: server.Addr()})
	t.Cleanup(func() { _ = open.Close() })
	require.ErrorContains(t, open.Ping(t.Context()).Err(), "NOAUTH")
	location, err := url.Parse(server.URL())
	require.NoError(t, err)
	require.Equal(t, server.Addr(), location.Host)
}

func TestRedisEphemeralKeepsNothing(t *testing.T) {
	t.Parallel()
	server := startRedis(t, localstack.Options{Dir: folder(t), Ephemeral: true})
	c := client(t, server.URL())
	require.NoError(t, c.Set(t.Context(), "word", "lost", 0).Err())
	require.NoError(t, server.Kill())
	require.NoError(t, server.Start(t.Context()))
	require.Zero(t, c.Exists(t.Context(), "word").Val())
	require.NoError(t, server.Stop(t.Context()))
	require.NoError(t, server.Start(t.Context()))
	require.NoError(t, c.Ping(t.Context()).Err(), "even Stop is not the end")
}

func TestRedisRefusesAFolderInUse(t *testing.T) {
	t.Parallel()
	dir := folder(t)
	server := startRedis(t, localstack.Options{Dir: dir})
	_, err := localstack.StartRedis(t.Context(), localstack.Options{Dir: dir})
	var inUse *localstack.InUseError
	require.ErrorAs(t, err, &inUse)
	require.NoError(t, client(t, server.URL()).Ping(t.Context()).Err())
}

func TestRedisSaysWhyItDoesNotStart(t *testing.T) {
	t.Parallel()
	_, err := localstack.StartRedis(t.Context(), localstack.Options{
		Dir: folder(t), Settings: map[string]string{"maxmemory-policy": "nonsense"},
	})
	require.ErrorContains(t, err, "maxmemory-policy")
}
