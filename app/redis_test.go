package app

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestRedisURLs(t *testing.T) {
	t.Parallel()
	plain, err := redisOptions("rediss://botix:hunter2@cache:6380/3")
	require.NoError(t, err)
	require.Equal(t, []string{"cache:6380"}, plain.Addrs)
	require.Equal(t, "botix", plain.Username)
	require.Equal(t, "hunter2", plain.Password)
	require.Equal(t, 3, plain.DB)
	require.NotNil(t, plain.TLSConfig)

	sentinel, err := redisOptions("redis-sentinel://botix:hunter2@a:26379,b:26379/1?master=main&sentinel_password=guard")
	require.NoError(t, err)
	require.Equal(t, []string{"a:26379", "b:26379"}, sentinel.Addrs)
	require.Equal(t, "main", sentinel.MasterName)
	require.Equal(t, "hunter2", sentinel.Password, "of Redis")
	require.Equal(t, "guard", sentinel.SentinelPassword, "of the Sentinels")
	require.Equal(t, 1, sentinel.DB)

	_, err = redisOptions("redis://:hunter2@bad host")
	require.Error(t, err)
	require.NotContains(t, err.Error(), "hunter2")
}
