package e2e_test

import (
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/botix-pro/platform/app/demo"
	"github.com/botix-pro/platform/app/store"
	"github.com/botix-pro/platform/internal/clock"
	"github.com/botix-pro/platform/internal/localstack"
	"github.com/botix-pro/platform/internal/seal"
	"github.com/botix-pro/platform/internal/testenv"
	"github.com/botix-pro/platform/web/dashboard"
)

// encryptionKey is 32 zero bytes: the tests' data are nobody's secret.
const encryptionKey = "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA="

// Redis is killed under the running stack: POSTs still answer 201 and their
// webhooks arrive; when it is back, hints carry them again.
func TestWithoutRedisNothingIsLost(t *testing.T) {
	t.Parallel()
	s := startStack(t, t.TempDir())
	require.Equal(t, http.StatusCreated, post(t, s.URL, s.Key, "k1", `{}`).status)
	require.Eventually(t, func() bool { return len(s.received(t)) == 1 }, 10*time.Second, 10*time.Millisecond)

	killRedis(t, s)
	answer := post(t, s.URL, s.Key, "k2", `{}`)
	require.Equal(t, http.StatusCreated, answer.status, answer.body)
	require.NotEmpty(t, answer.header.Get("X-RateLimit-Remaining"))
	require.Eventually(t, func() bool { return len(s.received(t)) == 2 }, 10*time.Second, 50*time.Millisecond)
	ready := get(t, s.URL+"/readyz", "")
	require.Equal(t, http.StatusOK, ready.status)
	require.Contains(t, ready.body, `"status":"degraded"`)
}

// The programs as they run in production: server and worker apart, Redis away
// and back.
func TestServerAndWorkerSurviveRedis(t *testing.T) {
	t.Parallel()
	redis := testenv.PrivateRedis(t)
	postgres := testenv.PrivatePostgres(t)
	stackEnv := []string{
		"DATABASE_URL=" + postgres.URL(localstack.DefaultDatabase), "REDIS_URL=" + redis.URL(),
		"ENCRYPTION_KEYS=" + encryptionKey, "LOG_FORMAT=text", "EGRESS_ALLOW_CIDRS=127.0.0.0/8",
	}
	server := newServer(t, stackEnv)
	worker := start(t, append(stackEnv, "PUBLIC_URL="+server.url, "INTERNAL_ADDR=127.0.0.1:0"), "worker")
	receiver, count := newReceiver(t)
	key := plant(t, postgres.URL(localstack.DefaultDatabase), receiver)

	require.Equal(t, http.StatusCreated, post(t, server.url, key, "k1", `{}`).status)
	require.Eventually(t, func() bool { return count.Load() == 1 }, 10*time.Second, 10*time.Millisecond, "%s", worker.log)
	require.NoError(t, redis.Kill())
	require.Equal(t, http.StatusCreated, post(t, server.url, key, "k2", `{}`).status, "%s", server.log)
	require.Eventually(t, func() bool { return count.Load() == 2 }, 10*time.Second, 10*time.Millisecond)
	require.NoError(t, redis.Start(t.Context()))
	require.Equal(t, http.StatusCreated, post(t, server.url, key, "k3", `{}`).status)
	require.Eventually(t, func() bool { return count.Load() == 3 }, 10*time.Second, 10*time.Millisecond)
	require.False(t, strings.Contains(worker.log.String(), "panic"))
}

// server is cmd/server with a migrated database.
type server struct {
	*process

	url string
}

func newServer(t *testing.T, env []string) *server {
	t.Helper()
	addr := freeAddr(t)
	env = append(env, "ADDR="+addr, "PUBLIC_URL=http://"+addr, "INTERNAL_ADDR="+freeAddr(t))
	migrate := start(t, env, "server", "migrate")
	require.NoError(t, migrate.command.Wait(), "%s", migrate.log)
	s := &server{process: start(t, env, "server"), url: "http://" + addr}
	require.Eventually(t, func() bool {
		connection, err := (&net.Dialer{}).DialContext(t.Context(), "tcp", addr)
		if err == nil {
			_ = connection.Close()
		}
		return err == nil
	}, patience, 20*time.Millisecond, "%s", s.log)
	return s
}

// plant makes a project whose endpoint is receiverURL, and returns its key.
func plant(t *testing.T, databaseURL, receiverURL string) string {
	t.Helper()
	box, err := seal.New([]string{encryptionKey})
	require.NoError(t, err)
	s, err := store.Open(t.Context(), store.Config{URL: databaseURL, MaxConns: 2, Application: "botix-test"}, box)
	require.NoError(t, err)
	defer func() { require.NoError(t, s.Close()) }()
	seed := demo.Seed{Store: s, Clock: clock.System{}, File: filepath.Join(t.TempDir(), "demo.json"), HashPassword: dashboard.HashPassword}
	credentials, err := seed.Credentials()
	require.NoError(t, err)
	require.NoError(t, seed.Plant(t.Context(), credentials, receiverURL))
	return credentials.APIKey
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
	for _, pid := range childrenOf(t, s.command.Process.Pid) {
		name, err := os.ReadFile(fmt.Sprintf("/proc/%d/comm", pid))
		if err == nil && strings.HasPrefix(string(name), "redis-server") {
			require.NoError(t, syscall.Kill(pid, syscall.SIGKILL))
			return
		}
	}
	require.Fail(t, "the stack runs no redis-server")
}

// freeAddr is an address nobody listens on at the moment.
func freeAddr(t *testing.T) string {
	t.Helper()
	listener, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer func() { _ = listener.Close() }()
	return listener.Addr().String()
}
