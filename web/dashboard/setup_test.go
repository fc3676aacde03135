package dashboard

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"net/http/cookiejar"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/labstack/echo/v4"
	"github.com/stretchr/testify/require"

	"github.com/botix-pro/platform/app/models"
	"github.com/botix-pro/platform/app/store"
	"github.com/botix-pro/platform/internal/clock"
	"github.com/botix-pro/platform/internal/egress"
	"github.com/botix-pro/platform/internal/testenv"
	"github.com/botix-pro/platform/web/dashboard/deliveries"
)

func TestMain(m *testing.M) { testenv.Main(m) }

// The addresses that the tests ask for.
const (
	pathDeliveries = deliveries.Path
	pathAttempts   = pathRoot + "/attempts/"
	pathNotices    = pathRoot + "/notices/"
)

const (
	testEmail    = "ada@example.com"
	testPassword = "correct horse battery staple"
	testRequest  = "req_01JDZZZZZZZZZZZZZZZZZZZZZZ"
)

var (
	testNow     = time.Date(2026, 12, 1, 14, 3, 21, 500_000_000, time.UTC)
	testProject = models.ProjectID("prj_01JDZZZZZZZZZZZZZZZZZZZZZZ")
	// testHash is made once: hashing is slow on purpose.
	testHash = sync.OnceValue(func() string {
		hash, err := HashPassword(testPassword)
		if err != nil {
			panic(err)
		}
		return hash
	})
)

var _ Queries = (*store.Store)(nil)

// fakeQueries is a store of one project, newest attempt first.
type fakeQueries struct {
	Queries // nil: what is not faked is not asked

	project   *models.Project // nil: the user is in no project
	attention store.Attention
	attempts  []models.WebhookAttempt
	delivery  models.WebhookDelivery
	event     models.Event
	notices   []models.Notice
	err       error // of everything about attempts
	panics    bool
}

func (f *fakeQueries) UserByEmail(_ context.Context, email string) (*models.User, error) {
	if email != testEmail {
		return nil, store.ErrNotFound
	}
	return &models.User{ID: "usr_1", Email: testEmail, PasswordHash: testHash()}, nil
}

func (f *fakeQueries) Memberships(_ context.Context, user string, _ time.Time) ([]models.Membership, error) {
	if user != "usr_1" || f.project == nil {
		return nil, nil
	}
	return []models.Membership{{Project: *f.project, Role: models.RoleOwner}}, nil
}

func (f *fakeQueries) SessionEnded(context.Context, string, time.Time) (bool, error) {
	return false, nil
}

func (f *fakeQueries) Attention(context.Context, models.ProjectID) (store.Attention, error) {
	return f.attention, nil
}

func (f *fakeQueries) WebhookAttempts(
	_ context.Context, project models.ProjectID, filter store.AttemptFilter, page store.Page,
) (store.AttemptList, error) {
	if f.panics {
		panic("a secret in a panic")
	}
	var list store.AttemptList
	for _, a := range f.attempts {
		if a.ProjectID != project || page.Before != "" && a.ID >= page.Before || a.ID <= filter.After {
			continue
		}
		if len(list.Rows) == page.Limit {
			list.Next = list.Rows[page.Limit-1].ID
			break
		}
		list.Rows = append(list.Rows, a)
	}
	return list, f.err
}

func (f *fakeQueries) AttemptsOfDelivery(context.Context, models.ProjectID, string) ([]models.WebhookAttempt, error) {
	return f.attempts[:min(1, len(f.attempts))], f.err
}

func (f *fakeQueries) Endpoints(context.Context, models.ProjectID, store.Page) ([]models.WebhookEndpoint, error) {
	return nil, nil
}

func (f *fakeQueries) EndpointNames(context.Context, models.ProjectID) ([]store.EndpointName, error) {
	return nil, nil
}

func (f *fakeQueries) OperationOfRequest(context.Context, models.ProjectID, string) (string, error) {
	return "", nil
}

