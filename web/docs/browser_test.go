package docs_test

import (
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
	"github.com/stretchr/testify/require"

	"github.com/botix-pro/platform/internal/testenv/browser"
)

// TestBrowser shares one browser between its parts: starting one is dear.
func TestBrowser(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(served())
	t.Cleanup(server.Close)
	running := browser.Start(t)
	//nolint:paralleltest // the parts take turns with one browser
	for name, part := range map[string]func(*testing.T, *browser.Tab, string){
		"every page is quiet, fits and is accessible": everyPage,
		"past the navigation and copying by keyboard": byKeyboard,
		"everything is there without scripts":         withoutScript,
	} {
		t.Run(name, func(t *testing.T) {
			tab := running.NewTab(t)
			part(t, tab, server.URL)
			tab.RequireQuiet(server.URL)
		})
	}
}

// everyPage shows each page in both languages. The pages of the reference are one
// template and are large: one of them stands for all in every width and scheme.
func everyPage(t *testing.T, tab *browser.Tab, base string) {
	for _, path := range append(allPages(t), "/docs/404", "/ru/docs/404") {
		name := "docs" + strings.ReplaceAll(strings.TrimPrefix(strings.TrimPrefix(path, "/ru"), "/docs"), "/", "-") + "-en"
		if strings.HasPrefix(path, "/ru") {
			name = strings.TrimSuffix(name, "-en") + "-ru"
		}
		tab.Open(base + path)
		if strings.Contains(path, "/docs/api/") && !strings.HasSuffix(path, "/contacts") {
			tab.RequireAccessible(name)
			continue
		}
		tab.Inspect(name)
		if strings.HasSuffix(path, "/404") {
			tab.Forgive()
		}
	}
}

func byKeyboard(t *testing.T, tab *browser.Tab, base string) {
	tab.Open(base + "/ru/docs/quickstart")
	tab.Press(kb.Tab)
	require.Equal(t, "skip", tab.Read("document.activeElement.className"), "the first thing leads past the navigation")
	tab.Press(kb.Enter)
	require.Equal(t, "#main", tab.Read("location.hash"))
	tab.TabTo("button")
	tab.Press(kb.Enter)
	tab.Wait("#announcement:not(:empty)")
	require.Equal(t, "Скопировано", tab.Text("#announcement"))
}

// withoutScript: all but the buttons is there.
func withoutScript(t *testing.T, tab *browser.Tab, base string) {
	tab.NoScript()
	tab.Run(chromedp.EmulateViewport(360, 800))
	tab.Open(base + "/docs/quickstart")
	tab.Click(".side summary")
	tab.Wait(`.side details a[href="/docs/retries"]`)
	tab.Click(`.side details a[href="/docs/retries"]`)
	tab.Wait("#matrix")
	require.Equal(t, "/docs/retries", tab.Read("location.pathname"))
	require.Equal(t, "0", tab.Read("String(document.querySelectorAll('.code button').length)"))
}
