package dashboard

import (
	"context"
	"fmt"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
	"github.com/stretchr/testify/require"

	"github.com/botix-pro/platform/app/models"
	"github.com/botix-pro/platform/internal/testenv"
)

// screenshotsVariable names a folder for the pictures of the pages; without it
// they are thrown away.
const screenshotsVariable = "BOTIX_SCREENSHOTS"

// plainHost is a name that the browser takes for a host elsewhere: over plain
// http it sends no Sec-Fetch headers there, as on a local network.
const plainHost = "platform.test"

// browser is a tab, with all that a page may not do while it is shown.
type browser struct {
	context.Context
	t testing.TB

	mu     sync.Mutex
	faults []string
	hosts  map[string]bool
}

// runningBrowser is a browser that has been started.
type runningBrowser struct{ context.Context }

// newTab opens a tab with its own cookies in the running browser.
func (r runningBrowser) newTab(t testing.TB) *browser {
	t.Helper()
	b := &browser{t: t, hosts: map[string]bool{}}
	tab, closeTab := chromedp.NewContext(r, chromedp.WithNewBrowserContext(), chromedp.WithListener(b.watch))
	t.Cleanup(closeTab)
	require.NoError(t, chromedp.Do(tab))
	b.Context = tab
	call(b, network.Enable, network.EnableParams{})
	call(b, log.Enable, cdp.Empty{})
	call(b, emulation.SetTimezoneOverride, emulation.SetTimezoneOverrideParams{TimezoneID: "Asia/Kathmandu"})
	return b
}

// watch notes what a page complains about and whom it asks.
func (b *browser) watch(event any) {
	b.mu.Lock()
	defer b.mu.Unlock()
	switch e := event.(type) {
	case *runtime.EventConsoleAPICalled:
		b.faults = append(b.faults, "console: "+string(e.Type))
	case *runtime.EventExceptionThrown:
		b.faults = append(b.faults, "exception: "+e.ExceptionDetails.Text)
	case *log.EventEntryAdded: // policy violations and failed requests come here
		b.faults = append(b.faults, "log: "+e.Entry.Text+" "+e.Entry.URL)
	case *network.EventRequestWillBeSent:
		if at, err := url.Parse(e.Request.URL); err == nil && at.Scheme != "data" {
			b.hosts[at.Host] = true
		}
	}
}

// requireQuiet holds the pages shown so far against what is promised.
func (b *browser) requireQuiet(host string) {
	b.t.Helper()
	b.mu.Lock()
	defer b.mu.Unlock()
	require.Empty(b.t, b.faults)
	require.Equal(b.t, map[string]bool{host: true}, b.hosts)
}

// within bounds one step in the browser.
func (b *browser) within() (context.Context, context.CancelFunc) {
	return context.WithTimeout(b.Context, 30*time.Second)
}

func call[P, R any](b *browser, command cdp.Command[P, R], params P) {
	b.t.Helper()
	ctx, cancel := b.within()
	defer cancel()
	_, err := chromedp.Call(ctx, command, params)
	require.NoError(b.t, err)
}

func (b *browser) run(steps ...chromedp.Action[chromedp.Void]) {
	b.t.Helper()
	ctx, cancel := b.within()
	defer cancel()
	require.NoError(b.t, chromedp.Do(ctx, steps...))
}

// read evaluates an expression to a string.
func (b *browser) read(expression string) string {
	b.t.Helper()
	ctx, cancel := b.within()
	defer cancel()
	text, err := chromedp.Run(ctx, chromedp.Evaluate[string](expression))
	require.NoError(b.t, err)
	return text
}

// visibleNow waits for an element to be seen.
func visibleNow(selector string) chromedp.Action[chromedp.Void] {
	return chromedp.WaitVisible(chromedp.CSS(selector))
}

// tab presses Tab until the element that matches the selector has the focus.
func (b *browser) tab(selector string) {
	b.t.Helper()
	for range 30 {
		b.run(chromedp.KeyEvent(kb.Tab))
		if b.read("String(document.activeElement.matches('"+selector+"'))") == "true" {
			return
		}
	}
	b.t.Fatalf("Tab never reached %s", selector)
}

