package jobs

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/google/uuid"

	"github.com/botix-pro/platform/app/models"
	"github.com/botix-pro/platform/app/store"
	"github.com/botix-pro/platform/internal/lifecycle"
)

// Step does the next batch of a job, whose position says where that begins: it
// queues the effects in tx and returns what they come to. The job is locked. An
// error rolls the batch back, and it is tried again; what can never succeed is a
// [models.JobStep] with a Failure.
type Step func(ctx context.Context, tx *store.Tx, job *models.Job) (models.JobStep, error)

const (
	// defaultProbe is how long a job of which no hint told may wait for a worker.
	defaultProbe = 100 * time.Millisecond
	// lease is how long a job is its worker's after each batch: far longer than
	// a batch may take.
	lease = 60 * time.Second
	// batchTimeout bounds a batch, the commit included.
	batchTimeout = 25 * time.Second
	// slice is how long a job keeps its place while others wait.
	slice = 5 * time.Second
	// longestPause is how long a job keeps its place while it waits.
	longestPause = time.Second
	// maxFailures in a row end a job: the fault is in the job, or lasts.
	maxFailures = 10
	retryAfter  = 2 * time.Second // times the failures so far
)

// Config sets a runner up.
type Config struct {
	Store *store.Store
	Steps map[models.JobType]Step
	// Hint announces what a batch made due; it must not block.
	Hint        func([]store.Lane)
	Concurrency int           // jobs at a time
	Probe       time.Duration // between two looks for what is due; 0: 100 ms
	Log         *slog.Logger
}

// Runner runs jobs. It is a lifecycle.Service.
type Runner struct {
	cfg   Config
	types []models.JobType
	slots chan struct{}
	bell  lifecycle.Bell
	stop  chan struct{}
	ended sync.WaitGroup
}

// NewRunner returns a runner for the types that have a step.
func NewRunner(cfg Config) *Runner {
	cfg.Probe = cmp.Or(cfg.Probe, defaultProbe)
	r := &Runner{cfg: cfg, slots: make(chan struct{}, cfg.Concurrency), bell: lifecycle.NewBell()}
	for kind := range cfg.Steps {
		r.types = append(r.types, kind)
	}
	return r
}

// Wake makes the runner look for jobs now. It never blocks.
func (r *Runner) Wake() { r.bell.Ring() }

// Start implements lifecycle.Service.
func (r *Runner) Start(ctx context.Context) error {
	stop := make(chan struct{})
	r.stop = stop
	ctx = context.WithoutCancel(ctx)
	r.ended.Go(func() { r.loop(ctx, stop) })
	return nil
}

// Stop implements lifecycle.Service: the batches under way are finished, and
// their jobs given back.
func (r *Runner) Stop(ctx context.Context) error {
	if r.stop == nil {
		return nil
	}
	close(r.stop)
	r.stop = nil
	done := make(chan struct{})
	go func() { r.ended.Wait(); close(done) }()
	select {
	case <-done:
		return nil
	case <-ctx.Done():
		return fmt.Errorf("jobs were left to another worker: %w", ctx.Err())
	}
}

func (r *Runner) loop(ctx context.Context, stop <-chan struct{}) {
	ticker := time.NewTicker(r.cfg.Probe)
	defer ticker.Stop()
	for {
		r.fill(ctx, stop)
		select {
		case <-ticker.C:
		case <-r.bell:
		case <-stop:
			return
		}
	}
}

// fill takes jobs while there are jobs and places for them.
func (r *Runner) fill(ctx context.Context, stop <-chan struct{}) {
	for {
		select {
		case <-stop:
			return
		case r.slots <- struct{}{}:
		default:
			return
		}
		claimed, err := r.cfg.Store.ClaimJob(ctx, uuid.NewString(), lease, r.types)
		if err != nil {
			<-r.slots
			if !errors.Is(err, store.ErrNotFound) {
				r.cfg.Log.WarnContext(ctx, "jobs could not be looked for", "error", err)
			}
			return
		}
		r.ended.Go(func() {
			defer func() { <-r.slots }()
			r.run(ctx, claimed, stop)
		})
	}
}

