package e2e_test

import (
	"encoding/json"
	"net/http"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
	"github.com/stretchr/testify/require"

	"github.com/botix-pro/platform/internal/testenv/browser"
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

	tab := browser.Start(t).NewTab(t)
	tab.Run(chromedp.Navigate(s.URL+"/developers"), browser.Seen("#email"),
		chromedp.KeyEvent(s.Email), chromedp.KeyEvent(kb.Tab), chromedp.KeyEvent(s.Password), chromedp.KeyEvent(kb.Enter), browser.Seen("#figures"))
	tab.Open(s.URL + "/developers/deliveries")
	list := tab.Text("main")
	tab.Click("tbody [aria-expanded]")
	tab.Wait("pre")
	detail := tab.Text("main")
	require.Contains(t, list, "contact.created")
	require.Contains(t, list, "204")
	require.Contains(t, detail, event.ID)
	require.Contains(t, detail, `"name": "Ada"`)
	tab.RequireQuiet(s.URL)
}
