package scenarios

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/url"
	"sync"
	"time"

	"github.com/google/uuid"

	"github.com/botix-pro/platform/app/models"
	"github.com/botix-pro/platform/app/store"
	"github.com/botix-pro/platform/internal/clock"
	"github.com/botix-pro/platform/internal/lifecycle"
)

// Config sets an engine up. Every zero field from Concurrency on means the value
// named beside it.
type Config struct {
	Store     *store.Store
	Transport *http.Transport // guarded, see egress.Guard
	UserAgent string
	Rewrite   func(*url.URL) *url.URL // egress.Guard.Rewrite; nil: no URL is another
	Clock     clock.Clock
	Log       *slog.Logger
	// Hint is told which endpoints have something due after a commit; nil: nobody.
	Hint func(lanes []store.Lane)

	Concurrency     int             // runs that work at a time: 16
	Calls           int             // requests under way at a time: 128
	CallsPerProject int             // and for one project, so that its slow receiver stops nobody else: 16
	Probe           time.Duration   // between two looks for what is due: 500 ms
	Lease           time.Duration   // how long a claim is the worker's: 60 s; longer than Timeout by 15 s
	Timeout         time.Duration   // of a request, its answer's body included: 40 s
	Retries         []time.Duration // between the tries of a request: 5 s, 30 s, 2 m, 10 m
}

func (c *Config) fill() {
	c.Concurrency = or(c.Concurrency, 16)
	c.Calls = or(c.Calls, 128)
	c.CallsPerProject = or(c.CallsPerProject, 16)
	c.Probe = or(c.Probe, 500*time.Millisecond)
	c.Lease = or(c.Lease, 60*time.Second)
	c.Timeout = or(c.Timeout, 40*time.Second)
	if c.Retries == nil {
		c.Retries = []time.Duration{5 * time.Second, 30 * time.Second, 2 * time.Minute, 10 * time.Minute}
	}
}

func or[T int | time.Duration](value, otherwise T) T {
	if value == 0 {
		return otherwise
	}
	return value
}

// Pauses before a run is looked at again that could not be brought forward.
const (
	busyPause    = time.Second      // its project has as many requests under way as it may
	troublePause = 5 * time.Second  // PostgreSQL could not do its work
	brokenPause  = 5 * time.Minute  // its steps cannot be read here: another worker may have the key
	recordWithin = 10 * time.Second // PostgreSQL may be away that long before a result is given up
	recordPause  = 250 * time.Millisecond
)

// Engine brings runs forward. Any number of them work on one database. It is a
// lifecycle.Service.
type Engine struct {
	cfg    Config
	caller *caller
	calls  *quota
	slots  chan struct{} // taken by runs that work, not by those whose request is under way
	runs   sync.WaitGroup
	loop   sync.WaitGroup
	stop   chan struct{}
	bell   lifecycle.Bell

	stopping sync.Once
}

// NewEngine returns an engine.
func NewEngine(cfg Config) *Engine {
	cfg.fill()
	return &Engine{
		cfg: cfg, caller: newCaller(cfg), calls: newQuota(cfg.Calls, cfg.CallsPerProject),
		slots: make(chan struct{}, cfg.Concurrency), stop: make(chan struct{}), bell: lifecycle.NewBell(),
	}
}

// Wake makes the engine look for what is due now. It never blocks.
func (e *Engine) Wake() { e.bell.Ring() }

// Start implements lifecycle.Service.
func (e *Engine) Start(ctx context.Context) error {
	ctx = context.WithoutCancel(ctx)
	e.loop.Go(func() { e.look(ctx) })
	return nil
}

// Stop implements lifecycle.Service: nothing more is claimed, requests under way
// are finished and recorded, and every run is given back.
func (e *Engine) Stop(ctx context.Context) error {
	e.stopping.Do(func() { close(e.stop) })
	done := make(chan struct{})
	go func() {
		defer close(done)
		e.loop.Wait()
		e.runs.Wait()
	}()
	select {
	case <-done:
		return nil
	case <-ctx.Done():
		return fmt.Errorf("runs under way were left to be taken back: %w", ctx.Err())
	}
}

func (e *Engine) stopped() bool {
	select {
	case <-e.stop:
		return true
	default:
		return false
	}
}

// look asks for what is due: at once while there is more than it could take,
// otherwise when it is woken and at every probe. It costs one look at an index however many runs wait.
func (e *Engine) look(ctx context.Context) {
	ticker := time.NewTicker(e.cfg.Probe)
	defer ticker.Stop()
	for !e.stopped() {
		if e.claim(ctx) {
			continue
		}
		select {
		case <-ticker.C:
		case <-e.bell:
		case <-e.stop:
		}
	}
}

