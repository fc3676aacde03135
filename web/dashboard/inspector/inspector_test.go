package inspector_test

import (
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
	"github.com/stretchr/testify/require"

	"github.com/botix-pro/platform/app/models"
	"github.com/botix-pro/platform/app/store"
	"github.com/botix-pro/platform/internal/clock"
	"github.com/botix-pro/platform/internal/testenv"
	"github.com/botix-pro/platform/internal/testenv/browser"
	"github.com/botix-pro/platform/test/dashtest"
	"github.com/botix-pro/platform/web/dashboard/inspector"
	"github.com/botix-pro/platform/web/ui"
)

func TestMain(m *testing.M) { testenv.Main(m) }

// newDelivery is one that waits, to an endpoint of the project.
func newDelivery(t *testing.T, s *dashtest.Site) *models.WebhookDelivery {
	t.Helper()
	require.NoError(t, s.Store.KeepPartitions(t.Context()))
	at := clock.System{}.Now()
	endpoint := models.WebhookEndpoint{
		ProjectID: s.Project.ID, ID: models.NewID(models.PrefixEndpoint, at), URL: "https://hooks.example.com/in", EventTypes: []string{"*"}, Version: 1,
		Status: models.EndpointActive, MaxInFlight: 10, CreatedAt: at, UpdatedAt: at,
		Secrets: []models.EndpointSecret{{Value: "whsec_b2xkIHNlY3JldCBvbGQgc2VjcmV0IG9sZA=="}},
	}
	s.Write(s.Project.ID, func(tx *store.Tx) error { return tx.CreateEndpoint(&endpoint) })
	event := models.NewID(models.PrefixEvent, at)
	s.Exec(`INSERT INTO events (project_id, id, type, source, api_version, request_id, body, created_at) VALUES ($1, $2, 'contact.created', 'api', '2026-12-01', '', $3, $4)`,
		string(s.Project.ID), event, []byte(`{"id":"`+event+`","name":"<script>alert(1)</script> Юлия"}`), at)
	delivery := models.NewID(models.PrefixDelivery, at)
	s.Exec(`INSERT INTO webhook_deliveries (project_id, id, event_id, event_type, endpoint_id, status, step, attempt_count, manual, next_attempt_at, created_at, updated_at)
		VALUES ($1, $2, $3, 'contact.created', $4, 'waiting', 1, 1, false, $5, $5, $5)`, string(s.Project.ID), delivery, event, endpoint.ID, at)
	found, _, err := s.Store.Delivery(t.Context(), s.Project.ID, delivery)
	require.NoError(t, err)
	return found
}

func TestACopyLandsInTheInspectorAndTouchesNothing(t *testing.T) {
	t.Parallel()
	s := dashtest.New(t)
	before := newDelivery(t, s)
	redirect := ui.Root + "/deliveries/" + before.ID + "/redirect"
	_, email := s.NewProject("Foreign")
	foreign := s.As(email)
	require.Equal(t, http.StatusNotFound, foreign.Post(redirect, nil).StatusCode)
	require.Equal(t, http.StatusForbidden, s.Post(redirect, nil, [2]string{"Sec-Fetch-Site", "cross-site"}).StatusCode)

	sent := s.Post(redirect, nil)
	require.Equal(t, http.StatusSeeOther, sent.StatusCode)
	page := s.Get(sent.Header.Get("Location"))
	dashtest.RequireStrict(t, page)
	for _, text := range []string{"A copy is in the inspector.", "Valid", "x-botix-signature", "standard-webhooks", before.ID, "Юлия", "&lt;script&gt;"} {
		require.Contains(t, page.Body, text)
	}
	require.NotContains(t, page.Body, "whsec_")
	require.Equal(t, http.StatusNotFound, foreign.Get(sent.Header.Get("Location")).StatusCode)
	after, _, err := s.Store.Delivery(t.Context(), s.Project.ID, before.ID)
	require.NoError(t, err)
	require.Equal(t, before, after)
	require.Empty(t, s.Hinted.All(), "nothing is sent to production")
	require.Contains(t, s.Get(inspector.Path).Body, "Copies of deliveries")
}