func (f *fakeQueries) WebhookAttempt(_ context.Context, project models.ProjectID, id string) (
	*models.WebhookAttempt, *models.WebhookDelivery, *models.Event, error,
) {
	if f.err != nil {
		return nil, nil, nil, f.err
	}
	for _, a := range f.attempts {
		if a.ID == id && a.ProjectID == project {
			return &a, &f.delivery, &f.event, nil
		}
	}
	return nil, nil, nil, store.ErrNotFound
}

func (f *fakeQueries) Notices(_ context.Context, project models.ProjectID, limit int) ([]models.Notice, error) {
	var list []models.Notice
	for _, n := range f.notices {
		if n.ProjectID == project && len(list) < limit {
			list = append(list, n)
		}
	}
	return list, nil
}

func (f *fakeQueries) DismissNotice(_ context.Context, project models.ProjectID, id string) error {
	kept := slices.DeleteFunc(slices.Clone(f.notices), func(n models.Notice) bool { return n.ProjectID == project && n.ID == id })
	if len(kept) == len(f.notices) {
		return store.ErrNotFound
	}
	f.notices = kept
	return nil
}

// The overview of a project about which nothing is known.

func (f *fakeQueries) Overview(context.Context, models.ProjectID) (store.Overview, error) {
	return store.Overview{}, nil
}

func (f *fakeQueries) Rollups(context.Context, models.ProjectID, time.Time, time.Time) ([]models.Rollup, error) {
	return nil, nil
}

func (f *fakeQueries) RollupTotals(context.Context, models.ProjectID, time.Time, time.Time) (attempts, successes int64, err error) {
	return 0, 0, nil
}

func (f *fakeQueries) RequestRollups(context.Context, models.ProjectID, time.Time, time.Time) ([]models.RequestRollup, error) {
	return nil, nil
}

func (f *fakeQueries) RequestMinutes(context.Context, models.ProjectID, time.Time, time.Time) ([]models.RequestMinute, error) {
	return nil, nil
}

func (f *fakeQueries) EndpointsHealth(context.Context, models.ProjectID, []string) (map[string]models.EndpointHealth, error) {
	return map[string]models.EndpointHealth{}, nil
}

func (f *fakeQueries) APIKeys(context.Context, models.ProjectID) ([]models.APIKey, error) {
	return nil, nil
}

func (f *fakeQueries) Plans(context.Context) ([]models.Plan, error) { return nil, nil }

// newQueries is a project with so many delivered attempts, one a minute.
func newQueries(count int) *fakeQueries {
	f := &fakeQueries{
		project:  &models.Project{ID: testProject, Name: "Acme", Mode: models.ModeTest, PlanID: "business"},
		delivery: models.WebhookDelivery{Status: models.DeliveryDelivered, AttemptCount: 1},
		event:    models.Event{Body: []byte(`{"id":"evt_1","amount":12345678901234567890}`), RequestID: "req_cause"},
	}
	for i := range count {
		f.attempts = append(f.attempts, attemptAt(testNow.Add(-time.Duration(i)*time.Minute)))
	}
	return f
}

func attemptAt(at time.Time) models.WebhookAttempt {
	status := http.StatusNoContent
	return models.WebhookAttempt{
		ProjectID: testProject, ID: models.NewID(models.PrefixAttempt, at), DeliveryID: "whd_1", EndpointID: "whe_1", EventID: "evt_1",
		EventType: "contact.created", Number: 1, Step: 1, URL: "https://hooks.example.com/in", RequestID: "req_attempt",
		RequestHeaders: []byte(`{"X-Event-Id":["evt_1"]}`), StatusCode: &status, ResponseHeaders: []byte(`{"Server":["test"]}`),
		Timing: models.AttemptTiming{DNSMs: 3, FirstByteMs: 12, DurationMs: 40}, StartedAt: at,
	}
}

