package webhooks

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/hibiken/asynq"
	"github.com/redis/go-redis/v9"

	"github.com/botix-pro/platform/app/models"
	"github.com/botix-pro/platform/app/store"
)

const (
	taskDrain = "webhooks:drain"
	queueName = "webhooks"
	// hintSpacing is the least time between two hints about one lane: the first
	// goes at once, what comes meanwhile is one hint at its end.
	hintSpacing = 10 * time.Millisecond
	// maxHints bounds memory while Redis is away; the sweeper finds the rest.
	maxHints    = 10_000
	hintTimeout = 500 * time.Millisecond
	// complainEvery keeps an outage from filling the log.
	complainEvery = 10 * time.Second
)

// laneHint is a task's payload: there is something due in this lane, or work of
// this kind.
type laneHint struct {
	ProjectID  models.ProjectID `json:"project_id"`
	EndpointID string           `json:"endpoint_id"`
}

// Hinter tells the workers, through asynq, that lanes have something due.
// Nobody waits for it and nothing depends on it: a lost hint costs at most the
// sweeper's pause.
type Hinter struct {
	client *asynq.Client
	log    *slog.Logger

	mu      sync.Mutex
	waiting map[store.Lane]struct{}
	sent    map[store.Lane]time.Time // within the last hintSpacing
	wake    chan struct{}
	started bool
	stop    chan struct{}
	ended   chan struct{}
}

// NewHinter returns a hinter on a Redis connection that stays the caller's.
func NewHinter(client redis.UniversalClient, log *slog.Logger) *Hinter {
	return &Hinter{
		client: asynq.NewClientFromRedisClient(client), log: log, waiting: map[store.Lane]struct{}{}, sent: map[store.Lane]time.Time{},
		wake: make(chan struct{}, 1), stop: make(chan struct{}), ended: make(chan struct{}),
	}
}

// Hint announces lanes. It never blocks.
func (h *Hinter) Hint(lanes []store.Lane) {
	if len(lanes) == 0 {
		return
	}
	h.mu.Lock()
	for _, lane := range lanes {
		if len(h.waiting) < maxHints {
			h.waiting[lane] = struct{}{}
		}
	}
	h.mu.Unlock()
	select {
	case h.wake <- struct{}{}:
	default: // it is awake
	}
}

// Start implements lifecycle.Service.
func (h *Hinter) Start(context.Context) error {
	h.started = true
	go h.run() //nolint:contextcheck // it outlives the start
	return nil
}

// Stop implements lifecycle.Service: what was hinted is sent first.
func (h *Hinter) Stop(ctx context.Context) error {
	if !h.started {
		return nil
	}
	h.started = false
	close(h.stop)
	select {
	case <-h.ended:
	case <-ctx.Done():
		return fmt.Errorf("hints were left unsent: %w", ctx.Err())
	}
	return nil
}

func (h *Hinter) run() {
	defer close(h.ended)
	var complained time.Time
	later := time.NewTimer(0)
	for {
		select {
		case <-h.wake:
		case <-later.C:
		case <-h.stop:
			ripe, _ := h.take(monotonic().Add(hintSpacing))
			h.send(ripe, &complained)
			return
		}
		ripe, rest := h.take(monotonic())
		h.send(ripe, &complained)
		if rest > 0 {
			later.Reset(rest)
		}
	}
}

// take returns the lanes that may be hinted now, and how long the next of the
// others has to wait, 0 if there is none.
func (h *Hinter) take(now time.Time) (ripe []store.Lane, rest time.Duration) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for lane, at := range h.sent {
		if now.Sub(at) >= hintSpacing {
			delete(h.sent, lane)
		}
	}
	for lane := range h.waiting {
		at, recently := h.sent[lane]
		if !recently {
			ripe = append(ripe, lane)
			h.sent[lane] = now
			delete(h.waiting, lane)
			continue
		}
		if left := hintSpacing - now.Sub(at); rest == 0 || left < rest {
			rest = left
		}
	}
	return ripe, rest
}

// send enqueues hints. After the first failure the rest is dropped: Redis is
// away, and the sweeper is there for that.
func (h *Hinter) send(lanes []store.Lane, complained *time.Time) {
	for _, lane := range lanes {
		err := h.enqueue(lane)
		if err == nil {
			continue
		}
		if now := monotonic(); now.Sub(*complained) > complainEvery {
			*complained = now
			h.log.Warn("hints are dropped; the sweeper delivers instead", "error", err)
		}
		return
	}
}

func (h *Hinter) enqueue(lane store.Lane) error {
	payload, err := json.Marshal(laneHint(lane))
	if err != nil {
		return fmt.Errorf("encode a hint: %w", err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), hintTimeout)
	defer cancel()
	// No Unique and no TaskID: asynq refuses a task whose like is still active,
	// and the wake-up would be lost. No retry: PostgreSQL knows what is due.
	_, err = h.client.EnqueueContext(ctx, asynq.NewTask(taskDrain, payload),
		asynq.Queue(queueName), asynq.MaxRetry(0), asynq.Timeout(sliceLength+claimLease))
	if err != nil {
		return fmt.Errorf("enqueue a hint: %w", err)
	}
	return nil
}

func parseHint(task *asynq.Task) (store.Lane, error) {
	var hint laneHint
	if err := json.Unmarshal(task.Payload(), &hint); err != nil {
		return store.Lane{}, fmt.Errorf("decode a hint: %w", err)
	}
	return store.Lane(hint), nil
}