func TestBinsAreMadeScriptedAndCleared(t *testing.T) {
	t.Parallel()
	s := dashtest.New(t)
	require.Contains(t, s.Get(inspector.Path).Body, "There is no bin yet.")
	require.Equal(t, http.StatusUnprocessableEntity, s.Post(inspector.Path, url.Values{"name": {strings.Repeat("x", 2000)}}).StatusCode)
	made := s.Post(inspector.Path, url.Values{"name": {"try <b>"}})
	require.Equal(t, http.StatusSeeOther, made.StatusCode)
	path := made.Header.Get("Location")
	page := s.Get(path)
	dashtest.RequireStrict(t, page)
	require.Contains(t, page.Body, "http://inspector.example.com/")
	_, email := s.NewProject("Foreign")
	for _, deed := range []string{"/script", "/clear"} {
		form := url.Values{"recipe": {"fail_twice"}}
		require.Equal(t, http.StatusNotFound, s.As(email).Post(path+deed, form).StatusCode)
		require.Equal(t, http.StatusSeeOther, s.Post(path+deed, form).StatusCode)
	}
	require.Equal(t, http.StatusNotFound, s.As(email).Get(path).StatusCode)
	require.Equal(t, http.StatusBadRequest, s.Post(path+"/script", url.Values{"recipe": {"none such"}}).StatusCode)
	bin, err := s.Store.Bin(t.Context(), s.Project.ID, strings.TrimPrefix(path, inspector.Path+"/bins/"))
	require.NoError(t, err)
	require.Equal(t, 2, bin.Script.Times)
	require.Contains(t, s.Get(path).Body, `<option value="fail_twice" selected>`)
}

// Answers of one's own come back to the form as they were typed, whatever is wrong
// with them, and are stored once nothing is.
func TestAnswersOfOnesOwn(t *testing.T) {
	t.Parallel()
	s := dashtest.New(t)
	path := s.Post(inspector.Path, url.Values{"name": {"own"}}).Header.Get("Location")
	id := strings.TrimPrefix(path, inspector.Path+"/bins/")
	stored := func() models.BinScript {
		bin, err := s.Store.Bin(t.Context(), s.Project.ID, id)
		require.NoError(t, err)
		return bin.Script
	}
	plain := stored()
	for name, value := range map[string]string{"status": "99", "times": "-1", "first_status": "700", "delay_ms": "x", "drip_ms": "99999", "retry_after": "-5", "drop": "later", "body": "\x00"} {
		form := url.Values{"status": {"200"}, "times": {"1"}, "first_status": {"500"}, "body": {"typed <b>"}}
		form.Set(name, value)
		refused := s.Post(path+"/answers", form)
		require.Equal(t, http.StatusUnprocessableEntity, refused.StatusCode, name)
		dashtest.RequireStrict(t, refused)
		require.Contains(t, refused.Body, `href="#`+name+`"`, "the summary leads to %s", name)
		if name != "body" {
			require.Contains(t, refused.Body, "typed &lt;b&gt;")
		}
		require.Equal(t, plain, stored())
	}
	_, email := s.NewProject("Foreign")
	form := url.Values{"times": {"3"}, "first_status": {"503"}, "status": {"200"}, "retry_after": {"7"}, "delay_ms": {"20"}, "body": {"one\r\ntwo"}}
	require.Equal(t, http.StatusNotFound, s.As(email).Post(path+"/answers", form).StatusCode)
	require.Equal(t, http.StatusSeeOther, s.Post(path+"/answers", form).StatusCode)
	require.Equal(t, models.BinScript{
		Times: 3, First: &models.BinAnswer{Status: 503, RetryAfter: 7, DelayMs: 20, Body: "one\ntwo"}, Then: models.BinAnswer{Status: 200, DelayMs: 20, Body: "one\ntwo"},
	}, stored())
	page := s.Get(path)
	for _, text := range []string{`value="503"`, `value="7"`, "one\ntwo", `<option value="" selected>`, "/developers/endpoints/new?url=http%3A%2F%2Finspector.example.com%2F" + id} {
		require.Contains(t, page.Body, text)
	}
}

