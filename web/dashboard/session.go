package dashboard

import (
	"errors"
	"fmt"
	"net/http"
	"net/netip"
	"net/url"
	"strings"
	"time"

	"github.com/alexedwards/scs/v2"

	"github.com/botix-pro/platform/app/models"
	"github.com/botix-pro/platform/app/store"
)

const (
	cookieName      = "btx_session"
	sessionLifetime = 12 * time.Hour
	sessionIdle     = time.Hour

	// The session's values.
	sessionUser  = "user_id"
	sessionEmail = "email" // to show who is signed in

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

// member is who is signed in and the project they see.
type member struct {
	Email   string
	Project models.Project
}

// forMember makes a page for those who are signed in and sends everybody else
// to the sign-in page, with the way back.
func (d *Dashboard) forMember(page func(*http.Request, member) (reply, error)) handler {
	return func(r *http.Request) (reply, error) {
		user := d.sessions.GetString(r.Context(), sessionUser)
		if user == "" {
			return redirect(signInFor(r)), nil
		}
		project, err := d.queries.ProjectOfUser(r.Context(), user)
		if errors.Is(err, store.ErrNotFound) {
			return reply{}, refusedNoProject
		}
		if err != nil {
			return reply{}, fmt.Errorf("find the user's project: %w", err)
		}
		return page(r, member{Email: d.sessions.GetString(r.Context(), sessionEmail), Project: *project})
	}
}

// signInFor is the sign-in page's address with the way back to this page.
func signInFor(r *http.Request) string {
	return pathSignIn + "?" + url.Values{fieldNext: {r.URL.RequestURI()}}.Encode()
}

// safeNext returns where to go after signing in: the given address if it is a
// page of the dashboard, otherwise the list of deliveries. Whatever a browser
// could read as another host is refused.
func safeNext(next string) string {
	parsed, err := url.Parse(next)
	if err != nil || parsed.IsAbs() || parsed.Host != "" || parsed.User != nil || strings.ContainsAny(next, "\\\t\r\n") {
		return pathDeliveries
	}
	inside := strings.HasPrefix(parsed.Path, pathRoot+"/") && !strings.Contains(parsed.Path, "..") &&
		!strings.Contains(parsed.Path, "//")
	if !inside || parsed.Path == pathSignIn || parsed.Path == pathSignOut {
		return pathDeliveries
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
