package endpoints_test

import (
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/botix-pro/platform/app/models"
	"github.com/botix-pro/platform/internal/clock"
	"github.com/botix-pro/platform/internal/testenv"
	"github.com/botix-pro/platform/internal/testenv/browser"
	"github.com/botix-pro/platform/test/dashtest"
	"github.com/botix-pro/platform/web/dashboard/endpoints"
	"github.com/botix-pro/platform/web/ui"
)

func TestMain(m *testing.M) { testenv.Main(m) }

func newEndpoint(s *dashtest.Site, address string) *models.WebhookEndpoint {
	return s.NewEndpoint(address, "<b>CRM</b>")
}

func read(t *testing.T, s *dashtest.Site, id string) *models.WebhookEndpoint {
	t.Helper()
	e, err := s.Store.Endpoint(t.Context(), s.Project.ID, id)
	require.NoError(t, err)
	return e
}

func TestPausedResumedTestedRotatedDeleted(t *testing.T) {
	t.Parallel()
	s := dashtest.New(t)
	require.Contains(t, s.Get(endpoints.Path).Body, "There is no endpoint yet")
	e := newEndpoint(s, "https://hooks.example.com/in")
	path := endpoints.Path + "/" + e.ID
	for _, page := range []string{endpoints.Path, path, path + "/delete"} {
		got := s.Get(page)
		require.Equal(t, http.StatusOK, got.StatusCode)
		dashtest.RequireStrict(t, got)
		require.NotContains(t, got.Body, "a secret value")
		require.NotContains(t, got.Body, "whsec_")
	}

	require.Equal(t, http.StatusSeeOther, s.Post(path+"/pause", nil).StatusCode)
	require.Equal(t, models.EndpointPaused, read(t, s, e.ID).Status)
	require.Equal(t, http.StatusConflict, s.Post(path+"/test", nil).StatusCode, "what was sent now would be held")
	require.Equal(t, http.StatusSeeOther, s.Post(path+"/resume", url.Values{"held": {"discard"}}).StatusCode)
	require.Equal(t, models.EndpointActive, read(t, s, e.ID).Status)

	tested := s.Post(path+"/test", nil)
	require.Equal(t, http.StatusSeeOther, tested.StatusCode)
	back := tested.Header.Get("Location")
	require.Regexp(t, "^/developers/endpoints/whe_.*test=whd_", back)
	require.Contains(t, s.Get(back).Body, "A test event is on its way.")
	require.Contains(t, s.Get(back).Body, `data-live="/developers/endpoints/`, "it is followed")
	require.Len(t, s.Hinted.All(), 1, "the worker is told")

	rotated := s.Post(path+"/rotate-secret", nil)
	require.Equal(t, http.StatusOK, rotated.StatusCode)
	secret := regexp.MustCompile(`whsec_[0-9A-Za-z+/=]+`).FindString(strings.ReplaceAll(rotated.Body, "&#43;", "+"))
	require.Equal(t, read(t, s, e.ID).Secrets[0].Value, secret)
	require.NotContains(t, s.Get(path).Body, "whsec_", "it is shown once")

	require.Equal(t, http.StatusSeeOther, s.Post(path+"/delete", nil).StatusCode)
	require.Equal(t, http.StatusNotFound, s.Get(path).StatusCode)
	require.Contains(t, s.Get(ui.Root+"/members").Body, "Rotated a secret")
}

// A double click, or a repeat after a lost answer, sends the same form twice: it
// acts once, and the second answer shows what the first did.
func TestAFormThatIsSentTwiceActsOnce(t *testing.T) {
	t.Parallel()
	s := dashtest.New(t)
	e := newEndpoint(s, "https://hooks.example.com/in")
	path := endpoints.Path + "/" + e.ID
	old := e.Secrets[0].Value
	form := url.Values{"once": {models.NewID("", dashtest.Now())}}
	answers := make(chan dashtest.Answer, 4)
	for range 2 {
		go func() { answers <- s.Post(path+"/rotate-secret", form) }()
		go func() { answers <- s.Post(path+"/test", form) }()
	}
	places := map[string]bool{}
	secrets := read(t, s, e.ID).Secrets
	for range 4 {
		got := <-answers
		secrets = read(t, s, e.ID).Secrets
		if got.StatusCode == http.StatusSeeOther {
			places[got.Header.Get("Location")] = true
			continue
		}
		require.Equal(t, http.StatusOK, got.StatusCode)
		require.Contains(t, strings.ReplaceAll(got.Body, "&#43;", "+"), secrets[0].Value)
	}
	require.Len(t, places, 1, "one test event")
	require.Len(t, secrets, 2)
	require.Equal(t, old, secrets[1].Value, "the one that the receiver knows still signs")
}

