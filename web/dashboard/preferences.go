package dashboard

import (
	"fmt"
	"net/http"
	"time"

	"github.com/botix-pro/platform/app/models"
	"github.com/botix-pro/platform/app/store"
	"github.com/botix-pro/platform/web/ui"
)

// preferenceAge is how long a browser remembers language and theme.
const preferenceAge = 365 * 24 * time.Hour

// setPreferences remembers language and theme in the browser, signed in or not,
// and leads back.
func (d *Dashboard) setPreferences(v *ui.Visit) (ui.Reply, error) {
	form, err := v.Form()
	if err != nil {
		return ui.Reply{}, err
	}
	answer := ui.Redirect(safeNext(form.Get(fieldNext)))
	if language, ok := ui.KnownLanguage(form.Get("language")); ok {
		answer.Header.Add("Set-Cookie", d.preference(ui.CookieLanguage, string(language)))
	}
	switch theme := form.Get("theme"); theme {
	case "", "light", "dark":
		answer.Header.Add("Set-Cookie", d.preference(ui.CookieTheme, theme))
	}
	return answer, nil
}

// preference is a cookie for all pages, the docs included. An empty value takes
// it away.
func (d *Dashboard) preference(name, value string) string {
	cookie := http.Cookie{ //nolint:gosec // Secure is set where the site is https
		Name: name, Value: value, Path: "/", MaxAge: int(preferenceAge.Seconds()),
		SameSite: http.SameSiteLaxMode, HttpOnly: true, Secure: d.secure,
	}
	if value == "" {
		cookie.MaxAge = -1
	}
	return cookie.String()
}

// switchProject changes the project whose pages are shown. Only a member's own
// can be chosen; another does not exist for them.
func (d *Dashboard) switchProject(v *ui.Visit) (ui.Reply, error) {
	form, err := v.Form()
	if err != nil {
		return ui.Reply{}, err
	}
	for _, project := range v.Member.Projects {
		if project.ID == models.ProjectID(form.Get("project")) {
			d.sessions.Put(v.Context(), sessionProject, string(project.ID))
			return ui.Redirect(pathHome), nil
		}
	}
	return ui.Reply{}, fmt.Errorf("switch to a project: %w", store.ErrNotFound)
}
