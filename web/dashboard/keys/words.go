package keys

import (
	"github.com/botix-pro/platform/app/models"
	"github.com/botix-pro/platform/web/ui"
)

// words are the texts of these pages in one language.
type words struct {
	Title, LeadF                                            string
	EmptyTitle, EmptyText                                   string
	Name, Key, Scopes, State, Created, Used, Expires, Never string
	NotUsed, Change                                         string
	Active, Unused, Expired, Revoked                        string
	Revoke, RevokeF, RevokedNotice                          string
	RevokeQuestion, NeverUsedQuestion                       string
	New, NewLead, NameHint, Lifetime, Create                string
	BadNameF, NoScope, TooManyF, Repeated                   string
	MadeF, MadeLead, Secret, Try                            string
	OwnersTitle, OwnersText, AskOwner                       string
	DaysF                                                   ui.Forms
	ScopesMean                                              map[models.Scope]string
}

func wordsIn(l ui.Language) *words { return ui.In(l, &english, &russian) }
