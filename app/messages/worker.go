package messages

import (
	"cmp"
	"context"
	"crypto/rand"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/botix-pro/platform/app/models"
	"github.com/botix-pro/platform/app/store"
	"github.com/botix-pro/platform/internal/lifecycle"
)

// The worker's rhythms. It looks when it is woken by a hint, and by itself for
// what no hint told: a look at what is due reads one partial index.
const (
	defaultProbe   = 200 * time.Millisecond
	reclaimEvery   = time.Second
	reclaimBatch   = 100
	defaultLease   = 60 * time.Second
	defaultTimeout = 30 * time.Second
	defaultSlots   = 32
	defaultChannel = 8
	recordPause    = 200 * time.Millisecond
	recordPatience = 20 * time.Second
	sendWithin     = 10 * time.Second // of the claim; together with the timeout well below the lease
	lookUpPatience = 5 * time.Second
)

// Config sets a worker up. Every zero field means the value named beside it.
type Config struct {
	Store    *store.Store
	Channels map[models.Channel]Channel
	// Hint is told which endpoints got an event.
	Hint func([]store.Lane)
	Log  *slog.Logger
	// Schedule is the delays after failed tries; after the last the message is
	// given up. Empty: after the first.
	Schedule   []time.Duration
	Slots      int           // messages sent at a time: 32
	PerChannel int           // of these for one project on one channel: 8
	Lease      time.Duration // how long a message may be held: 60 s
	Timeout    time.Duration // of one attempt: 30 s
	Probe      time.Duration // between two looks for what is due: 200 ms
}

// Worker sends messages. It is a lifecycle.Service, and any number of them work
// on one database.
type Worker struct {
	cfg   Config
	slots chan struct{}
	bell  lifecycle.Bell
	loops sync.WaitGroup
	sends sync.WaitGroup
	stop  context.CancelFunc // nil: not started
}

// NewWorker returns a worker.
func NewWorker(cfg Config) *Worker {
	cfg.Slots = cmp.Or(cfg.Slots, defaultSlots)
	cfg.PerChannel = cmp.Or(cfg.PerChannel, defaultChannel)
	cfg.Lease = cmp.Or(cfg.Lease, defaultLease)
	cfg.Timeout = cmp.Or(cfg.Timeout, defaultTimeout)
	cfg.Probe = cmp.Or(cfg.Probe, defaultProbe)
	return &Worker{cfg: cfg, slots: make(chan struct{}, cfg.Slots), bell: lifecycle.NewBell()}
}

// Wake makes the worker look for what is due now. It never blocks.
func (w *Worker) Wake() { w.bell.Ring() }

// Start implements lifecycle.Service.
func (w *Worker) Start(ctx context.Context) error {
	ctx, w.stop = context.WithCancel(context.WithoutCancel(ctx))
	w.loop(ctx, w.cfg.Probe, w.bell, w.poll)
	w.loop(ctx, reclaimEvery, nil, w.reclaim)
	return nil
}

// Stop implements lifecycle.Service: nothing more is claimed, and what is being
// sent is finished and recorded.
func (w *Worker) Stop(ctx context.Context) error {
	if w.stop == nil {
		return nil
	}
	w.stop()
	w.stop = nil
	done := make(chan struct{})
	go func() {
		defer close(done)
		w.loops.Wait()
		w.sends.Wait()
	}()
	select {
	case <-done:
		return nil
	case <-ctx.Done():
		return fmt.Errorf("messages being sent were left to be taken back: %w", ctx.Err())
	}
}

func (w *Worker) loop(ctx context.Context, every time.Duration, bell lifecycle.Bell, do func(context.Context)) {
	w.loops.Go(func() {
		ticker := time.NewTicker(every)
		defer ticker.Stop()
		for {
			select {
			case <-ticker.C:
				do(ctx)
			case <-bell:
				do(ctx)
			case <-ctx.Done():
				return
			}
		}
	})
}

// poll claims for as long as something is due and there is room.
func (w *Worker) poll(ctx context.Context) {
	for ctx.Err() == nil {
		free := cap(w.slots) - len(w.slots) // only this loop takes slots
		if free == 0 {
			return
		}
		token := newToken()
		claimed, err := w.cfg.Store.ClaimMessages(ctx, store.MessageClaim{
			Token: token, Max: free, PerChannel: w.cfg.PerChannel, Lease: w.cfg.Lease,
		})
		if err != nil {
			w.cfg.Log.WarnContext(ctx, "messages could not be claimed", "error", err)
			w.giveBack(context.WithoutCancel(ctx), token)
			return
		}
		for i := range claimed {
			w.begin(ctx, &claimed[i])
		}
		if len(claimed) == 0 {
			return
		}
	}
}

// giveBack undoes a claim whose answer did not come: it may have been made, and
// only this worker knows that nothing was sent.
func (w *Worker) giveBack(ctx context.Context, token string) {
	ctx, cancel := context.WithTimeout(ctx, w.cfg.Lease)
	defer cancel()
	for ctx.Err() == nil && w.cfg.Store.ReleaseMessages(ctx, token) != nil {
		wait(ctx, recordPause)
	}
}

// begin sends a claimed message in a goroutine of its own. What was begun is not
// cut off by a stop.
func (w *Worker) begin(ctx context.Context, m *store.ClaimedMessage) {
	fresh, cancel := context.WithTimeout(context.WithoutCancel(ctx), sendWithin)
	w.slots <- struct{}{}
	w.sends.Go(func() {
		defer func() { <-w.slots }()
		defer cancel()
		w.handle(fresh, m)
	})
}

// reclaim decides about messages whose worker is gone.
func (w *Worker) reclaim(ctx context.Context) {
	lost, err := w.cfg.Store.LostMessages(ctx, reclaimBatch)
	if err != nil {
		w.cfg.Log.WarnContext(ctx, "messages of lost workers could not be found", "error", err)
		return
	}
	for i := range lost {
		if ctx.Err() != nil {
			return
		}
		m := &lost[i]
		w.cfg.Log.WarnContext(ctx, "a message's worker was lost", "message", m.ID, "attempt", m.AttemptCount)
		w.record(context.WithoutCancel(ctx), w.afterLoss(ctx, m))
	}
}

// newToken returns a random UUID, version 4.
func newToken() string {
	var b [16]byte
	_, _ = rand.Read(b[:]) // documented never to fail
	b[6], b[8] = b[6]&0x0f|0x40, b[8]&0x3f|0x80
	return fmt.Sprintf("%x-%x-%x-%x-%x", b[:4], b[4:6], b[6:8], b[8:10], b[10:])
}