// signInByKeyboard fills in the form without a mouse.
func (b *browser) signInByKeyboard(base string) {
	b.t.Helper()
	b.run(chromedp.Navigate(base+"/developers"), visibleNow("#email"))
	require.Equal(b.t, "email", b.read("document.activeElement.id"), "the first field has the focus")
	b.run(chromedp.KeyEvent(testEmail), chromedp.KeyEvent(kb.Tab), chromedp.KeyEvent(testPassword), chromedp.KeyEvent(kb.Enter),
		visibleNow("h1 + .lead"))
}

// TestBrowser shares one browser between its parts: starting one is dear.
func TestBrowser(t *testing.T) {
	t.Parallel()
	options := append(slices.Clone(chromedp.DefaultExecAllocatorOptions[:]),
		chromedp.ExecPath(testenv.Chromium(t)), chromedp.NoSandbox, chromedp.UserDataDir(t.TempDir()),
		chromedp.Flag("host-resolver-rules", "MAP "+plainHost+" 127.0.0.1"))
	allocator, stopAllocator := chromedp.NewExecAllocator(context.WithoutCancel(t.Context()), options...)
	running, stop := chromedp.NewContext(allocator)
	t.Cleanup(func() { _ = chromedp.Cancel(running); stop(); stopAllocator() })
	require.NoError(t, chromedp.Do(running))
	//nolint:paralleltest // the parts take turns with one browser
	for name, part := range map[string]func(*testing.T, runningBrowser){
		"signs in and unfolds a row by keyboard": unfoldsByKeyboard,
		"works over plain http elsewhere":        worksOverPlainHTTP,
		"works without script":                   worksWithoutScript,
		"shows pages that fit their windows":     fitsWindows,
	} {
		t.Run(name, func(t *testing.T) { part(t, runningBrowser{running}) })
	}
}

func unfoldsByKeyboard(t *testing.T, running runningBrowser) {
	db := openDatabase(t)
	s := databaseSite(t, db, colourfulQueries())
	b := running.newTab(t)
	b.signInByKeyboard(s.URL)
	require.Equal(t, "12", b.read("String(document.querySelectorAll('tbody').length)"))
	require.Equal(t, "1 Dec 2026, 19:48:21 GMT+5:45", b.read("document.querySelector('.summary time').textContent"), "in the reader's zone")

	b.tab("a.skip")
	b.tab("button.toggle")
	const expanded = "document.activeElement.getAttribute('aria-expanded')"
	require.Equal(t, "false", b.read(expanded))
	b.run(chromedp.KeyEvent(kb.Enter), visibleNow(".unfolded .diagnosis"))
	require.Equal(t, "true", b.read(expanded), "the focus stays")
	require.Contains(t, b.read("document.querySelector('.diagnosis').textContent"), "Your endpoint answered 503. Next try at 1 Dec 2026, 20:03:21")
	require.Equal(t, "true",
		b.read("String(document.getElementById(document.activeElement.getAttribute('aria-controls')).checkVisibility())"))

	b.run(chromedp.Reload(), visibleNow(".unfolded .diagnosis")) // the address remembers it
	b.tab("button.toggle")
	b.run(chromedp.KeyEvent(" "), chromedp.WaitNotVisible(chromedp.CSS(".unfolded .diagnosis")))
	require.NotContains(t, b.read("location.href"), "open=")

	b.run(chromedp.KeyEvent(" "), chromedp.Click(chromedp.CSS(".ids .copy")), chromedp.WaitVisible(chromedp.CSS("#status:not(:empty)")))
	require.Equal(t, english.Copied, b.read("document.getElementById('status').textContent"))
	b.requireQuiet(strings.TrimPrefix(s.URL, "http://"))

	execute(t, db, "DELETE FROM sessions")
	b.tab("tbody:nth-of-type(2) button.toggle")
	b.run(chromedp.KeyEvent(kb.Enter), visibleNow("#email")) // and back to that attempt
	require.Contains(t, b.read("document.querySelector('[name=next]').value"), pathAttempts+"att_")
}

