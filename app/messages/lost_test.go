package messages_test

import (
	"context"
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/botix-pro/platform/app/messages"
	"github.com/botix-pro/platform/app/models"
	"github.com/botix-pro/platform/test/providers"
)

// A provider takes a message in and loses the answer: nobody can tell, and it
// is never sent a second time.
func TestLostAnswerIsUnknownAndNotRepeated(t *testing.T) {
	t.Parallel()
	o := newOffice(t, func(string, int) providers.Reaction { return providers.Reaction{Lose: true} })
	o.work()
	for _, channel := range []models.Channel{models.ChannelEmail, models.ChannelTelegram} {
		for _, id := range o.queue(channel, 5) {
			m := o.ends(id, models.MessageUnknown)
			require.Equal(t, messages.CodeAnswerLost, *m.ErrorCode)
			require.Equal(t, 1, o.taken(m))
			require.Equal(t, 1, m.AttemptCount)
			require.Equal(t, []string{"message.queued", "message.unknown"}, o.events(id))
		}
	}
	<-time.After(2 * time.Second) // longer than the whole ladder
	for _, n := range o.telegram.Offered() {
		require.Equal(t, 1, n)
	}
	for _, n := range o.smtp.Offered() {
		require.Equal(t, 1, n)
	}
}

// An answer from which nobody can tell is as good as none.
func TestAmbiguousAnswersAreUnknown(t *testing.T) {
	t.Parallel()
	for _, status := range []int{http.StatusInternalServerError, http.StatusBadGateway, http.StatusGatewayTimeout} {
		o := newOffice(t, func(string, int) providers.Reaction { return providers.Reaction{Refuse: status} })
		o.work()
		o.ends(o.queue(models.ChannelTelegram, 1)[0], models.MessageUnknown)
	}
}

// The sandbox is asked for a message whose answer was lost. Told to be blind, it
// leaves the message unknown like the others.
func TestSandboxIsAsked(t *testing.T) {
	t.Parallel()
	o := newOffice(t, nil)
	o.work()
	o.sandbox(messages.SandboxSettings{Behaviour: messages.SandboxLose})
	m := o.ends(o.queue(models.ChannelSandbox, 1)[0], models.MessageSent)
	require.NotNil(t, m.ProviderMessageID)
	require.Equal(t, 1, o.taken(m))

	o.sandbox(messages.SandboxSettings{Behaviour: messages.SandboxLose, Blind: true})
	m = o.ends(o.queue(models.ChannelSandbox, 1)[0], models.MessageUnknown)
	require.Equal(t, 1, o.taken(m))

	o.sandbox(messages.SandboxSettings{Behaviour: messages.SandboxRefuse})
	require.Zero(t, o.taken(o.ends(o.queue(models.ChannelSandbox, 1)[0], models.MessageFailed)))

	o.sandbox(messages.SandboxSettings{Behaviour: messages.SandboxFail})
	m = o.ends(o.queue(models.ChannelSandbox, 1)[0], models.MessageFailed)
	require.Equal(t, 4, m.AttemptCount, "the ladder of this test has three delays")
}

// A slow provider is waited for; one that is too slow may have taken the message
// in.
func TestSlowProvider(t *testing.T) {
	t.Parallel()
	delay := 300 * time.Millisecond
	o := newOffice(t, func(string, int) providers.Reaction { return providers.Reaction{Delay: delay} })
	o.work()
	for _, channel := range []models.Channel{models.ChannelEmail, models.ChannelTelegram} {
		require.Equal(t, 1, o.taken(o.ends(o.queue(channel, 1)[0], models.MessageSent)))
	}
	slow := newOffice(t, func(string, int) providers.Reaction { return providers.Reaction{Delay: 2 * time.Second} })
	slow.work(func(c *messages.Config) { c.Timeout = 500 * time.Millisecond })
	for _, channel := range []models.Channel{models.ChannelEmail, models.ChannelTelegram} {
		require.Equal(t, 1, slow.taken(slow.ends(slow.queue(channel, 1)[0], models.MessageUnknown)))
	}
}

