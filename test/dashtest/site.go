// Package dashtest serves the dashboard over a real database for the tests of its
// sections: a project, a member of it, and a browser's cookies.
package dashtest

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/cookiejar"
	"net/http/httptest"
	"net/url"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/labstack/echo/v4"
	"github.com/stretchr/testify/require"

	"github.com/botix-pro/platform/app/inspector"
	"github.com/botix-pro/platform/app/models"
	"github.com/botix-pro/platform/app/store"
	"github.com/botix-pro/platform/internal/clock"
	"github.com/botix-pro/platform/internal/egress"
	"github.com/botix-pro/platform/internal/seal"
	"github.com/botix-pro/platform/internal/testenv"
	"github.com/botix-pro/platform/internal/testenv/browser"
	"github.com/botix-pro/platform/web/dashboard"
	"github.com/botix-pro/platform/web/ui"
)

// Password is every test member's.
const Password = "correct horse battery staple"

// Now is the time on the site's clock. The database has its own.
func Now() time.Time { return time.Date(2026, 12, 1, 14, 3, 21, 500_000_000, time.UTC) }

// hashed is made once: hashing is slow on purpose.
var hashed = sync.OnceValues(func() (string, error) { return dashboard.HashPassword(Password) }) //nolint:gochecknoglobals // a constant

// Site is a dashboard behind a server, with one member's browser.
type Site struct {
	*httptest.Server
	Store   *store.Store
	Project models.Project
	Email   string
	Hinted  *Hints

	t      testing.TB
	client *http.Client
}

// Hints collects the lanes that the pages announced.
type Hints struct {
	mu    sync.Mutex
	lanes []store.Lane
}

// All returns what was announced so far.
func (h *Hints) All() []store.Lane {
	h.mu.Lock()
	defer h.mu.Unlock()
	return append([]store.Lane(nil), h.lanes...)
}

func (h *Hints) add(lanes []store.Lane) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.lanes = append(h.lanes, lanes...)
}

// New serves a dashboard over a database of its own, with one project (test
// mode, plan business) whose only member is signed in.
func New(t testing.TB) *Site {
	t.Helper()
	return Over(t, open(t))
}

// Over is [New] over a store of the test's own.
func Over(t testing.TB, over *store.Store) *Site {
	t.Helper()
	s := &Site{t: t, Store: over, Hinted: &Hints{}}
	s.Project, s.Email = s.NewProject("Acme")
	s.serve()
	s.client = s.newClient()
	s.SignIn(s.Email)
	return s
}

func open(t testing.TB) *store.Store {
	t.Helper()
	box, err := seal.New([]string{seal.NewKey()})
	require.NoError(t, err)
	s, err := store.Open(t.Context(), store.Config{URL: testenv.FreshDatabaseURL(t), MaxConns: 8, Application: "botix-test"}, box)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, s.Close()) })
	return s
}

// NewProject makes another project with a member of its own.
func (s *Site) NewProject(name string) (project models.Project, email string) {
	s.t.Helper()
	at := clock.System{}.Now()
	project = models.Project{
		ID: models.ProjectID(models.NewID(models.PrefixProject, at)), Name: name, Mode: models.ModeTest, PlanID: "business",
		APIVersion: models.CurrentAPIVersion, CreatedAt: at,
	}
	hash, err := hashed()
	require.NoError(s.t, err)
	user := models.User{
		ID: models.NewID(models.PrefixUser, at), PasswordHash: hash, CreatedAt: at,
		Email: fmt.Sprintf("member-%s@example.com", strings.ToLower(strings.TrimPrefix(string(project.ID), models.PrefixProject))),
	}
	s.Write(project.ID, func(tx *store.Tx) error { tx.CreateProject(project); tx.CreateUser(user); return nil })
	return project, user.Email
}

// Write commits what fn queues in a project.
func (s *Site) Write(project models.ProjectID, fn func(*store.Tx) error) []store.Lane {
	s.t.Helper()
	lanes, err := s.Store.Write(s.t.Context(), project, fn)
	require.NoError(s.t, err)
	return lanes
}

// Exec runs SQL, for states that take the platform long to reach.
func (s *Site) Exec(sql string, args ...any) {
	s.t.Helper()
	_, err := s.Store.DB().ExecContext(s.t.Context(), sql, args...)
	require.NoError(s.t, err)
}

func (s *Site) serve() {
	d, err := dashboard.New(dashboard.Config{
		Queries: s.Store, DB: s.Store.DB(), Log: slog.New(slog.DiscardHandler), Clock: clock.System{},
		PublicURL: "http://api.example.com", Hint: s.Hinted.add, URLs: egress.New(nil),
		Inspector: inspector.NewDesk(s.Store, "test", "http://inspector.example.com"),
	})
	require.NoError(s.t, err)
	s.t.Cleanup(d.Close)
	e := echo.New()
	e.Use(func(next echo.HandlerFunc) echo.HandlerFunc {
		return func(c echo.Context) error {
			c.Response().Header().Set("X-Request-Id", models.NewID(models.PrefixRequest, Now()))
			return next(c)
		}
	})
	d.Register(e)
	s.Server = httptest.NewServer(e)
	s.t.Cleanup(s.Close)
}