// claim takes as many runs as there are free slots, waiting for one. more says
// that another look may find something at once.
func (e *Engine) claim(ctx context.Context) (more bool) {
	select {
	case e.slots <- struct{}{}:
		<-e.slots
	case <-e.stop:
		return false
	}
	free := max(cap(e.slots)-len(e.slots), 1)
	claimed, err := e.cfg.Store.ClaimRuns(ctx, uuid.NewString(), free, e.cfg.Lease)
	if err != nil {
		e.cfg.Log.ErrorContext(ctx, "due runs could not be claimed", "error", err)
		return false
	}
	for _, run := range claimed {
		e.slots <- struct{}{}
		e.runs.Go(func() {
			defer func() { <-e.slots }()
			e.advance(ctx, run)
		})
	}
	return len(claimed) == free
}

// advance brings a claimed run forward until it waits, is over, is no longer
// ours, or the engine stops.
func (e *Engine) advance(ctx context.Context, run store.ClaimedRun) {
	definition, err := e.definition(run)
	if err != nil {
		e.cfg.Log.ErrorContext(ctx, "a run's steps cannot be read", "run", run.ID, "error", err)
		e.giveBack(ctx, run, brokenPause)
		return
	}
	c := &claim{ClaimedRun: run, definition: definition}
	for again := true; again; {
		if e.stopped() {
			e.giveBack(ctx, run, 0)
			return
		}
		if again, err = e.turn(ctx, c); err != nil {
			e.stumble(ctx, c, err)
			return
		}
	}
}

func (e *Engine) definition(run store.ClaimedRun) (*Definition, error) {
	if run.Unsealed != nil {
		return nil, run.Unsealed
	}
	definition, faults := Parse("", run.Steps)
	return definition, faults.Err()
}

// turn does the run's present step, or the next part of it.
func (e *Engine) turn(ctx context.Context, c *claim) (again bool, err error) {
	if c.step().Request != nil {
		return e.request(ctx, c)
	}
	return e.perform(ctx, c)
}

// stumble decides what becomes of a run whose step could not be recorded: as a
// whole or not at all.
func (e *Engine) stumble(ctx context.Context, c *claim, err error) {
	var refused *models.Error
	switch {
	case errors.Is(err, store.ErrNotFound):
		return // cancelled, or taken back: somebody else's now
	case errors.Is(err, store.ErrCommitUnknown), store.IsUnavailable(err):
		// Recorded or not: the next claim goes on from what it finds.
		e.cfg.Log.WarnContext(ctx, "a run's step could not be recorded", "run", c.ID, "error", err)
		e.giveBack(ctx, c.ClaimedRun, troublePause)
		return
	case errors.As(err, &refused):
		err = e.fail(ctx, c, string(refused.Code), refused.Detail)
	default:
		e.cfg.Log.ErrorContext(ctx, "a run's step cannot be done", "run", c.ID, "step", c.step().ID, "error", err)
		err = e.fail(ctx, c, codeInternal, "A fault of ours: the step could not be recorded.")
	}
	if err != nil && !errors.Is(err, store.ErrNotFound) {
		e.cfg.Log.ErrorContext(ctx, "a failed run could not be recorded", "run", c.ID, "error", err)
	}
}

// giveBack lets another worker take the run after the pause. If that fails, the
// lease's end does it.
func (e *Engine) giveBack(ctx context.Context, run store.ClaimedRun, pause time.Duration) {
	_, err := e.cfg.Store.Write(ctx, run.ProjectID, func(tx *store.Tx) error {
		row, err := tx.LockClaimedRun(ctx, run)
		if err != nil {
			return err
		}
		row.Status = models.RunWaiting
		tx.MoveRun(row, &pause)
		return nil
	})
	if err != nil && !errors.Is(err, store.ErrNotFound) {
		e.cfg.Log.WarnContext(ctx, "a run could not be given back", "run", run.ID, "error", err)
	}
}

// write is a transaction of the run's, followed by the hints about its events.
func (e *Engine) write(ctx context.Context, c *claim, fn func(*store.Tx) error) error {
	lanes, err := e.cfg.Store.Write(ctx, c.ProjectID, fn)
	if err == nil && e.cfg.Hint != nil && len(lanes) > 0 {
		e.cfg.Hint(lanes)
	}
	return err
}

// quota counts what is under way, in all and by project.
type quota struct {
	mu        sync.Mutex
	all, each int
	total     int
	of        map[models.ProjectID]int
}

func newQuota(all, each int) *quota {
	return &quota{all: all, each: each, of: map[models.ProjectID]int{}}
}

// take reports whether the project may have one more under way; then it must be
// given back.
func (q *quota) take(project models.ProjectID) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.total >= q.all || q.of[project] >= q.each {
		return false
	}
	q.total++
	q.of[project]++
	return true
}

func (q *quota) give(project models.ProjectID) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.total--
	if q.of[project]--; q.of[project] == 0 {
		delete(q.of, project)
	}
}
