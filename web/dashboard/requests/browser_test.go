package requests_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/botix-pro/platform/app/models"
	"github.com/botix-pro/platform/internal/testenv/browser"
	"github.com/botix-pro/platform/web/ui"
)

// TestBrowser shares one browser between its parts: starting one is dear.
func TestBrowser(t *testing.T) {
	t.Parallel()
	running := browser.Start(t)
	//nolint:paralleltest // the parts take turns with one browser
	for name, part := range map[string]func(*testing.T, *browser.Browser){
		"looks well": looksWell, "retries and notes by keyboard, and follows": worksByKeyboard,
	} {
		t.Run(name, func(t *testing.T) { part(t, running) })
	}
}

// colourful makes a day with requests of all kinds, and returns the one that
// executed the operation "order-…".
func colourful(s *site, key string) models.RequestRecord {
	for i := range 7 {
		s.log(ago(200+i), "GET", "/contacts/:id", 404, models.CodeNotFound)
		s.log(ago(90+i), "GET", "/contacts", 200, "")
	}
	s.log(ago(60), "PUT", "/contacts/by-external-id/:external_id", 422, models.CodeValidationFailed, under(strings.Repeat("длинный-ключ-", 3)))
	s.log(ago(50), "POST", "/messages", 503, models.CodeServiceUnavailable, under("3f7c1a52-8f9e-4c1b-9d70-4e0b1de1c111"))
	s.log(ago(40), "GET", "/webhook-deliveries/:id", 429, models.CodeRateLimitExceeded, func(r *models.RequestRecord) { r.KeyID = models.NewID(models.PrefixKey, r.At) })
	s.log(ago(2), "POST", "/contacts", 429, models.CodeRateLimitExceeded, under(key))
	made, _ := s.contact(key)
	s.log(-400*time.Millisecond, "POST", "/contacts", 409, models.CodeIdempotencyKeyRunning, under(key))
	s.log(-5*time.Second, "POST", "/contacts", 201, "", under(key), replay)
	s.log(-70*time.Second, "POST", "/contacts", 409, models.CodeIdempotencyKeyReuse, under(key))
	s.settle(models.DeliveryDeadLetter)
	return made
}

func looksWell(t *testing.T, running *browser.Browser) {
	s := newSite(t)
	empty := s.Tab(t, running, ui.English, path)
	empty.Inspect("requests-none-en")
	s.NewEndpoint("https://hooks.example.com/"+strings.Repeat("in/", 50), "CRM")
	const key = "order-2026-12-01-8f9e4c1b-9d70-4e0b-1de1-c1117a3b5d20"
	made := colourful(s, key)
	failed := s.log(0, "POST", "/contacts", 422, models.CodeValidationFailed, under("k2"))
	s.run("refused", models.IdempotencyRecord{Method: http.MethodPost, Path: "/contacts", Answer: models.Answer{Status: http.StatusConflict, Body: []byte(`{"code":"CONTACT_ALREADY_EXISTS"}`)}}, nil)
	s.contact("expired")
	s.Exec(`UPDATE idempotency_keys SET expires_at = now() - interval '1 hour' WHERE key = 'expired'`)
	s.Post(operations+"/note?key="+key, map[string][]string{"note": {"Клиент подтвердил: контакт один, повтор пришёл из-за обрыва связи."}})
	pages := map[string]string{
		"list": path, "errors": path + "/errors", "one": path + "/" + made.RequestID, "failed": path + "/" + failed.RequestID,
		"operation": operationOf(key), "refused": operationOf("refused"), "expired": operationOf("expired"), "nomatch": path + "?id=nothing",
		"retry": operations + "/retry?key=" + key,
	}
	for _, language := range ui.Languages() {
		tab := s.Tab(t, running, language, path)
		for name, at := range pages {
			tab.Open(s.URL + at)
			tab.Inspect(fmt.Sprintf("requests-%s-%s", name, language))
		}
		tab.RequireQuiet(s.URL)
	}
}

func worksByKeyboard(t *testing.T, running *browser.Browser) {
	s := newSite(t)
	s.NewEndpoint("https://hooks.example.com/in", "CRM")
	colourful(s, "k1")
	tab := s.Tab(t, running, ui.English, path+"/errors")
	tab.TabTo(`tbody th a`)
	tab.Press("\r")
	tab.WaitText("h1", "API requests")
	require.Contains(t, tab.Text(".chips"), "NOT_FOUND")

	tab.Open(s.URL + operationOf("k1"))
	tab.TabTo(`[data-dialog="retry"]`)
	tab.Press("\r")
	tab.Wait("dialog[open]")
	tab.TabTo("dialog .primary")
	tab.Press("\r")
	tab.Wait(".done")
	require.Equal(t, []string{"pending"}, s.statuses())
	tab.Fill("#note", "Looked into it.")
	tab.TabTo(".wide-form button")
	tab.Press("\r")
	tab.WaitText(".done", "recorded")
	require.Contains(t, tab.Text("main"), "Looked into it.")

	s.log(0, "POST", "/contacts", 500, models.CodeInternalError, under("k3"))
	tx, _, err := s.Store.BeginOperation(s.Context(), s.Project.ID, "k3")
	require.NoError(t, err)
	tab.Open(s.URL + operationOf("k3"))
	tab.Wait("[data-live]")
	tab.Fill("#note", "half a sentence")
	tx.Rollback(s.Context())
	tab.WaitText("#operation", "Nothing with this key has been completed so far")
	require.Equal(t, "half a sentence", tab.Read("document.querySelector('#note').value"), "what is being typed stays")
	tab.RequireQuiet(s.URL)
}
