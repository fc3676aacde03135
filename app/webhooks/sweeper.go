package webhooks

import (
	"context"
	"fmt"
	"log/slog"

	"github.com/botix-pro/platform/app/store"
)

// The sweeper does what no hint asks for. It needs PostgreSQL only, so deliveries
// go on without Redis.

// sweepLanes is how many lanes one look finds at most; while a look finds as
// many, the next follows at once.
const sweepLanes = 1000

// takeBack frees what lost workers hold: at once what belongs to one that is gone,
// and when its lease is over whatever it is.
func (w *Worker) takeBack(ctx context.Context) {
	absent, err := w.cfg.Store.AbsentWorkers(ctx)
	if err != nil {
		w.cfg.Log.ErrorContext(ctx, "absent workers could not be looked for", "error", err)
		return
	}
	gone := w.absences.gone(absent, monotonic())
	if len(gone) > 0 {
		if err := w.cfg.Store.FreeLanes(ctx, gone); err != nil {
			w.cfg.Log.ErrorContext(ctx, "lost lanes could not be freed", "error", err)
		}
	}
	count, err := w.cfg.Store.TakeBack(ctx, claimLease, gone, maxLosses, takeBackBatch)
	if err != nil {
		w.cfg.Log.ErrorContext(ctx, "lost deliveries could not be taken back", "error", err)
	}
	if count > 0 {
		w.cfg.Log.WarnContext(ctx, "deliveries of lost workers were taken back", "count", count, "workers_gone", len(gone))
	}
}

// sweep drains lanes that have something due and no holder, as many at a time as
// there are slots.
func (w *Worker) sweep(ctx context.Context) {
	for {
		lanes, err := w.cfg.Store.DueLanes(ctx, sweepLanes)
		if err != nil {
			w.cfg.Log.ErrorContext(ctx, "due lanes could not be found", "error", err)
			return
		}
		for _, lane := range lanes {
			select {
			case w.slots <- struct{}{}:
			case <-w.stop:
				return
			}
			w.drains.Go(func() {
				defer func() { <-w.slots }()
				w.drainSwept(context.WithoutCancel(ctx), lane)
			})
		}
		if len(lanes) < sweepLanes {
			return
		}
	}
}

// drainSwept ends by the worker's stop, not by the sweep that found the lane.
func (w *Worker) drainSwept(ctx context.Context, lane store.Lane) {
	if err := w.drainer.Drain(ctx, lane, w.stop); err != nil {
		w.cfg.Log.ErrorContext(ctx, "a lane could not be drained", "endpoint", lane.EndpointID, "error", err)
	}
}

// queueLog gives asynq's messages to slog.
type queueLog struct{ log *slog.Logger }

func (q queueLog) Debug(args ...any) { q.log.Debug("asynq: " + fmt.Sprint(args...)) }
func (q queueLog) Info(args ...any)  { q.log.Info("asynq: " + fmt.Sprint(args...)) }
func (q queueLog) Warn(args ...any)  { q.log.Warn("asynq: " + fmt.Sprint(args...)) }
func (q queueLog) Error(args ...any) { q.log.Error("asynq: " + fmt.Sprint(args...)) }

// Fatal is called by asynq only for programming errors.
func (q queueLog) Fatal(args ...any) { q.log.Error("asynq: " + fmt.Sprint(args...)) }
