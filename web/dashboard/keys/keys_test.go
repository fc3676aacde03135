package keys_test

import (
	"fmt"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/botix-pro/platform/app/models"
	"github.com/botix-pro/platform/app/store"
	"github.com/botix-pro/platform/internal/testenv"
	"github.com/botix-pro/platform/internal/testenv/browser"
	"github.com/botix-pro/platform/test/dashtest"
	"github.com/botix-pro/platform/web/dashboard/keys"
	"github.com/botix-pro/platform/web/ui"
)

func TestMain(m *testing.M) { testenv.Main(m) }

func stored(t *testing.T, s *dashtest.Site) []models.APIKey {
	t.Helper()
	list, err := s.Store.APIKeys(t.Context(), s.Project.ID)
	require.NoError(t, err)
	return list
}

func TestANewKeyIsShownOnceAndWorks(t *testing.T) {
	t.Parallel()
	s := dashtest.New(t)
	require.Contains(t, s.Get(keys.Path).Body, "There is no API key yet")
	made := s.Post(keys.Path, url.Values{"name": {"billing <b>"}, "scope": {"read"}, "lifetime": {"720h0m0s"}})
	require.Equal(t, http.StatusOK, made.StatusCode)
	dashtest.RequireStrict(t, made)
	secret := regexp.MustCompile(`btx_test_[0-9A-Za-z]{38}`).FindString(made.Body)
	require.NotEmpty(t, secret)
	require.NotContains(t, s.Get(keys.Path).Body, secret)

	caller, err := s.Store.CallerByKeyHash(t.Context(), models.HashAPIKey(secret))
	require.NoError(t, err)
	require.Equal(t, s.Project.ID, caller.Project.ID)
	require.Equal(t, []models.Scope{models.ScopeRead}, caller.Key.Scopes)
	require.WithinDuration(t, time.Now().AddDate(0, 0, 30), *caller.Key.ExpiresAt, time.Minute)
	require.Contains(t, s.Get(ui.Root+"/members").Body, "Created an API key")
}

func TestAFormThatIsSentTwiceMakesOneKey(t *testing.T) {
	t.Parallel()
	s := dashtest.New(t)
	form := url.Values{"name": {"n"}, "scope": {"read"}, "once": {models.NewID("", dashtest.Now())}}
	require.Equal(t, http.StatusOK, s.Post(keys.Path, form).StatusCode)
	again := s.Post(keys.Path, form)
	require.Equal(t, http.StatusConflict, again.StatusCode)
	require.Contains(t, again.Body, "This form was sent twice.")
	require.Len(t, stored(t, s), 1)
}

func TestAFormThatIsWrongKeepsWhatWasTyped(t *testing.T) {
	t.Parallel()
	s := dashtest.New(t)
	for problem, form := range map[string]url.Values{
		"A name has 1 to 200 characters.": {"name": {strings.Repeat("x", 201)}, "scope": {"read"}},
		"Choose what the key may do.":     {"name": {"mobile"}, "lifetime": {"2160h0m0s"}},
		"1 to 200":                        {"name": {"\x00"}, "scope": {"write", "admin"}},
	} {
		got := s.Post(keys.Path, form)
		require.Equal(t, http.StatusUnprocessableEntity, got.StatusCode)
		dashtest.RequireStrict(t, got)
		require.Contains(t, got.Body, problem)
	}
	kept := s.Post(keys.Path, url.Values{"name": {"mobile"}, "lifetime": {"2160h0m0s"}}).Body
	require.Contains(t, kept, `value="mobile"`)
	require.Contains(t, kept, `<option value="2160h0m0s" selected>`)
	require.Empty(t, stored(t, s))
}

func TestTheTwentyFirstKeyIsRefused(t *testing.T) {
	t.Parallel()
	s := dashtest.New(t)
	for range store.MaxActiveKeys {
		require.Equal(t, http.StatusOK, s.Post(keys.Path, url.Values{"name": {"n"}, "scope": {"read"}}).StatusCode)
	}
	require.Equal(t, http.StatusConflict, s.Post(keys.Path, url.Values{"name": {"n"}, "scope": {"read"}}).StatusCode)
	require.Len(t, stored(t, s), store.MaxActiveKeys)
}

func TestOnlyOwnersOfTheProjectRevokeItsKeys(t *testing.T) {
	t.Parallel()
	s := dashtest.New(t)
	s.Post(keys.Path, url.Values{"name": {"n"}, "scope": {"read"}})
	revoke := keys.Path + "/" + stored(t, s)[0].ID + "/revoke"
	_, foreign := s.NewProject("Foreign")
	require.Equal(t, http.StatusNotFound, s.As(foreign).Post(revoke, nil).StatusCode)
	require.Equal(t, http.StatusNotFound, s.Post(keys.Path+"/key_x/revoke", nil).StatusCode)
	require.Equal(t, http.StatusForbidden, s.Post(revoke, nil, [2]string{"Sec-Fetch-Site", "cross-site"}).StatusCode)
	s.Exec(`UPDATE project_members SET role = 'member' WHERE project_id = $1`, string(s.Project.ID))
	require.Equal(t, http.StatusForbidden, s.Post(revoke, nil).StatusCode)
	require.Equal(t, http.StatusForbidden, s.Post(keys.Path, url.Values{"name": {"n"}, "scope": {"read"}}).StatusCode)
	require.Contains(t, s.Get(keys.Path).Body, "Only owners create and revoke API keys.")
	require.Nil(t, stored(t, s)[0].RevokedAt)

	s.Exec(`UPDATE project_members SET role = 'owner' WHERE project_id = $1`, string(s.Project.ID))
	require.Equal(t, http.StatusSeeOther, s.Post(revoke, nil).StatusCode)
	require.NotNil(t, stored(t, s)[0].RevokedAt)
	require.Contains(t, s.Get(keys.Path).Body, "The key was revoked.")
}

func TestKeysInTheBrowser(t *testing.T) {
	t.Parallel()
	s := dashtest.New(t)
	for i, name := range []string{"Магазин, боевой", strings.Repeat("a very long name ", 11), "old", "unused"} {
		s.Post(keys.Path, url.Values{"name": {name}, "scope": {"read", "write"}, "lifetime": {"720h0m0s"}})
		s.Exec(fmt.Sprintf(`UPDATE api_keys SET last_used_at = CASE WHEN %d < 3 THEN now() - interval '%d hours' END`, i, i+1))
	}
	s.Exec(`UPDATE api_keys SET expires_at = now() - interval '1 day' WHERE name = 'old'`)
	s.Exec(`UPDATE api_keys SET revoked_at = now() WHERE name LIKE 'a very%'`)
	running := browser.Start(t)
	for _, language := range ui.Languages() { //nolint:paralleltest // one browser, one site
		t.Run(string(language), func(t *testing.T) {
			tab := s.Tab(t, running, language, keys.Path)
			tab.Inspect("keys-" + string(language))
			tab.Fill("#name", "from the browser")
			tab.Press("\r")
			tab.Wait("#secret")
			tab.Inspect("keys-made-" + string(language))
			tab.Open(s.URL + keys.Path)
			tab.Click("[data-dialog]")
			tab.Wait("dialog[open]")
			tab.Inspect("keys-revoke-" + string(language))
			tab.Click("dialog[open] .danger")
			tab.Wait(".done")
			tab.RequireQuiet(s.URL)
		})
	}
}
