package messages_test

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"net/netip"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/botix-pro/platform/app/messages"
	"github.com/botix-pro/platform/app/models"
	"github.com/botix-pro/platform/app/store"
	"github.com/botix-pro/platform/internal/clock"
	"github.com/botix-pro/platform/internal/egress"
	"github.com/botix-pro/platform/internal/seal"
	"github.com/botix-pro/platform/internal/testenv"
	"github.com/botix-pro/platform/test/providers"
)

func TestMain(m *testing.M) { testenv.Main(m) }

const soon = 20 * time.Second

// office is a database of its own with a project, a mail server and a bot. The
// database is not shared: a worker sends whatever is due in it.
type office struct {
	t        *testing.T
	store    *store.Store
	project  models.ProjectID
	contact  string
	smtp     *providers.SMTP
	telegram *providers.BotAPI
	guard    *egress.Guard
}

func newOffice(t *testing.T, script providers.Script) *office {
	t.Helper()
	box, err := seal.New([]string{seal.NewKey()})
	require.NoError(t, err)
	s, err := store.Open(t.Context(), store.Config{URL: testenv.FreshDatabaseURL(t), MaxConns: 10, Application: "botix-test"}, box)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, s.Close()) })
	o := &office{
		t: t, store: s, smtp: providers.StartSMTP(t, script), telegram: providers.StartBotAPI(t, script),
		guard: egress.New(loopback()),
	}
	testenv.GuardTransitions(t, o.store.DB(), "messages", models.MessageStatuses())
	o.project, o.contact = o.newProject(models.ModeLive)
	return o
}

// newProject makes a project with all channels and one contact.
func (o *office) newProject(mode models.Mode) (models.ProjectID, string) {
	o.t.Helper()
	now := clock.System{}.Now()
	project, contact := models.ProjectID(models.NewID(models.PrefixProject, now)), models.NewID(models.PrefixContact, now)
	email := "ada@example.com"
	_, err := o.store.Write(o.t.Context(), project, func(tx *store.Tx) error {
		tx.CreateProject(models.Project{Name: "Test", Mode: mode, PlanID: "business", APIVersion: models.CurrentAPIVersion, CreatedAt: now})
		if err := tx.SetChannel(models.ChannelEmail, o.mail()); err != nil {
			return err
		}
		if err := tx.SetChannel(models.ChannelTelegram, messages.TelegramSettings{BaseURL: o.telegram.URL, Token: providers.BotToken}); err != nil {
			return err
		}
		return tx.CreateContact(&models.Contact{
			ID: contact, Email: &email, Identities: map[string]string{"telegram": "42"}, Tags: []string{}, Attributes: []byte("{}"), CreatedAt: now,
		})
	})
	require.NoError(o.t, err)
	return project, contact
}

func (o *office) mail() messages.EmailSettings {
	return messages.EmailSettings{
		Host: o.smtp.Host, Port: o.smtp.Port, TLS: messages.TLSNone, From: "Shop <shop@example.org>", Subject: "News",
	}
}

