package usage_test

import (
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/botix-pro/platform/internal/testenv"
	"github.com/botix-pro/platform/internal/testenv/browser"
	"github.com/botix-pro/platform/test/dashtest"
	"github.com/botix-pro/platform/web/dashboard/usage"
	"github.com/botix-pro/platform/web/ui"
)

func TestMain(m *testing.M) { testenv.Main(m) }

func TestUsageTellsThePlanAndWhatIsUsed(t *testing.T) {
	t.Parallel()
	s := dashtest.New(t)
	quiet := s.Get(usage.Path)
	require.Contains(t, quiet.Body, "No request in the last hour")
	s.History("key_<script>")
	dashtest.Languages(t, func(t *testing.T, language ui.Language, header [2]string) {
		got := s.Get(usage.Path, header)
		require.Equal(t, http.StatusOK, got.StatusCode)
		dashtest.RequireStrict(t, got)
		for _, text := range []string{"key_&lt;script&gt;", "X-RateLimit-Remaining", map[ui.Language]string{ui.English: "2,000 of 2,000 requests in a minute", ui.Russian: "2\u00a0000 из 2\u00a0000 запросов за минуту"}[language]} {
			require.Contains(t, got.Body, text)
		}
	})
	for _, text := range []string{"IDEMPOTENCY_KEY_EXPIRED", "is deleted and can no longer be retried", "Business – yours", `data-label="Enterprise"`, "10,000 a minute", "72 hours", "90 days"} {
		require.Contains(t, quiet.Body, text, "every plan, and what happens at each limit")
	}
	s.Exec(`UPDATE projects SET plan_id = 'enterprise' WHERE id = $1`, string(s.Project.ID))
	require.Contains(t, s.Get(usage.Path).Body, "goes to the archive")
	_, email := s.NewProject("Foreign")
	require.Contains(t, s.As(email).Get(usage.Path).Body, "No request in the last hour", "another project's requests are its own")
}

func TestUsageInTheBrowser(t *testing.T) {
	t.Parallel()
	s := dashtest.New(t)
	s.History("key_01JDZZZZZZZZZZZZZZZZZZZZZZ")
	running := browser.Start(t)
	for _, language := range ui.Languages() { //nolint:paralleltest // one browser, one site
		t.Run(string(language), func(t *testing.T) {
			tab := s.Tab(t, running, language, usage.Path)
			tab.Wait(".uplot canvas")
			tab.Inspect("usage-" + string(language))
			tab.RequireQuiet(s.URL)
		})
	}
}
