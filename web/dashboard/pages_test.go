package dashboard

import (
	"errors"
	"net/http"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/botix-pro/platform/app/models"
	"github.com/botix-pro/platform/test/uitest"
)

// inlineCode is what the content policy forbids: it would be dead, or worse.
var inlineCode = regexp.MustCompile(`(?i)<[^>]* style=|<style|<[^>]* on[a-z]+=|javascript:|<script(>| [^>]*[^>]*>\s*[^<\s])|<iframe|ZgotmplZ`)

// requireStrict holds an answer against what is promised of every page.
func requireStrict(t *testing.T, got answer) {
	t.Helper()
	require.Equal(t, []string{contentPolicy}, got.Header.Values("Content-Security-Policy"))
	require.Equal(t, "nosniff", got.Header.Get("X-Content-Type-Options"))
	require.Equal(t, "same-origin", got.Header.Get("Referrer-Policy"))
	require.Equal(t, []string{"no-store"}, got.Header.Values("Cache-Control"))
	require.Equal(t, "text/html; charset=utf-8", got.Header.Get("Content-Type"))
	require.NotRegexp(t, inlineCode, got.body)
	require.NotContains(t, got.body, "\x00")
	require.NotContains(t, got.body, "%!", "a format went wrong")
}

func TestEveryPageIsStrict(t *testing.T) {
	t.Parallel()
	queries := newQueries(60)
	s := newSite(t, queries)
	requireStrict(t, s.get(pathSignIn))
	requireStrict(t, s.get("/developers/nowhere"))
	requireStrict(t, s.trySignIn(`"><script>alert(1)</script>`, "x"))
	requireStrict(t, s.post(pathSignOut, nil, [2]string{"Sec-Fetch-Site", "cross-site"}))
	requireStrict(t, s.get(pathDeliveries)) // a redirect
	s.signIn()
	id := queries.attempts[0].ID
	for _, path := range []string{
		pathRoot, pathRoot + "/", pathDeliveries, pathDeliveries + "?open=" + id, pathAttempts + id, pathAttempts + id + "/detail",
		pathAttempts + "att_nothing",
	} {
		requireStrict(t, s.get(path))
	}
	queries.err = errors.New("broken")
	requireStrict(t, s.get(pathDeliveries))
}

func TestTheListShowsWhatHappened(t *testing.T) {
	t.Parallel()
	queries := newQueries(2)
	queries.failedWith(0, models.ErrorReadTimeout, "no answer within 30 s")
	queries.attempts[0].Manual, queries.attempts[0].Number = true, 7
	got := signedIn(t, queries).get(pathDeliveries)
	require.Equal(t, http.StatusOK, got.StatusCode)
	for _, text := range []string{
		"Acme", `badge-test">Test`, "Plan:</span> Business", testEmail, "Delivered", `<span class="note">204</span>`, "contact.created",
		"hooks.example.com", "40 ms", "Failed", `<span class="note">no answer in time</span>`, "by hand",
		`<time datetime="2026-12-01T14:03:21.500Z" data-local>1 Dec 2026, 14:03:21 UTC</time>`,
		`href="/developers/attempts/` + queries.attempts[0].ID + `"`,
	} {
		require.Contains(t, got.body, text)
	}
	require.Equal(t, 2, strings.Count(got.body, `<tbody role="rowgroup" id="att_`), "one body per attempt")
	require.NotContains(t, got.body, `rel="next"`)
}

func TestAnEmptyListSaysWhatToDo(t *testing.T) {
	t.Parallel()
	got := signedIn(t, newQueries(0)).get(pathDeliveries)
	for _, text := range []string{
		"Nothing was delivered in the last 14 days", "curl -X POST &#39;http://api.example.com/contacts&#39;", "btx_test_", "Idempotency-Key: ",
	} {
		require.Contains(t, got.body, text)
	}
	require.NotContains(t, got.body, "<table")
}

func TestPagesLeadToOlderOnesAndBack(t *testing.T) {
	t.Parallel()
	queries := newQueries(3*50 + 7)
	s := signedIn(t, queries)
	link := func(body, rel string) string {
		found := regexp.MustCompile(`rel="` + rel + `" href="([^"]+)"`).FindStringSubmatch(body)
		if found == nil {
			return ""
		}
		return strings.ReplaceAll(found[1], "&amp;", "&")
	}
	addresses, path := []string{}, pathDeliveries
	for page := 0; path != ""; page++ {
		got := s.get(path)
		first := queries.attempts[page*50].ID
		require.Contains(t, got.body, `<tbody role="rowgroup" id="`+first+`">`)
		require.Equal(t, min(50, len(queries.attempts)-page*50), strings.Count(got.body, `<tbody role="rowgroup" id="att_`))
		addresses, path = append(addresses, path), link(got.body, "next")
	}
	require.Len(t, addresses, 4)
	for i := len(addresses) - 1; i > 0; i-- {
		require.Equal(t, addresses[i-1], link(s.get(addresses[i]).body, "prev"))
	}
	require.Empty(t, link(s.get(addresses[0]).body, "prev"))
	require.Contains(t, s.get(addresses[3]).body, "There is nothing older")
}

