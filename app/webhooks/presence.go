package webhooks

import (
	"context"
	"log/slog"
	"sync/atomic"
	"time"

	"github.com/botix-pro/platform/app/store"
	"github.com/botix-pro/platform/internal/clock"
)

// How a worker that died is told from one that is frozen or cut off. PostgreSQL
// ends the session of a process that is gone, at once; it keeps that of a frozen
// one, which is given its whole lease. A session that ended while its worker lives
// (PostgreSQL restarted, the network was cut) is made again within a second or
// two, so an absence must last; and a worker that cannot confirm its own presence
// begins no send that others may believe lost.
//
// What remains: a worker that is cut off for longer than goneAfter, in the middle
// of sends. They are repeated while they may still arrive, as at-least-once
// allows: each at most once more, recorded under a number of its own, and the late
// outcome takes the place of "worker_lost" when the worker is back.
const (
	confirmEvery   = time.Second
	confirmTimeout = 2 * time.Second
	// goneAfter is how long a worker must be absent, at every look, to be gone.
	goneAfter = 5 * time.Second
	// presentFor is how long after a confirmation sends may begin.
	presentFor = 3 * time.Second
	// maxLookGap is the longest pause between looks that still count as one
	// unbroken absence.
	maxLookGap = 3 * time.Second
)

// presence is this worker's own.
type presence struct {
	mark      *store.Presence
	clock     clock.Clock
	log       *slog.Logger
	confirmed atomic.Int64 // when, in Unix milliseconds; 0: never
}

func newPresence(s *store.Store, clk clock.Clock, log *slog.Logger) (*presence, error) {
	mark, err := s.NewPresence()
	if err != nil {
		return nil, err
	}
	return &presence{mark: mark, clock: clk, log: log}, nil
}

// confirm is called every confirmEvery.
func (p *presence) confirm(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, confirmTimeout)
	defer cancel()
	asked := p.clock.Now()
	held, err := p.mark.Confirm(ctx)
	switch {
	case err == nil && held:
		p.confirmed.Store(asked.UnixMilli())
	case err != nil && ctx.Err() == nil:
		p.log.WarnContext(ctx, "the worker's presence could not be confirmed", "error", err)
	}
}

func (p *presence) recent() bool {
	return p.clock.Now().UnixMilli()-p.confirmed.Load() <= presentFor.Milliseconds()
}

// token is for a new claim or lane. While the presence is not confirmed it is a
// token that only ends with its lease.
func (p *presence) token() (token string, id store.WorkerID) {
	if p.recent() {
		id = p.mark.ID
	}
	return id.NewToken(), id
}

// maySend reports whether a send of a claim with that id may begin: not when
// others may believe by now that its worker is gone.
func (p *presence) maySend(id store.WorkerID) bool {
	return id == store.WorkerID{} || p.recent()
}

// absences is what a worker has seen of the absence of others. It is used by one
// goroutine.
type absences struct {
	since map[store.WorkerID]time.Time
	last  time.Time
}

// gone takes note of a look at the time now that found some absent, and returns
// those that are gone.
func (a *absences) gone(absent []store.WorkerID, now time.Time) (gone []store.WorkerID) {
	before := a.since
	if now.Sub(a.last) > maxLookGap {
		before = nil
	}
	a.since, a.last = make(map[store.WorkerID]time.Time, len(absent)), now
	for _, id := range absent {
		since, known := before[id]
		if !known {
			since = now
		}
		a.since[id] = since
		if now.Sub(since) >= goneAfter {
			gone = append(gone, id)
		}
	}
	return gone
}
