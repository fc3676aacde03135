package redispipe

import (
	"context"
	"errors"
	"fmt"
	"net"
	"sync"
	"sync/atomic"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/botix-pro/platform/internal/clock"
)

const (
	// blindFor is how long Redis is not asked after it failed, so that an outage
	// costs one timeout per second and not one per request.
	blindFor = time.Second
	// maxFlights is how many round trips may be on their way. What is asked
	// meanwhile goes with the next one.
	maxFlights = 2
)

// ErrAway is returned without asking while Redis is known not to answer.
var ErrAway = errors.New("Redis did not answer a moment ago") //nolint:staticcheck // a name

// Pipe sends commands. It is safe for concurrent use.
type Pipe struct {
	client     redis.UniversalClient
	clock      clock.Clock
	blindUntil atomic.Int64 // Unix milliseconds

	mu      sync.Mutex
	waiting []*question
	flights int
}

// question is a command that somebody waits for; its outcome is in the command.
type question struct {
	command  redis.Cmder
	answered chan struct{}
}

// New returns a pipe over a client that must not repeat commands (MaxRetries:
// -1): a repeat after a lost reply would take effect twice.
func New(client redis.UniversalClient, clk clock.Clock) *Pipe {
	return &Pipe{client: client, clock: clk}
}

// Do runs a command and returns its error, [redis.Nil] included. A caller that
// goes away neither cancels its command nor looks like an outage: ctx passes its
// values on, not its end; the client's own timeouts bound the wait. Errors other
// than Redis's own replies are wrapped; see [Lost].
func (p *Pipe) Do(ctx context.Context, command redis.Cmder) error {
	if p.clock.Now().UnixMilli() < p.blindUntil.Load() {
		return ErrAway
	}
	mine := &question{command: command, answered: make(chan struct{})}
	if p.join(mine) {
		p.fly(context.WithoutCancel(ctx))
	}
	<-mine.answered
	return p.judge(command.Err())
}

// join queues a question and reports whether its asker has to fly.
func (p *Pipe) join(q *question) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.waiting = append(p.waiting, q)
	if p.flights == maxFlights {
		return false
	}
	p.flights++
	return true
}

// fly takes everything that is waiting along. Whatever came meanwhile is another
// goroutine's, so that no caller carries others' questions beyond its own.
func (p *Pipe) fly(ctx context.Context) {
	p.mu.Lock()
	aboard := p.waiting
	p.waiting = nil
	p.mu.Unlock()
	p.exchange(ctx, aboard)
	for _, q := range aboard {
		close(q.answered)
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.waiting) > 0 {
		go p.fly(ctx)
		return
	}
	p.flights--
}

func (p *Pipe) exchange(ctx context.Context, aboard []*question) {
	if len(aboard) == 1 {
		_ = p.client.Process(ctx, aboard[0].command) // it is in the command
		return
	}
	pipeline := p.client.Pipeline()
	for _, q := range aboard {
		_ = pipeline.Process(ctx, q.command) // queues
	}
	_, _ = pipeline.Exec(ctx) // each command has its own
}

// judge tells a reply from an outage.
func (p *Pipe) judge(err error) error {
	var reply redis.Error
	if err == nil || errors.As(err, &reply) {
		return err //nolint:wrapcheck // Redis's own words, redis.Nil among them
	}
	p.blindUntil.Store(p.clock.Now().Add(blindFor).UnixMilli())
	return fmt.Errorf("ask Redis: %w", err)
}

// Lost reports whether a command that failed may have taken effect all the same:
// it was sent, and its reply did not arrive.
func Lost(err error) bool {
	var reply redis.Error
	return err != nil && !errors.As(err, &reply) && !neverSent(err)
}

func neverSent(err error) bool {
	var op *net.OpError
	return errors.Is(err, ErrAway) || errors.As(err, &op) && op.Op == "dial" || errors.Is(err, redis.ErrPoolTimeout)
}

// Waiting is how many commands wait for the next round trip.
func (p *Pipe) Waiting() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return len(p.waiting)
}
