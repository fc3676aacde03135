package docs_test

import (
	"bytes"
	"encoding/json"
	"encoding/xml"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"github.com/labstack/echo/v4"
	"github.com/stretchr/testify/require"
	"golang.org/x/net/html"

	"github.com/botix-pro/platform/app/models"
	"github.com/botix-pro/platform/internal/testenv"
	"github.com/botix-pro/platform/web/docs"
)

func TestMain(m *testing.M) { testenv.Main(m) }

const publicURL = "https://api.example.com"

// served is the documentation behind a router, made once: it never changes.
var served = sync.OnceValue(func() *echo.Echo {
	pages, err := docs.New(publicURL)
	if err != nil {
		panic(err)
	}
	e := echo.New()
	for path, page := range pages.Pages() {
		e.GET(path, page)
		e.HEAD(path, page)
	}
	return e
})

func get(t *testing.T, path string) *httptest.ResponseRecorder {
	t.Helper()
	return ask(t, http.MethodGet, path, nil)
}

func ask(t *testing.T, method, path string, header http.Header) *httptest.ResponseRecorder {
	t.Helper()
	request := httptest.NewRequest(method, path, http.NoBody)
	for name, values := range header {
		request.Header[name] = values
	}
	answer := httptest.NewRecorder()
	served().ServeHTTP(answer, request)
	return answer
}

// parse reads a page that is there.
func parse(t *testing.T, path string) *html.Node {
	t.Helper()
	page := get(t, path)
	require.Equal(t, http.StatusOK, page.Code, path)
	root, err := html.Parse(page.Body)
	require.NoError(t, err)
	return root
}

// elements are those that match, in the order of the page.
func elements(root *html.Node, match func(*html.Node) bool) []*html.Node {
	var found []*html.Node
	for n := range root.Descendants() {
		if n.Type == html.ElementNode && match(n) {
			found = append(found, n)
		}
	}
	return found
}

func named(names ...string) func(*html.Node) bool {
	return func(n *html.Node) bool {
		for _, name := range names {
			if n.Data == name {
				return true
			}
		}
		return false
	}
}

func attribute(n *html.Node, name string) string {
	for _, a := range n.Attr {
		if a.Key == name {
			return a.Val
		}
	}
	return ""
}

func text(n *html.Node) string {
	var out strings.Builder
	for child := range n.Descendants() {
		if child.Type == html.TextNode {
			out.WriteString(child.Data)
		}
	}
	return out.String()
}

// allPages are the addresses that the navigation leads to, in every language.
func allPages(t *testing.T) []string {
	t.Helper()
	seen := map[string]bool{}
	queue := []string{"/docs", "/ru/docs"}
	var all []string
	for len(queue) > 0 {
		path := queue[0]
		queue = queue[1:]
		if seen[path] {
			continue
		}
		seen[path] = true
		all = append(all, path)
		for _, link := range elements(parse(t, path), named("a")) {
			to, _, _ := strings.Cut(attribute(link, "href"), "#")
			if strings.HasPrefix(to, "/docs") && !strings.HasSuffix(to, ".atom") || strings.HasPrefix(to, "/ru/docs") {
				queue = append(queue, to)
			}
		}
	}
	require.Greater(t, len(all), 30)
	return all
}

// The page has a heading for every code that a problem's type URL points to.
func TestEveryCodeHasItsPlace(t *testing.T) {
	t.Parallel()
	page := get(t, "/docs/error-codes")
	for _, entry := range models.Catalogue() {
		require.Contains(t, page.Body.String(), `<h3 id="`+string(entry.Code)+`">`)
	}
}

// The changelog has a heading for every version that a request may name, the
// newest first, and says what each changed.
func TestChangelogHasEveryVersion(t *testing.T) {
	t.Parallel()
	after := get(t, "/docs/changelog").Body.String()
	for _, version := range models.Changelog() {
		_, rest, found := strings.Cut(after, `<h2 id="`+version.Version+`">`)
		require.True(t, found, version)
		for _, change := range version.Changes {
			require.Contains(t, rest, change.Text)
			require.Contains(t, rest, `tag-`+string(change.Kind))
		}
		after = rest
	}
}

