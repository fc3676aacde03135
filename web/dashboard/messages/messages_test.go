package messages_test

import (
	"context"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/botix-pro/platform/api"
	"github.com/botix-pro/platform/app/actions"
	"github.com/botix-pro/platform/app/models"
	"github.com/botix-pro/platform/app/store"
	"github.com/botix-pro/platform/internal/clock"
	"github.com/botix-pro/platform/internal/testenv"
	"github.com/botix-pro/platform/test/dashtest"
	"github.com/botix-pro/platform/web/dashboard/messages"
	"github.com/botix-pro/platform/web/dashboard/parts"
	"github.com/botix-pro/platform/web/ui"
)

func TestMain(m *testing.M) { testenv.Main(m) }

const path = messages.Path

func ptr(text string) *string { return &text }

// newContact makes a contact in a project.
func newContact(t testing.TB, s *dashtest.Site, project models.Project) *models.Contact {
	t.Helper()
	var contact *models.Contact
	s.Write(project.ID, func(tx *store.Tx) (err error) {
		contact, err = actions.CreateContact(tx, cause(project), api.ContactCreate{Name: ptr("Юлия"), Email: ptr("julia@example.com")})
		return err
	})
	return contact
}

func cause(project models.Project) actions.Cause {
	return actions.Cause{Project: project, APIVersion: project.APIVersion, RequestID: models.NewID(models.PrefixRequest, clock.System{}.Now())}
}

// newMessage queues a message as the API does.
func newMessage(t testing.TB, s *dashtest.Site, project models.Project, contact *models.Contact, draft models.MessageDraft) *models.Message {
	t.Helper()
	if draft.Channel == "" {
		draft.Channel = models.ChannelSandbox
	}
	var message *models.Message
	s.Write(project.ID, func(tx *store.Tx) (err error) {
		message, err = actions.CreateMessage(context.Background(), tx, cause(project), contact.ID, draft)
		return err
	})
	return message
}

// move puts a message into a state that a worker would bring it to.
func move(s *dashtest.Site, m *models.Message, status models.MessageStatus, code, detail string) {
	s.Exec(`UPDATE messages SET status = $3, attempt_count = 2, next_attempt_at = NULL, error_code = nullif($4, ''), error_detail = nullif($5, ''),
		sent_at = CASE WHEN $3 IN ('sent', 'delivered') THEN now() END, provider_message_id = CASE WHEN $3 IN ('sent', 'delivered') THEN 'sbx_1' END,
		claim_token = CASE WHEN $3 = 'sending' THEN gen_random_uuid() END,
		lease_expires_at = CASE WHEN $3 = 'sending' THEN now() + interval '1 minute' END, updated_at = now() WHERE project_id = $1 AND id = $2`, string(m.ProjectID), m.ID, string(status), code, detail)
}

func read(t testing.TB, s *dashtest.Site, id string) *models.Message {
	t.Helper()
	m, err := s.Store.Message(s.Context(), s.Project.ID, id)
	require.NoError(t, err)
	return m
}

func text(t string) models.MessageDraft { return models.MessageDraft{Text: &t} }

