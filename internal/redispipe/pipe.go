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

// errCrashed is what others get whose question travelled with a crash.
var errCrashed = errors.New("the question to Redis was not carried to its end")

// Pipe sends commands. It is safe for concurrent use.
type Pipe struct {
	client redis.UniversalClient
	clock  clock.Clock
	// blindUntil is when Redis may be asked again, in Unix milliseconds; 0 while
	// it answers.
	blindUntil atomic.Int64

	mu      sync.Mutex
	waiting []*question
	flights int
}

// question is commands that somebody waits for; their outcomes are in them.
type question struct {
	commands []redis.Cmder
	answered chan struct{}
}

func (q *question) fail(err error) {
	for _, command := range q.commands {
		command.SetErr(err)
	}
}

// New returns a pipe over a client that must not repeat commands (MaxRetries:
// -1): a repeat after a lost reply would take effect twice.
func New(client redis.UniversalClient, clk clock.Clock) *Pipe {
	return &Pipe{client: client, clock: clk}
}

// Do runs a command and returns its error, [redis.Nil] included. Others, along,
// make the same round trip; each has its own error, whatever becomes of the
// first. A caller that goes away neither cancels its commands nor looks like an
// outage: ctx passes its values on, not its end; the client's own timeouts bound
// the wait. Errors other than Redis's own replies are wrapped; see [Lost].
func (p *Pipe) Do(ctx context.Context, command redis.Cmder, along ...redis.Cmder) error {
	mine := &question{commands: append([]redis.Cmder{command}, along...), answered: make(chan struct{})}
	if !p.mayAsk() {
		mine.fail(ErrAway)
		return ErrAway
	}
	if p.join(mine) {
		p.fly(context.WithoutCancel(ctx))
	}
	<-mine.answered
	return explain(command.Err())
}

// mayAsk is false while Redis is known not to answer. When that time is over one
// question finds out for everybody: whatever else comes meanwhile would wait for
// the same timeout.
func (p *Pipe) mayAsk() bool {
	until := p.blindUntil.Load()
	if until == 0 {
		return true
	}
	now := p.clock.Now()
	return now.UnixMilli() >= until && p.blindUntil.CompareAndSwap(until, now.Add(blindFor).UnixMilli())
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
	defer p.land(ctx)
	p.carry(ctx, p.board())
}

// land makes room for the next flight, however this one ended.
func (p *Pipe) land(ctx context.Context) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.waiting) > 0 {
		go p.fly(ctx)
		return
	}
	p.flights--
}

// board takes everything that is waiting.
func (p *Pipe) board() []*question {
	p.mu.Lock()
	defer p.mu.Unlock()
	aboard := p.waiting
	p.waiting = nil
	return aboard
}

// carry makes one round trip. What waits when it fails is told so, and not sent
// into the same timeout.
func (p *Pipe) carry(ctx context.Context, aboard []*question) {
	if len(aboard) == 0 {
		return // another flight failed and has told them
	}
	crashed := true
	defer func() {
		for _, q := range aboard {
			if crashed { // in the client or a hook of it: nobody may wait for ever
				q.fail(errCrashed)
			}
			close(q.answered)
		}
	}()
	p.exchange(ctx, aboard)
	crashed = false
	if answered(aboard) {
		p.seen()
	} else {
		p.blindUntil.Store(p.clock.Now().Add(blindFor).UnixMilli())
		for _, q := range p.board() {
			q.fail(ErrAway)
			aboard = append(aboard, q)
		}
	}
}

func (p *Pipe) exchange(ctx context.Context, aboard []*question) {
	if len(aboard) == 1 && len(aboard[0].commands) == 1 {
		_ = p.client.Process(ctx, aboard[0].commands[0]) // it is in the command
		return
	}
	pipeline := p.client.Pipeline()
	for _, q := range aboard {
		for _, command := range q.commands {
			_ = pipeline.Process(ctx, command) // queues
		}
	}
	_, _ = pipeline.Exec(ctx) // each command has its own
}

// seen ends the blind time, and leaves alone what every question reads.
func (p *Pipe) seen() {
	if p.blindUntil.Load() != 0 {
		p.blindUntil.Store(0)
	}
}

// answered reports whether Redis replied to everything in a round trip.
func answered(aboard []*question) bool {
	for _, q := range aboard {
		for _, command := range q.commands {
			if err := command.Err(); err != nil && !isReply(err) {
				return false
			}
		}
	}
	return true
}

// explain tells a reply from an outage.
func explain(err error) error {
	if err == nil || isReply(err) {
		return err // Redis's own words, redis.Nil among them
	}
	return fmt.Errorf("ask Redis: %w", err)
}

func isReply(err error) bool {
	var reply redis.Error
	return errors.As(err, &reply)
}

// Lost reports whether a command that failed may have taken effect all the same:
// it was sent, and its reply did not arrive.
func Lost(err error) bool {
	return err != nil && !isReply(err) && !neverSent(err)
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