func TestACopyIsMadeOnceByOneForm(t *testing.T) {
	t.Parallel()
	s := dashtest.New(t)
	redirect := ui.Root + "/deliveries/" + newDelivery(t, s).ID + "/redirect"
	form := url.Values{"once": {models.NewID("", dashtest.Now())}}
	first, second := s.Post(redirect, form), s.Post(redirect, form)
	require.Equal(t, first.Header.Get("Location"), second.Header.Get("Location"))
	require.NotEqual(t, first.Header.Get("Location"), s.Post(redirect, nil).Header.Get("Location"), "another form is another copy")
}

func TestTheInspectorInTheBrowser(t *testing.T) {
	t.Parallel()
	s := dashtest.New(t)
	delivery := newDelivery(t, s)
	request := s.Post(ui.Root+"/deliveries/"+delivery.ID+"/redirect", nil).Header.Get("Location")
	bin := s.Post(inspector.Path, url.Values{"name": {"Проба"}}).Header.Get("Location")
	running := browser.Start(t)
	for _, language := range ui.Languages() { //nolint:paralleltest // one browser, one site
		t.Run(string(language), func(t *testing.T) {
			tab := s.Tab(t, running, language, inspector.Path)
			tab.Inspect("inspector-" + string(language))
			tab.Open(s.URL + bin)
			tab.Run(chromedp.Click(chromedp.CSS("details.chart-table > summary")))
			tab.Inspect("inspector-bin-" + string(language))
			tab.Open(s.URL + request)
			tab.Click("#tree > summary")
			require.Contains(t, tab.Text("#tree"), "name")
			tab.Inspect("inspector-request-" + string(language))
			tab.RequireQuiet(s.URL)
		})
	}
	//nolint:paralleltest // as above
	t.Run("acts by its buttons", func(t *testing.T) {
		tab := s.Tab(t, running, ui.English, inspector.Path)
		tab.Fill("#name", "by hand")
		tab.Press(kb.Enter)
		tab.Wait("#url")
		id := tab.Read("location.pathname.split('/').pop()")
		script := func() models.BinScript {
			made, err := s.Store.Bin(t.Context(), s.Project.ID, id)
			require.NoError(t, err)
			return made.Script
		}
		tab.Choose("#recipe", "gone")
		tab.Click("form[action$='/script'] button")
		tab.Wait(".done")
		require.Equal(t, http.StatusGone, script().Then.Status)
		tab.Click("details.chart-table > summary")
		tab.Fill("#status", "99")
		tab.Click("form[action$='/answers'] button")
		tab.Wait("#problem")
		tab.Forgive() // the browser's own line about the 422
		tab.Fill("#status", "202")
		tab.Click("form[action$='/answers'] button")
		tab.Wait(".done")
		require.Equal(t, http.StatusAccepted, script().Then.Status)
		tab.Click("form[action$='/clear'] button")
		tab.WaitText(".done", "cleared")
		tab.Click("a[href*='/endpoints/new']")
		tab.Wait("#url")
		require.Contains(t, tab.Read("document.getElementById('url').value"), id)

		tab.Open(s.URL + ui.Root + "/deliveries/" + delivery.ID)
		tab.Click("form[action$='/redirect'] button")
		tab.WaitText(".done", "copy is in the inspector")
		tab.RequireQuiet(s.URL)
	})
	//nolint:paralleltest // as above
	t.Run("follows what comes in", func(t *testing.T) {
		bins, err := s.Store.Bins(t.Context(), s.Project.ID)
		require.NoError(t, err)
		var copies string
		for _, b := range bins {
			if b.Default {
				copies = inspector.Path + "/bins/" + b.ID
			}
		}
		tab := s.Tab(t, running, ui.English, copies)
		seen := tab.Read("String(document.querySelectorAll('#captured tbody tr').length + 1)")
		require.Equal(t, http.StatusSeeOther, s.Post(ui.Root+"/deliveries/"+delivery.ID+"/redirect", nil).StatusCode)
		tab.Wait("#captured tbody tr:nth-child(" + seen + ")")
		tab.RequireQuiet(s.URL)
	})
}
