package dashboard

import (
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/botix-pro/platform/web/ui"
)

// minPasswordRunes is what a new password has at least. Nothing else is asked of
// it: length is what counts (NIST SP 800-63B).
const minPasswordRunes = 12

// accountView is the page about the signed-in person.
type accountView struct {
	ui.Shell
	Texts   *words
	Head    ui.Head
	Role    string
	Problem *ui.Sentence // why the password was not changed; may be nil
	Field   string       // which field the problem is about
}

func (d *Dashboard) accountPage(v *ui.Visit) (ui.Reply, error) {
	return d.account(v, http.StatusOK, nil, "")
}

func (d *Dashboard) account(v *ui.Visit, status int, problem *ui.Sentence, field string) (ui.Reply, error) {
	texts := wordsIn(v.Locale.Language)
	return d.views.Render("account", status, accountView{
		Shell: v.Shell(texts.Account.Title, ""), Texts: texts, Head: ui.Head{Title: texts.Account.Title, Lead: texts.Account.Lead},
		Role: ui.Word(texts.Members.Roles, v.Member.Role), Problem: problem, Field: field,
	})
}

// changePassword takes the old password and a new one, and ends all other
// sessions of the person.
func (d *Dashboard) changePassword(v *ui.Visit) (ui.Reply, error) {
	form, err := v.Form()
	if err != nil {
		return ui.Reply{}, err
	}
	texts := wordsIn(v.Locale.Language).Account
	var wait throttledError
	switch _, err := d.gate.admit(v.Context(), clientNetwork(v.Request), v.Member.Email, form.Get("current")); {
	case errors.As(err, &wait):
		return d.account(v, http.StatusTooManyRequests, v.Locale.At(wordsIn(v.Locale.Language).SignIn.Throttled, v.Now.Add(wait.wait)), "current")
	case errors.Is(err, errWrongCredentials):
		return d.account(v, http.StatusUnprocessableEntity, ui.Plain(texts.Wrong), "current")
	case err != nil:
		return ui.Reply{}, err
	}
	if !goodPassword(form.Get("new")) {
		return d.account(v, http.StatusUnprocessableEntity, ui.Plain(fmt.Sprintf(texts.TooShortF, minPasswordRunes)), "new")
	}
	if err := d.setPassword(v, form.Get("new")); err != nil {
		return ui.Reply{}, err
	}
	answer := ui.Redirect(pathAccount)
	answer.Notice = texts.Changed
	return answer, nil
}

// goodPassword reports whether a new password is long enough, and no longer than
// what is hashed.
func goodPassword(password string) bool {
	return len([]rune(password)) >= minPasswordRunes && len(password) <= maxPasswordBytes
}

// setPassword changes the password. This session goes on under a new token; all
// that began earlier are over.
func (d *Dashboard) setPassword(v *ui.Visit, password string) error {
	hash, err := HashPassword(password)
	if err != nil {
		return err
	}
	since := v.Now.Truncate(time.Microsecond) // what PostgreSQL keeps
	if err := d.queries.SetPassword(v.Context(), v.Member.UserID, hash, since); err != nil {
		return fmt.Errorf("set the password: %w", err)
	}
	if err := d.sessions.RenewToken(v.Context()); err != nil {
		return fmt.Errorf("renew the session: %w", err)
	}
	d.sessions.Put(v.Context(), sessionSince, since.UnixMicro())
	return nil
}