func TestTheFormOfANewEndpointThatIsSentTwiceMakesOne(t *testing.T) {
	t.Parallel()
	s := dashtest.New(t)
	mark := regexp.MustCompile(`name="once" value="([^"]+)"`).FindStringSubmatch(s.Get(endpoints.Path + "/new").Body)
	require.NotNil(t, mark, "the form carries a mark")
	form := fields("https://8.8.8.8/hook", [2]string{"once", mark[1]})
	answers := make(chan dashtest.Answer, 2)
	for range 2 {
		go func() { answers <- s.Post(endpoints.Path, form) }()
	}
	secrets := map[string]bool{}
	for range 2 {
		got := <-answers
		require.Equal(t, http.StatusOK, got.StatusCode)
		secrets[regexp.MustCompile(`whsec_[^<]+`).FindString(got.Body)] = true
	}
	require.Len(t, secrets, 1, "both answers show the one secret")
	var count int
	require.NoError(t, s.Store.DB().QueryRowContext(t.Context(), `SELECT count(*) FROM webhook_endpoints WHERE project_id = $1`, string(s.Project.ID)).Scan(&count))
	require.Equal(t, 1, count)
}

func TestAnotherProjectsEndpointsDoNotExist(t *testing.T) {
	t.Parallel()
	s := dashtest.New(t)
	e := newEndpoint(s, "https://hooks.example.com/in")
	_, email := s.NewProject("Foreign")
	foreign := s.As(email)
	path := endpoints.Path + "/" + e.ID
	require.Equal(t, http.StatusNotFound, foreign.Get(path).StatusCode)
	require.Equal(t, http.StatusNotFound, foreign.Get(path+"/delete").StatusCode)
	for _, page := range []string{"/edit", "/resume", "/rotate-secret", "/test/whd_01JDZZZZZZZZZZZZZZZZZZZZZZ"} {
		require.Equal(t, http.StatusNotFound, foreign.Get(path+page).StatusCode, page)
	}
	require.NotContains(t, foreign.Get(endpoints.Path).Body, e.ID)
	for _, deed := range []string{"", "/pause", "/resume", "/test", "/rotate-secret", "/delete"} {
		require.Equal(t, http.StatusNotFound, foreign.Post(path+deed, nil).StatusCode, deed)
		require.Equal(t, http.StatusForbidden, s.Post(path+deed, nil, [2]string{"Sec-Fetch-Site", "cross-site"}).StatusCode, deed)
	}
	s.Exec(`UPDATE project_members SET role = 'member' WHERE project_id = $1`, string(s.Project.ID))
	require.Equal(t, http.StatusForbidden, s.Post(path+"/rotate-secret", nil).StatusCode)
	require.Equal(t, http.StatusForbidden, s.Post(endpoints.Path, url.Values{"url": {"https://203.0.113.9/"}, "event_types": {"*"}}).StatusCode)
	require.Equal(t, int64(1), int64(read(t, s, e.ID).Version), "nothing was changed")
}

// fields are a form as the browser sends it.
func fields(address string, changes ...[2]string) url.Values {
	form := url.Values{"url": {address}, "description": {"CRM"}, "event_types": {"contact.*\r\n\r\nmessage.sent"}, "headers": {"X-Team: crm\r\nAuthorization: Bearer a secret value"}, "max_in_flight": {"3"}, "rate_per_second": {""}}
	for _, change := range changes {
		form.Set(change[0], change[1])
	}
	return form
}

