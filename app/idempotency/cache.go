package idempotency

import (
	"bytes"
	"context"
	"encoding/json"
	"log/slog"
	"time"

	"github.com/maypok86/otter/v2"
	"github.com/redis/go-redis/v9"

	"github.com/botix-pro/platform/app/models"
	"github.com/botix-pro/platform/internal/clock"
	"github.com/botix-pro/platform/internal/redispipe"
)

const (
	// cacheFor is how long a repeated answer is kept: a client that repeats at
	// all does so again soon.
	cacheFor = 2 * time.Minute
	// expiryMargin: so close to its expiry an answer is the database's to judge,
	// by its own clock.
	expiryMargin = time.Minute
	// maxCached bounds what one answer takes, in bytes of its body. With cacheFor
	// it bounds what one key can make Redis hold, which also has the limits' counters
	// and the queue's hints and evicts nothing: 5000 repeats a minute, some 60 MB.
	maxCached = 4 << 10
	// maxNear bounds what the answers take that a process keeps itself, in bytes.
	maxNear = 16 << 20
	// nearOverhead is what an entry takes beside its texts, in bytes, about.
	nearOverhead = 512
)

// Cache keeps answers that were asked for again where repeats find them without
// PostgreSQL: in this process, and in Redis for the others. An answer never
// changes between its commit and its expiry, so the only questions are whether it
// is the same request's and the same database's: whatever is not is a miss, and
// PostgreSQL decides. Losing the cache costs speed only.
type Cache struct {
	near        *otter.Cache[string, *cached]
	redis       *redispipe.Pipe
	incarnation func() string
	clock       clock.Clock
	log         *slog.Logger
}

// NewCache returns a cache. incarnation is [store.Store.Incarnation], and clk tells
// the database's time: an answer's expiry is by that.
func NewCache(redis *redispipe.Pipe, incarnation func() string, clk clock.Clock, log *slog.Logger) *Cache {
	return &Cache{
		redis: redis, incarnation: incarnation, clock: clk, log: log,
		near: otter.Must(&otter.Options[string, *cached]{
			MaximumWeight: maxNear, Weigher: weigh, ExpiryCalculator: otter.ExpiryWriting[string, *cached](cacheFor),
		}),
	}
}

// weigh is about how many bytes an entry takes.
func weigh(key string, entry *cached) uint32 {
	size := nearOverhead + len(key) + len(entry.Answer.Body)
	for name, values := range entry.Answer.Header {
		size += len(name)
		for _, value := range values {
			size += len(value)
		}
	}
	return uint32(size) //nolint:gosec // a body of maxCached and a few short headers
}

// cached is an answer as Redis keeps it.
type cached struct {
	Incarnation string        `json:"incarnation"`
	Fingerprint []byte        `json:"fingerprint"`
	ExpiresAt   time.Time     `json:"expires_at"`
	RequestID   string        `json:"request_id"`
	Answer      models.Answer `json:"answer"`
}

// Question is what Redis is asked about a key. It has its answer, or an error,
// once somebody has sent it.
type Question struct{ *redis.StringCmd }

// Ask returns the question that an operation with the key is going to have for
// Redis, so that it can travel with another; nil if it has none.
func (c *Cache) Ask(ctx context.Context, project models.ProjectID, key string) *Question {
	name := cacheKey(project, key)
	if _, kept := c.near.GetIfPresent(name); kept {
		return nil
	}
	return &Question{redis.NewStringCmd(ctx, "GET", name)}
}

// find returns the cached answer to an operation's repeat, nil if there is none.
// asOf is the database's incarnation before PostgreSQL is asked, for [Cache.keep].
func (c *Cache) find(ctx context.Context, op Operation) (result *Result, asOf string) {
	if c == nil {
		return nil, ""
	}
	if asOf = c.incarnation(); asOf == "" {
		return nil, ""
	}
	entry := c.look(ctx, cacheKey(op.Project, op.Key), op.Asked)
	if entry == nil || entry.Incarnation != asOf || !bytes.Equal(entry.Fingerprint, op.Fingerprint) || c.left(entry.ExpiresAt) <= 0 {
		return nil, asOf
	}
	return &Result{Answer: entry.Answer, Replayed: true, FirstRequestID: entry.RequestID}, asOf
}

// look returns what is cached under a key, nil if nothing is. asked, when Redis
// was asked already, is not nil.
func (c *Cache) look(ctx context.Context, key string, asked *Question) *cached {
	if entry, ok := c.near.GetIfPresent(key); ok {
		return entry
	}
	if asked == nil {
		asked = &Question{redis.NewStringCmd(ctx, "GET", key)}
		_ = c.redis.Do(ctx, asked) // it has its error
	}
	if asked.Err() != nil {
		return nil
	}
	entry := &cached{}
	if err := json.Unmarshal([]byte(asked.Val()), entry); err != nil {
		c.log.WarnContext(ctx, "a cached answer cannot be read", "error", err)
		return nil
	}
	c.near.Set(key, entry)
	return entry
}

// left is how long an answer with this expiry may still be taken from the cache.
func (c *Cache) left(expiry time.Time) time.Duration {
	return expiry.Sub(c.clock.Now()) - expiryMargin
}

// keep remembers an answer that PostgreSQL has just given. One with a secret
// never leaves the database (contract §3).
func (c *Cache) keep(ctx context.Context, record *models.IdempotencyRecord, asOf string) {
	if c == nil || asOf == "" || record.Answer.Secret || len(record.Answer.Body) > maxCached || c.left(record.ExpiresAt) <= 0 {
		return
	}
	key, entry := cacheKey(record.ProjectID, record.Key), &cached{
		Incarnation: asOf, Fingerprint: record.Fingerprint, ExpiresAt: record.ExpiresAt,
		RequestID: record.RequestID, Answer: record.Answer,
	}
	c.near.Set(key, entry)
	value, err := json.Marshal(entry)
	if err != nil {
		c.log.WarnContext(ctx, "an answer cannot be cached", "error", err)
		return
	}
	set := redis.NewStatusCmd(ctx, "SET", key, value,
		"PX", min(c.left(record.ExpiresAt), cacheFor).Milliseconds())
	if err := c.redis.Do(ctx, set); err != nil {
		c.log.DebugContext(ctx, "an answer was not cached", "error", err)
	}
}

func cacheKey(project models.ProjectID, key string) string {
	return "btx:answer:" + string(project) + ":" + key
}
