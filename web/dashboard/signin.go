package dashboard

import (
	"errors"
	"fmt"
	"math"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/botix-pro/platform/app/models"
	"github.com/botix-pro/platform/web/ui"
)

// signInView is the sign-in page.
type signInView struct {
	ui.Shell
	Texts   *words
	Email   string
	Next    string
	Problem *ui.Sentence // nil: the first try
}

// signInPage shows the form, or goes on when somebody is signed in already.
func (d *Dashboard) signInPage(v *ui.Visit) (ui.Reply, error) {
	next := safeNext(v.URL.Query().Get(fieldNext))
	if d.sessions.GetString(v.Context(), sessionUser) != "" {
		return ui.Redirect(next), nil
	}
	return d.signInForm(v, http.StatusOK, signInView{Next: next})
}

// signIn checks the posted credentials and starts a session.
func (d *Dashboard) signIn(v *ui.Visit) (ui.Reply, error) {
	form, err := v.Form()
	if err != nil {
		return ui.Reply{}, err
	}
	email, next := form.Get("email"), safeNext(form.Get(fieldNext))
	user, err := d.gate.admit(v.Context(), clientNetwork(v.Request), email, form.Get("password"))
	if err != nil {
		return d.signInRefused(v, err, signInView{Email: strings.TrimSpace(email), Next: next})
	}
	if err := d.startSession(v, user); err != nil {
		return ui.Reply{}, err
	}
	d.log.InfoContext(v.Context(), "signed in to the dashboard", "user", user.ID)
	return ui.Redirect(next), nil
}

// startSession begins a session under a new token: one that somebody planted
// before is worth nothing afterwards.
func (d *Dashboard) startSession(v *ui.Visit, user *models.User) error {
	ctx := v.Context()
	if err := d.sessions.RenewToken(ctx); err != nil {
		return fmt.Errorf("start a session: %w", err)
	}
	d.sessions.Put(ctx, sessionUser, user.ID)
	d.sessions.Put(ctx, sessionEmail, user.Email)
	d.sessions.Put(ctx, sessionSince, v.Now.UnixMicro())
	return nil
}

// signInRefused shows the form again, with the reason.
func (d *Dashboard) signInRefused(v *ui.Visit, err error, view signInView) (ui.Reply, error) {
	var wait throttledError
	switch {
	case errors.As(err, &wait):
		return d.signInThrottled(v, wait.wait, view)
	case errors.Is(err, errWrongCredentials):
		d.log.InfoContext(v.Context(), "a sign-in to the dashboard was refused", "network", clientNetwork(v.Request))
		view.Problem = ui.Plain(wordsIn(v.Locale.Language).SignIn.Wrong)
		return d.signInForm(v, http.StatusUnprocessableEntity, view)
	default:
		return ui.Reply{}, err
	}
}

func (d *Dashboard) signInThrottled(v *ui.Visit, wait time.Duration, view signInView) (ui.Reply, error) {
	d.log.WarnContext(v.Context(), "sign-ins to the dashboard are throttled", "network", clientNetwork(v.Request))
	seconds := int(math.Ceil(wait.Seconds()))
	view.Problem = v.Locale.At(wordsIn(v.Locale.Language).SignIn.Throttled, v.Now.Add(time.Duration(seconds)*time.Second))
	answer, err := d.signInForm(v, http.StatusTooManyRequests, view)
	if err == nil {
		answer.Header = http.Header{"Retry-After": {strconv.Itoa(seconds)}}
	}
	return answer, err
}

func (d *Dashboard) signInForm(v *ui.Visit, status int, view signInView) (ui.Reply, error) {
	view.Texts = wordsIn(v.Locale.Language)
	view.Shell = v.Shell(view.Texts.SignIn.Title, "")
	view.Here = pathSignIn
	return d.views.Render("signin", status, view)
}

// signOut ends the session, whoever's it is.
func (d *Dashboard) signOut(v *ui.Visit) (ui.Reply, error) {
	if err := d.sessions.Destroy(v.Context()); err != nil {
		return ui.Reply{}, fmt.Errorf("end the session: %w", err)
	}
	return ui.Redirect(pathSignIn), nil
}
