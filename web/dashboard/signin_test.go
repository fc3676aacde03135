package dashboard

import (
	"context"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/botix-pro/platform/web/ui"
)

func TestSigningInLeadsToTheListAndSetsAGuardedCookie(t *testing.T) {
	t.Parallel()
	s := newSite(t, newQueries(1))
	got := s.trySignIn("  Ada@Example.com ", testPassword)
	require.Equal(t, http.StatusSeeOther, got.StatusCode)
	require.Equal(t, pathHome, got.Header.Get("Location"))
	require.Len(t, got.Cookies(), 1)
	cookie := got.Cookies()[0]
	require.Equal(t, "btx_session", cookie.Name)
	require.True(t, cookie.HttpOnly)
	require.Equal(t, http.SameSiteLaxMode, cookie.SameSite)
	require.Equal(t, "/developers", cookie.Path)
	require.False(t, cookie.Secure)
	require.LessOrEqual(t, cookie.MaxAge, int(sessionIdle.Seconds())+1)
	require.Equal(t, http.StatusOK, s.get(pathHome).StatusCode)
	require.Equal(t, pathHome, s.get(pathSignIn).Header.Get("Location"), "who is signed in needs no form")
}

func TestTheCookieIsForHTTPSOnlyWhereThePublicURLIs(t *testing.T) {
	t.Parallel()
	require.True(t, newSessions(true).Cookie.Secure)
}

func TestAWrongPasswordAndAnUnknownUserLookAlike(t *testing.T) {
	t.Parallel()
	s := newSite(t, newQueries(1))
	wrong, unknown := s.trySignIn(testEmail, "wrong"), s.trySignIn("nobody@example.com", "wrong")
	impossible := s.trySignIn("nul\x00\xff@example.com", "wrong")
	for _, got := range []answer{wrong, unknown, impossible} {
		require.Equal(t, http.StatusUnprocessableEntity, got.StatusCode)
		require.Empty(t, got.Cookies())
		require.Contains(t, got.body, english.SignIn.Wrong)
		require.NotContains(t, got.body, `value="wrong"`, "the password is not given back")
	}
	email := regexp.MustCompile(`value="[^"]*"`)
	require.Equal(t, email.ReplaceAllString(wrong.body, ""), email.ReplaceAllString(unknown.body, ""))
	require.Contains(t, wrong.body, `value="`+testEmail+`"`, "the email is kept")
}

// An unknown user's password is hashed like a known one's: what takes the time
// is the same work, which a test can see without a stopwatch.
func TestAnUnknownUserCostsAsMuchAsAWrongPassword(t *testing.T) {
	t.Parallel()
	s := newSite(t, newQueries(0))
	slots := s.dashboard.gate.slots
	for range cap(slots) { // all turns are taken: who hashes has to wait
		slots <- struct{}{}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for _, email := range []string{testEmail, "nobody@example.com", "no address"} {
		_, err := s.dashboard.gate.admit(ctx, "address of "+email, email, "wrong")
		require.ErrorIs(t, err, context.Canceled, email)
	}
	require.Regexp(t, `^\$argon2id\$v=19\$m=19456,t=2,p=1\$`, s.dashboard.gate.nobody)
	require.Regexp(t, `^\$argon2id\$v=19\$m=19456,t=2,p=1\$`, testHash())
}

func TestAPlantedSessionIsWorthNothingAfterSigningIn(t *testing.T) {
	t.Parallel()
	s := newSite(t, newQueries(1))
	s.signIn() // the attacker's own session, planted in the victim's browser
	planted := *s.cookie()
	s.signIn()
	require.NotEqual(t, planted.Value, s.cookie().Value)

	s.client = s.newClient()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, s.URL+pathHome, nil)
	require.NoError(t, err)
	r.AddCookie(&planted)
	require.Equal(t, http.StatusSeeOther, s.do(r).StatusCode, "the planted token is dead")
}