func TestCreatedAndChangedByTheRulesOfTheAPI(t *testing.T) {
	t.Parallel()
	s := dashtest.New(t)
	require.Equal(t, http.StatusOK, s.Get(endpoints.Path+"/new").StatusCode)
	for want, form := range map[string]url.Values{
		"169.254.169.254 is":         fields("http://169.254.169.254/latest"),
		"http:// or https://":        fields("ftp://8.8.8.8/"),
		"An event type is written":   fields("https://8.8.8.8/", [2]string{"event_types", "*\nNot a type"}),
		"The value must be 1 to":     fields("https://8.8.8.8/", [2]string{"max_in_flight", "101"}),
		"This is no whole number":    fields("https://8.8.8.8/", [2]string{"rate_per_second", "many"}),
		"set by the platform":        fields("https://8.8.8.8/", [2]string{"headers", "X-Botix-Signature: mine"}),
		"a name, a colon":            fields("https://8.8.8.8/", [2]string{"headers", "nothing"}),
		"At least one event type is": fields("https://8.8.8.8/", [2]string{"event_types", ""}),
	} {
		got := s.Post(endpoints.Path, form)
		require.Equal(t, http.StatusUnprocessableEntity, got.StatusCode, want)
		require.Contains(t, got.Body, want, want)
		require.Contains(t, got.Body, `value="CRM"`, "what was typed stays")
	}
	made := s.Post(endpoints.Path, fields("https://8.8.8.8/hook"))
	require.Equal(t, http.StatusOK, made.StatusCode)
	dashtest.RequireStrict(t, made)
	id := regexp.MustCompile(`whe_[0-9A-Z]+`).FindString(made.Body)
	e := read(t, s, id)
	require.Contains(t, made.Body, strings.ReplaceAll(e.Secrets[0].Value, "+", "&#43;"))
	require.Equal(t, []string{"contact.*", "message.sent"}, e.EventTypes)
	require.Equal(t, map[string]string{"X-Team": "crm", "Authorization": "Bearer a secret value"}, e.Headers)
	require.Equal(t, 3, e.MaxInFlight)

	edit := s.Get(endpoints.Path + "/" + id + "/edit")
	require.NotContains(t, edit.Body, "a secret value")
	form := fields("https://8.8.8.8/hook", [2]string{"headers", "Authorization: ***\nX-New: 1"}, [2]string{"rate_per_second", "7"}, [2]string{"version", `"1"`})
	require.Equal(t, http.StatusSeeOther, s.Post(endpoints.Path+"/"+id, form).StatusCode)
	e = read(t, s, id)
	require.Equal(t, map[string]string{"X-New": "1", "Authorization": "Bearer a secret value"}, e.Headers, "*** keeps, a line taken away removes")
	require.Equal(t, 7, *e.RatePerSecond)
	require.Equal(t, http.StatusConflict, s.Post(endpoints.Path+"/"+id, form).StatusCode, "somebody else was faster")
}

func TestWhatIsHeldIsCountedAndDecidedAbout(t *testing.T) {
	t.Parallel()
	s := dashtest.New(t)
	for held, want := range map[string]string{"deliver": "pending", "keep": "held", "discard": "cancelled"} {
		e := newEndpoint(s, "https://hooks.example.com/in")
		s.Exec(`INSERT INTO webhook_deliveries (project_id, id, event_id, event_type, endpoint_id, status)
			SELECT $1, 'whd_' || $2 || n, 'evt_' || $2 || n, 'contact.created', $3, 'held' FROM generate_series(1, 21) n`, string(s.Project.ID), held, e.ID)
		s.Exec(`UPDATE webhook_endpoints SET status = 'disabled' WHERE id = $1`, e.ID)
		path := endpoints.Path + "/" + e.ID
		page := s.Get(path, [2]string{"Accept-Language", "ru"})
		dashtest.RequireStrict(t, page)
		require.Contains(t, page.Body, "Его ждёт 21 событие.")
		require.Contains(t, s.Get(path).Body, "five days without a success", "the reason, and what to do")
		require.Equal(t, http.StatusOK, s.Get(path+"/resume?held=discard").StatusCode)
		require.Equal(t, http.StatusSeeOther, s.Post(path+"/resume", url.Values{"held": {held}}).StatusCode)
		var count int
		require.NoError(t, s.Store.DB().QueryRowContext(t.Context(), `SELECT count(*) FROM webhook_deliveries WHERE endpoint_id = $1 AND status = $2`, e.ID, want).Scan(&count))
		require.Equal(t, 21, count, held)
	}
}