func TestEveryStateIsShownInBothLanguages(t *testing.T) {
	t.Parallel()
	s := dashtest.New(t)
	contact := newContact(t, s, s.Project)
	dashtest.Languages(t, func(t *testing.T, _ ui.Language, header [2]string) {
		for _, below := range []string{"", "/new", "/outbox"} {
			got := s.Get(path+below, header)
			require.Equal(t, http.StatusOK, got.StatusCode)
			dashtest.RequireStrict(t, got)
		}
	})
	for _, status := range models.MessageStatuses() {
		m := newMessage(t, s, s.Project, contact, text("Hello "+string(status)))
		if status == models.MessageFailed || status == models.MessageUnknown {
			move(s, m, status, "ANSWER_LOST", "no answer within 30 s")
		} else if status != models.MessageQueued {
			move(s, m, status, "", "")
		}
		dashtest.Languages(t, func(t *testing.T, _ ui.Language, header [2]string) {
			got := s.Get(path+"/"+m.ID, header)
			require.Equal(t, http.StatusOK, got.StatusCode)
			dashtest.RequireStrict(t, got)
			require.Contains(t, got.Body, `aria-current="step"`)
			require.Contains(t, got.Body, contact.ID)
			require.Contains(t, got.Body, "message.queued", "the event of its creation")
			require.Contains(t, got.Body, `href="`+ui.Root+parts.PathRequests+m.RequestID+`"`)
			following := status == models.MessageQueued || status == models.MessageSending
			require.Equal(t, following, strings.Contains(got.Body, "data-live"), "it follows what happens while something does")
			require.Contains(t, s.Get(path+"/"+m.ID+"/live", header).Body, `id="message"`)
		})
		list := s.Get(path + "?status=" + string(status)).Body
		require.Contains(t, list, m.ID)
	}
	require.Contains(t, s.Get(path+"?status=nonsense").Body, "A filter cannot be used.")
	require.Contains(t, s.Get(path+"?contact="+contact.ID+"&channel=sandbox").Body, contact.ID)
	require.Contains(t, s.Get(path+"?channel=email").Body, "Nothing matches")
	require.Contains(t, s.Get(path+"?since=2999-01-01").Body, "Nothing matches")
}

func TestSendQueuesAMessage(t *testing.T) {
	t.Parallel()
	s := dashtest.New(t)
	contact := newContact(t, s, s.Project)
	got := s.Post(path, url.Values{
		"contact_id": {contact.ID}, "channel": {"email"}, "template": {"Hi {{name}}, {{n}}\r\nbye"}, "variables": {`{"n": 1.50}`}, "send_at": {"2999-01-01T10:00"},
	})
	require.Equal(t, http.StatusUnprocessableEntity, got.StatusCode, "too far ahead")
	require.Contains(t, got.Body, `id="send_at-error"`)
	require.Contains(t, got.Body, "Hi {{name}}", "what was typed is kept")

	at := clock.System{}.Now().Add(time.Hour).UTC().Format("2006-01-02T15:04")
	got = s.Post(path, url.Values{
		"contact_id": {contact.ID}, "channel": {"email"}, "template": {"Hi {{name}}, {{n}}\r\nbye"}, "variables": {`{"n": 1.50}`}, "send_at": {at},
	})
	require.Equal(t, http.StatusSeeOther, got.StatusCode, got.Body)
	m := read(t, s, strings.TrimPrefix(got.Header.Get("Location"), path+"/"))
	require.Equal(t, "Hi Юлия, 1.50\nbye", m.Text)
	require.Equal(t, models.ChannelSandbox, m.Channel, "a test project reaches nobody")
	require.Equal(t, at, m.SendAt.UTC().Format("2006-01-02T15:04"))
	require.Equal(t, models.MessageQueued, m.Status)

	for name, form := range map[string]url.Values{
		"contact_id": {"contact_id": {"ctc_1"}, "channel": {"sandbox"}, "text": {"typed"}},
		"text":       {"contact_id": {contact.ID}, "channel": {"sandbox"}, "text": {" "}},
		"template":   {"contact_id": {contact.ID}, "channel": {"sandbox"}, "template": {"{{broken"}},
		"variables":  {"contact_id": {contact.ID}, "channel": {"sandbox"}, "template": {"x"}, "variables": {"{"}},
		"channel":    {"contact_id": {contact.ID}, "channel": {"pigeon"}, "text": {"typed"}},
	} {
		got := s.Post(path, form)
		require.Equal(t, http.StatusUnprocessableEntity, got.StatusCode, name)
		require.Contains(t, got.Body, `id="`+name+`-error"`, name)
	}
}

