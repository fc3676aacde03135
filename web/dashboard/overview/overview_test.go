package overview_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/botix-pro/platform/app/models"
	"github.com/botix-pro/platform/app/store"
	"github.com/botix-pro/platform/internal/clock"
	"github.com/botix-pro/platform/internal/testenv"
	"github.com/botix-pro/platform/internal/testenv/browser"
	"github.com/botix-pro/platform/test/dashtest"
	"github.com/botix-pro/platform/web/dashboard/overview"
	"github.com/botix-pro/platform/web/ui"
)

func TestMain(m *testing.M) { testenv.Main(m) }

// newKey makes an API key that ends in the given time; 0 is never.
func newKey(t testing.TB, s *dashtest.Site, name string, ends time.Duration) models.APIKey {
	t.Helper()
	at := clock.System{}.Now()
	secret, err := models.NewAPIKeySecret(s.Project.Mode)
	require.NoError(t, err)
	key := models.APIKey{
		ID: models.NewID(models.PrefixKey, at), ProjectID: s.Project.ID, Name: name, Prefix: models.ShownPrefix(secret),
		Hash: models.HashAPIKey(secret), Scopes: []models.Scope{models.ScopeRead, models.ScopeWrite}, CreatedAt: at,
	}
	if ends > 0 {
		key.ExpiresAt = new(at.Add(ends))
	}
	s.Write(s.Project.ID, func(tx *store.Tx) error { return tx.CreateAPIKey(s.Context(), key) })
	return key
}

// busy is a project with four weeks behind it and much that needs a person.
func busy(t testing.TB) *dashtest.Site {
	t.Helper()
	s := dashtest.New(t)
	key := newKey(t, s, "Сервер заказов <b>", 5*24*time.Hour)
	crm := s.NewEndpoint("https://hooks.example.com/crm?%s=1", "CRM: заказы и контакты")
	gone := s.NewEndpoint("https://приём.example.com/in", "Старый приёмник")
	billing := s.NewEndpoint("https://billing.internal-services.example.com/webhooks/botix/production/v2/orders", "Billing <script>alert(1)</script>")
	s.History(key.ID, crm, gone, billing)
	s.Exec(`UPDATE webhook_endpoints SET status = 'disabled', status_since = now() - interval '1 day' WHERE id = $1`, gone.ID)
	s.Exec(`INSERT INTO webhook_endpoint_health (project_id, endpoint_id, failing_since, failures, failed_days, last_success_at)
		VALUES ($1, $2, now() - interval '3 hours', 21, 1, now() - interval '4 hours')`, string(s.Project.ID), crm.ID)
	for _, id := range []string{"1", "2", "3"} {
		s.Exec(`INSERT INTO dead_letters (project_id, id, delivery_id, endpoint_id, event_id, event_type, cause, expires_at)
			VALUES ($1, $2, $3, $4, 'evt_1', 'contact.created', 'http_401', now() + interval '1 day')`,
			string(s.Project.ID), models.NewID(models.PrefixDeadLetter, clock.System{}.Now().Add(-50*time.Hour)), "whd_"+id, billing.ID)
	}
	s.Exec(`INSERT INTO notices (project_id, id, kind, endpoint_id, level, params) VALUES ($1, $2, 'endpoint_disabled', $3, 100, '{"url": "https://приём.example.com/in", "reason": "gone"}')`,
		string(s.Project.ID), models.NewID(models.PrefixNotice, clock.System{}.Now()), gone.ID)
	return s
}

