package scenarios_test

import (
	"context"
	"log/slog"
	"os"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/botix-pro/platform/app/messages"
	"github.com/botix-pro/platform/app/models"
	"github.com/botix-pro/platform/app/store"
)

// The message worker and the engine, each knowing nothing of the other, bring a
// run with a message to its end.
func TestMessageWorkerWakesTheRun(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	worker := messages.NewWorker(messages.Config{
		Store: s.store, Channels: map[models.Channel]messages.Channel{models.ChannelSandbox: messages.NewSandbox(s.store)},
		Hint: func([]store.Lane) {}, Log: slog.New(slog.NewTextHandler(os.Stderr, nil)),
	})
	require.NoError(t, worker.Start(t.Context()))
	t.Cleanup(func() { require.NoError(t, worker.Stop(context.WithoutCancel(t.Context()))) })
	s.engine()
	run := s.of(`[{"id":"a","type":"send_message","channel":"sandbox","text":"x"}]`)
	s.becomes(run, models.RunCompleted)
	require.Equal(t, 1, s.number(`SELECT count(*) FROM sandbox_messages b JOIN messages m ON m.id = b.message_id WHERE m.run_id = $1 AND m.status = 'sent'`, run))
}
