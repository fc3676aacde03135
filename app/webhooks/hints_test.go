package webhooks_test

import (
	"context"
	"log/slog"
	"testing"

	"github.com/hibiken/asynq"
	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	"github.com/botix-pro/platform/app/models"
	"github.com/botix-pro/platform/app/store"
	"github.com/botix-pro/platform/app/webhooks"
	"github.com/botix-pro/platform/internal/testenv"
)

// A burst about one lane becomes a few hints, another lane's goes beside it, and
// what was hinted last is not left behind when the process stops.
func TestHintsAreGatheredAndNoneIsLeftBehind(t *testing.T) {
	t.Parallel()
	options, err := redis.ParseURL(testenv.PrivateRedis(t).URL())
	require.NoError(t, err)
	client := redis.NewClient(options)
	t.Cleanup(func() { _ = client.Close() })
	hinter := webhooks.NewHinter(client, slog.New(slog.DiscardHandler))
	require.NoError(t, hinter.Start(t.Context()))
	busy, quiet := store.Lane{ProjectID: "prj_a", EndpointID: "whe_busy"}, store.Lane{ProjectID: "prj_a", EndpointID: "whe_quiet"}
	for range 10_000 {
		hinter.Hint([]store.Lane{busy})
	}
	hinter.Hint([]store.Lane{quiet, busy})
	require.NoError(t, hinter.Stop(context.Background()))

	tasks, err := asynq.NewInspectorFromRedisClient(client).ListPendingTasks("webhooks", asynq.PageSize(10_000))
	require.NoError(t, err)
	of := map[string]int{}
	for _, task := range tasks {
		of[string(task.Payload)]++
	}
	require.Len(t, of, 2, "the quiet lane was hinted last, and sent all the same")
	require.Less(t, len(tasks), 1000, "gathered")
}

// A hint about other work than deliveries reaches a worker, which rings for it.
func TestOtherWorkIsWoken(t *testing.T) {
	t.Parallel()
	e := newEngine(t, nil)
	woken := make(chan store.Work, 10)
	e.worker(func(c *webhooks.WorkerConfig) { c.Wake = func(kind store.Work) { woken <- kind } })
	e.hints()
	lanes, err := e.store.Write(t.Context(), e.project, func(tx *store.Tx) error {
		_, err := tx.NewJob(models.Job{Type: "none", Total: 1}, nil)
		return err
	})
	require.NoError(t, err)
	e.hinter.Hint(lanes)
	require.Equal(t, store.WorkJobs, <-woken)
}