// The feed is well-formed and has an entry a version, with the addresses that
// the page has.
func TestTheFeedHasEveryVersion(t *testing.T) {
	t.Parallel()
	answer := get(t, "/docs/changelog.atom")
	require.Equal(t, "application/atom+xml; charset=utf-8", answer.Header().Get("Content-Type"))
	var feed struct {
		XMLName xml.Name `xml:"http://www.w3.org/2005/Atom feed"`
		ID      string   `xml:"id"`
		Updated string   `xml:"updated"`
		Entries []struct {
			ID      string `xml:"id"`
			Updated string `xml:"updated"`
			Link    struct {
				Href string `xml:"href,attr"`
			} `xml:"link"`
			Content string `xml:"content"`
		} `xml:"entry"`
	}
	require.NoError(t, xml.Unmarshal(answer.Body.Bytes(), &feed))
	require.NotEmpty(t, feed.ID)
	require.Len(t, feed.Entries, len(models.APIVersions()))
	for i, version := range models.Changelog() {
		require.Equal(t, publicURL+"/docs/changelog#"+version.Version, feed.Entries[i].Link.Href)
		require.Contains(t, feed.Entries[i].Content, version.Changes[0].Text)
		require.Equal(t, version.Version+"T00:00:00Z", feed.Entries[i].Updated)
	}
	require.Equal(t, feed.Entries[0].Updated, feed.Updated)
}

// No page runs a script of its own or asks anybody else for anything.
func TestPagesAreStrict(t *testing.T) {
	t.Parallel()
	for _, path := range allPages(t) {
		page := get(t, path)
		policy := page.Header().Get("Content-Security-Policy")
		require.Contains(t, policy, "default-src 'none'")
		require.NotContains(t, policy, "unsafe")
		require.Equal(t, "nosniff", page.Header().Get("X-Content-Type-Options"))
		root, err := html.Parse(bytes.NewReader(page.Body.Bytes()))
		require.NoError(t, err)
		for _, n := range elements(root, func(*html.Node) bool { return true }) {
			requireStrict(t, path, n)
		}
	}
}

func requireStrict(t *testing.T, path string, n *html.Node) {
	t.Helper()
	require.NotEqual(t, "style", n.Data, path)
	if n.Data == "script" {
		require.Equal(t, "/docs/docs.js", attribute(n, "src"), path)
		require.Empty(t, text(n), path)
	}
	for _, a := range n.Attr {
		require.NotEqual(t, "style", a.Key, path)
		require.False(t, strings.HasPrefix(a.Key, "on"), "%s has %s", path, a.Key)
		if a.Key == "src" || a.Key == "href" && (n.Data != "link" || attribute(n, "rel") == "stylesheet") {
			require.True(t, strings.HasPrefix(a.Val, "/") || strings.HasPrefix(a.Val, "#"), "%s leads to %s", path, a.Val)
			require.False(t, strings.HasPrefix(a.Val, "//"), path)
		}
	}
}

// Every page says what it is, in which language, and where its twins are.
func TestPagesTellSearchEnginesWhatTheyAre(t *testing.T) {
	t.Parallel()
	titles := map[string]string{}
	for _, path := range allPages(t) {
		root := parse(t, path)
		lang, slug := "en", strings.TrimPrefix(path, "/docs")
		if rest, found := strings.CutPrefix(path, "/ru/docs"); found {
			lang, slug = "ru", rest
		}
		require.Equal(t, lang, attribute(elements(root, named("html"))[0], "lang"), path)
		title := lang + text(elements(root, named("title"))[0])
		require.Empty(t, titles[title], "%s and %s have one title", path, titles[title])
		titles[title] = path
		require.Len(t, elements(root, named("h1")), 1, path)
		described := elements(root, func(n *html.Node) bool { return n.Data == "meta" && attribute(n, "name") == "description" })
		require.Len(t, described, 1, path)
		require.Greater(t, len(attribute(described[0], "content")), 40, path)
		twins := map[string]string{}
		for _, link := range elements(root, func(n *html.Node) bool { return n.Data == "link" && attribute(n, "hreflang") != "" }) {
			twins[attribute(link, "hreflang")] = attribute(link, "href")
		}
		require.Equal(t, map[string]string{
			"en": publicURL + "/docs" + slug, "ru": publicURL + "/ru/docs" + slug, "x-default": publicURL + "/docs" + slug,
		}, twins)
	}
}

