package idempotency_test

import (
	"context"
	"log/slog"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	"github.com/botix-pro/platform/app/idempotency"
	"github.com/botix-pro/platform/app/models"
	"github.com/botix-pro/platform/app/store"
	"github.com/botix-pro/platform/internal/clock"
	"github.com/botix-pro/platform/internal/localstack"
	"github.com/botix-pro/platform/internal/redispipe"
	"github.com/botix-pro/platform/internal/testenv"
)

// withCache puts a cache before the bundle's engine, as of the given
// incarnation and clock.
func (b *bundle) withCache(t *testing.T, incarnation func() string, clk clock.Clock) *redis.Client {
	t.Helper()
	options, err := redis.ParseURL(testenv.RedisURL(t))
	require.NoError(t, err)
	client := redis.NewClient(options)
	t.Cleanup(func() { _ = client.Close() })
	log := slog.New(slog.DiscardHandler)
	b.engine = newEngineWith(b.store, idempotency.NewCache(redispipe.New(client, clk), incarnation, clk, log), &b.hints)
	return client
}

// answered runs the operation "k" twice, so that its answer is cached, and
// returns it.
func (b *bundle) answered(t *testing.T, incarnation func() string) (*redis.Client, idempotency.Result) {
	t.Helper()
	client := b.withCache(t, incarnation, clock.System{})
	first, err := b.engine.Run(t.Context(), b.operation("k", "body"), b.create("a"))
	require.NoError(t, err)
	require.False(t, first.Replayed)
	first.Replayed = true
	b.requireReplay(t, first)
	require.NotEmpty(t, b.cachedValue(t, client))
	return client, first
}

func (b *bundle) cacheKey() string { return "btx:answer:" + string(b.project) + ":k" }

func (b *bundle) cachedValue(t *testing.T, client *redis.Client) string {
	t.Helper()
	value, err := client.Get(t.Context(), b.cacheKey()).Result()
	if err != nil {
		require.ErrorIs(t, err, redis.Nil)
	}
	return value
}

func (b *bundle) requireReplay(t *testing.T, want idempotency.Result) {
	t.Helper()
	result, err := b.engine.Run(t.Context(), b.operation("k", "body"), b.create("b"))
	require.NoError(t, err)
	require.Equal(t, want, result)
	require.Equal(t, effects{1, 1, 1, 1}, b.effects(t))
}

// A repeated answer is given again to the byte without PostgreSQL: even while
// that is away.
func TestCachedAnswerNeedsNoDatabase(t *testing.T) {
	t.Parallel()
	postgres := testenv.PrivatePostgres(t)
	b := setupAt(t, postgres.URL(localstack.DefaultDatabase))
	_, want := b.answered(t, b.store.Incarnation)
	require.NoError(t, postgres.Kill())
	b.withCache(t, b.store.Incarnation, clock.System{}) // another server
	result, err := b.engine.Run(t.Context(), b.operation("k", "body"), b.create("b"))
	require.NoError(t, err)
	require.Equal(t, want, result)
	result, known, err := b.engine.Find(t.Context(), b.operation("k", "body"))
	require.NoError(t, err)
	require.True(t, known)
	require.Equal(t, want, result)
}

// A server repeats what it has repeated before without PostgreSQL and without
// Redis, and only as long as it could be taken from there, too.
func TestServerKeepsWhatItRepeated(t *testing.T) {
	t.Parallel()
	postgres := testenv.PrivatePostgres(t)
	b := setupAt(t, postgres.URL(localstack.DefaultDatabase))
	incarnation, clk := "cluster/1", clock.NewManual(clock.System{}.Now())
	client := b.withCache(t, func() string { return incarnation }, clk)
	first, err := b.engine.Run(t.Context(), b.operation("k", "body"), b.create("a"))
	require.NoError(t, err)
	first.Replayed = true
	b.requireReplay(t, first)
	require.NoError(t, client.Del(t.Context(), b.cacheKey()).Err())
	require.NoError(t, postgres.Kill())
	repeat := func(body string) (idempotency.Result, error) {
		return b.engine.Run(t.Context(), b.operation("k", body), b.create("b"))
	}
	result, err := repeat("body")
	require.NoError(t, err)
	require.Equal(t, first, result)

	_, err = repeat("another body")
	require.Equal(t, models.CodeServiceUnavailable, codeOf(t, err), "another request's is PostgreSQL's to judge")
	incarnation = "cluster/2"
	_, err = repeat("body")
	require.Equal(t, models.CodeServiceUnavailable, codeOf(t, err), "another database's is worth nothing")
	incarnation = "cluster/1"
	clk.Advance(time.Hour - 30*time.Second)
	_, err = repeat("body")
	require.Equal(t, models.CodeServiceUnavailable, codeOf(t, err), "nearly expired, it is PostgreSQL's to judge")
}

