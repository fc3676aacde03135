package dashboard

import (
	"context"
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
	sessionSince   = "since"      // when it began, in microseconds of Unix time
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
		memberships, err := d.queries.Memberships(ctx, user, d.since(ctx))
		if err != nil {
			return ui.Reply{}, fmt.Errorf("find the user's projects: %w", err)
		}
		if len(memberships) == 0 {
			return d.withoutProject(v, user)
		}
		v.Member = memberOf(memberships, d.sessions.GetString(ctx, sessionProject))
		v.Member.UserID, v.Member.Email = user, d.sessions.GetString(ctx, sessionEmail)
		if err := d.attend(v); err != nil {
			return ui.Reply{}, err
		}
		return page(v)
	}
}

// since is when the session began, to the microsecond, which is what PostgreSQL
// keeps of a time.
func (d *Dashboard) since(ctx context.Context) time.Time {
	return time.UnixMicro(d.sessions.GetInt64(ctx, sessionSince))
}

// withoutProject is for a session that shows no project: it is over, or its user
// is in none.
func (d *Dashboard) withoutProject(v *ui.Visit, user string) (ui.Reply, error) {
	ended, err := d.queries.SessionEnded(v.Context(), user, d.since(v.Context()))
	if err != nil {
		return ui.Reply{}, fmt.Errorf("look whether the session is over: %w", err)
	}
	if !ended {
		return ui.Reply{}, refusedNoProject
	}
	if err := d.sessions.Destroy(v.Context()); err != nil {
		return ui.Reply{}, fmt.Errorf("end the session: %w", err)
	}
	return signInFirst(v), nil
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

// memberOf is a member in the project that was switched to, as long as they are
// in it, otherwise in their first.
func memberOf(memberships []models.Membership, chosen string) *ui.Member {
	m := &ui.Member{Project: memberships[0].Project, Role: memberships[0].Role}
	for _, in := range memberships {
		m.Projects = append(m.Projects, in.Project)
		if string(in.ID) == chosen {
			m.Project, m.Role = in.Project, in.Role
		}
	}
	return m
}

// signInFirst sends to the sign-in page with the way back. A part of a page that
// was asked for by script is refused: the script then goes there itself.
func signInFirst(v *ui.Visit) ui.Reply {
	if v.Partial() {
		return ui.Reply{Status: http.StatusUnauthorized}
	}
	return ui.Redirect(signInFor(v.URL.RequestURI()))
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
