package redispipe_test

import (
	"context"
	"crypto/rand"
	"errors"
	"net"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	"github.com/botix-pro/platform/internal/clock"
	"github.com/botix-pro/platform/internal/redispipe"
	"github.com/botix-pro/platform/internal/testenv"
)

func TestMain(m *testing.M) { testenv.Main(m) }

func client(t *testing.T, rawURL string, apply func(*redis.Options)) *redis.Client {
	t.Helper()
	options, err := redis.ParseURL(rawURL)
	require.NoError(t, err)
	options.MaxRetries, options.DialerRetries = -1, 1
	options.DialTimeout, options.ReadTimeout = time.Second, time.Second
	if apply != nil {
		apply(options)
	}
	c := redis.NewClient(options)
	t.Cleanup(func() { _ = c.Close() })
	return c
}

func get(ctx context.Context, p *redispipe.Pipe, key string) (string, error) {
	command := redis.NewStringCmd(ctx, "GET", key)
	err := p.Do(ctx, command)
	return command.Val(), err
}

// Everybody gets the answer to their own question, whoever they travelled with.
func TestEachCallerGetsItsOwnReply(t *testing.T) {
	t.Parallel()
	pipe := redispipe.New(client(t, testenv.RedisURL(t), nil), clock.System{})
	var wg sync.WaitGroup
	unique := rand.Text()
	for i := range 500 {
		wg.Go(func() {
			ctx, key := context.Background(), unique+strconv.Itoa(i)
			if i%5 == 0 { // one that Redis refuses must not hurt its neighbours
				err := pipe.Do(ctx, redis.NewCmd(ctx, "NOSUCHCOMMAND"))
				requireReply(t, err)
				return
			}
			if _, err := get(ctx, pipe, key); !errors.Is(err, redis.Nil) {
				t.Errorf("GET of an absent key: %v", err)
			}
			if err := pipe.Do(ctx, redis.NewStatusCmd(ctx, "SET", key, i)); err != nil {
				t.Errorf("SET: %v", err)
			}
			if value, err := get(ctx, pipe, key); err != nil || value != strconv.Itoa(i) {
				t.Errorf("GET: %q, %v", value, err)
			}
		})
	}
	wg.Wait()
}

func requireReply(t *testing.T, err error) {
	t.Helper()
	var reply redis.Error
	if !errors.As(err, &reply) || redispipe.Lost(err) {
		t.Errorf("a refusal is a reply, not an outage: %v", err)
	}
}

// Questions asked while a round trip is under way share the next one.
func TestConcurrentQuestionsShareRoundTrips(t *testing.T) {
	t.Parallel()
	trips := &hook{}
	redisClient := client(t, testenv.RedisURL(t), nil)
	redisClient.AddHook(trips)
	pipe := redispipe.New(redisClient, clock.System{})
	trips.hold = make(chan struct{})
	var wg sync.WaitGroup
	for i := range 100 {
		wg.Go(func() { _, _ = get(context.Background(), pipe, "pipe:shared:"+strconv.Itoa(i)) })
	}
	require.Eventually(t, func() bool { return pipe.Waiting() == 98 }, 10*time.Second, time.Millisecond, "two fly, the rest waits")
	close(trips.hold)
	wg.Wait()
	require.LessOrEqual(t, trips.count(), 4, "98 questions in one trip, or two")
}

// hook counts round trips, and holds them up while hold is open.
type hook struct {
	mu    sync.Mutex
	trips int
	hold  chan struct{}
}

func (h *hook) note(first redis.Cmder) {
	if first.Name() != "get" {
		return // the connection's own greeting
	}
	h.mu.Lock()
	h.trips++
	h.mu.Unlock()
	<-h.hold
}

func (h *hook) count() int {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.trips
}

func (h *hook) DialHook(next redis.DialHook) redis.DialHook { return next }

func (h *hook) ProcessHook(next redis.ProcessHook) redis.ProcessHook {
	return func(ctx context.Context, command redis.Cmder) error {
		h.note(command)
		return next(ctx, command)
	}
}

func (h *hook) ProcessPipelineHook(next redis.ProcessPipelineHook) redis.ProcessPipelineHook {
	return func(ctx context.Context, commands []redis.Cmder) error {
		h.note(commands[0])
		return next(ctx, commands)
	}
}