func loopback() []netip.Prefix { return []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")} }

func (o *office) setMail(settings messages.EmailSettings) {
	o.t.Helper()
	_, err := o.store.Write(o.t.Context(), o.project, func(tx *store.Tx) error { return tx.SetChannel(models.ChannelEmail, settings) })
	require.NoError(o.t, err)
}

// sandbox tells the sandbox what to do.
func (o *office) sandbox(settings messages.SandboxSettings) {
	o.t.Helper()
	_, err := o.store.Write(o.t.Context(), o.project, func(tx *store.Tx) error { return tx.SetChannel(models.ChannelSandbox, settings) })
	require.NoError(o.t, err)
}

func (o *office) sql(statement string, args ...any) {
	o.t.Helper()
	_, err := o.store.DB().ExecContext(o.t.Context(), statement, args...)
	require.NoError(o.t, err)
}

// queue makes n messages on a channel and returns their ids. A text is its
// message's number, unique in the office.
func (o *office) queue(channel models.Channel, n int, change ...func(*models.MessageDraft)) []string {
	o.t.Helper()
	return o.queueFor(o.project, o.contact, channel, n, change...)
}

func (o *office) queueFor(project models.ProjectID, contact string, channel models.Channel, n int, change ...func(*models.MessageDraft)) (ids []string) {
	o.t.Helper()
	for range n {
		_, err := o.store.Write(o.t.Context(), project, func(tx *store.Tx) error {
			found, err := tx.ShareContact(o.t.Context(), contact)
			if err != nil {
				return err
			}
			text := models.NewID("text-", tx.Now())
			draft := models.MessageDraft{Channel: channel, Text: &text}
			for _, apply := range change {
				apply(&draft)
			}
			m, faults := draft.Compose(models.ModeLive, found)
			require.Empty(o.t, faults)
			m.APIVersion, m.RequestID = models.CurrentAPIVersion, "req_test"
			if err := tx.CreateMessage(m); err != nil {
				return err
			}
			ids = append(ids, m.ID)
			return nil
		})
		require.NoError(o.t, err)
	}
	return ids
}

// config is a worker's whose pauses suit a test.
func (o *office) config() messages.Config {
	return messages.Config{
		Store: o.store, Hint: func([]store.Lane) {}, Log: slog.New(slog.DiscardHandler),
		Schedule: []time.Duration{200 * time.Millisecond, 300 * time.Millisecond, 500 * time.Millisecond},
		Channels: map[models.Channel]messages.Channel{
			models.ChannelSandbox:  messages.NewSandbox(o.store),
			models.ChannelEmail:    messages.NewEmail(o.guard, nil, clock.System{}.Now),
			models.ChannelTelegram: messages.NewTelegram(o.guard.Transport(egress.TransportConfig{})),
		},
	}
}

// work runs a worker until the test ends.
func (o *office) work(change ...func(*messages.Config)) *messages.Worker {
	o.t.Helper()
	cfg := o.config()
	for _, apply := range change {
		apply(&cfg)
	}
	worker := messages.NewWorker(cfg)
	require.NoError(o.t, worker.Start(o.t.Context()))
	o.t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), soon)
		defer cancel()
		require.NoError(o.t, worker.Stop(ctx))
	})
	return worker
}

func (o *office) message(id string) *models.Message {
	o.t.Helper()
	var project models.ProjectID
	require.NoError(o.t, o.store.DB().QueryRowContext(o.t.Context(), `SELECT project_id FROM messages WHERE id = $1`, id).Scan(&project))
	m, err := o.store.Message(o.t.Context(), project, id)
	require.NoError(o.t, err)
	return m
}

// ends waits until a message is in the state.
func (o *office) ends(id string, want models.MessageStatus) *models.Message {
	o.t.Helper()
	var m *models.Message
	require.Eventually(o.t, func() bool {
		m = o.message(id)
		return m.Status == want
	}, soon, 20*time.Millisecond, "%s never became %s: %s", id, want, lastState{o, id})
	return m
}

// lastState words where a message is, when somebody asks.
type lastState struct {
	o  *office
	id string
}

func (l lastState) String() string {
	m := l.o.message(l.id)
	return fmt.Sprintf("%s after %d attempts, %s", m.Status, m.AttemptCount, text(m.ErrorDetail))
}

func text(s *string) string {
	if s == nil {
		return ""
	}
	return *s
}

// events are the types of a message's events, in order.
func (o *office) events(id string) (types []string) {
	o.t.Helper()
	rows, err := o.store.DB().QueryContext(o.t.Context(), `SELECT type, body FROM events ORDER BY created_at, id`)
	require.NoError(o.t, err)
	defer func() { _ = rows.Close() }()
	for rows.Next() {
		var kind string
		var body []byte
		require.NoError(o.t, rows.Scan(&kind, &body))
		var event struct{ Data models.MessageView }
		require.NoError(o.t, json.Unmarshal(body, &event))
		if event.Data.ID == id {
			require.Equal(o.t, "message."+string(event.Data.Status), kind)
			types = append(types, kind)
		}
	}
	require.NoError(o.t, rows.Err())
	slices.SortStableFunc(types, func(a, b string) int { return rank(a) - rank(b) }) // within a millisecond ids are random
	return types
}

func rank(kind string) int {
	return slices.Index([]string{"message.queued", "message.unknown", "message.sent", "message.delivered", "message.failed", "message.cancelled"}, kind)
}

// taken is how often the channel's receiver took a message in.
func (o *office) taken(m *models.Message) int {
	o.t.Helper()
	switch m.Channel {
	case models.ChannelEmail:
		return o.smtp.Taken()[m.ID]
	case models.ChannelTelegram:
		return o.telegram.Taken()[m.Text]
	default:
		var n int
		require.NoError(o.t, o.store.DB().QueryRowContext(o.t.Context(), `SELECT count(*) FROM sandbox_messages WHERE message_id = $1`, m.ID).Scan(&n))
		return n
	}
}
