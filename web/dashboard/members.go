package dashboard

import (
	"errors"
	"fmt"
	"net/http"
	"strings"

	"github.com/botix-pro/platform/app/models"
	"github.com/botix-pro/platform/app/store"
	"github.com/botix-pro/platform/web/ui"
)

// shownEntries is how much of what people did stands on the page.
const shownEntries = 30

// membersView is who is in the project, who is invited, and what they did.
type membersView struct {
	ui.Shell
	Texts       *words
	Head        ui.Head
	Owner       bool // the reader is one: they may change this
	People      []personView
	Invitations []invitationRow
	Entries     []entryView
	Email       string      // as it was typed
	Roles       []ui.Option // to choose from
	Problem     string      // why nobody was added; may be empty
	Link        string      // of a fresh invitation, shown once; may be empty
	LinkFor     string
}

type personView struct {
	Email, Role string
	Since       ui.Instant
	Self        bool
	Remove      string // where the form goes; empty: not to be removed
	RemoveName  string
	DialogID    string
	Question    string
}

type invitationRow struct {
	Email, Role           string
	Until                 ui.Instant
	Withdraw, WithdrawFor string
}

type entryView struct {
	At                     ui.Instant
	Actor, Action, Subject string
	Detail                 string
}

// forOwner keeps a page for the project's owners.
func forOwner(page ui.Page) ui.Page {
	return func(v *ui.Visit) (ui.Reply, error) {
		if v.Member.Role != models.RoleOwner {
			return ui.Reply{}, refusedRole
		}
		return page(v)
	}
}

func (d *Dashboard) membersPage(v *ui.Visit) (ui.Reply, error) {
	return d.members(v, http.StatusOK, membersView{})
}

// members shows the page with what the last form gave.
func (d *Dashboard) members(v *ui.Visit, status int, view membersView) (ui.Reply, error) {
	texts := wordsIn(v.Locale.Language)
	view.Shell, view.Texts = v.Shell(texts.Members.Title, ui.NavMembers), texts
	view.Here = pathMembers
	view.Head = ui.Head{Title: texts.Members.Title, Lead: texts.Members.Lead}
	view.Owner = v.Member.Role == models.RoleOwner
	if view.Roles == nil {
		view.Roles = roleOptions(texts, models.RoleMember)
	}
	if err := d.fillMembers(v, &view); err != nil {
		return ui.Reply{}, err
	}
	return d.views.Render("members", status, view)
}

func roleOptions(texts *words, chosen models.Role) []ui.Option {
	var options []ui.Option
	for _, role := range []models.Role{models.RoleMember, models.RoleOwner} {
		options = append(options, ui.Option{Value: string(role), Name: texts.Members.Roles[role], Chosen: role == chosen})
	}
	return options
}

func (d *Dashboard) fillMembers(v *ui.Visit, view *membersView) error {
	project, texts := v.Member.Project.ID, view.Texts.Members
	people, err := d.queries.People(v.Context(), project)
	if err != nil {
		return fmt.Errorf("list the members: %w", err)
	}
	for _, p := range people {
		view.People = append(view.People, personRow(v, texts, p))
	}
	invitations, err := d.queries.Invitations(v.Context(), project)
	if err != nil {
		return fmt.Errorf("list invitations: %w", err)
	}
	for _, i := range invitations {
		view.Invitations = append(view.Invitations, invitationRow{
			Email: ui.Visible(i.Email), Role: ui.Word(texts.Roles, i.Role), Until: v.Locale.Time(i.ExpiresAt),
			Withdraw: pathMembers + "/invitations/" + i.ID + "/withdraw", WithdrawFor: fmt.Sprintf(texts.WithdrawF, ui.Visible(i.Email)),
		})
	}
	entries, err := d.queries.AuditEntries(v.Context(), project, "", store.Page{Limit: shownEntries})
	if err != nil {
		return fmt.Errorf("list what people did: %w", err)
	}
	for _, e := range entries {
		view.Entries = append(view.Entries, entryView{
			At: v.Locale.Time(e.CreatedAt), Actor: ui.Visible(e.Actor), Action: ui.Word(texts.Actions, e.Action),
			Subject: ui.Visible(e.Subject), Detail: ui.Visible(e.Detail),
		})
	}
	return nil
}

