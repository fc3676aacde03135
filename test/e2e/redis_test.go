package e2e_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/botix-pro/platform/internal/localstack"
	"github.com/botix-pro/platform/internal/testenv"
	"github.com/botix-pro/platform/test/programs"
)

// Redis is killed under the running stack: POSTs still answer 201 and their
// webhooks arrive; when it is back, hints carry them again.
func TestWithoutRedisNothingIsLost(t *testing.T) {
	t.Parallel()
	s := startStack(t, t.TempDir())
	require.Equal(t, http.StatusCreated, post(t, s.URL, s.Key, "k1", `{}`).Status)
	require.Eventually(t, func() bool { return len(s.received(t)) == 1 }, 10*time.Second, 10*time.Millisecond)

	killRedis(t, s)
	answer := post(t, s.URL, s.Key, "k2", `{}`)
	require.Equal(t, http.StatusCreated, answer.Status, answer.Body)
	require.NotEmpty(t, answer.Header.Get("X-RateLimit-Remaining"))
	require.Eventually(t, func() bool { return len(s.received(t)) == 2 }, 10*time.Second, 50*time.Millisecond)
	ready := get(t, s.URL+"/readyz", "")
	require.Equal(t, http.StatusOK, ready.Status)
	require.Contains(t, ready.Body, `"status":"degraded"`)
}

// The programs as they run in production: server and worker apart, Redis away
// and back.
func TestServerAndWorkerSurviveRedis(t *testing.T) {
	t.Parallel()
	redis := testenv.PrivateRedis(t)
	postgres := testenv.PrivatePostgres(t)
	databaseURL := postgres.URL(localstack.DefaultDatabase)
	env := programs.Environment(databaseURL, redis.URL())
	server, worker := programs.StartServer(t, env), programs.StartWorker(t, env)
	receiver, count := newReceiver(t)
	key := programs.Plant(t, databaseURL, receiver).APIKey

	require.Equal(t, http.StatusCreated, post(t, server.URL, key, "k1", `{}`).Status)
	require.Eventually(t, func() bool { return count.Load() == 1 }, 10*time.Second, 10*time.Millisecond, "%s", worker.Log)
	require.NoError(t, redis.Kill())
	require.Equal(t, http.StatusCreated, post(t, server.URL, key, "k2", `{}`).Status, "%s", server.Log)
	require.Eventually(t, func() bool { return count.Load() == 2 }, 10*time.Second, 10*time.Millisecond)
	require.NoError(t, redis.Start(t.Context()))
	require.Equal(t, http.StatusCreated, post(t, server.URL, key, "k3", `{}`).Status)
	require.Eventually(t, func() bool { return count.Load() == 3 }, 10*time.Second, 10*time.Millisecond)
	require.NotContains(t, worker.Log.String(), "panic")
}

// newReceiver counts the webhooks that it gets.
func newReceiver(t *testing.T) (url string, count *atomic.Int64) {
	t.Helper()
	count = &atomic.Int64{}
	receiver := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { count.Add(1) }))
	t.Cleanup(receiver.Close)
	return receiver.URL, count
}

// killRedis kills the redis-server among the stack's own processes.
func killRedis(t *testing.T, s *stack) {
	t.Helper()
	for _, pid := range childrenOf(t, s.Command.Process.Pid) {
		name, err := os.ReadFile(fmt.Sprintf("/proc/%d/comm", pid))
		if err == nil && strings.HasPrefix(string(name), "redis-server") {
			require.NoError(t, syscall.Kill(pid, syscall.SIGKILL))
			return
		}
	}
	require.Fail(t, "the stack runs no redis-server")
}
