package docs_test

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/labstack/echo/v4"
	"github.com/stretchr/testify/require"

	"github.com/botix-pro/platform/app/models"
	"github.com/botix-pro/platform/web/docs"
)

func get(t *testing.T, path string) *httptest.ResponseRecorder {
	t.Helper()
	return ask(t, http.MethodGet, path)
}

func ask(t *testing.T, method, path string) *httptest.ResponseRecorder {
	t.Helper()
	pages, err := docs.New()
	require.NoError(t, err)
	e := echo.New()
	for at, page := range pages.Pages() {
		e.GET(at, page)
		e.HEAD(at, page)
	}
	answer := httptest.NewRecorder()
	e.ServeHTTP(answer, httptest.NewRequest(method, path, http.NoBody))
	return answer
}

// The page has a heading for every code that a problem's type URL points to.
func TestEveryCodeHasItsPlace(t *testing.T) {
	t.Parallel()
	page := get(t, "/docs/error-codes")
	require.Equal(t, http.StatusOK, page.Code)
	for _, entry := range models.Catalogue() {
		require.Contains(t, page.Body.String(), `<h3 id="`+string(entry.Code)+`">`)
	}
	requirePlain(t, page)
}

// The changelog has a heading for every version that a request may name, the
// newest first, and says what each changed.
func TestChangelogHasEveryVersion(t *testing.T) {
	t.Parallel()
	page := get(t, "/docs/changelog")
	require.Equal(t, http.StatusOK, page.Code)
	after := page.Body.String()
	for _, version := range models.APIVersions() {
		_, rest, found := strings.Cut(after, `<h2 id="`+version+`">`)
		require.True(t, found, version)
		require.Contains(t, rest, "<li>")
		after = rest
	}
	require.Contains(t, page.Body.String(), `<a href="/docs/changelog" aria-current="page">`)
	requirePlain(t, page)
}

// requirePlain fails if a page runs scripts or asks anybody else for anything.
func requirePlain(t *testing.T, page *httptest.ResponseRecorder) {
	t.Helper()
	require.Contains(t, page.Header().Get("Content-Security-Policy"), "default-src 'none'")
	for _, forbidden := range []string{"<script", " style=", "<style", "http://", "https://", "javascript:"} {
		require.NotContains(t, page.Body.String(), forbidden)
	}
}

func TestTheRootLeadsToAPageAndTheStyleIsThere(t *testing.T) {
	t.Parallel()
	require.Equal(t, "/docs/error-codes", get(t, "/docs").Header().Get("Location"))
	require.Equal(t, "text/css; charset=utf-8", get(t, "/docs/docs.css").Header().Get("Content-Type"))
}

// Whoever checks links asks with HEAD: each error's type URL leads here.
func TestPagesAnswerHead(t *testing.T) {
	t.Parallel()
	for _, path := range []string{"/docs", "/docs/error-codes", "/docs/changelog", "/docs/docs.css"} {
		require.Equal(t, get(t, path).Code, ask(t, http.MethodHead, path).Code, path)
	}
}