// newClient is another browser. It does not follow redirects.
func (s *Site) newClient() *http.Client {
	jar, err := cookiejar.New(nil)
	require.NoError(s.t, err)
	return &http.Client{Jar: jar, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
}

// SignIn makes the browser somebody's.
func (s *Site) SignIn(email string) {
	s.t.Helper()
	s.client = s.newClient()
	got := s.Post(ui.Root+"/sign-in", url.Values{"email": {email}, "password": {Password}})
	require.Equal(s.t, http.StatusSeeOther, got.StatusCode, got.Body)
}

// As is the same site in the browser of somebody else, signed in.
func (s *Site) As(email string) *Site {
	s.t.Helper()
	other := *s
	other.Email = email
	other.SignIn(email)
	return &other
}

// Another is the same site in another browser of the same member.
func (s *Site) Another() *Site { return s.As(s.Email) }

// Anonymous is the same site in a browser where nobody is signed in.
func (s *Site) Anonymous() *Site {
	other := *s
	other.client = s.newClient()
	return &other
}

// TrySignIn posts the sign-in form from a browser where nobody is signed in.
func (s *Site) TrySignIn(email, password string) Answer {
	s.t.Helper()
	return s.Anonymous().Post(ui.Root+"/sign-in", url.Values{"email": {email}, "password": {password}})
}

// Answer is what came back, read.
type Answer struct {
	*http.Response
	Body string
}

// Get asks for a page.
func (s *Site) Get(path string, headers ...[2]string) Answer {
	s.t.Helper()
	return s.do(http.MethodGet, path, "", headers)
}

// Post sends a form the way a browser does from our own page.
func (s *Site) Post(path string, form url.Values, headers ...[2]string) Answer {
	s.t.Helper()
	return s.do(http.MethodPost, path, form.Encode(), append([][2]string{
		{"Content-Type", "application/x-www-form-urlencoded"}, {"Sec-Fetch-Site", "same-origin"},
	}, headers...))
}

func (s *Site) do(method, path, body string, headers [][2]string) Answer {
	s.t.Helper()
	r, err := http.NewRequestWithContext(s.t.Context(), method, s.URL+path, strings.NewReader(body))
	require.NoError(s.t, err)
	for _, header := range headers {
		r.Header.Set(header[0], header[1])
	}
	response, err := s.client.Do(r)
	require.NoError(s.t, err)
	read, err := io.ReadAll(response.Body)
	require.NoError(s.t, errors.Join(err, response.Body.Close()))
	return Answer{response, string(read)}
}

// inlineCode is what the content policy forbids: it would be dead, or worse.
var inlineCode = regexp.MustCompile(`(?i)<[^>]* style=|<style|<[^>]* on[a-z]+=|javascript:|<script(>| type="text|[^>]*[^>]*>\s*[^<\s{\[])|<iframe|ZgotmplZ`)

// RequireStrict holds a page against what is promised of every page: its policy,
// no inline code, no format that went wrong.
func RequireStrict(t testing.TB, got Answer) {
	t.Helper()
	require.Contains(t, got.Header.Get("Content-Security-Policy"), "default-src 'none'; script-src 'self'; style-src 'self'")
	require.Equal(t, "nosniff", got.Header.Get("X-Content-Type-Options"))
	require.Equal(t, []string{"no-store"}, got.Header.Values("Cache-Control"))
	require.NotRegexp(t, inlineCode, got.Body)
	require.NotContains(t, got.Body, "\x00")
	require.NotContains(t, got.Body, "%!", "a format went wrong")
}

// Languages runs a test of pages in both languages: headers make a request ask
// for the language.
func Languages(t *testing.T, test func(t *testing.T, language ui.Language, header [2]string)) {
	t.Helper()
	for _, language := range ui.Languages() {
		t.Run(string(language), func(t *testing.T) { test(t, language, [2]string{"Accept-Language", string(language)}) })
	}
}

// Tab signs a real browser in and opens a page in the given language.
func (s *Site) Tab(t testing.TB, b *browser.Browser, language ui.Language, path string) *browser.Tab {
	t.Helper()
	tab := b.NewTab(t)
	tab.Open(s.URL + ui.Root + "/sign-in")
	tab.Read(fmt.Sprintf(`document.cookie = 'btx_language=%s; path=/'`, language))
	tab.Fill("#email", s.Email)
	tab.Fill("#password", Password)
	tab.Press("\r")
	tab.Wait(".side")
	tab.Open(s.URL + path)
	return tab
}

// Context is the test's.
func (s *Site) Context() context.Context { return s.t.Context() }
