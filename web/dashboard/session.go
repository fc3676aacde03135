package dashboard

import (
	"fmt"
	"net/http"
	"net/netip"
	"net/url"
	"strings"
	"time"

	"github.com/alexedwards/scs/v2"

	"github.com/botix-pro/platform/app/models"
	"github.com/botix-pro/platform/web/ui"
)

const (
	cookieName      = "btx_session"
	sessionLifetime = 12 * time.Hour
	sessionIdle     = time.Hour

	// The session's values.
	sessionUser    = "user_id"
	sessionEmail   = "email"      // to show who is signed in
	sessionProject = "project_id" // the one switched to
	sessionNotice  = "notice"     // what the last form has done, to be said once

	fieldNext = "next" // where to go after signing in
)

// newSessions returns the session library set up: tokens are stored hashed, so
// that a copy of the table signs nobody in.
func newSessions(secure bool) *scs.SessionManager {
	sessions := scs.New()
	sessions.Lifetime = sessionLifetime
	sessions.IdleTimeout = sessionIdle
	sessions.HashTokenInStore = true
	sessions.Cookie = scs.SessionCookie{
		Name: cookieName, Path: pathRoot, HttpOnly: true, SameSite: http.SameSiteLaxMode, Secure: secure, Persist: true,
	}
	return sessions
}

// sessionToken returns the browser's token, empty when it has none.
func sessionToken(r *http.Request) string {
	cookie, err := r.Cookie(cookieName)
	if err != nil {
		return ""
	}
	return cookie.Value
}

// forMember makes a page for those who are signed in and sends everybody else
// to the sign-in page, with the way back.
func (d *Dashboard) forMember(page ui.Page) ui.Page {
	return func(v *ui.Visit) (ui.Reply, error) {
		ctx := v.Context()
		user := d.sessions.GetString(ctx, sessionUser)
		if user == "" {
			return signInFirst(v), nil
		}
		projects, err := d.queries.ProjectsOfUser(ctx, user)
		if err != nil {
			return ui.Reply{}, fmt.Errorf("find the user's projects: %w", err)
		}
		if len(projects) == 0 {
			return ui.Reply{}, refusedNoProject
		}
		v.Member = &ui.Member{
			UserID: user, Email: d.sessions.GetString(ctx, sessionEmail),
			Project: chosenProject(projects, d.sessions.GetString(ctx, sessionProject)), Projects: projects,
		}
		if err := d.attend(v); err != nil {
			return ui.Reply{}, err
		}
		return page(v)
	}
}

// attend tells a whole page what waits for its reader. Parts of pages have no
// frame to show it in.
func (d *Dashboard) attend(v *ui.Visit) error {
	if v.Partial() {
		return nil
	}
	v.Frame.Notice = func() string { return d.sessions.PopString(v.Context(), sessionNotice) }
	waiting, err := d.queries.Attention(v.Context(), v.Member.Project.ID)
	if err != nil {
		return fmt.Errorf("count what waits: %w", err)
	}
	v.Member.Attention = map[string]int64{ui.NavDeadLetters: waiting.DeadLetters, ui.NavEndpoints: waiting.DisabledEndpoints}
	return nil
}

// chosenProject is the one that was switched to, as long as the user is in it.
func chosenProject(projects []models.Project, chosen string) models.Project {
	for _, p := range projects {
		if string(p.ID) == chosen {
			return p
		}
	}
	return projects[0]
}

// signInFirst sends to the sign-in page with the way back: by itself where a
// part of a page was asked for, which no form must be put into.
func signInFirst(v *ui.Visit) ui.Reply {
	if v.Header.Get("Hx-Request") == "" {
		return ui.Redirect(signInFor(v.URL.RequestURI()))
	}
	here := pathHome
	if at, err := url.Parse(v.Header.Get("Hx-Current-Url")); err == nil {
		here = safeNext(at.RequestURI())
	}
	return ui.Reply{Status: http.StatusUnauthorized, Header: http.Header{"Hx-Redirect": {signInFor(here)}}}
}

// signInFor is the sign-in page's address with the way back to a page.
func signInFor(here string) string {
	return pathSignIn + "?" + url.Values{fieldNext: {here}}.Encode()
}

// safeNext returns where to go after signing in: the given address if it is a
// page of the dashboard, otherwise the first page. Whatever a browser
// could read as another host is refused.
func safeNext(next string) string {
	parsed, err := url.Parse(next)
	if err != nil || parsed.IsAbs() || parsed.Host != "" || parsed.User != nil || strings.ContainsAny(next, "\\\t\r\n") {
		return pathHome
	}
	inside := strings.HasPrefix(parsed.Path, pathRoot+"/") && !strings.Contains(parsed.Path, "..") &&
		!strings.Contains(parsed.Path, "//")
	if !inside || parsed.Path == pathSignIn || parsed.Path == pathSignOut {
		return pathHome
	}
	return parsed.RequestURI()
}

// clientAddressKey is the context key of the client's address, a string.
type clientAddressKey struct{}

// clientNetwork returns whom sign-in attempts are counted against: an IPv4
// address, or an IPv6 /64, which is what one customer of a provider gets.
func clientNetwork(r *http.Request) string {
	text, _ := r.Context().Value(clientAddressKey{}).(string)
	address, err := netip.ParseAddr(text)
	if err != nil {
		return text
	}
	address = address.Unmap()
	if address.Is4() {
		return address.String()
	}
	return netip.PrefixFrom(address.WithZone(""), 64).Masked().String()
}
