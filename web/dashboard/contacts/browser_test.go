package contacts_test

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/botix-pro/platform/api"
	"github.com/botix-pro/platform/app/actions"
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
		"looks well": looksWell, "a double click makes one": doubleClicks, "times are the reader's from the second page on": readsZone, "creates, edits and deletes by keyboard": worksByKeyboard,
	} {
		t.Run(name, func(t *testing.T) { part(t, running) })
	}
}

func doubleClicks(t *testing.T, running *browser.Browser) {
	s := dashtest.New(t)
	tab := s.Tab(t, running, ui.English, path+"/new")
	tab.Fill("#name", "Ada")
	require.Equal(t, "once", tab.Read(`(() => {
		const send = document.querySelector('main form .primary');
		send.click();
		return send.form.dispatchEvent(new SubmitEvent('submit', {cancelable: true})) ? 'twice' : 'once' })()`), "the second click sends nothing")
	tab.Wait(".done")
	require.Equal(t, []string{"contact.created"}, eventTypes(t, s))
	tab.RequireQuiet(s.URL)
}

// The script tells the server the zone: it then writes the reader's own times,
// with UTC beside them, which script leaves as they are.
func readsZone(t *testing.T, running *browser.Browser) {
	s := dashtest.New(t)
	contact := newContact(t, s, s.Project, ada())
	tab := s.Tab(t, running, ui.English, path+"/"+contact.ID)
	tab.NoScript()
	tab.Open(s.URL + path + "/" + contact.ID)
	shown := contact.CreatedAt.In(time.FixedZone("", 5*3600+45*60)).Format("2 Jan 2006, 15:04:05") + " GMT+5:45"
	require.Contains(t, tab.Text("main"), shown+" ("+contact.CreatedAt.UTC().Format("15:04:05 UTC")+")")
	tab.RequireQuiet(s.URL)
}

func looksWell(t *testing.T, running *browser.Browser) {
	s := dashtest.New(t)
	contact := newContact(t, s, s.Project, ada())
	long := ada()
	long.ExternalID, long.Name = ptr(strings.Repeat("https://example.com/very-long/", 6)), ptr(strings.Repeat("Константинопольский ", 8))
	long.Tags = []string{"newsletter", "vip", strings.Repeat("long", 15), "первый заказ"}
	newContact(t, s, s.Project, long)
	for range 21 {
		newContact(t, s, s.Project, api.ContactCreate{Name: ptr("Grace Hopper"), Email: ptr("grace@example.com")})
	}
	s.Write(s.Project.ID, func(tx *store.Tx) error {
		text := "Здравствуйте, Ада! Ваш заказ готов и ждёт вас на улице Ленина, дом 5, до конца недели."
		_, err := actions.CreateMessage(s.Context(), tx, actions.Cause{Project: s.Project, APIVersion: models.CurrentAPIVersion}, contact.ID,
			models.MessageDraft{Channel: models.ChannelSandbox, Text: &text})
		return err
	})
	for _, language := range ui.Languages() {
		tab := s.Tab(t, running, language, path)
		name := func(page string) string { return "contacts-" + page + "-" + string(language) }
		tab.Inspect(name("list"))
		tab.Open(s.URL + path + "?email=ada@example.com&tag=vip")
		tab.Inspect(name("filtered"))
		tab.Open(s.URL + path + "?email=nobody@example.com")
		tab.Inspect(name("no-match"))
		tab.Open(s.URL + path + "/" + contact.ID)
		tab.Inspect(name("contact"))
		tab.Click(`[data-dialog="delete"]`)
		tab.Wait("dialog[open]")
		tab.Inspect(name("delete"))
		tab.Open(s.URL + path + "/" + contact.ID + "/edit")
		tab.Inspect(name("edit"))
		tab.Fill("#email", "no address")
		tab.Fill("#phone", "1")
		tab.Press("\r")
		tab.Wait("#problem")
		tab.Forgive()
		tab.Inspect(name("wrong"))
		tab.RequireQuiet(s.URL)
	}
}

func worksByKeyboard(t *testing.T, running *browser.Browser) {
	s := dashtest.New(t)
	tab := s.Tab(t, running, ui.English, path)
	tab.TabTo(`a[href="/developers/contacts/new"]`)
	tab.Press("\r")
	tab.Wait("#name")
	tab.Fill("#name", "Ada")
	tab.Press("\r")
	tab.Wait(`[data-dialog="delete"]`)
	id := strings.TrimPrefix(tab.Read("location.pathname"), path+"/")
	require.Equal(t, "Ada", *read(t, s, id).Name)

	tab.TabTo(`a[href$="/edit"]`)
	tab.Press("\r")
	tab.Wait("#email")
	tab.Fill("#email", "ada@example.com")
	tab.Press("\r")
	tab.Wait(".done")
	require.Equal(t, "ada@example.com", *read(t, s, id).Email)

	tab.TabTo(`[data-dialog="delete"]`)
	tab.Press("\r")
	tab.Wait("dialog[open]")
	tab.Press("\r") // the safe button has the focus
	require.Equal(t, "delete", tab.Read("document.activeElement.dataset.dialog"), "the focus comes back")
	tab.Press("\r")
	tab.Wait("dialog[open]")
	tab.TabTo("dialog .danger")
	tab.Press("\r")
	tab.Wait(".empty")
	_, err := s.Store.Contact(s.Context(), s.Project.ID, id)
	require.ErrorIs(t, err, store.ErrNotFound)
	tab.RequireQuiet(s.URL)
}
