package dashboard

import (
	"net"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
	"github.com/stretchr/testify/require"

	"github.com/botix-pro/platform/app/models"
	"github.com/botix-pro/platform/internal/testenv/browser"
)

// signInByKeyboard fills in the form without a mouse.
func signInByKeyboard(t *testing.T, b *browser.Tab, base string) {
	t.Helper()
	b.Run(chromedp.Navigate(base+"/developers"), browser.Seen("#email"))
	require.Equal(t, "email", b.Read("document.activeElement.id"), "the first field has the focus")
	b.Run(chromedp.KeyEvent(testEmail), chromedp.KeyEvent(kb.Tab), chromedp.KeyEvent(testPassword), chromedp.KeyEvent(kb.Enter),
		browser.Seen("h1 + .lead"))
}

// TestBrowser shares one browser between its parts: starting one is dear.
func TestBrowser(t *testing.T) {
	t.Parallel()
	running := browser.Start(t)
	//nolint:paralleltest // the parts take turns with one browser
	for name, part := range map[string]func(*testing.T, *browser.Browser){
		"signs in and unfolds a row by keyboard": unfoldsByKeyboard,
		"works over plain http elsewhere":        worksOverPlainHTTP,
		"works without script":                   worksWithoutScript,
		"shows pages that fit their windows":     fitsWindows,
	} {
		t.Run(name, func(t *testing.T) { part(t, running) })
	}
}

func unfoldsByKeyboard(t *testing.T, running *browser.Browser) {
	db := openDatabase(t)
	s := databaseSite(t, db, colourfulQueries())
	b := running.NewTab(t)
	signInByKeyboard(t, b, s.URL)
	b.Open(s.URL + pathDeliveries)
	require.Equal(t, "12", b.Read("String(document.querySelectorAll('tbody[id]').length)"))
	require.Equal(t, "1 Dec 2026, 19:48:21 GMT+5:45", b.Read("document.querySelector('.summary time').textContent"), "in the reader's zone")

	b.TabTo("a.skip")
	b.TabTo("button.toggle")
	const expanded = "document.activeElement.getAttribute('aria-expanded')"
	require.Equal(t, "false", b.Read(expanded))
	b.Run(chromedp.KeyEvent(kb.Enter), browser.Seen(".unfolded .diagnosis"))
	require.Equal(t, "true", b.Read(expanded), "the focus stays")
	require.Contains(t, b.Read("document.querySelector('.diagnosis').textContent"), "Your endpoint answered 503.")
	require.Contains(t, b.Read("document.querySelector('.stands').textContent"), "Next try at 1 Dec 2026, 20:03:21")
	require.Equal(t, "true",
		b.Read("String(document.getElementById(document.activeElement.getAttribute('aria-controls')).checkVisibility())"))

	b.Run(chromedp.Reload(), browser.Seen(".unfolded .diagnosis")) // the address remembers it
	b.TabTo("button.toggle")
	b.Run(chromedp.KeyEvent(" "), chromedp.WaitNotVisible(chromedp.CSS(".unfolded .diagnosis")))
	require.NotContains(t, b.Read("location.href"), "open=")

	b.Run(chromedp.KeyEvent(" "), chromedp.Click(chromedp.CSS(".ids .copy")), chromedp.WaitVisible(chromedp.CSS("#live-status:not(:empty)")))
	require.Equal(t, "Copied.", b.Read("document.getElementById('live-status').textContent"))
	b.RequireQuiet(s.URL)

	execute(t, db, "DELETE FROM sessions")
	b.TabTo("tbody:nth-of-type(3) button.toggle")
	b.Run(chromedp.KeyEvent(kb.Enter), browser.Seen("#email")) // and back to that attempt
	require.Contains(t, b.Read("document.querySelector('main [name=next]').value"), pathAttempts+"att_")
}

func worksOverPlainHTTP(t *testing.T, running *browser.Browser) {
	s := databaseSite(t, openDatabase(t), colourfulQueries())
	_, port, err := net.SplitHostPort(strings.TrimPrefix(s.URL, "http://"))
	require.NoError(t, err)
	host := net.JoinHostPort(browser.PlainHost, port)
	b := running.NewTab(t)
	signInByKeyboard(t, b, "http://"+host)
	require.Equal(t, "false", b.Read("String(isSecureContext)"))
	b.Run(chromedp.Click(chromedp.CSS(".account > summary")), chromedp.Click(chromedp.CSS(".sign-out button")), browser.Seen("#email"))
	b.RequireQuiet(host)
}

func worksWithoutScript(t *testing.T, running *browser.Browser) {
	s := databaseSite(t, openDatabase(t), colourfulQueries())
	b := running.NewTab(t)
	b.NoScript()
	b.Run(chromedp.Navigate(s.URL+pathRoot), browser.Seen("#email"),
		chromedp.SendKeys(chromedp.CSS("#email"), testEmail), chromedp.SendKeys(chromedp.CSS("#password"), testPassword+kb.Enter),
		browser.Seen("#figures ~ .figures"), chromedp.Navigate(s.URL+pathDeliveries), browser.Seen("a.toggle"), chromedp.Click(chromedp.CSS("a.toggle")), browser.Seen(".crumb + h1"))
	require.Contains(t, b.Read("document.querySelector('.facts time').textContent"), "UTC")
	b.RequireQuiet(s.URL)
}