// Whatever Redis holds that is not this very answer of this very database is a
// miss, and PostgreSQL answers.
func TestWhatDoesNotFitIsAMiss(t *testing.T) {
	t.Parallel()
	spoil := map[string]func(ctx context.Context, client *redis.Client, key string) error{
		"nothing":           func(ctx context.Context, c *redis.Client, key string) error { return c.Del(ctx, key).Err() },
		"nonsense":          func(ctx context.Context, c *redis.Client, key string) error { return c.Set(ctx, key, "{", 0).Err() },
		"another type":      retype,
		"an empty document": func(ctx context.Context, c *redis.Client, key string) error { return c.Set(ctx, key, "{}", 0).Err() },
	}
	for name, apply := range spoil {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := setup(t)
			client, want := b.answered(t, b.store.Incarnation)
			require.NoError(t, apply(t.Context(), client, b.cacheKey()))
			b.withCache(t, b.store.Incarnation, clock.System{}) // another server: it has kept nothing itself
			b.requireReplay(t, want)
		})
	}
}

func retype(ctx context.Context, client *redis.Client, key string) error {
	if err := client.Del(ctx, key).Err(); err != nil {
		return err
	}
	return client.LPush(ctx, key, "x").Err()
}

// After a failover that lost the operation, its cached answer is worth nothing:
// the operation is executed.
func TestAnswerOfAnotherIncarnationIsAMiss(t *testing.T) {
	t.Parallel()
	b := setup(t)
	incarnation := "cluster/1"
	client, _ := b.answered(t, func() string { return incarnation })
	require.Contains(t, b.cachedValue(t, client), "cluster/1")
	_, err := b.store.DB().ExecContext(t.Context(), `DELETE FROM idempotency_keys WHERE project_id = $1`, string(b.project))
	require.NoError(t, err)
	incarnation = "cluster/2"
	result, err := b.engine.Run(t.Context(), b.operation("k", "body"), b.create("b"))
	require.NoError(t, err)
	require.False(t, result.Replayed)
	require.Equal(t, effects{2, 2, 2, 1}, b.effects(t))
}

// While the database does not say which it is, nothing is taken from the cache
// or put there.
func TestWithoutAnIncarnationNothingIsCached(t *testing.T) {
	t.Parallel()
	b := setup(t)
	client := b.withCache(t, func() string { return "" }, clock.System{})
	for range 2 {
		_, err := b.engine.Run(t.Context(), b.operation("k", "body"), b.create("a"))
		require.NoError(t, err)
	}
	require.Empty(t, b.cachedValue(t, client))
}

// A cached key still belongs to its request alone.
func TestCachedKeyRefusesAnotherRequest(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.answered(t, b.store.Incarnation)
	_, err := b.engine.Run(t.Context(), b.operation("k", "another body"), b.create("b"))
	require.Equal(t, models.CodeIdempotencyKeyReuse, codeOf(t, err))
}

// What is nearly expired is judged by the database's clock, not by ours.
func TestNearItsExpiryAnAnswerIsNotTakenFromTheCache(t *testing.T) {
	t.Parallel()
	b := setup(t)
	_, want := b.answered(t, b.store.Incarnation)
	b.withCache(t, b.store.Incarnation, clock.NewManual(clock.System{}.Now().Add(time.Hour-30*time.Second)))
	b.requireReplay(t, want)
	b.age(t, "1 second")
	_, err := b.engine.Run(t.Context(), b.operation("k", "body"), b.create("b"))
	require.Equal(t, models.CodeIdempotencyKeyExpired, codeOf(t, err))
}

// A secret never reaches Redis.
func TestAnswerWithASecretIsNotCached(t *testing.T) {
	t.Parallel()
	b := setup(t)
	client := b.withCache(t, b.store.Incarnation, clock.System{})
	for range 3 {
		result, err := b.engine.Run(t.Context(), b.operation("k", "body"), func(context.Context, *store.Tx) (models.Answer, error) {
			return models.Answer{Status: http.StatusCreated, Header: http.Header{}, Body: []byte("whsec_1"), Secret: true}, nil
		})
		require.NoError(t, err)
		require.Equal(t, "whsec_1", string(result.Answer.Body))
	}
	require.Empty(t, b.cachedValue(t, client))
}

// What a client can make Redis hold is bounded: a large answer is PostgreSQL's to
// repeat.
func TestLargeAnswerIsNotCached(t *testing.T) {
	t.Parallel()
	b := setup(t)
	client := b.withCache(t, b.store.Incarnation, clock.System{})
	large := strings.Repeat("x", 4<<10+1)
	for range 3 {
		result, err := b.engine.Run(t.Context(), b.operation("k", "body"), func(context.Context, *store.Tx) (models.Answer, error) {
			return models.Answer{Status: http.StatusCreated, Header: http.Header{}, Body: []byte(large)}, nil
		})
		require.NoError(t, err)
		require.Equal(t, large, string(result.Answer.Body))
	}
	require.Empty(t, b.cachedValue(t, client))
}
