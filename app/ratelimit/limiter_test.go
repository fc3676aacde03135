package ratelimit_test

import (
	"context"
	"io"
	"log/slog"
	"net"
	"net/url"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	"github.com/botix-pro/platform/app/models"
	"github.com/botix-pro/platform/app/ratelimit"
	"github.com/botix-pro/platform/internal/clock"
	"github.com/botix-pro/platform/internal/redispipe"
	"github.com/botix-pro/platform/internal/testenv"
)

func TestMain(m *testing.M) { testenv.Main(m) }

func client(t *testing.T, rawURL string) *redis.Client {
	t.Helper()
	options, err := redis.ParseURL(rawURL)
	require.NoError(t, err)
	options.MaxRetries, options.DialTimeout, options.ReadTimeout = -1, time.Second, time.Second
	c := redis.NewClient(options)
	t.Cleanup(func() { _ = c.Close() })
	return c
}

func limiter(c redis.UniversalClient, clk clock.Clock, servers int) *ratelimit.Limiter {
	return ratelimit.New(ratelimit.Config{Redis: redispipe.New(c, clk), Servers: servers, Clock: clk, Log: slog.New(slog.DiscardHandler)})
}

func subject() string { return models.NewID("", clock.System{}.Now()) }

// within runs fn again if the minute turned while it ran, since a test about
// one window must lie in one.
func within(t *testing.T, c *redis.Client, fn func()) {
	t.Helper()
	for range 2 {
		before, err := c.Time(t.Context()).Result()
		require.NoError(t, err)
		fn()
		after, err := c.Time(t.Context()).Result()
		require.NoError(t, err)
		if before.Truncate(time.Minute).Equal(after.Truncate(time.Minute)) {
			return
		}
	}
}

func TestServersShareOneWindow(t *testing.T) {
	t.Parallel()
	c := client(t, testenv.RedisURL(t))
	a, b := limiter(c, clock.System{}, 2), limiter(client(t, testenv.RedisURL(t)), clock.System{}, 2)
	var admitted atomic.Int64
	within(t, c, func() {
		admitted.Store(0)
		who := subject()
		var wg sync.WaitGroup
		for i := range 100 {
			wg.Go(func() {
				if []*ratelimit.Limiter{a, b}[i%2].Allow(context.Background(), who, 30).Allowed {
					admitted.Add(1)
				}
			})
		}
		wg.Wait()
	})
	require.EqualValues(t, 30, admitted.Load())
}

func TestDecisionAnnouncesTheWindow(t *testing.T) {
	t.Parallel()
	c := client(t, testenv.RedisURL(t))
	l := limiter(c, clock.System{}, 1)
	var first, second, third ratelimit.Decision
	who := subject()
	within(t, c, func() {
		who = subject()
		first, second, third = l.Allow(t.Context(), who, 2), l.Allow(t.Context(), who, 2), l.Allow(t.Context(), who, 2)
	})
	require.Equal(t, []int{1, 0, 0}, []int{first.Remaining, second.Remaining, third.Remaining})
	require.Equal(t, []bool{true, true, false}, []bool{first.Allowed, second.Allowed, third.Allowed})
	require.Zero(t, first.Reset.Unix()%60, "the window is a calendar minute")
	require.LessOrEqual(t, first.ResetAfter, time.Minute)
	ttl, err := c.PTTL(t.Context(), "btx:rate:"+who).Result()
	require.NoError(t, err)
	require.Positive(t, ttl, "the counter expires with the window")
	require.LessOrEqual(t, ttl, time.Minute)
}

// Redis answers nothing, or is not there: the server limits on its own, with
// its share, and a new minute starts anew.
func TestWithoutRedisEachServerTakesItsShare(t *testing.T) {
	t.Parallel()
	server := testenv.PrivateRedis(t)
	clk := clock.NewManual(time.Date(2026, 12, 1, 10, 0, 30, 0, time.UTC))
	l := limiter(client(t, server.URL()), clk, 3)
	require.NoError(t, server.Kill())
	who := subject()
	allowed := 0
	for range 20 {
		if l.Allow(t.Context(), who, 10).Allowed {
			allowed++
		}
	}
	require.Equal(t, 3, allowed, "10 ÷ 3 servers")
	require.True(t, l.Allow(t.Context(), subject(), 1).Allowed, "at least one")
	clk.Advance(30 * time.Second)
	decision := l.Allow(t.Context(), who, 10)
	require.True(t, decision.Allowed)
	require.Equal(t, clk.Now().Add(time.Minute), decision.Reset)
}

// The reply is lost after Redis counted: the request passes, and was counted
// once.
func TestLostReplyAdmitsAndCountsOnce(t *testing.T) {
	t.Parallel()
	target := testenv.RedisURL(t)
	mute := newMuteProxy(t, target)
	who := subject()
	l := limiter(client(t, mute.url), clock.System{}, 1)
	require.True(t, l.Allow(t.Context(), subject(), 5).Allowed) // connects, loads the script
	mute.on.Store(true)
	require.True(t, l.Allow(t.Context(), who, 1).Allowed)
	counter, err := client(t, target).Get(t.Context(), "btx:rate:"+who).Result()
	require.NoError(t, err)
	require.Regexp(t, `^\d+:1$`, counter)
}

// muteProxy passes commands on and, once on, drops every reply and the
// connection with it.
type muteProxy struct {
	url string
	on  atomic.Bool
}

func newMuteProxy(t *testing.T, target string) *muteProxy {
	t.Helper()
	parsed, err := url.Parse(target)
	require.NoError(t, err)
	host := parsed.Host
	listener, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	require.NoError(t, err)
	t.Cleanup(func() { _ = listener.Close() })
	parsed.Host = listener.Addr().String()
	m := &muteProxy{url: parsed.String()}
	go func() {
		for {
			client, err := listener.Accept()
			if err != nil {
				return
			}
			go m.serve(client, host)
		}
	}()
	return m
}

func (m *muteProxy) serve(client net.Conn, host string) {
	defer func() { _ = client.Close() }()
	server, err := (&net.Dialer{}).DialContext(context.Background(), "tcp", host)
	if err != nil {
		return
	}
	defer func() { _ = server.Close() }()
	go func() { _, _ = io.Copy(server, client) }()
	buffer := make([]byte, 4096)
	for {
		n, err := server.Read(buffer)
		if err != nil || m.on.Load() {
			return
		}
		if _, err := client.Write(buffer[:n]); err != nil {
			return
		}
	}
}