func TestCancelCallsAQueuedMessageOff(t *testing.T) {
	t.Parallel()
	s := dashtest.New(t)
	m := newMessage(t, s, s.Project, newContact(t, s, s.Project), text("Hello"))
	require.Contains(t, s.Get(path+"/"+m.ID).Body, `data-dialog="cancel"`)
	require.Equal(t, http.StatusOK, s.Get(path+"/"+m.ID+"/cancel").StatusCode, "without the script it is a page")
	require.Equal(t, http.StatusSeeOther, s.Post(path+"/"+m.ID+"/cancel", nil).StatusCode)
	require.Equal(t, models.MessageCancelled, read(t, s, m.ID).Status)
	body := s.Get(path + "/" + m.ID).Body
	require.Contains(t, body, "message.cancelled")
	require.NotContains(t, body, `data-dialog="cancel"`)
	again := s.Post(path+"/"+m.ID+"/cancel", nil)
	require.Equal(t, http.StatusConflict, again.StatusCode)
	require.Contains(t, again.Body, "It is too late to cancel")
}

func TestSettlingKeepsWhoAndWhy(t *testing.T) {
	t.Parallel()
	s := dashtest.New(t)
	m := newMessage(t, s, s.Project, newContact(t, s, s.Project), text("Hello"))
	move(s, m, models.MessageUnknown, "ANSWER_LOST", "no answer")
	tag := actions.MessageTag(read(t, s, m.ID))
	at := path + "/" + m.ID + "/settle"
	got := s.Post(at, url.Values{"status": {"delivered"}, "reason": {""}, "version": {tag}})
	require.Equal(t, http.StatusUnprocessableEntity, got.StatusCode)
	require.Contains(t, got.Body, `id="reason-error"`)
	require.Equal(t, http.StatusConflict, s.Post(at, url.Values{"status": {"sent"}, "reason": {"x"}, "version": {`"old"`}}).StatusCode)
	require.Equal(t, models.MessageUnknown, read(t, s, m.ID).Status)

	require.Equal(t, http.StatusSeeOther, s.Post(at, url.Values{"status": {"delivered"}, "reason": {"They told me <b>."}, "version": {tag}}).StatusCode)
	require.Equal(t, models.MessageDelivered, read(t, s, m.ID).Status)
	decisions, err := s.Store.Settlements(s.Context(), s.Project.ID, m.ID)
	require.NoError(t, err)
	require.Len(t, decisions, 1)
	require.Equal(t, s.Email, *decisions[0].UserEmail)
	require.Nil(t, decisions[0].KeyID)
	shown := s.Get(path + "/" + m.ID)
	dashtest.RequireStrict(t, shown)
	require.Contains(t, shown.Body, s.Email)
	require.Contains(t, shown.Body, "They told me &lt;b&gt;.")
	require.Contains(t, shown.Body, "message.delivered")
	require.Equal(t, http.StatusConflict, s.Post(at, url.Values{"status": {"sent"}, "reason": {"again"}}).StatusCode, "it is settled once")
}

func TestTheSandboxIsToldWhatToDo(t *testing.T) {
	t.Parallel()
	s := dashtest.New(t)
	contact := newContact(t, s, s.Project)
	m := newMessage(t, s, s.Project, contact, text("In the outbox"))
	_, err := s.Store.TakeInSandbox(s.Context(), s.Project.ID, store.SandboxMessage{MessageID: m.ID, ContactID: contact.ID, Address: contact.ID, Text: m.Text})
	require.NoError(t, err)
	require.Contains(t, s.Get(path+"/outbox").Body, "In the outbox")

	got := s.Post(path+"/outbox", url.Values{"behaviour": {"lose_answer"}, "delay_ms": {"1500"}, "blind": {"yes"}})
	require.Equal(t, http.StatusSeeOther, got.StatusCode, got.Body)
	channels, err := s.Store.Channels(s.Context(), s.Project.ID)
	require.NoError(t, err)
	require.JSONEq(t, `{"behaviour":"lose_answer","delay_ms":1500,"deliver":false,"blind":true}`, string(channels[0].Settings))
	shown := s.Get(path + "/outbox").Body
	require.Contains(t, shown, `value="lose_answer" selected`)
	require.Contains(t, shown, `value="1500"`)
	for _, wrong := range []url.Values{
		{"behaviour": {"accept"}, "delay_ms": {"20001"}}, {"behaviour": {"accept"}, "delay_ms": {"soon"}}, {"behaviour": {"explode"}, "delay_ms": {"0"}},
	} {
		require.Equal(t, http.StatusUnprocessableEntity, s.Post(path+"/outbox", wrong).StatusCode, wrong)
	}
}

