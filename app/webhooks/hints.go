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
	// coalesce is how long hints about one lane are gathered.
	coalesce = 3 * time.Millisecond
	// maxHints bounds memory while Redis is away; the sweeper finds the rest.
	maxHints    = 10_000
	hintTimeout = 500 * time.Millisecond
	// complainEvery keeps an outage from filling the log.
	complainEvery = 10 * time.Second
)

// laneHint is a task's payload: there is something due in this lane.
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
	wake    chan struct{}
	started bool
	stop    chan struct{}
	ended   chan struct{}
}

// NewHinter returns a hinter on a Redis connection that stays the caller's.
func NewHinter(client redis.UniversalClient, log *slog.Logger) *Hinter {
	return &Hinter{
		client: asynq.NewClientFromRedisClient(client), log: log, waiting: map[store.Lane]struct{}{},
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
	for {
		select {
		case <-h.wake:
		case <-h.stop:
			h.send(&complained)
			return
		}
		select {
		case <-time.After(coalesce):
		case <-h.stop:
		}
		h.send(&complained)
	}
}

// send enqueues everything that is waiting. After the first failure the rest is
// dropped: Redis is away, and the sweeper is there for that.
func (h *Hinter) send(complained *time.Time) {
	h.mu.Lock()
	lanes := h.waiting
	h.waiting = map[store.Lane]struct{}{}
	h.mu.Unlock()
	for lane := range lanes {
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
