package dashboard

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"net/http"

	"github.com/botix-pro/platform/app/models"
	"github.com/botix-pro/platform/app/store"
	"github.com/botix-pro/platform/web/ui"
)

// invitationTokenBytes is the length of an invitation's secret: 256 random bits.
const invitationTokenBytes = 32

// invitationView is the page on which an invited person chooses a password.
type invitationView struct {
	ui.Shell
	Texts    *words
	Lead     string
	Email    string
	Field    string // what the password field is called
	Existing bool   // they have an account
	Action   string
	Problem  string
}

// invite makes an invitation and shows its link, which is nowhere else to be had.
func (d *Dashboard) invite(v *ui.Visit, email string, role models.Role) (ui.Reply, error) {
	secret := make([]byte, invitationTokenBytes)
	if _, err := rand.Read(secret); err != nil {
		return ui.Reply{}, fmt.Errorf("make an invitation: %w", err)
	}
	token := base64.RawURLEncoding.EncodeToString(secret)
	invitation := models.Invitation{
		ID: models.NewID(models.PrefixInvitation, v.Now), TokenHash: tokenHash(token), Email: email, Role: role,
		CreatedAt: v.Now, ExpiresAt: v.Now.Add(models.InvitationLifetime),
	}
	_, err := d.queries.Write(v.Context(), v.Member.Project.ID, func(tx *store.Tx) error {
		tx.Invite(invitation)
		tx.Audit(v.Audit("member.invited", invitation.ID, email+" "+string(role)))
		return nil
	})
	if err != nil {
		return ui.Reply{}, fmt.Errorf("invite a member: %w", err)
	}
	return d.members(v, http.StatusOK, membersView{Link: d.publicURL + pathInvitation + token, LinkFor: ui.Visible(email)})
}

func tokenHash(token string) []byte {
	sum := sha256.Sum256([]byte(token))
	return sum[:]
}

func (d *Dashboard) withdrawInvitation(v *ui.Visit) (ui.Reply, error) {
	id := v.PathValue("id")
	if !models.ValidID(models.PrefixInvitation, id) {
		return ui.Reply{}, store.ErrNotFound
	}
	if err := d.queries.WithdrawInvitation(v.Context(), v.Member.Project.ID, id); err != nil {
		return ui.Reply{}, fmt.Errorf("withdraw an invitation: %w", err)
	}
	answer := ui.Redirect(pathMembers)
	answer.Notice = wordsIn(v.Locale.Language).Members.Withdrawn
	return answer, nil
}

// invitationPage is for whoever has the link.
func (d *Dashboard) invitationPage(v *ui.Visit) (ui.Reply, error) {
	return d.invitation(v, http.StatusOK, "")
}

func (d *Dashboard) invitation(v *ui.Visit, status int, problem string) (ui.Reply, error) {
	found, err := d.invited(v)
	if err != nil {
		return ui.Reply{}, err
	}
	existing, err := d.hasAccount(v, found.Email)
	if err != nil {
		return ui.Reply{}, err
	}
	texts := wordsIn(v.Locale.Language)
	lead, field := texts.Invitation.LeadF, texts.Account.New
	if existing {
		lead, field = texts.Invitation.ExistingF, texts.SignIn.Password
	}
	view := invitationView{
		Shell: v.Shell(texts.Invitation.Title, ""), Texts: texts, Email: found.Email, Problem: problem, Field: field, Existing: existing,
		Lead: fmt.Sprintf(lead, ui.Visible(found.Project)), Action: pathInvitation + v.PathValue("token"),
	}
	view.Here = pathRoot // the address is a secret: no form carries it elsewhere
	return d.views.Render("invitation", status, view)
}

// hasAccount reports whether the invited person has an account: since the
// invitation they may have got one by another.
func (d *Dashboard) hasAccount(v *ui.Visit, email string) (bool, error) {
	_, err := d.queries.UserByEmail(v.Context(), email)
	if err != nil && !errors.Is(err, store.ErrNotFound) {
		return false, fmt.Errorf("look for the user: %w", err)
	}
	return err == nil, nil
}

func (d *Dashboard) invited(v *ui.Visit) (*models.Invitation, error) {
	found, err := d.queries.InvitationByToken(v.Context(), tokenHash(v.PathValue("token")))
	if errors.Is(err, store.ErrNotFound) {
		texts := wordsIn(v.Locale.Language).Invitation
		return nil, ui.Refusal{Status: http.StatusNotFound, Title: texts.GoneTitle, Text: texts.Gone}
	}
	if err != nil {
		return nil, fmt.Errorf("look for the invitation: %w", err)
	}
	return found, nil
}

// acceptInvitation makes the person a member and signs them in. Who has no account
// chooses a password; who has one gives theirs.
func (d *Dashboard) acceptInvitation(v *ui.Visit) (ui.Reply, error) {
	form, err := v.Form()
	if err != nil {
		return ui.Reply{}, err
	}
	found, err := d.invited(v)
	if err != nil {
		return ui.Reply{}, err
	}
	existing, err := d.hasAccount(v, found.Email)
	if err != nil {
		return ui.Reply{}, err
	}
	user, problem, err := d.newcomer(v, found.Email, form.Get("password"), existing)
	if err != nil {
		return ui.Reply{}, err
	}
	if problem != "" {
		return d.invitation(v, http.StatusUnprocessableEntity, problem)
	}
	err = d.queries.AcceptInvitation(v.Context(), *found, *user, !existing)
	if errors.Is(err, store.ErrUserExists) { // a moment ago, by another invitation
		return d.invitation(v, http.StatusConflict, "")
	}
	if err != nil {
		return ui.Reply{}, fmt.Errorf("accept the invitation: %w", err)
	}
	if err := d.startSession(v, user); err != nil {
		return ui.Reply{}, err
	}
	return ui.Redirect(pathHome), nil
}

// newcomer is the person who accepts an invitation; problem says in words why it
// is not.
func (d *Dashboard) newcomer(v *ui.Visit, email, password string, existing bool) (user *models.User, problem string, err error) {
	texts := wordsIn(v.Locale.Language)
	if existing {
		user, err = d.gate.admit(v.Context(), clientNetwork(v.Request), email, password)
		var wait throttledError
		switch {
		case errors.As(err, &wait):
			return nil, texts.Invitation.Throttled, nil
		case errors.Is(err, errWrongCredentials):
			return nil, texts.SignIn.Wrong, nil
		}
		return user, "", err
	}
	switch {
	case d.gate.byAddress.take(clientNetwork(v.Request)) > 0:
		return nil, texts.Invitation.Throttled, nil
	case !goodPassword(password):
		return nil, fmt.Sprintf(texts.Account.TooShortF, minPasswordRunes), nil
	}
	hash, err := HashPassword(password)
	if err != nil {
		return nil, "", err
	}
	return &models.User{ID: models.NewID(models.PrefixUser, v.Now), Email: email, PasswordHash: hash, CreatedAt: v.Now}, "", nil
}