// mark is what makes each form act once.
var mark = regexp.MustCompile(`name="once" value="\w+"`)

func TestTheAddressUnfoldsARow(t *testing.T) {
	t.Parallel()
	queries := newQueries(2)
	s := signedIn(t, queries)
	id := queries.attempts[1].ID
	body := s.get(pathDeliveries + "?open=" + id).body
	require.Contains(t, body, `id="`+id+`-detail"><td`, "unfolded")
	require.Contains(t, body, `id="`+queries.attempts[0].ID+`-detail" hidden><td role="cell" colspan="7"></td>`, "folded")
	require.Contains(t, body, `href="/developers/deliveries" data-unfold="`+id+`-detail"`, "the control folds it again")
	fragment := s.get(pathAttempts + id + "/detail").body
	require.Contains(t, mark.ReplaceAllString(body, ""), mark.ReplaceAllString(fragment, ""), "the script's fragment is the part of the page")
}

func TestAnAttemptShowsEverythingAboutIt(t *testing.T) {
	t.Parallel()
	queries := newQueries(1)
	queries.failedWith(503, models.ErrorHTTP5xx, "the receiver answered 503 Service Unavailable")
	queries.attempts[0].ResponseBody = []byte("busy <b>now</b>")
	queries.attempts[0].ResponseTruncated = true
	due := testNow.Add(15 * time.Minute)
	queries.delivery = models.WebhookDelivery{Status: models.DeliveryWaiting, AttemptCount: 1, NextAttemptAt: &due}
	id := queries.attempts[0].ID
	got := signedIn(t, queries).get(pathAttempts + id)
	require.Equal(t, http.StatusOK, got.StatusCode)
	for _, text := range []string{
		`Your endpoint answered 503. <a href="/docs/webhooks#http_5xx">`, `Next try at <time datetime="2026-12-01T14:18:21.500Z" data-local>1 Dec 2026, 14:18:21 UTC</time>.`,
		"https://hooks.example.com/in", `&#34;amount&#34;: 12345678901234567890`, "X-Event-Id", "<strong>503</strong>", "Server",
		"busy &lt;b&gt;now&lt;/b&gt;", "Size: 15 bytes. Only the first 15 bytes were kept.", "the receiver answered 503 Service Unavailable",
		"req_attempt", "req_cause", "evt_1", "whd_1", "whe_1", id, "1 of 1 so far, automatic", "2026-12-01T14:03:21.500Z",
		"Waiting for its next attempt", "</span>DNS</dt><dd>3 ms</dd>", "</span>TLS</dt><dd>–</dd>", "</span>All together</dt><dd>40 ms</dd>",
	} {
		require.Contains(t, got.body, text)
	}
}

func TestOtherProjectsAttemptsDoNotExist(t *testing.T) {
	t.Parallel()
	queries := newQueries(1)
	foreign := attemptAt(testNow)
	foreign.ProjectID = "prj_other"
	queries.attempts = append(queries.attempts, foreign)
	s := signedIn(t, queries)
	theirs, nothing := s.get(pathAttempts+foreign.ID), s.get(pathAttempts+models.NewID(models.PrefixAttempt, testNow))
	require.Equal(t, http.StatusNotFound, theirs.StatusCode)
	require.Equal(t, withoutIDs(nothing.body), withoutIDs(theirs.body))
	require.Equal(t, http.StatusNotFound, s.get(pathAttempts+foreign.ID+"/detail").StatusCode)
	require.Equal(t, http.StatusNotFound, s.get(pathAttempts+"%00").StatusCode)
	require.NotContains(t, s.get(pathDeliveries+"?open="+foreign.ID).body, `id="`+foreign.ID)
}

// withoutIDs blanks the page's own address, which the page holds.
func withoutIDs(body string) string {
	return regexp.MustCompile(`att_[0-9A-Z]{26}`).ReplaceAllString(body, "att_")
}