func TestWhatNeedsAPersonStandsFirst(t *testing.T) {
	t.Parallel()
	s := busy(t)
	dashtest.Languages(t, func(t *testing.T, language ui.Language, header [2]string) {
		for _, query := range []string{"", "?range=7d", "?range=14d", "?range=nonsense"} {
			got := s.Get(overview.Path+query, header)
			require.Equal(t, http.StatusOK, got.StatusCode, query)
			dashtest.RequireStrict(t, got)
		}
		body := s.Get(overview.Path+"?range=14d", header).Body
		for _, text := range map[ui.Language][]string{
			ui.English: {"3 deliveries were given up", "Disabled by us", "21 attempts failed and nothing was delivered since", "The API key stops working at", "used 100% of its 2,000 requests", "answered 410 Gone"},
			ui.Russian: {"Оставлены 3 доставки", "Отключён нами", "Не удалась 21 попытка", "Ключ API перестанет работать", "100\u00a0% из 2\u00a0000 запросов", "ответил 410 Gone"},
		}[language] {
			require.Contains(t, body, text)
			require.Less(t, strings.Index(body, text), strings.Index(body, `id="figures"`), text)
		}
		require.Contains(t, body, "https://hooks.example.com/crm?%s=1", "a URL is no format")
		require.NotContains(t, body, "<script>alert")
	})
	require.Equal(t, http.StatusFound/100, s.Get("/developers").StatusCode/100)
	require.Equal(t, overview.Path, s.Get("/developers").Header.Get("Location"))
}

func TestTheFirstStepsAreSeenFromWhatIsThere(t *testing.T) {
	t.Parallel()
	s := dashtest.New(t)
	require.Contains(t, s.Get(overview.Path).Body, "0 of 4 done")
	require.Contains(t, s.Get(overview.Path).Body, "Nothing needs you right now.")
	key := newKey(t, s, "server", 0)
	require.Contains(t, s.Get(overview.Path).Body, "1 of 4 done")
	require.NoError(t, s.Store.KeepPartitions(t.Context()))
	record := models.RequestRecord{ProjectID: s.Project.ID, RequestID: "req_1", KeyID: key.ID, Method: "GET", Route: "/me", Status: 200, At: clock.System{}.Now()}
	require.NoError(t, s.Store.RecordRequests(t.Context(), []models.RequestRecord{record}))
	require.Contains(t, s.Get(overview.Path).Body, "2 of 4 done")
	e := s.NewEndpoint("https://hooks.example.com/in", "")
	require.Contains(t, s.Get(overview.Path).Body, "3 of 4 done")
	s.Exec(`INSERT INTO webhook_endpoint_health (project_id, endpoint_id, last_success_at) VALUES ($1, $2, now())`, string(s.Project.ID), e.ID)
	require.NotContains(t, s.Get(overview.Path).Body, "of 4 done")
}

func TestAnotherProjectSeesNothingOfIt(t *testing.T) {
	t.Parallel()
	s := busy(t)
	_, email := s.NewProject("Foreign")
	foreign := s.As(email).Get(overview.Path)
	for _, secret := range []string{"crm", "заказов", "410 Gone"} {
		require.NotContains(t, foreign.Body, secret)
	}
	require.Contains(t, foreign.Body, "0 of 4 done")
}

func TestOverviewInTheBrowser(t *testing.T) {
	t.Parallel()
	s := busy(t)
	empty := dashtest.New(t)
	running := browser.Start(t)
	for _, language := range ui.Languages() { //nolint:paralleltest // one browser, one site
		t.Run(string(language), func(t *testing.T) {
			tab := s.Tab(t, running, language, overview.Path)
			tab.Wait(".uplot canvas")
			require.Equal(t, "4 0", tab.Read(`document.querySelectorAll(".uplot canvas").length + " " + document.querySelectorAll(".uplot [tabindex], canvas[tabindex]").length`), "nothing in a drawing takes the focus")
			tab.Open(s.URL + overview.Path + "?range=14d")
			tab.Wait(".uplot canvas")
			tab.Click(".chart-table summary")
			tab.Inspect("overview-" + string(language))
			tab.RequireQuiet(s.URL)

			tab = empty.Tab(t, running, language, overview.Path)
			tab.Inspect("overview-empty-" + string(language))
			tab.RequireQuiet(empty.URL)
		})
	}
}