func TestOthersMessagesDoNotExist(t *testing.T) {
	t.Parallel()
	s := dashtest.New(t)
	project, _ := s.NewProject("Other")
	m := newMessage(t, s, project, newContact(t, s, project), text("secret"))
	for _, id := range []string{m.ID, models.NewID(models.PrefixMessage, clock.System{}.Now()), "msg_1"} {
		for _, below := range []string{"", "/live", "/cancel"} {
			require.Equal(t, http.StatusNotFound, s.Get(path+"/"+id+below).StatusCode, below)
		}
		for _, below := range []string{"/cancel", "/settle"} {
			got := s.Post(path+"/"+id+below, url.Values{"status": {"sent"}, "reason": {"x"}})
			require.Equal(t, http.StatusNotFound, got.StatusCode, below)
		}
	}
	require.NotContains(t, s.Get(path).Body, m.ID)
	theirs := newContact(t, s, project)
	require.Equal(t, http.StatusUnprocessableEntity, s.Post(path, url.Values{"contact_id": {theirs.ID}, "channel": {"sandbox"}, "text": {"x"}}).StatusCode)
	foreign := [2]string{"Sec-Fetch-Site", "cross-site"}
	for _, at := range []string{path, path + "/outbox", path + "/" + m.ID + "/cancel", path + "/" + m.ID + "/settle"} {
		require.Equal(t, http.StatusForbidden, s.Post(at, url.Values{}, foreign).StatusCode, at)
	}
}

// The events about a message are found by its times and its id: another
// project's, of the same moment and with the same id in them, are not among them.
func TestEventsOfAnotherProjectAreNotAmongAMessages(t *testing.T) {
	t.Parallel()
	s := dashtest.New(t)
	project, _ := s.NewProject("Other")
	m := newMessage(t, s, s.Project, newContact(t, s, s.Project), text("Hello"))
	s.Exec(`INSERT INTO events (project_id, id, type, source, api_version, request_id, body, created_at)
		SELECT $2, id, 'message.stolen', source, api_version, request_id, body, created_at FROM events WHERE project_id = $1 AND type = 'message.queued'`,
		string(s.Project.ID), string(project.ID))
	body := s.Get(path + "/" + m.ID).Body
	require.Contains(t, body, "message.queued")
	require.NotContains(t, body, "message.stolen")
}

func TestStoredScriptsAreText(t *testing.T) {
	t.Parallel()
	s := dashtest.New(t)
	const script = `<script>alert(1)</script>"'><b id=x>`
	m := newMessage(t, s, s.Project, newContact(t, s, s.Project), models.MessageDraft{Template: ptr(script + "{{v}}"), Variables: []byte(`{"v":"<script>alert(2)</script>"}`)})
	move(s, m, models.MessageFailed, script, script)
	for _, at := range []string{path, path + "/" + m.ID, path + "?contact=" + url.QueryEscape(script), path + "/new?contact=" + url.QueryEscape(script)} {
		got := s.Get(at)
		dashtest.RequireStrict(t, got)
		require.NotContains(t, got.Body, "<script>alert", at)
		require.NotContains(t, got.Body, "<b id=x>", at)
	}
}
