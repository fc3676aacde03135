package endpoints_test

import (
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/botix-pro/platform/app/models"
	"github.com/botix-pro/platform/app/store"
	"github.com/botix-pro/platform/internal/clock"
	"github.com/botix-pro/platform/internal/testenv"
	"github.com/botix-pro/platform/internal/testenv/browser"
	"github.com/botix-pro/platform/test/dashtest"
	"github.com/botix-pro/platform/web/dashboard/endpoints"
	"github.com/botix-pro/platform/web/ui"
)

func TestMain(m *testing.M) { testenv.Main(m) }

func newEndpoint(s *dashtest.Site, address string) *models.WebhookEndpoint {
	at := clock.System{}.Now()
	e := &models.WebhookEndpoint{
		ProjectID: s.Project.ID, ID: models.NewID(models.PrefixEndpoint, at), URL: address, EventTypes: []string{"contact.*"}, Version: 1,
		Status: models.EndpointActive, MaxInFlight: 10, Secrets: []models.EndpointSecret{{Value: "whsec_b2xkIHNlY3JldCBvbGQgc2VjcmV0IG9sZA=="}},
		Headers: map[string]string{"Authorization": "a secret value"}, Description: "<b>CRM</b>", CreatedAt: at, UpdatedAt: at,
	}
	s.Write(s.Project.ID, func(tx *store.Tx) error { return tx.CreateEndpoint(e) })
	return e
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
	require.Regexp(t, "^/developers/deliveries/whd_", tested.Header.Get("Location"))
	require.Contains(t, s.Get(tested.Header.Get("Location")).Body, "A test event is on its way.")
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

func TestAnotherProjectsEndpointsDoNotExist(t *testing.T) {
	t.Parallel()
	s := dashtest.New(t)
	e := newEndpoint(s, "https://hooks.example.com/in")
	_, email := s.NewProject("Foreign")
	foreign := s.As(email)
	path := endpoints.Path + "/" + e.ID
	require.Equal(t, http.StatusNotFound, foreign.Get(path).StatusCode)
	require.Equal(t, http.StatusNotFound, foreign.Get(path+"/delete").StatusCode)
	for _, deed := range []string{"/pause", "/resume", "/test", "/rotate-secret", "/delete"} {
		require.Equal(t, http.StatusNotFound, foreign.Post(path+deed, nil).StatusCode, deed)
		require.Equal(t, http.StatusForbidden, s.Post(path+deed, nil, [2]string{"Sec-Fetch-Site", "cross-site"}).StatusCode, deed)
	}
	s.Exec(`UPDATE project_members SET role = 'member' WHERE project_id = $1`, string(s.Project.ID))
	require.Equal(t, http.StatusForbidden, s.Post(path+"/rotate-secret", nil).StatusCode)
	require.Equal(t, int64(1), int64(read(t, s, e.ID).Version), "nothing was changed")
}

func TestEndpointsInTheBrowser(t *testing.T) {
	t.Parallel()
	s := dashtest.New(t)
	e := newEndpoint(s, "https://hooks.example.com/"+strings.Repeat("segment/", 20))
	paused := newEndpoint(s, "https://приём.example.com/in")
	s.Exec(`UPDATE webhook_endpoints SET status = 'disabled' WHERE id = $1`, paused.ID)
	running := browser.Start(t)
	for _, language := range ui.Languages() { //nolint:paralleltest // one browser, one site
		t.Run(string(language), func(t *testing.T) {
			tab := s.Tab(t, running, language, endpoints.Path)
			tab.Inspect("endpoints-" + string(language))
			tab.Open(s.URL + endpoints.Path + "/" + e.ID)
			tab.Inspect("endpoint-" + string(language))
			tab.Click(`[action$="rotate-secret"] button`)
			tab.Wait("#secret")
			tab.Inspect("endpoint-secret-" + string(language))
			tab.RequireQuiet(s.URL)
		})
	}
}
