package ratelimit

import (
	"context"
	_ "embed"
	"fmt"
	"log/slog"
	"sync/atomic"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/botix-pro/platform/internal/clock"
	"github.com/botix-pro/platform/internal/redispipe"
)

//go:embed window.lua
var windowScript string

// window is the length of a counting window.
const window = time.Minute

// complainEvery keeps an outage from filling the log.
const complainEvery = 10 * time.Second

// Decision is the answer to one request.
type Decision struct {
	Allowed   bool
	Limit     int       // requests per window
	Remaining int       // requests left in this window, 0 when refused
	Reset     time.Time // when the window ends, to the second
	// ResetAfter is the time until Reset, at least one second when shown.
	ResetAfter time.Duration
}

// Config sets a limiter up.
type Config struct {
	Redis *redispipe.Pipe
	// Servers is how many servers share a limit while Redis is away; at least 1.
	Servers int
	Clock   clock.Clock
	Log     *slog.Logger
}

// Limiter decides whether a request may pass. It is safe for concurrent use.
type Limiter struct {
	redis      *redispipe.Pipe
	scriptHash string
	memory     *memory
	servers    int
	clock      clock.Clock
	log        *slog.Logger
	complained atomic.Int64 // Unix milliseconds
}

// New returns a limiter.
func New(cfg Config) *Limiter {
	return &Limiter{
		redis: cfg.Redis, scriptHash: redis.NewScript(windowScript).Hash(), memory: newMemory(),
		servers: max(cfg.Servers, 1), clock: cfg.Clock, log: cfg.Log,
	}
}

// Allow counts one request of the subject against limit requests a minute.
// subject is any string that is unique among what is limited. Allow never
// fails: without Redis it decides from memory. What else the request is going to
// ask Redis may come along, and has its answer when Allow returns.
func (l *Limiter) Allow(ctx context.Context, subject string, limit int, along ...redis.Cmder) Decision {
	decision, err := l.ask(ctx, subject, limit, along...)
	if err == nil {
		return decision
	}
	l.lost(ctx, err)
	decision = l.alone(subject, limit)
	if redispipe.Lost(err) {
		// The script may have counted this request: it passes, whatever memory
		// thinks, so that a lost reply never refuses it or counts it twice.
		decision.Allowed = true
	}
	return decision
}

// ask lets Redis decide.
func (l *Limiter) ask(ctx context.Context, subject string, limit int, along ...redis.Cmder) (Decision, error) {
	count := l.command(ctx, "EVALSHA", l.scriptHash, subject, limit)
	err := l.redis.Do(ctx, count, along...)
	if redis.HasErrorPrefix(err, "NOSCRIPT") { // a Redis that was restarted or flushed; nothing was counted
		count = l.command(ctx, "EVAL", windowScript, subject, limit)
		err = l.redis.Do(ctx, count)
	}
	if err != nil {
		return Decision{}, fmt.Errorf("count in Redis: %w", err)
	}
	reply, err := count.Int64Slice()
	if err != nil {
		return Decision{}, fmt.Errorf("count in Redis: %w", err)
	}
	if len(reply) != 4 {
		return Decision{}, fmt.Errorf("count in Redis: script answered %d values", len(reply))
	}
	return Decision{
		Allowed: reply[0] == 1, Limit: limit, Remaining: max(limit-int(reply[1]), 0),
		ResetAfter: time.Duration(reply[2]) * time.Millisecond, Reset: time.Unix(reply[3], 0).UTC(),
	}, nil
}

func (l *Limiter) command(ctx context.Context, verb, script, subject string, limit int) *redis.Cmd {
	return redis.NewCmd(ctx, verb, script, 1, "btx:rate:"+subject, limit)
}

// alone decides from this process's memory, for its share of the limit.
func (l *Limiter) alone(subject string, limit int) Decision {
	now := l.clock.Now()
	share := max(limit/l.servers, 1)
	count, admitted := l.memory.count(subject, share, now)
	ends := now.Truncate(window).Add(window)
	return Decision{
		Allowed: admitted, Limit: limit, Remaining: max(share-count, 0), Reset: ends, ResetAfter: ends.Sub(now),
	}
}

func (l *Limiter) lost(ctx context.Context, err error) {
	now := l.clock.Now().UnixMilli()
	before := l.complained.Load()
	if now-before >= complainEvery.Milliseconds() && l.complained.CompareAndSwap(before, now) {
		l.log.WarnContext(ctx, "rate limits are counted per server: Redis cannot be asked", "error", err)
	}
}