// What comes along makes the same round trip and has its own reply, and an error
// when nothing was asked.
func TestWhatComesAlongMakesTheSameRoundTrip(t *testing.T) {
	t.Parallel()
	trips := &hook{hold: make(chan struct{})}
	close(trips.hold)
	redisClient := client(t, testenv.RedisURL(t), nil)
	redisClient.AddHook(trips)
	pipe, ctx := redispipe.New(redisClient, clock.System{}), t.Context()
	first, along := redis.NewStringCmd(ctx, "GET", rand.Text()), redis.NewStatusCmd(ctx, "PING")
	require.ErrorIs(t, pipe.Do(ctx, first, along), redis.Nil)
	require.NoError(t, along.Err())
	require.Equal(t, "PONG", along.Val())
	require.Equal(t, 1, trips.count())

	away := redispipe.New(client(t, "redis://127.0.0.1:1", nil), clock.System{})
	for range 2 { // found away, then known to be
		along := redis.NewStringCmd(ctx, "GET", "k")
		require.Error(t, away.Do(ctx, redis.NewStatusCmd(ctx, "PING"), along))
		require.Error(t, along.Err())
	}
}

// While Redis is away one question a second pays for finding out.
func TestOutageIsFoundOutOnceASecond(t *testing.T) {
	t.Parallel()
	clk := clock.NewManual(time.Date(2026, 12, 1, 10, 0, 0, 0, time.UTC))
	dials := 0
	pipe := redispipe.New(client(t, "redis://127.0.0.1:1", func(o *redis.Options) {
		o.Dialer = func(context.Context, string, string) (net.Conn, error) {
			dials++
			return nil, &net.OpError{Op: "dial", Err: errors.New("refused")}
		}
	}), clk)
	_, err := get(t.Context(), pipe, "k")
	require.Error(t, err)
	require.False(t, redispipe.Lost(err), "nothing was sent")
	before := dials
	_, err = get(t.Context(), pipe, "k")
	require.ErrorIs(t, err, redispipe.ErrAway)
	require.Equal(t, before, dials)
	clk.Advance(time.Second)
	_, err = get(t.Context(), pipe, "k")
	require.NotErrorIs(t, err, redispipe.ErrAway)
	require.Greater(t, dials, before)
}

// When the blind time is over, one question finds out; the others are not sent
// into the same timeout, and what waited for a failed round trip is not either.
func TestOneQuestionFindsOutForEverybody(t *testing.T) {
	t.Parallel()
	clk := clock.NewManual(time.Date(2026, 12, 1, 10, 0, 0, 0, time.UTC))
	dialled, refuse := make(chan struct{}, 1000), make(chan struct{})
	pipe := redispipe.New(client(t, "redis://127.0.0.1:1", func(o *redis.Options) {
		o.DialTimeout, o.PoolTimeout = time.Minute, time.Minute
		o.Dialer = func(context.Context, string, string) (net.Conn, error) {
			dialled <- struct{}{}
			<-refuse
			return nil, &net.OpError{Op: "dial", Err: errors.New("refused")}
		}
	}), clk)
	results := make(chan error, 100)
	ask := func() {
		_, err := get(context.Background(), pipe, "k")
		results <- err
	}
	for range 50 {
		go ask()
	}
	require.Eventually(t, func() bool { return pipe.Waiting() == 48 }, 10*time.Second, time.Millisecond, "two fly, the rest waits")
	close(refuse)
	sent := 0
	for range 50 {
		if err := <-results; !errors.Is(err, redispipe.ErrAway) {
			require.Error(t, err)
			sent++
		}
	}
	require.Equal(t, 2, sent, "what waited was told, not sent")

	clk.Advance(time.Second)
	refuse = make(chan struct{})
	for len(dialled) > 0 {
		<-dialled
	}
	go ask()
	<-dialled // it is finding out
	for range 20 {
		_, err := get(t.Context(), pipe, "k")
		require.ErrorIs(t, err, redispipe.ErrAway)
	}
	close(refuse)
	require.NotErrorIs(t, <-results, redispipe.ErrAway)
}

// A crash on the way takes its caller down, not those who wait or come later.
func TestCrashLeavesNobodyWaiting(t *testing.T) {
	t.Parallel()
	redisClient := client(t, testenv.RedisURL(t), nil)
	redisClient.AddHook(crash{})
	pipe := redispipe.New(redisClient, clock.System{})
	for range 5 { // more than may be on their way at once
		require.Panics(t, func() { _ = pipe.Do(t.Context(), redis.NewCmd(t.Context(), "CRASH")) })
	}
	_, err := get(t.Context(), pipe, rand.Text())
	require.ErrorIs(t, err, redis.Nil)
}

type crash struct{}

func (crash) DialHook(next redis.DialHook) redis.DialHook { return next }

func (crash) ProcessPipelineHook(next redis.ProcessPipelineHook) redis.ProcessPipelineHook {
	return next
}

func (crash) ProcessHook(next redis.ProcessHook) redis.ProcessHook {
	return func(ctx context.Context, command redis.Cmder) error {
		if command.Name() == "crash" {
			panic("crash")
		}
		return next(ctx, command)
	}
}