// run does batches until the job ends, has to wait, or its slice is over.
func (r *Runner) run(ctx context.Context, claimed store.ClaimedJob, stop <-chan struct{}) {
	log := r.cfg.Log.With("project", claimed.ProjectID, "job", claimed.ID)
	deadline := time.NewTimer(slice)
	defer deadline.Stop()
	for {
		turn, err := r.Batch(ctx, claimed)
		if errors.Is(err, store.ErrLeaseLost) {
			log.WarnContext(ctx, "a job went to another worker")
			return
		}
		if err != nil {
			log.ErrorContext(ctx, "a batch failed", "failures", claimed.Failures, "error", err)
			r.leave(ctx, log, claimed, true, retryAfter*time.Duration(claimed.Failures+1))
			return
		}
		if turn.Ended {
			log.InfoContext(ctx, "a job ended")
			return
		}
		if !wait(turn.Pause, deadline.C, stop) {
			r.leave(ctx, log, claimed, false, turn.Pause)
			return
		}
	}
}

// wait reports whether the job keeps its place for the next batch, after the
// pause: a short one is not worth a change of hands.
func wait(pause time.Duration, deadline <-chan time.Time, stop <-chan struct{}) bool {
	if pause > longestPause {
		return false
	}
	select {
	case <-stop:
		return false
	case <-deadline:
		return false
	case <-time.After(pause):
		return true
	}
}

func (r *Runner) leave(ctx context.Context, log *slog.Logger, claimed store.ClaimedJob, failed bool, delay time.Duration) {
	if err := r.cfg.Store.LeaveJob(ctx, claimed, failed, delay); err != nil {
		log.WarnContext(ctx, "a job stays taken until its lease ends", "error", err)
	}
}

// Turn is what became of a job in one batch.
type Turn struct {
	Ended bool
	Pause time.Duration // before the next batch
}

// Batch does one batch of a job that was claimed, in one transaction: all of it
// or, when it returns an error, none. [store.ErrLeaseLost]: the job is no longer
// the caller's.
func (r *Runner) Batch(ctx context.Context, claimed store.ClaimedJob) (turn Turn, err error) {
	ctx, cancel := context.WithTimeout(ctx, batchTimeout)
	defer cancel()
	lanes, err := r.cfg.Store.Write(ctx, claimed.ProjectID, func(tx *store.Tx) error {
		job, err := tx.LockClaimed(ctx, claimed)
		if err != nil {
			return err
		}
		turn, err = r.turn(ctx, tx, claimed, job)
		return err
	})
	if err != nil {
		return Turn{}, fmt.Errorf("job %s: %w", claimed.ID, err)
	}
	r.cfg.Hint(lanes)
	return turn, nil
}

func (r *Runner) turn(ctx context.Context, tx *store.Tx, claimed store.ClaimedJob, job *models.Job) (Turn, error) {
	ended := Turn{Ended: true}
	if job.CancelRequested {
		return ended, tx.EndJob(job, models.JobCancelled, "")
	}
	if claimed.Failures >= maxFailures {
		return ended, tx.EndJob(job, models.JobFailed, "A fault of ours: the next batch could not be done, time and again.")
	}
	step, err := r.cfg.Steps[job.Type](ctx, tx, job)
	if err != nil {
		return Turn{}, err
	}
	job.Advance(step)
	switch {
	case step.Failure != "":
		return ended, tx.EndJob(job, models.JobFailed, step.Failure)
	case step.Done:
		return ended, tx.EndJob(job, models.JobCompleted, "")
	default:
		tx.AdvanceJob(claimed, job, lease, step.Pause)
		return Turn{Pause: step.Pause}, nil
	}
}
