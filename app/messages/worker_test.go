package messages_test

import (
	"net/http"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/botix-pro/platform/app/messages"
	"github.com/botix-pro/platform/app/models"
	"github.com/botix-pro/platform/app/store"
	"github.com/botix-pro/platform/test/providers"
)

// Every channel gets its message once, and the provider's own name for it is
// kept; it is told as queued and as sent.
func TestEachChannelGetsItsMessageOnce(t *testing.T) {
	t.Parallel()
	o := newOffice(t, nil)
	o.work()
	for _, channel := range models.Channels() {
		m := o.ends(o.queue(channel, 1)[0], models.MessageSent)
		require.Equal(t, 1, o.taken(m), channel)
		require.Equal(t, 1, m.AttemptCount)
		require.NotNil(t, m.SentAt)
		require.Nil(t, m.ErrorCode)
		require.Equal(t, []string{"message.queued", "message.sent"}, o.events(m.ID))
		want := map[models.Channel]string{
			models.ChannelSandbox: `^sbx_[0-9A-Z]{26}$`, models.ChannelTelegram: `^1$`, models.ChannelEmail: `^<` + m.ID + `@example\.org>$`,
		}
		require.Regexp(t, want[channel], *m.ProviderMessageID)
	}
}

// Two workers on one database: 300 messages are sent once each.
func TestTwoWorkersSendEachMessageOnce(t *testing.T) {
	t.Parallel()
	o := newOffice(t, nil)
	var ids []string
	for _, channel := range models.Channels() {
		ids = append(ids, o.queue(channel, 100)...)
	}
	o.work()
	o.work()
	for _, id := range ids {
		m := o.ends(id, models.MessageSent)
		require.Equal(t, 1, o.taken(m), m.Channel)
		require.Equal(t, 1, m.AttemptCount)
	}
}

// What the sandbox says has arrived is told as sent first.
func TestDeliveredComesAfterSent(t *testing.T) {
	t.Parallel()
	o := newOffice(t, nil)
	o.sandbox(messages.SandboxSettings{Behaviour: messages.SandboxAccept, Deliver: true})
	o.work()
	m := o.ends(o.queue(models.ChannelSandbox, 1)[0], models.MessageDelivered)
	require.Equal(t, []string{"message.queued", "message.sent", "message.delivered"}, o.events(m.ID))
	require.NotNil(t, m.SentAt)
}

// A message waits for its time, and one that is called off meanwhile never goes.
func TestNotBeforeItsTime(t *testing.T) {
	t.Parallel()
	o := newOffice(t, nil)
	at := time.Now().Add(1500 * time.Millisecond)
	ids := o.queue(models.ChannelTelegram, 2, func(d *models.MessageDraft) { d.SendAt = &at })
	_, err := o.store.Write(t.Context(), o.project, func(tx *store.Tx) error {
		m, err := tx.LockMessage(t.Context(), ids[1])
		if err != nil {
			return err
		}
		return tx.CancelMessage(m)
	})
	require.NoError(t, err)
	o.work()
	m := o.ends(ids[0], models.MessageSent)
	require.False(t, o.telegram.Times(m.Text)[0].Before(at.Truncate(time.Millisecond)))
	cancelled := o.ends(ids[1], models.MessageCancelled)
	require.Zero(t, o.taken(cancelled))
	require.Equal(t, []string{"message.queued", "message.cancelled"}, o.events(cancelled.ID))
}

// What a provider refuses for good has failed, with its words; what it cannot
// take now is tried again until it can.
func TestRefusedAndTriedAgain(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		channel models.Channel
		refuse  int
		want    models.MessageStatus
		code    string
	}{
		"SMTP, for good":      {models.ChannelEmail, 550, models.MessageFailed, messages.CodeRejected},
		"SMTP, for now":       {models.ChannelEmail, 451, models.MessageSent, messages.CodeUnavailable},
		"Bot API, blocked":    {models.ChannelTelegram, http.StatusForbidden, models.MessageFailed, messages.CodeRejected},
		"Bot API, no chat":    {models.ChannelTelegram, http.StatusBadRequest, models.MessageFailed, messages.CodeRejected},
		"Bot API, redirected": {models.ChannelTelegram, http.StatusFound, models.MessageFailed, messages.CodeRejected},
		"Bot API, away":       {models.ChannelTelegram, http.StatusServiceUnavailable, models.MessageSent, messages.CodeUnavailable},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			o := newOffice(t, func(_ string, nth int) providers.Reaction {
				if nth <= 2 {
					return providers.Reaction{Refuse: c.refuse}
				}
				return providers.Reaction{}
			})
			o.work()
			m := o.ends(o.queue(c.channel, 1)[0], c.want)
			if c.want == models.MessageFailed {
				require.Equal(t, c.code, *m.ErrorCode)
				require.Contains(t, *m.ErrorDetail, "as the script says")
				require.Equal(t, 1, m.AttemptCount)
				require.Zero(t, o.taken(m))
				require.Equal(t, []string{"message.queued", "message.failed"}, o.events(m.ID))
				return
			}
			require.Equal(t, 3, m.AttemptCount)
			require.Equal(t, 1, o.taken(m))
			require.Nil(t, m.ErrorCode)
		})
	}
}