// Every link inside the documentation leads to a page, and to a place on it.
func TestNoLinkLeadsNowhere(t *testing.T) {
	t.Parallel()
	places := map[string]map[string]bool{}
	for _, path := range allPages(t) {
		places[path] = map[string]bool{"": true}
		for _, n := range elements(parse(t, path), func(n *html.Node) bool { return attribute(n, "id") != "" }) {
			require.False(t, places[path][attribute(n, "id")], "%s has %s twice", path, attribute(n, "id"))
			places[path][attribute(n, "id")] = true
		}
	}
	elsewhere := map[string]bool{"/developers": true, "/openapi.yaml": true, "/docs/changelog.atom": true, "/.well-known/botix.json": true}
	for from := range places {
		for _, link := range elements(parse(t, from), named("a")) {
			to, place, _ := strings.Cut(attribute(link, "href"), "#")
			if to == "" {
				to = from
			}
			require.True(t, elsewhere[to] || places[to][place], "%s leads to %s", from, attribute(link, "href"))
			if strings.HasPrefix(from, "/ru/") && !elsewhere[to] && attribute(link, "hreflang") == "" {
				require.True(t, strings.HasPrefix(to, "/ru/"), "%s leads out of its language to %s", from, to)
			}
		}
	}
}

// What pages load may be kept, and is asked for by its tag afterwards.
func TestFilesAreCached(t *testing.T) {
	t.Parallel()
	kinds := map[string]string{
		"/docs": "text/html; charset=utf-8", "/docs/docs.css": "text/css; charset=utf-8",
		"/docs/docs.js": "text/javascript; charset=utf-8", "/docs/icon.svg": "image/svg+xml", "/.well-known/botix.json": "application/json",
	}
	for path, kind := range kinds {
		first := get(t, path)
		require.Equal(t, http.StatusOK, first.Code, path)
		require.Equal(t, kind, first.Header().Get("Content-Type"))
		require.Contains(t, first.Header().Get("Cache-Control"), "max-age")
		tag := first.Header().Get("ETag")
		require.NotEmpty(t, tag)
		require.Equal(t, http.StatusNotModified, ask(t, http.MethodGet, path, http.Header{"If-None-Match": {tag}}).Code, path)
		head := ask(t, http.MethodHead, path, nil)
		require.Equal(t, http.StatusOK, head.Code, path)
		require.Empty(t, head.Body.String())
	}
}

// What is not there says so in the language of its address; another method is
// told which there are.
func TestWhatIsNotThere(t *testing.T) {
	t.Parallel()
	for path, words := range map[string]string{"/docs/nowhere": "Page not found", "/ru/docs/api/nowhere": "Страница не найдена"} {
		page := get(t, path)
		require.Equal(t, http.StatusNotFound, page.Code)
		require.Contains(t, page.Body.String(), words)
		require.Contains(t, page.Body.String(), "noindex")
		require.Contains(t, page.Header().Get("Content-Security-Policy"), "default-src 'none'")
	}
	slash := get(t, "/ru/docs/retries/")
	require.Equal(t, http.StatusMovedPermanently, slash.Code)
	require.Equal(t, "/ru/docs/retries", slash.Header().Get("Location"))
	posted := ask(t, http.MethodPost, "/docs/retries", nil)
	require.Equal(t, http.StatusMethodNotAllowed, posted.Code)
	require.Contains(t, posted.Header().Get("Allow"), http.MethodGet)
}

// The card says the same to programs and to people, in nine properties.
func TestTheCardHasNineProperties(t *testing.T) {
	t.Parallel()
	var card struct {
		APIVersion string `json:"api_version"`
		Properties []struct {
			ID, Title, Promise, Docs string
			Values                   map[string]any
		}
	}
	require.NoError(t, json.Unmarshal(get(t, "/.well-known/botix.json").Body.Bytes(), &card))
	require.Equal(t, models.CurrentAPIVersion, card.APIVersion)
	require.Len(t, card.Properties, 9)
	home := parse(t, "/docs")
	for _, p := range card.Properties {
		shown := elements(home, func(n *html.Node) bool { return n.Data == "li" && attribute(n, "id") == p.ID })
		require.Len(t, shown, 1, p.ID)
		require.Equal(t, p.Title+" "+p.Promise, text(shown[0]))
		require.Equal(t, p.Docs, publicURL+attribute(elements(shown[0], named("a"))[0], "href"))
		require.NotEmpty(t, p.Values)
	}
}
