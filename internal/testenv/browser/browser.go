// Package browser drives a real Chromium in tests and holds every page shown
// against what is promised of all of them: no complaint in the console, no
// request to another host, no barrier that axe-core calls serious, nothing wider
// than its window.
package browser

import (
	"context"
	_ "embed"
	"encoding/json"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
	"github.com/stretchr/testify/require"

	"github.com/botix-pro/platform/internal/testenv"
)

// PlainHost is a name that the browser takes for a host elsewhere: over plain
// http it sends no Sec-Fetch headers there, as on a local network.
const PlainHost = "platform.test"

// Zone is the time zone the browser is in: none that a test would get right by
// chance.
const Zone = "Asia/Kathmandu"

// screenshotsVariable names a folder for the pictures of the pages; without it
// none are written. namesVariable is a regular expression that their names match;
// without it all are written.
const (
	screenshotsVariable = "BOTIX_SCREENSHOTS"
	namesVariable       = "BOTIX_SCREENSHOTS_OF"
)

// The rest of a page that is higher than this many CSS pixels is not in its
// picture: it is more of the same.
const maxPictured = 2400

// patience bounds one step in the browser.
const patience = 30 * time.Second

// axe is axe-core 4.14.1 (MPL-2.0, see vendored/).
//
//go:embed vendored/axe-core-4.14.1.min.js
var axe string

// Browser is a running Chromium. Starting one is dear: tests of a package share
// it among their parts.
type Browser struct{ running context.Context }

// Start runs Chromium until the test ends.
func Start(t testing.TB) *Browser {
	t.Helper()
	options := append(slices.Clone(chromedp.DefaultExecAllocatorOptions[:]),
		chromedp.ExecPath(testenv.Chromium(t)), chromedp.NoSandbox, chromedp.UserDataDir(t.TempDir()),
		chromedp.Flag("host-resolver-rules", "MAP "+PlainHost+" 127.0.0.1"))
	allocator, stopAllocator := chromedp.NewExecAllocator(context.WithoutCancel(t.Context()), options...)
	running, stop := chromedp.NewContext(allocator)
	t.Cleanup(func() { _ = chromedp.Cancel(running); stop(); stopAllocator() })
	require.NoError(t, chromedp.Do(running))
	return &Browser{running}
}

// Tab is a tab with cookies of its own, and all that a page may not do while it
// is shown.
type Tab struct {
	context.Context
	t testing.TB

	mu     sync.Mutex
	faults []string
	hosts  map[string]bool
}

// NewTab opens a tab that the test's end closes.
func (b *Browser) NewTab(t testing.TB) *Tab {
	t.Helper()
	tab := &Tab{t: t, hosts: map[string]bool{}}
	ctx, closeTab := chromedp.NewContext(b.running, chromedp.WithNewBrowserContext(), chromedp.WithListener(tab.watch))
	t.Cleanup(closeTab)
	require.NoError(t, chromedp.Do(ctx))
	tab.Context = ctx
	Call(tab, network.Enable, network.EnableParams{})
	Call(tab, log.Enable, cdp.Empty{})
	Call(tab, emulation.SetTimezoneOverride, emulation.SetTimezoneOverrideParams{TimezoneID: Zone})
	return tab
}

// watch notes what a page complains about and whom it asks.
func (b *Tab) watch(event any) {
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

// RequireQuiet holds the pages shown so far against what is promised: they asked
// nobody but this host, and the console is empty.
func (b *Tab) RequireQuiet(host string) {
	b.t.Helper()
	b.mu.Lock()
	defer b.mu.Unlock()
	require.Empty(b.t, b.faults)
	require.Equal(b.t, map[string]bool{strings.TrimPrefix(host, "http://"): true}, b.hosts)
}

// Forgive forgets what the pages complained about so far: a test that provokes
// an error status calls it once it has seen the answer.
func (b *Tab) Forgive() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.faults = nil
}