// dying is a channel whose worker is gone from a certain moment on: it never
// returns to the worker, unless it is released after all.
type dying struct {
	messages.Channel

	after   bool // after the call; otherwise before
	reached chan<- struct{}
	release <-chan struct{}
}

func (d dying) Send(ctx context.Context, p messages.Parcel) messages.Result {
	var result messages.Result
	if d.after {
		result = d.Channel.Send(ctx, p)
	}
	d.reached <- struct{}{}
	<-d.release
	if d.after {
		return result
	}
	return messages.Result{Verdict: messages.Lost, Code: messages.CodeAnswerLost, Detail: "It never began."}
}

// dead runs a worker that dies over every message, before or after its call.
// What it returns lets it live on.
func (o *office) dead(after bool, n int) (resurrect func()) {
	o.t.Helper()
	reached, release := make(chan struct{}, n), make(chan struct{})
	cfg := o.config()
	for name, channel := range cfg.Channels {
		cfg.Channels[name] = dying{Channel: channel, after: after, reached: reached, release: release}
	}
	cfg.Lease = time.Second
	worker := messages.NewWorker(cfg)
	require.NoError(o.t, worker.Start(o.t.Context()))
	for range n {
		<-reached
	}
	stopping, cancel := context.WithCancel(context.Background())
	cancel()
	require.Error(o.t, worker.Stop(stopping), "it claims and decides nothing any more, and its sends never return")
	return func() { close(release) }
}

// A worker died before its call, or after it and before the record. The sandbox
// is repeated under its key and has the message once; for the others nobody can
// tell, and nothing is sent again.
func TestWorkerDies(t *testing.T) {
	t.Parallel()
	for name, after := range map[string]bool{"before the call": false, "after the call": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			o := newOffice(t, nil)
			ids := map[models.Channel]string{}
			for _, channel := range models.Channels() {
				ids[channel] = o.queue(channel, 1)[0]
			}
			t.Cleanup(o.dead(after, len(ids)))
			o.work()
			require.Equal(t, 1, o.taken(o.ends(ids[models.ChannelSandbox], models.MessageSent)))
			for _, channel := range []models.Channel{models.ChannelEmail, models.ChannelTelegram} {
				m := o.ends(ids[channel], models.MessageUnknown)
				require.Equal(t, messages.CodeWorkerLost, *m.ErrorCode)
				require.Equal(t, map[bool]int{false: 0, true: 1}[after], o.taken(m))
				require.Equal(t, 1, m.AttemptCount)
				require.Equal(t, []string{"message.queued", "message.unknown"}, o.events(m.ID))
			}
		})
	}
}

// A worker that was only frozen comes back with its answer: what nobody could
// tell is known after all, unless a person was quicker.
func TestLateAnswerIsHeard(t *testing.T) {
	t.Parallel()
	o := newOffice(t, nil)
	ids := o.queue(models.ChannelTelegram, 2)
	resurrect := o.dead(true, 2)
	o.work()
	for _, id := range ids {
		o.ends(id, models.MessageUnknown)
	}
	o.sql(`UPDATE messages SET status = 'failed', error_code = 'SETTLED' WHERE id = $1`, ids[1])
	resurrect()
	m := o.ends(ids[0], models.MessageSent)
	require.Regexp(t, "^[12]", *m.ProviderMessageID, "the Bot API numbers them as they come")
	require.Equal(t, []string{"message.queued", "message.unknown", "message.sent"}, o.events(ids[0]))
	require.Equal(t, models.MessageFailed, o.message(ids[1]).Status)
	require.Equal(t, 1, o.taken(m))
}

// When tries under a key are used up and one of them may have succeeded, the end
// is unknown, not failed.
func TestMaybeSentNeverFails(t *testing.T) {
	t.Parallel()
	o := newOffice(t, nil)
	id := o.queue(models.ChannelSandbox, 1)[0]
	o.sandbox(messages.SandboxSettings{Behaviour: messages.SandboxFail})
	t.Cleanup(o.dead(false, 1))
	o.work()
	m := o.ends(id, models.MessageUnknown)
	require.True(t, m.MaybeSent)
	require.Zero(t, o.taken(m))
}