// failedWith changes the newest attempt into a failed one.
func (f *fakeQueries) failedWith(status int, class models.ErrorClass, text string) {
	newest := &f.attempts[0]
	newest.StatusCode, newest.ErrorClass, newest.Error = &status, &class, text
	if status == 0 {
		newest.StatusCode, newest.ResponseHeaders = nil, nil
	}
}

// site is a dashboard behind a server, with a browser's cookies.
type site struct {
	*httptest.Server
	t         testing.TB
	dashboard *Dashboard
	client    *http.Client
	log       *logBuffer
	clock     *clock.Manual
}

// newSite serves a dashboard whose sessions are in memory.
func newSite(t testing.TB, queries Queries) *site {
	t.Helper()
	s := &site{t: t, log: &logBuffer{}, clock: clock.NewManual(testNow)}
	d, err := assemble(Config{
		Queries: queries, Log: slog.New(slog.NewTextHandler(s.log, nil)), Clock: s.clock, PublicURL: "http://api.example.com/", Hint: func([]store.Lane) {},
		URLs: egress.New(nil),
	})
	require.NoError(t, err)
	s.serve(d)
	return s
}

func (s *site) serve(d *Dashboard) {
	e := echo.New()
	e.Use(func(next echo.HandlerFunc) echo.HandlerFunc {
		return func(c echo.Context) error {
			c.Response().Header().Set(headerRequestID, testRequest)
			return next(c)
		}
	})
	d.Register(e)
	s.dashboard = d
	s.Server = httptest.NewServer(e)
	s.t.Cleanup(s.Close)
	s.client = s.newClient()
}

// newClient is another browser. It does not follow redirects.
func (s *site) newClient() *http.Client {
	jar, err := cookiejar.New(nil)
	require.NoError(s.t, err)
	return &http.Client{Jar: jar, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
}

// answer is what came back, read.
type answer struct {
	*http.Response
	body string
}

func (s *site) do(r *http.Request) answer {
	s.t.Helper()
	response, err := s.client.Do(r)
	require.NoError(s.t, err)
	body, err := io.ReadAll(response.Body)
	require.NoError(s.t, errors.Join(err, response.Body.Close()))
	return answer{response, string(body)}
}

func (s *site) get(path string) answer {
	s.t.Helper()
	r, err := http.NewRequestWithContext(s.t.Context(), http.MethodGet, s.URL+path, nil)
	require.NoError(s.t, err)
	return s.do(r)
}

// post sends a form the way a browser does from our own page.
func (s *site) post(path string, form url.Values, headers ...[2]string) answer {
	s.t.Helper()
	r, err := http.NewRequestWithContext(s.t.Context(), http.MethodPost, s.URL+path, strings.NewReader(form.Encode()))
	require.NoError(s.t, err)
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	r.Header.Set("Sec-Fetch-Site", "same-origin")
	for _, header := range headers {
		r.Header.Set(header[0], header[1])
	}
	return s.do(r)
}

func (s *site) trySignIn(email, password string) answer {
	s.t.Helper()
	return s.post(pathSignIn, url.Values{"email": {email}, "password": {password}})
}

func (s *site) signIn() {
	s.t.Helper()
	got := s.trySignIn(testEmail, testPassword)
	require.Equal(s.t, http.StatusSeeOther, got.StatusCode, got.body)
}

// signedIn is a site whose browser is signed in.
func signedIn(t testing.TB, queries Queries) *site {
	t.Helper()
	s := newSite(t, queries)
	s.signIn()
	return s
}

// cookie returns the browser's session cookie, nil when there is none.
func (s *site) cookie() *http.Cookie {
	s.t.Helper()
	at, err := url.Parse(s.URL + pathRoot)
	require.NoError(s.t, err)
	for _, cookie := range s.client.Jar.Cookies(at) {
		if cookie.Name == cookieName {
			return cookie
		}
	}
	return nil
}

// logBuffer collects the log.
type logBuffer struct {
	mu   sync.Mutex
	text strings.Builder
}

func (b *logBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text.Write(p)
}

func (b *logBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text.String()
}