func (b *Tab) within() (context.Context, context.CancelFunc) {
	return context.WithTimeout(b.Context, patience)
}

// Call sends a command of the DevTools protocol.
func Call[P, R any](b *Tab, command cdp.Command[P, R], params P) {
	b.t.Helper()
	ctx, cancel := b.within()
	defer cancel()
	_, err := chromedp.Call(ctx, command, params)
	require.NoError(b.t, err)
}

// Run takes steps, one after the other.
func (b *Tab) Run(steps ...chromedp.Action[chromedp.Void]) {
	b.t.Helper()
	ctx, cancel := b.within()
	defer cancel()
	require.NoError(b.t, chromedp.Do(ctx, steps...))
}

// Open goes to an address and waits for the page's heading.
func (b *Tab) Open(address string) {
	b.t.Helper()
	b.Run(chromedp.Navigate(address), Seen("h1"))
}

// Click clicks the first element that matches.
func (b *Tab) Click(selector string) {
	b.t.Helper()
	b.Run(chromedp.Click(chromedp.CSS(selector)))
}

// Fill types a text into a field, in place of what it holds.
func (b *Tab) Fill(selector, text string) {
	b.t.Helper()
	b.Run(Seen(selector))
	b.Read(fmt.Sprintf(`(() => { document.querySelector(%q).value = ''; return '' })()`, selector))
	b.Run(chromedp.SendKeys(chromedp.CSS(selector), text))
}

// Choose picks an option of a <select> by its value, as a person does.
func (b *Tab) Choose(selector, value string) {
	b.t.Helper()
	b.Run(Seen(selector))
	b.Read(fmt.Sprintf(`(() => { const field = document.querySelector(%q); field.value = %q;
		field.dispatchEvent(new Event('change', {bubbles: true})); return field.value })()`, selector, value))
}

// Press presses a key: one of [kb], or a character.
func (b *Tab) Press(key string) {
	b.t.Helper()
	b.Run(chromedp.KeyEvent(key))
}

// Wait waits until an element that matches is seen.
func (b *Tab) Wait(selector string) {
	b.t.Helper()
	b.Run(Seen(selector))
}

// WaitText waits until the element that matches contains a text.
func (b *Tab) WaitText(selector, text string) {
	b.t.Helper()
	script := fmt.Sprintf(`String(document.querySelector(%q)?.textContent.includes(%q))`, selector, text)
	require.Eventually(b.t, func() bool { return b.Read(script) == "true" }, patience, 50*time.Millisecond,
		"%s never contained %q", selector, text)
}

// Read evaluates an expression to a string.
func (b *Tab) Read(expression string) string {
	b.t.Helper()
	ctx, cancel := b.within()
	defer cancel()
	text, err := chromedp.Run(ctx, chromedp.Evaluate[string](expression))
	require.NoError(b.t, err)
	return text
}

// Text is the text of the first element that matches.
func (b *Tab) Text(selector string) string {
	b.t.Helper()
	return b.Read(fmt.Sprintf(`(document.querySelector(%q)?.innerText ?? 'no such element')`, selector))
}

// TabTo presses Tab until the element that matches the selector has the focus.
func (b *Tab) TabTo(selector string) {
	b.t.Helper()
	for range 80 {
		b.Press(kb.Tab)
		if b.Read(fmt.Sprintf(`String(document.activeElement.matches(%q))`, selector)) == "true" {
			return
		}
	}
	b.t.Fatalf("Tab never reached %s", selector)
}

// NoScript switches JavaScript off.
func (b *Tab) NoScript() {
	b.t.Helper()
	Call(b, emulation.SetScriptExecutionDisabled, emulation.SetScriptExecutionDisabledParams{Value: true})
}

// Scheme makes the system light or dark.
func (b *Tab) Scheme(name string) {
	b.t.Helper()
	Call(b, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{
		Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: name}},
	})
}

// Seen waits for an element to be seen.
func Seen(selector string) chromedp.Action[chromedp.Void] {
	return chromedp.WaitVisible(chromedp.CSS(selector))
}