func worksOverPlainHTTP(t *testing.T, running runningBrowser) {
	s := databaseSite(t, openDatabase(t), colourfulQueries())
	_, port, err := net.SplitHostPort(strings.TrimPrefix(s.URL, "http://"))
	require.NoError(t, err)
	host := net.JoinHostPort(plainHost, port)
	b := running.newTab(t)
	b.signInByKeyboard("http://" + host)
	require.Equal(t, "false", b.read("String(isSecureContext)"))
	b.run(chromedp.Click(chromedp.CSS(".top form button")), visibleNow("#email"))
	b.requireQuiet(host)
}

func worksWithoutScript(t *testing.T, running runningBrowser) {
	s := databaseSite(t, openDatabase(t), colourfulQueries())
	b := running.newTab(t)
	call(b, emulation.SetScriptExecutionDisabled, emulation.SetScriptExecutionDisabledParams{Value: true})
	b.run(chromedp.Navigate(s.URL+pathRoot), visibleNow("#email"),
		chromedp.SendKeys(chromedp.CSS("#email"), testEmail), chromedp.SendKeys(chromedp.CSS("#password"), testPassword+kb.Enter),
		visibleNow("a.toggle"), chromedp.Click(chromedp.CSS("a.toggle")), visibleNow(".crumb + h1"))
	require.Contains(t, b.read("document.querySelector('.facts time').textContent"), "UTC")
	b.requireQuiet(strings.TrimPrefix(s.URL, "http://"))
}

// fitsWindows: no page is wider than its window; what is wide scrolls inside.
func fitsWindows(t *testing.T, running runningBrowser) {
	queries := colourfulQueries()
	_, n := told(queries.attempts[3].URL)
	for _, kind := range []models.NoticeKind{models.NoticeFailing, models.NoticeDisabled, models.NoticeRecovered} {
		n.Kind = kind
		queries.notices = append(queries.notices, n)
	}
	s := databaseSite(t, openDatabase(t), queries)
	empty := databaseSite(t, openDatabase(t), newQueries(0))
	folder := os.Getenv(screenshotsVariable)
	if folder == "" {
		folder = t.TempDir()
	}
	b := running.newTab(t)
	b.run(chromedp.Navigate(s.URL + pathSignIn))
	b.picture(folder, "sign-in")
	b.run(chromedp.SendKeys(chromedp.CSS("#email"), testEmail), chromedp.SendKeys(chromedp.CSS("#password"), "wrong"+kb.Enter), visibleNow("#problem"))
	b.picture(folder, "sign-in-refused")
	b.signInByKeyboard(s.URL)
	b.picture(folder, "list")
	b.run(chromedp.Navigate(s.URL + pathDeliveries + "?open=" + queries.attempts[0].ID))
	b.picture(folder, "list-open")
	b.run(chromedp.Navigate(s.URL + pathAttempts + queries.attempts[3].ID))
	b.picture(folder, "attempt")
	b.run(chromedp.Navigate(s.URL + "/developers/nowhere"))
	b.picture(folder, "not-found")
	b.run(chromedp.Navigate(s.URL+pathDeliveries), chromedp.Click(chromedp.CSS(".top form button")), visibleNow("#email"))
	b.signInByKeyboard(empty.URL)
	b.picture(folder, "empty")
}

// picture takes the page at each width, light and dark.
func (b *browser) picture(folder, name string) {
	b.t.Helper()
	for _, width := range []int64{360, 390, 1000, 1440, 1920} {
		b.run(chromedp.EmulateViewport(width, 900))
		const fits = `document.documentElement.scrollWidth <= innerWidth ? 'fits' : 'too wide'`
		require.Equal(b.t, "fits", b.read(fits), "%s at %d px", name, width)
		if width != 390 && width != 1440 {
			continue
		}
		for _, theme := range []string{"light", "dark"} {
			call(b, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{
				Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: theme}},
			})
			b.save(filepath.Join(folder, fmt.Sprintf("%s-%d-%s.png", name, width, theme)))
		}
	}
}

func (b *browser) save(file string) {
	b.t.Helper()
	ctx, cancel := b.within()
	defer cancel()
	image, err := chromedp.Run(ctx, chromedp.FullScreenshot(100))
	require.NoError(b.t, err)
	require.NoError(b.t, os.WriteFile(file, image, 0o600))
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