func TestStrangeTextIsShownAndDoesNothing(t *testing.T) {
	t.Parallel()
	queries := newQueries(1)
	newest := &queries.attempts[0]
	newest.EventType = "<script>alert(1)</script>"
	newest.URL = "https://" + strings.Repeat("sub.", 40) + "example.com/\" onmouseover=\"alert(1)?" + strings.Repeat("q", 180)
	newest.Error = "txt\u202egnp.\x1b[31m"
	newest.RequestHeaders = []byte(`{"X-<b>":["a\u0000b","</dl><script>"]}`)
	newest.ResponseHeaders = []byte("\xff not JSON <i>")
	newest.ResponseBody = []byte{0xff, 0xfe, 0, '<', 's', 'c', 'r', 'i', 'p', 't', '>'}
	queries.event.Body = []byte("{\"a\":\"</code><script>alert('\u2028')</script>\u202e\"}")
	queries.project.Name = "<img src=x onerror=alert(1)>"
	s := signedIn(t, queries)
	list, page := s.get(pathDeliveries), s.get(pathAttempts+newest.ID)
	requireStrict(t, list)
	requireStrict(t, page)
	require.Contains(t, list.body, "&lt;script&gt;alert(1)&lt;/script&gt;")
	for _, text := range []string{
		"txt⟨U+202E⟩gnp.␛[31m", "a␀b", "not JSON &lt;i&gt;", "00000000  ff fe 00 3c 73 63 72 69", "its bytes are shown", "⟨U+2028⟩",
	} {
		require.Contains(t, strings.ReplaceAll(page.body, "&#43;", "+"), text)
	}
	require.NotContains(t, page.body, "\u202e")
}

func TestNoAnswerAndNoBodyAreTold(t *testing.T) {
	t.Parallel()
	queries := newQueries(1)
	s := signedIn(t, queries)
	path := pathAttempts + queries.attempts[0].ID
	require.Contains(t, s.get(path).body, "The answer had no body.")
	queries.failedWith(0, models.ErrorDNS, "example.com does not resolve: there is no such host")
	body := s.get(path).body
	require.Contains(t, body, "No answer came.")
	require.Contains(t, body, "could not be found in DNS")
}

func TestErrorsKeepTheirTextToThemselves(t *testing.T) {
	t.Parallel()
	queries := newQueries(1)
	s := signedIn(t, queries)
	queries.err = errors.New("a secret in an error")
	got := s.get(pathDeliveries)
	require.Equal(t, http.StatusInternalServerError, got.StatusCode)
	require.NotContains(t, got.body, "secret")
	require.Contains(t, got.body, testRequest, "an id to quote")
	require.Contains(t, s.log.String(), "a secret in an error")
	require.Contains(t, s.log.String(), testRequest)

	queries.err, queries.panics = nil, true
	got = s.get(pathDeliveries)
	require.Equal(t, http.StatusInternalServerError, got.StatusCode)
	require.NotContains(t, got.body, "secret")
	require.Contains(t, s.log.String(), "a secret in a panic")
}

func TestUnknownPathsAndMethodsAreThe404Page(t *testing.T) {
	t.Parallel()
	s := newSite(t, newQueries(0))
	for _, got := range []answer{s.get("/developers/x"), s.post(pathDeliveries, nil), s.get(pathRoot + "/static/0/ui.css")} {
		require.Equal(t, http.StatusNotFound, got.StatusCode)
		require.Contains(t, got.body, english.Errors.NotFound.Title)
	}
}

func TestStaticFilesMayBeKeptForEver(t *testing.T) {
	t.Parallel()
	s := newSite(t, newQueries(0))
	links := regexp.MustCompile(`(?:href|src)="(/developers/static/[^"]+)"`).FindAllStringSubmatch(s.get(pathSignIn).body, -1)
	require.Len(t, links, 3)
	for _, link := range links {
		got := s.get(link[1])
		require.Equal(t, http.StatusOK, got.StatusCode)
		require.Equal(t, "public, max-age=31536000, immutable", got.Header.Get("Cache-Control"))
		require.Regexp(t, "^(text/css|text/javascript|image/svg)", got.Header.Get("Content-Type"))
		require.Equal(t, "nosniff", got.Header.Get("X-Content-Type-Options"))
		require.Empty(t, got.Cookies())
	}
	require.Equal(t, http.StatusNotFound, s.get(s.dashboard.assets.Prefix()+"nothing.css").StatusCode)
}

func TestEveryTextIsThere(t *testing.T) {
	t.Parallel()
	uitest.RequireTexts(t, &english, &russian)
}
