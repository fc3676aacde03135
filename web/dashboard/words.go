package dashboard

import (
	"github.com/botix-pro/platform/app/models"
	"github.com/botix-pro/platform/web/ui"
)

// words are the texts of the dashboard's own pages: signing in and errors.
type words struct {
	SignIn     signInWords
	Account    accountWords
	Members    membersWords
	Invitation invitationWords
	Errors     errorWords
}

type accountWords struct {
	Title, Lead, Who                                      string
	Password, PasswordLead, Current, New, Change, Changed string
	Wrong, TooShortF                                      string
}

type membersWords struct {
	Title, Lead                                          string
	Role, Since, Change, You, Until                      string
	Remove, RemoveF, RemoveQuestionF, Removed, LastOwner string
	Invited, Withdraw, WithdrawF, Withdrawn              string
	Add, AddLead, AddedF, BadEmail, RolesMean, AskOwner  string
	Link, LinkForF, LinkLead                             string
	Did, When, Who, What, To, NothingDone                string
	Roles                                                map[models.Role]string
	Actions                                              map[string]string
}

type invitationWords struct {
	Title, LeadF, ExistingF, Accept, GoneTitle, Gone, Throttled string
}

type signInWords struct {
	Title, Email, Password, Show, Hide, Submit string
	Wrong                                      string
	Throttled                                  string // %s: a time
}

type errorWords struct {
	NotFound, Internal, OtherOrigin, BadForm, NoProject, NotOwner errorText
	RequestID, Back                                               string
}

// errorText is one error page.
type errorText struct{ Title, Text string }

func wordsIn(l ui.Language) *words { return ui.In(l, &english, &russian) }

func (w *words) refused(why refusal) errorText {
	switch why {
	case refusedNoProject:
		return w.Errors.NoProject
	case refusedRole:
		return w.Errors.NotOwner
	case refusedOrigin:
	}
	return w.Errors.OtherOrigin
}
