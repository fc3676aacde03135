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
)

// maxFormBytes bounds a posted form.
const maxFormBytes = 16 << 10

// signInView is the sign-in page.
type signInView struct {
	shell
	Email   string
	Next    string
	Problem *sentence // nil: the first try
}

// signInPage shows the form, or goes on when somebody is signed in already.
func (d *Dashboard) signInPage(r *http.Request) (reply, error) {
	next := safeNext(r.URL.Query().Get(fieldNext))
	if d.sessions.GetString(r.Context(), sessionUser) != "" {
		return redirect(next), nil
	}
	return d.signInForm(http.StatusOK, signInView{Next: next})
}

// signIn checks the posted credentials and starts a session.
func (d *Dashboard) signIn(r *http.Request) (reply, error) {
	r.Body = http.MaxBytesReader(nil, r.Body, maxFormBytes)
	if err := r.ParseForm(); err != nil {
		return reply{}, refusedForm
	}
	email, next := r.PostForm.Get("email"), safeNext(r.PostForm.Get(fieldNext))
	user, err := d.gate.admit(r.Context(), clientNetwork(r), email, r.PostForm.Get("password"))
	if err != nil {
		return d.signInRefused(r, err, signInView{Email: strings.TrimSpace(email), Next: next})
	}
	if err := d.startSession(r, user); err != nil {
		return reply{}, err
	}
	d.log.InfoContext(r.Context(), "signed in to the dashboard", "user", user.ID)
	return redirect(next), nil
}

// startSession begins a session under a new token: one that somebody planted
// before is worth nothing afterwards.
func (d *Dashboard) startSession(r *http.Request, user *models.User) error {
	ctx := r.Context()
	if err := d.sessions.RenewToken(ctx); err != nil {
		return fmt.Errorf("start a session: %w", err)
	}
	d.sessions.Put(ctx, sessionUser, user.ID)
	d.sessions.Put(ctx, sessionEmail, user.Email)
	return nil
}

// signInRefused shows the form again, with the reason.
func (d *Dashboard) signInRefused(r *http.Request, err error, view signInView) (reply, error) {
	var wait throttledError
	switch {
	case errors.As(err, &wait):
		return d.signInThrottled(r, wait.wait, view)
	case errors.Is(err, errWrongCredentials):
		d.log.InfoContext(r.Context(), "a sign-in to the dashboard was refused", "network", clientNetwork(r))
		view.Problem = &sentence{Before: d.words.SignIn.Wrong}
		return d.signInForm(http.StatusUnprocessableEntity, view)
	default:
		return reply{}, err
	}
}

func (d *Dashboard) signInThrottled(r *http.Request, wait time.Duration, view signInView) (reply, error) {
	d.log.WarnContext(r.Context(), "sign-ins to the dashboard are throttled", "network", clientNetwork(r))
	seconds := int(math.Ceil(wait.Seconds()))
	view.Problem = d.words.at(d.words.SignIn.Throttled, d.clock.Now().Add(time.Duration(seconds)*time.Second))
	answer, err := d.signInForm(http.StatusTooManyRequests, view)
	if err == nil {
		answer.header = http.Header{"Retry-After": {strconv.Itoa(seconds)}}
	}
	return answer, err
}

func (d *Dashboard) signInForm(status int, view signInView) (reply, error) {
	view.shell = d.shell(d.words.SignIn.Title, nil)
	return d.views.render("signin", status, view)
}

// signOut ends the session, whoever's it is.
func (d *Dashboard) signOut(r *http.Request) (reply, error) {
	if err := d.sessions.Destroy(r.Context()); err != nil {
		return reply{}, fmt.Errorf("end the session: %w", err)
	}
	return redirect(pathSignIn), nil
}