func TestATestEventIsFollowedToItsEnd(t *testing.T) {
	t.Parallel()
	s := dashtest.New(t)
	e := newEndpoint(s, "https://hooks.example.com/in")
	require.NoError(t, s.Store.KeepPartitions(t.Context()))
	location := s.Post(endpoints.Path+"/"+e.ID+"/test", nil).Header.Get("Location")
	delivery := regexp.MustCompile(`whd_[0-9A-Z]+`).FindString(location)
	part := endpoints.Path + "/" + e.ID + "/test/" + delivery
	require.Contains(t, s.Get(part).Body, "data-live")
	s.Exec(`UPDATE webhook_deliveries SET attempt_count = 1 WHERE id = $1`, delivery)
	s.Exec(`INSERT INTO webhook_attempts (project_id, id, delivery_id, endpoint_id, event_type, number, step, manual, url, error_class, error, duration_ms, started_at)
		VALUES ($1, compact_id($2), compact_id($3), compact_id($4), 'webhook_endpoint.test', 1, 1, false, 'https://x', 'refused', 'the host <b>refused</b> it', 12, now())`,
		string(s.Project.ID), models.NewID(models.PrefixAttempt, clock.System{}.Now()), delivery, e.ID)
	over := s.Get(part)
	require.NotContains(t, over.Body, "data-live")
	require.Contains(t, over.Body, "the host &lt;b&gt;refused&lt;/b&gt; it")
	require.Equal(t, http.StatusNotFound, s.Get(endpoints.Path+"/"+newEndpoint(s, "https://x.example.com").ID+"/test/"+delivery).StatusCode)
}

func TestEndpointsInTheBrowser(t *testing.T) {
	t.Parallel()
	s := dashtest.New(t)
	e := newEndpoint(s, "https://hooks.example.com/"+strings.Repeat("segment/", 20))
	gone := newEndpoint(s, "https://приём.example.com/in")
	s.History("key_1", e, gone)
	s.Exec(`UPDATE webhook_endpoints SET status = 'disabled' WHERE id = $1`, gone.ID)
	s.Exec(`INSERT INTO webhook_deliveries (project_id, id, event_id, event_type, endpoint_id, status)
		SELECT $1, 'whd_' || n, 'evt_' || n, 'contact.created', $2, 'held' FROM generate_series(1, 312) n`, string(s.Project.ID), gone.ID)
	s.Exec(`INSERT INTO webhook_endpoint_health (project_id, endpoint_id, last_success_at, last_failure_at) VALUES ($1, $2, now(), now() - interval '2 days')`, string(s.Project.ID), e.ID)
	running := browser.Start(t)
	for _, language := range ui.Languages() { //nolint:paralleltest // one browser, one site
		t.Run(string(language), func(t *testing.T) {
			tab := s.Tab(t, running, language, endpoints.Path)
			tab.Inspect("endpoints-" + string(language))
			tab.Open(s.URL + endpoints.Path + "/" + gone.ID)
			tab.Click(`[data-dialog="resume"]`)
			tab.Wait("dialog[open]")
			tab.Inspect("endpoint-resume-" + string(language))
			tab.Open(s.URL + endpoints.Path + "/" + e.ID + "?range=7d")
			tab.Wait(".uplot canvas")
			tab.Inspect("endpoint-" + string(language))
			tab.TabTo("#send-test")
			tab.Press("\r")
			tab.Wait("#test[data-live]")
			tab.Click(`[data-dialog="rotate-secret"]`)
			tab.Wait("dialog[open]")
			tab.Click("dialog[open] .primary")
			tab.Wait("#secret")
			tab.Inspect("endpoint-secret-" + string(language))
			writtenByKeyboard(tab, s.URL+endpoints.Path+"/new", string(language))
			tab.RequireQuiet(s.URL)
		})
	}
}

// writtenByKeyboard makes an endpoint, first with a mistake, and looks at its form
// again.
func writtenByKeyboard(tab *browser.Tab, address, language string) {
	tab.Open(address)
	tab.Inspect("endpoint-new-" + language)
	tab.Fill("#url", "https://8.8.8.8/"+strings.Repeat("segment/", 20))
	tab.Fill("#event_types", "contact.*")
	tab.Fill("#max_in_flight", "101")
	tab.Press("\r")
	tab.Wait("#problem")
	tab.Forgive()
	tab.Inspect("endpoint-wrong-" + language)
	tab.Fill("#max_in_flight", "20")
	tab.Press("\r")
	tab.Wait("#secret")
	tab.Click(".once a.button")
	tab.Click(`a[href$="/edit"]`)
	tab.Wait("#event_types")
	tab.Inspect("endpoint-edit-" + language)
}
