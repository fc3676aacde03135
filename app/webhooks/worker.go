package webhooks

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/url"
	"sync"
	"time"

	"github.com/hibiken/asynq"
	"github.com/redis/go-redis/v9"
	"gocloud.dev/blob"

	"github.com/botix-pro/platform/app/store"
	"github.com/botix-pro/platform/internal/clock"
	"github.com/botix-pro/platform/internal/mail"
)

// The worker's rhythms.
const (
	// taskCheck is asynq's pause between looks at an empty queue: its default
	// of a second would be the latency of every first webhook.
	taskCheck    = 10 * time.Millisecond
	delayedCheck = time.Second
	// stopPatience is asynq's; longer than a whole exchange with a receiver.
	stopPatience = 45 * time.Second
	sweepEvery   = time.Second
	judgeEvery   = 10 * time.Second
	mailEvery    = 10 * time.Second
	expireEvery  = time.Minute
	rollUpEvery  = time.Minute
	forgetEvery  = 10 * time.Minute
	janitorEvery = time.Hour
	// maxLosses is how many workers in a row may die over one delivery (contract §5).
	maxLosses     = 5
	takeBackBatch = 500
)

// WorkerConfig sets a worker up.
type WorkerConfig struct {
	Store       *store.Store
	Redis       redis.UniversalClient // stays the caller's
	Transport   *http.Transport       // guarded, see egress.Guard
	Schedule    Schedule
	Archive     *blob.Bucket // of expired dead letters; nil: none
	Mail        *mail.Sender // of notices; nil: none
	Concurrency int          // lanes drained at a time by hints; the sweeper has as many again
	// Wake, optional, is told of hints about other work than deliveries. It must not
	// block.
	Wake      func(store.Work)
	UserAgent string
	Rewrite   func(*url.URL) *url.URL // see SenderConfig
	Clock     clock.Clock
	Log       *slog.Logger
}

// Worker delivers webhooks: on hints from asynq, and by looking for itself for
// what no hint told it. It is a lifecycle.Service.
type Worker struct {
	cfg      WorkerConfig
	drainer  *Drainer
	keeper   *Keeper
	recorder *recorder
	presence *presence // nil before the start
	absences absences
	queue    *asynq.Server
	slots    chan struct{} // the sweeper's drains
	drains   sync.WaitGroup
	loops    sync.WaitGroup
	stop     chan struct{} // ends claiming
	finished chan struct{} // ends recording
	started  bool
}

// NewWorker returns a worker.
func NewWorker(cfg WorkerConfig) *Worker {
	rec := newRecorder(cfg.Store, cfg.Log)
	sender := NewSender(cfg.Transport, SenderConfig{UserAgent: cfg.UserAgent, Rewrite: cfg.Rewrite})
	return &Worker{
		cfg: cfg, recorder: rec,
		keeper:  NewKeeper(KeeperConfig{Store: cfg.Store, Archive: cfg.Archive, Mail: cfg.Mail, Log: cfg.Log}),
		drainer: newDrainer(cfg.Store, sender, rec, cfg.Schedule, cfg.Clock, cfg.Log),
		queue: asynq.NewServerFromRedisClient(cfg.Redis, asynq.Config{
			Concurrency: cfg.Concurrency, Queues: map[string]int{queueName: 1}, Logger: queueLog{cfg.Log}, LogLevel: asynq.WarnLevel,
			TaskCheckInterval: taskCheck, DelayedTaskCheckInterval: delayedCheck, ShutdownTimeout: stopPatience,
		}),
		slots: make(chan struct{}, cfg.Concurrency), stop: make(chan struct{}), finished: make(chan struct{}),
	}
}

// Start implements lifecycle.Service. Redis may be away: asynq keeps trying,
// and the sweeper delivers meanwhile.
func (w *Worker) Start(ctx context.Context) error {
	if err := w.cfg.Store.KeepPartitions(ctx); err != nil {
		return err
	}
	present, err := newPresence(w.cfg.Store, w.cfg.Clock, w.cfg.Log)
	if err != nil {
		return fmt.Errorf("be present: %w", err)
	}
	w.presence, w.drainer.presence = present, present
	present.confirm(ctx)
	go w.recorder.run(w.finished) //nolint:contextcheck // it outlives the start
	if err := w.queue.Start(asynq.HandlerFunc(w.handle)); err != nil {
		close(w.finished)
		return errors.Join(fmt.Errorf("start asynq: %w", err), present.mark.Close())
	}
	w.started = true
	for _, task := range []struct {
		every time.Duration
		do    func(context.Context)
	}{
		{sweepEvery, w.sweep},
		{sweepEvery, w.takeBack},
		{confirmEvery, present.confirm},
		{judgeEvery, w.keeper.Judge},
		{mailEvery, w.keeper.SendMails},
		{expireEvery, w.keeper.Expire},
		{rollUpEvery, w.keeper.RollUp},
		{forgetEvery, w.keeper.Forget},
		{janitorEvery, w.keepPartitions},
	} {
		w.loop(task.every, task.do) //nolint:contextcheck // it outlives the start
	}
	return nil
}

// Stop implements lifecycle.Service: nothing more is claimed, and what is in
// flight is finished and recorded.
func (w *Worker) Stop(ctx context.Context) error {
	if !w.started {
		return nil
	}
	w.started = false
	close(w.stop)
	done := make(chan struct{})
	go func() {
		defer close(done)
		w.queue.Shutdown()
		w.loops.Wait()
		w.drains.Wait()
		w.drainer.sends.Wait()
		close(w.finished)
		if err := w.presence.mark.Close(); err != nil {
			w.cfg.Log.WarnContext(ctx, "the worker's presence did not end well", "error", err)
		}
	}()
	select {
	case <-done:
		return nil
	case <-ctx.Done():
		return fmt.Errorf("webhooks in flight were left to be taken back: %w", ctx.Err())
	}
}

// handle drains the lane that a hint names. It never fails: what could not be
// done is still due in PostgreSQL. asynq's own context is not passed on: it ends
// when Redis is away for long, and that must not cut a claim off.
func (w *Worker) handle(ctx context.Context, task *asynq.Task) error {
	lane, err := parseHint(task)
	if work, other := lane.Work(); err == nil && other {
		if w.cfg.Wake != nil {
			w.cfg.Wake(work)
		}
		return nil
	}
	if err == nil {
		w.drains.Add(1)
		defer w.drains.Done()
		err = w.drainer.Drain(context.WithoutCancel(ctx), lane, w.stop)
	}
	if err != nil {
		w.cfg.Log.ErrorContext(ctx, "a hint could not be followed", "error", err)
	}
	return nil
}

// loop runs fn at every interval until the worker stops, which also ends the
// context of a call that is under way.
func (w *Worker) loop(every time.Duration, fn func(context.Context)) {
	ctx, cancel := context.WithCancel(context.Background())
	w.loops.Go(func() {
		<-w.stop
		cancel()
	})
	w.loops.Go(func() {
		ticker := time.NewTicker(every)
		defer ticker.Stop()
		for {
			select {
			case <-ticker.C:
				fn(ctx)
			case <-w.stop:
				return
			}
		}
	})
}

func (w *Worker) keepPartitions(ctx context.Context) {
	if err := w.cfg.Store.KeepPartitions(ctx); err != nil {
		w.cfg.Log.ErrorContext(ctx, "partitions could not be kept", "error", err)
	}
}