// RequireAccessible runs axe-core on the page as it is shown now: nothing it
// finds may be serious or critical.
func (b *Tab) RequireAccessible(name string) {
	b.t.Helper()
	ctx, cancel := b.within()
	defer cancel()
	_, err := chromedp.Run(ctx, chromedp.Evaluate[string](axe+"\n;'loaded'"))
	require.NoError(b.t, err)
	found, err := chromedp.Run(ctx, chromedp.Evaluate[string](`axe.run(document, {resultTypes: ['violations']}).then(result => JSON.stringify(
		result.violations.filter(v => ['serious', 'critical'].includes(v.impact)).map(v => v.id + ': ' + v.nodes.map(n => n.html.slice(0, 160) + ' ' + (n.any[0]?.message ?? '')).join(' | '))))`,
		chromedp.EvalAwaitPromise))
	require.NoError(b.t, err)
	var violations []string
	require.NoError(b.t, json.Unmarshal([]byte(found), &violations))
	require.Empty(b.t, violations, "axe-core on %s", name)
}

// Inspect holds the page as it is shown now against everything: no id stands
// twice, at each width nothing is wider than its window, and axe-core finds
// nothing serious in light and in dark. With BOTIX_SCREENSHOTS set to a folder it
// leaves pictures there.
func (b *Tab) Inspect(name string) {
	b.t.Helper()
	const unique = `[...document.querySelectorAll('[id]')].map(e => e.id).filter((id, i, all) => all.indexOf(id) !== i).join(', ')`
	require.Empty(b.t, b.Read(unique), "ids that stand twice on %s", name)
	for _, width := range []int64{360, 1000, 1920, 1440} {
		b.Run(chromedp.EmulateViewport(width, 900))
		const fits = `document.documentElement.scrollWidth <= innerWidth ? 'fits' : 'too wide: ' + [...document.querySelectorAll('body *')].filter(e => e.getBoundingClientRect().right > innerWidth + 1).slice(0, 4).map(e => e.tagName + '.' + e.className).join(', ')`
		require.Equal(b.t, "fits", b.Read(fits), "%s at %d px", name, width)
		if width == 360 || width == 1440 {
			b.inspectSchemes(fmt.Sprintf("%s-%d", name, width))
		}
	}
	b.Scheme("light")
}

func (b *Tab) inspectSchemes(name string) {
	b.t.Helper()
	for _, scheme := range []string{"light", "dark"} {
		b.Scheme(scheme)
		b.RequireAccessible(name + "-" + scheme)
		b.Picture(name + "-" + scheme)
	}
}

// Picture leaves a picture of the page, where BOTIX_SCREENSHOTS says so.
func (b *Tab) Picture(name string) {
	b.t.Helper()
	folder := os.Getenv(screenshotsVariable)
	if folder == "" || !regexp.MustCompile(os.Getenv(namesVariable)).MatchString(name) {
		return
	}
	var size struct{ Width, Height float64 }
	require.NoError(b.t, json.Unmarshal([]byte(b.Read(`JSON.stringify({Width: innerWidth, Height: document.documentElement.scrollHeight})`)), &size))
	whole, quality := true, int64(50)
	ctx, cancel := b.within()
	defer cancel()
	image, err := chromedp.Call(ctx, page.CaptureScreenshot, page.CaptureScreenshotParams{
		Format: page.CaptureScreenshotFormatWebp, Quality: &quality, CaptureBeyondViewport: &whole,
		Clip: &page.Viewport{Width: size.Width, Height: min(size.Height, maxPictured), Scale: 1},
	})
	require.NoError(b.t, err)
	require.NoError(b.t, os.MkdirAll(folder, 0o750))                                           //nolint:gosec // whoever runs the tests names the folder
	require.NoError(b.t, os.WriteFile(filepath.Join(folder, name+".webp"), image.Data, 0o600)) //nolint:gosec // as above
}