// fitsWindows: no page is wider than its window; what is wide scrolls inside.
func fitsWindows(t *testing.T, running *browser.Browser) {
	queries := colourfulQueries()
	_, n := told(queries.attempts[3].URL)
	for _, kind := range []models.NoticeKind{models.NoticeFailing, models.NoticeDisabled, models.NoticeRecovered} {
		n.Kind = kind
		queries.notices = append(queries.notices, n)
	}
	s := databaseSite(t, openDatabase(t), queries)
	empty := databaseSite(t, openDatabase(t), newQueries(0))
	b := running.NewTab(t)
	b.Run(chromedp.Navigate(s.URL + pathSignIn))
	b.Inspect("sign-in")
	b.Run(chromedp.SendKeys(chromedp.CSS("#email"), testEmail), chromedp.SendKeys(chromedp.CSS("#password"), "wrong"+kb.Enter), browser.Seen("#problem"))
	b.Inspect("sign-in-refused")
	signInByKeyboard(t, b, s.URL)
	b.Inspect("home")
	b.Open(s.URL + pathDeliveries)
	b.Inspect("list")
	b.Run(chromedp.Navigate(s.URL + pathDeliveries + "?open=" + queries.attempts[0].ID))
	b.Inspect("list-open")
	b.Run(chromedp.Navigate(s.URL + pathAttempts + queries.attempts[3].ID))
	b.Inspect("attempt")
	b.Run(chromedp.Navigate(s.URL + "/developers/nowhere"))
	b.Inspect("not-found")
	b.Run(chromedp.Navigate(s.URL+pathDeliveries), chromedp.Click(chromedp.CSS(".account > summary")), chromedp.Click(chromedp.CSS(".sign-out button")), browser.Seen("#email"))
	signInByKeyboard(t, b, empty.URL)
	b.Open(empty.URL + pathDeliveries)
	b.Inspect("empty")
}

// colourfulQueries is a project with an attempt of every kind.
func colourfulQueries() *fakeQueries {
	queries := newQueries(12)
	due := testNow.Add(15 * time.Minute)
	queries.delivery = models.WebhookDelivery{Status: models.DeliveryWaiting, AttemptCount: 2, NextAttemptAt: &due}
	queries.event.Body = []byte(`{"id":"evt_01JDZZZZZZZZZZZZZZZZZZZZZZ","type":"contact.created","api_version":"2026-11-01","created_at":"2026-12-01T14:03:21.100Z","project_id":"prj_01JDZZZZZZZZZZZZZZZZZZZZZZ","data":{"id":"ctc_01JDZZZZZZZZZZZZZZZZZZZZZZ","object":"contact","name":"Юлия Иванова","email":"julia@example.com","tags":["vip","newsletter"],"attributes":{"balance":12345678901234567890.12345678901234567890,"note":"a long line that goes on and on, past the edge of the panel in which it is shown, so that it has to scroll"}}}`)
	headers := []byte(`{"Content-Type":["application/json"],"User-Agent":["BOTIX-Webhooks/1.0"],"X-Botix-Signature":["5b3fa8e2c1d4f6079a8b7c6d5e4f30213243546576879809a1b2c3d4e5f60718"],"X-Delivery-Attempt":["1"],"X-Event-Id":["evt_01JDZZZZZZZZZZZZZZZZZZZZZZ"],"X-Event-Type":["contact.created"],"Authorization":["***"]}`)
	for i := range queries.attempts {
		a := &queries.attempts[i]
		a.RequestHeaders, a.ResponseHeaders = headers, []byte(`{"Content-Type":["text/html; charset=utf-8"],"Retry-After":["900"],"Server":["nginx/1.25.3"]}`)
		a.DeliveryID, a.EndpointID = models.NewID("whd_", a.StartedAt), models.NewID("whe_", a.StartedAt)
		a.EventID, a.RequestID = models.NewID("evt_", a.StartedAt), models.NewID("req_", a.StartedAt)
		a.Timing = models.AttemptTiming{DNSMs: 4, ConnectMs: 18, TLSMs: 41, FirstByteMs: 180 + 7*i, DurationMs: 260 + 7*i}
	}
	fail := func(i, status int, class models.ErrorClass, text string) {
		one := fakeQueries{attempts: queries.attempts[i : i+1]}
		one.failedWith(status, class, text)
	}
	fail(0, 503, models.ErrorHTTP5xx, "the receiver answered 503 Service Unavailable")
	queries.attempts[0].Number = 2
	queries.attempts[0].ResponseBody = []byte("<html>\n<head><title>503 Service Temporarily Unavailable</title></head>\n<body>\n<center><h1>503</h1></center>\n</body>\n</html>\n")
	fail(2, 0, models.ErrorReadTimeout, "no answer within 30 s")
	queries.attempts[2].Timing.DurationMs = 30_063
	fail(3, 401, models.ErrorHTTP4xx, "the receiver answered 401 Unauthorized")
	queries.attempts[3].ResponseBody = []byte{0xff, 0xd8, 0xff, 0xe0, 0, 16, 'J', 'F', 'I', 'F', 0, 1, 1, 0, 0, 1, 0, 1, 0, 0}
	queries.attempts[3].ResponseTruncated = true
	queries.attempts[3].URL = "https://" + strings.Repeat("very-long-name.", 6) + "example.com/webhooks/" + strings.Repeat("segment/", 12) + "?token=***"
	queries.attempts[3].EventType = "subscription_management.payment_method.automatic_renewal.attempt_failed.final"
	fail(5, 0, models.ErrorWorkerLost, "the worker stopped before the answer came")
	queries.attempts[6].Manual, queries.attempts[6].Number = true, 3
	return queries
}
