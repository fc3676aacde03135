package dashboard

import (
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/botix-pro/platform/app/models"
)

// told is a project whose members were told of one failing endpoint.
func told(url string) (*fakeQueries, models.Notice) {
	since := testNow.AddDate(0, 0, -3)
	n := models.Notice{
		ProjectID: testProject, ID: models.NewID(models.PrefixNotice, testNow), Kind: models.NoticeFailing, EndpointID: "whe_1", Level: 50,
		Params: models.NoticeParams{URL: url, FailingSince: &since, Failures: 7}, CreatedAt: testNow,
	}
	queries := newQueries(1)
	queries.notices = []models.Notice{n}
	return queries, n
}

func TestNoticesStandOnTheOverviewUntilDismissed(t *testing.T) {
	t.Parallel()
	queries, n := told("https://hooks.example.com/<script>alert(1)</script>")
	s := signedIn(t, queries)
	got := s.get(pathHome)
	requireStrict(t, got)
	require.Contains(t, got.body, "50% of the way to being disabled")
	require.Contains(t, got.body, `<time datetime="2026-11-28T14:03:21.500Z" data-local>`)
	require.NotContains(t, got.body, "<script>alert")
	require.Less(t, strings.Index(got.body, "50% of the way"), strings.Index(got.body, `id="figures"`))

	dismissed := s.post(pathNotices+n.ID+"/dismiss", nil)
	require.Equal(t, http.StatusSeeOther, dismissed.StatusCode)
	require.Equal(t, pathHome, dismissed.Header.Get("Location"))
	require.NotContains(t, s.get(pathHome).body, "of the way")
}

func TestOnlyTheProjectsOwnNoticesCanBeDismissedAndOnlyFromHere(t *testing.T) {
	t.Parallel()
	queries, n := told("https://hooks.example.com/in")
	foreign := n
	foreign.ProjectID, foreign.ID = "prj_01JDZZZZZZZZZZZZZZZZZZZZZ1", models.NewID(models.PrefixNotice, testNow)
	queries.notices = append(queries.notices, foreign)
	s := newSite(t, queries)
	path := pathNotices + n.ID + "/dismiss"
	require.Contains(t, s.post(path, nil).Header.Get("Location"), pathSignIn, "without a session")
	s.signIn()
	require.Equal(t, http.StatusForbidden, s.post(path, nil, [2]string{"Sec-Fetch-Site", "cross-site"}).StatusCode)
	require.Equal(t, http.StatusNotFound, s.post(pathNotices+foreign.ID+"/dismiss", nil).StatusCode)
	require.Equal(t, http.StatusNotFound, s.post(pathNotices+"ntc_nothing/dismiss", nil).StatusCode)
	require.Equal(t, http.StatusNotFound, s.get(path).StatusCode, "a GET changes nothing")
	require.Len(t, queries.notices, 2)
}
