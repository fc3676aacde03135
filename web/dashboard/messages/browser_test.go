package messages_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/botix-pro/platform/app/models"
	"github.com/botix-pro/platform/app/store"
	"github.com/botix-pro/platform/internal/testenv/browser"
	"github.com/botix-pro/platform/test/dashtest"
	"github.com/botix-pro/platform/web/ui"
)

// TestBrowser shares one browser between its parts: starting one is dear.
func TestBrowser(t *testing.T) {
	t.Parallel()
	running := browser.Start(t)
	//nolint:paralleltest // the parts take turns with one browser
	for name, part := range map[string]func(*testing.T, *browser.Browser){
		"looks well": looksWell, "cancels and settles by keyboard, and follows": worksByKeyboard,
	} {
		t.Run(name, func(t *testing.T) { part(t, running) })
	}
}

// colourful makes a message in each state, and returns them by it.
func colourful(t *testing.T, s *dashtest.Site) map[models.MessageStatus]*models.Message {
	t.Helper()
	contact := newContact(t, s, s.Project)
	made := map[models.MessageStatus]*models.Message{}
	for _, status := range models.MessageStatuses() {
		m := newMessage(t, s, s.Project, contact, models.MessageDraft{
			Template:  ptr("Здравствуйте, {{name}}! Ваш заказ {{n}} готов.\nЖдём вас: https://example.com/" + strings.Repeat("orders/", 20)),
			Variables: []byte(`{"n":"12345","paid":true}`),
		})
		made[status] = m
		switch status {
		case models.MessageQueued:
		case models.MessageFailed:
			move(s, m, status, "REJECTED_BY_PROVIDER", "550 5.1.1 The email account that you tried to reach does not exist")
		case models.MessageUnknown:
			move(s, m, status, "ANSWER_LOST", "the connection was closed after DATA")
		default:
			move(s, m, status, "", "")
		}
		_, err := s.Store.TakeInSandbox(s.Context(), s.Project.ID, store.SandboxMessage{MessageID: m.ID, ContactID: contact.ID, Address: contact.ID, Text: m.Text})
		require.NoError(t, err)
	}
	return made
}

func looksWell(t *testing.T, running *browser.Browser) {
	s := dashtest.New(t)
	made := colourful(t, s)
	for _, language := range ui.Languages() {
		tab := s.Tab(t, running, language, path)
		name := func(page string) string { return "messages-" + page + "-" + string(language) }
		tab.Inspect(name("list"))
		for _, status := range []models.MessageStatus{models.MessageQueued, models.MessageUnknown, models.MessageFailed} {
			tab.Open(s.URL + path + "/" + made[status].ID)
			tab.Inspect(name(string(status)))
		}
		tab.Open(s.URL + path + "/new")
		tab.Inspect(name("new"))
		tab.Open(s.URL + path + "/outbox")
		tab.Click("details.switches > summary")
		tab.Inspect(name("outbox"))
		tab.RequireQuiet(s.URL)
	}
}

func worksByKeyboard(t *testing.T, running *browser.Browser) {
	s := dashtest.New(t)
	contact := newContact(t, s, s.Project)
	queued, unknown, moving := newMessage(t, s, s.Project, contact, text("a")), newMessage(t, s, s.Project, contact, text("b")), newMessage(t, s, s.Project, contact, text("c"))
	move(s, unknown, models.MessageUnknown, "ANSWER_LOST", "lost")
	tab := s.Tab(t, running, ui.English, path+"/"+queued.ID)
	tab.TabTo(`[data-dialog="cancel"]`)
	tab.Press("\r")
	tab.Wait("dialog[open]")
	tab.TabTo("dialog .danger")
	tab.Press("\r")
	tab.Wait(".done")
	require.Equal(t, models.MessageCancelled, read(t, s, queued.ID).Status)

	tab.Open(s.URL + path + "/" + unknown.ID)
	tab.Choose("#status", "failed")
	tab.Fill("#reason", "Their log has nothing.")
	tab.TabTo(".form button")
	tab.Press("\r")
	tab.Wait(".done")
	require.Equal(t, models.MessageFailed, read(t, s, unknown.ID).Status)
	require.Contains(t, tab.Text("main"), s.Email)

	tab.Open(s.URL + path + "/" + moving.ID)
	tab.Wait("[data-live]")
	move(s, moving, models.MessageDelivered, "", "")
	tab.WaitText(".chain", "final")
	require.Equal(t, "null", tab.Read("String(document.querySelector('[data-live]'))"), "it asks no more")
	tab.RequireQuiet(s.URL)
}