func personRow(v *ui.Visit, texts membersWords, p models.Person) personView {
	row := personView{
		Email: ui.Visible(p.Email), Role: ui.Word(texts.Roles, p.Role), Since: v.Locale.Time(p.CreatedAt), Self: p.UserID == v.Member.UserID,
	}
	if v.Member.Role == models.RoleOwner {
		row.Remove, row.DialogID = pathMembers+"/"+p.UserID+"/remove", "remove-"+p.UserID
		row.RemoveName = fmt.Sprintf(texts.RemoveF, row.Email)
		row.Question = fmt.Sprintf(texts.RemoveQuestionF, row.Email)
	}
	return row
}

// addMember adds somebody who has an account at once, or gives them another role, and invites somebody who
// has none: the link is shown once, to be passed on.
func (d *Dashboard) addMember(v *ui.Visit) (ui.Reply, error) {
	form, err := v.Form()
	if err != nil {
		return ui.Reply{}, err
	}
	texts := wordsIn(v.Locale.Language)
	email := strings.ToLower(strings.TrimSpace(form.Get("email")))
	role := models.Role(form.Get("role"))
	if role != models.RoleOwner {
		role = models.RoleMember
	}
	if !possibleEmail(email) || len(email) < minEmailBytes {
		return d.members(v, http.StatusUnprocessableEntity, membersView{
			Email: ui.Visible(form.Get("email")), Roles: roleOptions(texts, role), Problem: texts.Members.BadEmail,
		})
	}
	user, err := d.queries.UserByEmail(v.Context(), email)
	switch {
	case errors.Is(err, store.ErrNotFound):
		return d.invite(v, email, role)
	case err != nil:
		return ui.Reply{}, fmt.Errorf("look for the user: %w", err)
	}
	return d.addUser(v, *user, role)
}

// minEmailBytes is the shortest address that the database takes.
const minEmailBytes = 3

func (d *Dashboard) addUser(v *ui.Visit, user models.User, role models.Role) (ui.Reply, error) {
	_, err := d.queries.Write(v.Context(), v.Member.Project.ID, func(tx *store.Tx) error {
		tx.Audit(v.Audit("member.added", user.ID, user.Email+" "+string(role)))
		return tx.SetMember(v.Context(), user.ID, role)
	})
	if errors.Is(err, store.ErrLastOwner) {
		return d.members(v, http.StatusConflict, membersView{Problem: wordsIn(v.Locale.Language).Members.LastOwner})
	}
	if err != nil {
		return ui.Reply{}, fmt.Errorf("add a member: %w", err)
	}
	answer := ui.Redirect(pathMembers)
	answer.Notice = fmt.Sprintf(wordsIn(v.Locale.Language).Members.AddedF, ui.Visible(user.Email))
	return answer, nil
}

// removeMember takes somebody out of the project, from their next page on.
func (d *Dashboard) removeMember(v *ui.Visit) (ui.Reply, error) {
	id := v.PathValue("id")
	if !models.ValidID(models.PrefixUser, id) {
		return ui.Reply{}, store.ErrNotFound
	}
	_, err := d.queries.Write(v.Context(), v.Member.Project.ID, func(tx *store.Tx) error {
		tx.Audit(v.Audit("member.removed", id, ""))
		return tx.RemoveMember(v.Context(), id)
	})
	texts := wordsIn(v.Locale.Language).Members
	switch {
	case errors.Is(err, store.ErrLastOwner):
		return d.members(v, http.StatusConflict, membersView{Problem: texts.LastOwner})
	case err != nil:
		return ui.Reply{}, fmt.Errorf("remove a member: %w", err)
	}
	answer := ui.Redirect(pathMembers)
	answer.Notice = texts.Removed
	return answer, nil
}
