package e2e_test

import (
	"context"
	"encoding/json"
	"net/http"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
	"github.com/stretchr/testify/require"

	"github.com/botix-pro/platform/internal/testenv"
	"github.com/botix-pro/platform/test/programs"
)

// A developer signs in with the printed credentials and sees the attempt.
func TestDashboardShowsTheAttempt(t *testing.T) {
	t.Parallel()
	s := startStack(t, t.TempDir())
	require.Equal(t, http.StatusCreated, post(t, s.URL, s.Key, "k", `{"name":"Ada"}`).Status)
	require.Eventually(t, func() bool { return len(s.received(t)) == 1 }, 10*time.Second, 10*time.Millisecond)
	var event struct {
		ID string `json:"id"`
	}
	require.NoError(t, json.Unmarshal([]byte(s.received(t)[0].Body), &event))

	ctx := browser(t)
	require.NoError(t, chromedp.Do(ctx,
		chromedp.Navigate(s.URL+"/developers"), chromedp.WaitVisible(chromedp.CSS("#email")),
		chromedp.KeyEvent(s.Email), chromedp.KeyEvent(kb.Tab), chromedp.KeyEvent(s.Password), chromedp.KeyEvent(kb.Enter),
		chromedp.WaitVisible(chromedp.CSS("table")),
	))
	list := text(t, ctx)
	require.NoError(t, chromedp.Do(ctx,
		chromedp.Click(chromedp.CSS("tbody [aria-expanded]")), chromedp.WaitVisible(chromedp.CSS("pre"))))
	detail := text(t, ctx)
	require.Contains(t, list, "contact.created")
	require.Contains(t, list, "204")
	require.Contains(t, detail, event.ID)
	require.Contains(t, detail, `"name": "Ada"`)
}

// text is what the page shows.
func text(t *testing.T, ctx context.Context) string {
	t.Helper()
	shown, err := chromedp.Run(ctx, chromedp.Evaluate[string](`document.querySelector("main").innerText`))
	require.NoError(t, err)
	return shown
}

func browser(t *testing.T) context.Context {
	t.Helper()
	options := append(chromedp.DefaultExecAllocatorOptions[:],
		chromedp.ExecPath(testenv.Chromium(t)), chromedp.NoSandbox, chromedp.UserDataDir(t.TempDir()))
	allocator, stopBrowser := chromedp.NewExecAllocator(context.Background(), options...)
	ctx, closeTab := chromedp.NewContext(allocator)
	t.Cleanup(func() { _ = chromedp.Cancel(ctx); closeTab(); stopBrowser() })
	require.NoError(t, chromedp.Do(ctx)) // starts it
	bounded, cancel := context.WithTimeout(ctx, programs.Patience)
	t.Cleanup(cancel)
	return bounded
}