func TestSigningOutEndsTheSessionEverywhere(t *testing.T) {
	t.Parallel()
	s := signedIn(t, newQueries(1))
	stolen := *s.cookie()
	got := s.post(pathSignOut, nil)
	require.Equal(t, pathSignIn, got.Header.Get("Location"))
	require.Nil(t, s.cookie(), "the browser drops the cookie")

	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, s.URL+pathHome, nil)
	require.NoError(t, err)
	r.AddCookie(&stolen)
	require.Equal(t, http.StatusSeeOther, s.do(r).StatusCode, "the token itself is dead")
}

func TestWithoutASessionEveryPageLeadsToSigningInAndBack(t *testing.T) {
	t.Parallel()
	s := newSite(t, newQueries(1))
	for _, path := range []string{pathHome + "?open=att_x&a=b", ui.Root + "/attempts/" + "att_x", ui.Root + "/attempts/" + "att_x/detail"} {
		got := s.get(path)
		require.Equal(t, http.StatusSeeOther, got.StatusCode, path)
		at, err := url.Parse(got.Header.Get("Location"))
		require.NoError(t, err)
		require.Equal(t, pathSignIn, at.Path)
		require.Equal(t, path, at.Query().Get("next"))
		require.Contains(t, s.get(at.String()).body, `name="next" value="`+strings.ReplaceAll(path, "&", "&amp;")+`"`)
	}
	got := s.post(pathSignIn, url.Values{"email": {testEmail}, "password": {testPassword}, "next": {ui.Root + "/attempts/" + "att_x"}})
	require.Equal(t, ui.Root+"/attempts/"+"att_x", got.Header.Get("Location"))
}

func TestTheWayBackNeverLeavesTheDashboard(t *testing.T) {
	t.Parallel()
	for _, next := range []string{
		"", "/", "https://evil.example/developers/x", "//evil.example/developers/", "/developers/../contacts", "/developersx/",
		`/\evil.example`, `/developers/\evil`, "/developers//evil.example", "javascript:alert(1)", "/developers/%2e%2e/contacts",
		"/developers/sign-out", "/developers/sign-in", "http:/developers/x", "/developers/x\r\nSet-Cookie: a=b", "developers/x",
		"//user@evil.example/developers/", "/\t/evil.example", ":",
	} {
		require.Equal(t, pathHome, safeNext(next), "%q", next)
	}
	for _, next := range []string{"/developers/deliveries?open=att_1&before=att_2", "/developers/attempts/att_1"} {
		require.Equal(t, next, safeNext(next))
	}
}

func TestFormsFromOtherSitesAreRefused(t *testing.T) {
	t.Parallel()
	s := signedIn(t, newQueries(1))
	for _, path := range []string{pathSignIn, pathSignOut} {
		for _, headers := range [][][2]string{
			{{"Sec-Fetch-Site", "cross-site"}},
			{{"Sec-Fetch-Site", "same-site"}},
			{{"Sec-Fetch-Site", ""}, {"Origin", "https://evil.example"}},
		} {
			got := s.post(path, url.Values{"email": {testEmail}, "password": {testPassword}}, headers...)
			require.Equal(t, http.StatusForbidden, got.StatusCode, "%s %v", path, headers)
			require.Empty(t, got.Cookies())
			require.Contains(t, got.body, english.Errors.OtherOrigin.Text)
		}
	}
	require.Equal(t, http.StatusOK, s.get(pathHome).StatusCode, "still signed in")
}

func TestAnAccountIsThrottledAndSaysUntilWhen(t *testing.T) {
	t.Parallel()
	s := newSite(t, newQueries(1))
	for range accountBurst {
		require.Equal(t, http.StatusUnprocessableEntity, s.trySignIn(testEmail, "wrong").StatusCode)
	}
	got := s.trySignIn(testEmail, testPassword)
	require.Equal(t, http.StatusTooManyRequests, got.StatusCode, "the right password too: it must not be guessed")
	require.Equal(t, "60", got.Header.Get("Retry-After"))
	require.Contains(t, got.body, `datetime="2026-12-01T14:04:21.500Z"`)
	require.Equal(t, http.StatusUnprocessableEntity, s.trySignIn("nobody@example.com", "x").StatusCode, "others are not affected")

	s.clock.Advance(time.Minute)
	s.signIn()
	for range accountBurst {
		require.Equal(t, http.StatusUnprocessableEntity, s.trySignIn(testEmail, "wrong").StatusCode, "success gave the tries back")
	}
}