// A provider that is down for a while gets everything once it is back; one that
// stays away makes a message fail, since nothing was sent.
func TestDownForAWhile(t *testing.T) {
	t.Parallel()
	o := newOffice(t, nil)
	o.telegram.Down()
	ids := o.queue(models.ChannelTelegram, 10)
	o.work(func(c *messages.Config) {
		c.Schedule = []time.Duration{time.Second, time.Second, time.Second, time.Second, time.Second, time.Second}
	})
	require.Eventually(t, func() bool { return o.message(ids[9]).Failures >= 1 }, soon, 20*time.Millisecond)
	require.Equal(t, messages.CodeConnection, *o.message(ids[9]).ErrorCode, "what stands in the way is shown while it waits")
	o.telegram.Up(t)
	for _, id := range ids {
		require.Equal(t, 1, o.taken(o.ends(id, models.MessageSent)))
	}
	o.telegram.Down()
	m := o.ends(o.queue(models.ChannelTelegram, 1, func(*models.MessageDraft) {})[0], models.MessageFailed)
	require.Equal(t, 7, m.AttemptCount)
	require.Equal(t, messages.CodeConnection, *m.ErrorCode)
}

// A 429 keeps everything of the project away from the bot for as long as it
// says, and costs no try.
func TestRetryAfterIsObeyed(t *testing.T) {
	t.Parallel()
	var once sync.Once
	var asked time.Time
	o := newOffice(t, func(string, int) (r providers.Reaction) {
		once.Do(func() { asked, r = time.Now(), providers.Reaction{Refuse: http.StatusTooManyRequests, RetryAfter: 2} })
		return r
	})
	first := o.queue(models.ChannelTelegram, 1)
	o.work(func(c *messages.Config) { c.Schedule = nil }) // a failed try would be the last
	require.Eventually(t, func() bool { return len(o.telegram.Offered()) == 1 }, soon, 5*time.Millisecond)
	require.Eventually(t, func() bool { return o.message(first[0]).Status == models.MessageQueued }, soon, 5*time.Millisecond)
	later := o.queue(models.ChannelTelegram, 5)
	other := o.queue(models.ChannelEmail, 1)
	o.ends(other[0], models.MessageSent)
	for _, id := range append(first, later...) {
		m := o.ends(id, models.MessageSent)
		times := o.telegram.Times(m.Text)
		require.GreaterOrEqual(t, times[len(times)-1].Sub(asked), 2*time.Second)
		require.Equal(t, 1, o.taken(m))
		require.Zero(t, m.Failures)
	}
}

// A provider that hangs holds up its own project's channel and nothing else.
func TestHungProviderHoldsUpOnlyItself(t *testing.T) {
	t.Parallel()
	release := make(chan struct{})
	t.Cleanup(func() { close(release) })
	o := newOffice(t, func(string, int) providers.Reaction { return providers.Reaction{Until: release} })
	o.queue(models.ChannelEmail, 100)
	o.work(func(c *messages.Config) { c.Slots, c.PerChannel, c.Timeout = 12, 4, 4*time.Second })
	require.Eventually(t, func() bool { return len(o.smtp.Offered()) == 4 }, soon, 10*time.Millisecond)
	other, contact := o.newProject(models.ModeLive)
	began := time.Now()
	for _, id := range o.queueFor(other, contact, models.ChannelSandbox, 20) {
		o.ends(id, models.MessageSent)
	}
	require.Less(t, time.Since(began), 3*time.Second, "before the provider is given up")
	require.Len(t, o.smtp.Offered(), 4)
}

// A contact deleted, or a channel taken away, before the message went: it has
// failed, and says why.
func TestGoneBeforeItWasSent(t *testing.T) {
	t.Parallel()
	o := newOffice(t, nil)
	orphan := o.queue(models.ChannelSandbox, 1)[0]
	project, contact := o.newProject(models.ModeLive)
	unable := o.queueFor(project, contact, models.ChannelEmail, 1)[0]
	_, err := o.store.Write(t.Context(), o.project, func(tx *store.Tx) error { tx.DeleteContact(o.contact); return nil })
	require.NoError(t, err)
	_, err = o.store.Write(t.Context(), project, func(tx *store.Tx) error { tx.RemoveChannel(models.ChannelEmail); return nil })
	require.NoError(t, err)
	o.work()
	require.Equal(t, messages.CodeContactGone, *o.ends(orphan, models.MessageFailed).ErrorCode)
	require.Equal(t, messages.CodeUnconfigured, *o.ends(unable, models.MessageFailed).ErrorCode)
	require.Empty(t, o.smtp.Offered())
}

// A worker that is woken does not wait for its next look.
func TestWokenWorkerSendsAtOnce(t *testing.T) {
	t.Parallel()
	o := newOffice(t, nil)
	worker := o.work(func(c *messages.Config) { c.Probe = time.Hour })
	id := o.queue(models.ChannelSandbox, 1)[0]
	worker.Wake()
	o.ends(id, models.MessageSent)
}