func TestAnAddressIsThrottledOverAllAccounts(t *testing.T) {
	t.Parallel()
	s := newSite(t, newQueries(1))
	ctx, cancel := context.WithCancel(t.Context())
	cancel() // the browser has left: its tries count all the same
	network := "192.0.2.1"
	for i := range addressBurst {
		_, err := s.dashboard.gate.admit(ctx, network, strings.Repeat("x", i)+"@example.com", "wrong")
		require.NotErrorAs(t, err, new(throttledError))
	}
	_, err := s.dashboard.gate.admit(ctx, network, "new@example.com", "wrong")
	var wait throttledError
	require.ErrorAs(t, err, &wait)
	require.Equal(t, addressInterval, wait.wait)
	_, err = s.dashboard.gate.admit(t.Context(), "192.0.2.2", testEmail, testPassword)
	require.NoError(t, err, "another address is not affected")
}

func TestThrottlesForgetTheLeastRecentlySeen(t *testing.T) {
	t.Parallel()
	clk := newSite(t, newQueries(0)).clock
	limit := newThrottle(clk, 1, time.Hour)
	require.Zero(t, limit.take("first"))
	require.Positive(t, limit.take("first"))
	for i := range maxThrottled {
		require.Zero(t, limit.take(url.PathEscape(string(rune(0x4e00+i)))))
	}
	require.Len(t, limit.kept, maxThrottled)
	require.Equal(t, maxThrottled, limit.order.Len())
	require.Zero(t, limit.take("first"), "forgotten")
}

func TestAddressesAreCountedByWhatOneCustomerGets(t *testing.T) {
	t.Parallel()
	for address, network := range map[string]string{
		"192.0.2.7": "192.0.2.7", "::ffff:192.0.2.7": "192.0.2.7", "2001:db8:1:2:3::4": "2001:db8:1:2::/64",
		"fe80::1%eth0": "fe80::/64", "": "", "unix": "unix",
	} {
		r, err := http.NewRequestWithContext(context.WithValue(t.Context(), clientAddressKey{}, address), http.MethodGet, "/", nil)
		require.NoError(t, err)
		require.Equal(t, network, clientNetwork(r))
	}
}

func TestUnreadableAndOversizedFormsAreTheSendersFault(t *testing.T) {
	t.Parallel()
	s := newSite(t, newQueries(0))
	got := s.post(pathSignIn, url.Values{"email": {strings.Repeat("x", ui.MaxFormBytes)}})
	require.Equal(t, http.StatusBadRequest, got.StatusCode)
	require.Contains(t, got.body, english.Errors.BadForm.Text)
	got = s.trySignIn(testEmail, strings.Repeat("x", maxPasswordBytes+1))
	require.Equal(t, http.StatusUnprocessableEntity, got.StatusCode)
}

func TestAUserWithoutAProjectCanOnlySignOut(t *testing.T) {
	t.Parallel()
	queries := newQueries(0)
	queries.project = nil
	s := signedIn(t, queries)
	got := s.get(pathHome)
	require.Equal(t, http.StatusForbidden, got.StatusCode)
	require.Contains(t, got.body, english.Errors.NoProject.Text)
	require.Contains(t, got.body, `action="/developers/sign-out"`)
}

func TestPasswordsAreHashedWithTheirOwnSalt(t *testing.T) {
	t.Parallel()
	other, err := HashPassword(testPassword)
	require.NoError(t, err)
	require.NotEqual(t, testHash(), other)
	for _, password := range []string{"", strings.Repeat("x", maxPasswordBytes+1)} {
		_, err = HashPassword(password)
		require.Error(t, err)
	}
}
