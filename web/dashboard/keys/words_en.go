package keys

import (
	"github.com/botix-pro/platform/app/models"
	"github.com/botix-pro/platform/web/ui"
)

//nolint:gochecknoglobals // a constant table
var english = words{
	Title: "API keys", LeadF: "A project has at most %d keys that work. Give each program one of its own: it can then be revoked alone.",
	EmptyTitle: "There is no API key yet", EmptyText: "Every request to the API carries a key. Create one below.",
	Name: "Name", Key: "Key", Scopes: "May", State: "State", Created: "Created", Used: "Last used", Expires: "Expires", Never: "Never",
	NotUsed: "Never", Change: "Change",
	Active: "Active", Unused: "Never used", Expired: "Expired", Revoked: "Revoked",
	Revoke: "Revoke", RevokeF: "Revoke %s", RevokedNotice: "The key was revoked. Every server refuses it within 5 seconds.",
	RevokeQuestion:    "Programs that use this key are refused within 5 seconds, with 401. This cannot be undone.",
	NeverUsedQuestion: "This key was never used. Revoking it cannot be undone.",
	New:               "Create a key", NewLead: "The key is shown once, on the next page.", NameHint: "Where it is used: “billing, production”",
	Lifetime: "Expires after", Create: "Create the key",
	BadNameF: "A name has 1 to %d characters.", NoScope: "Choose what the key may do.",
	TooManyF: "There are %d keys that work already. Revoke one that nobody needs.",
	Repeated: "This form was sent twice. The key was created the first time; if you did not see its secret, revoke it and create another.",
	MadeF:    "The key “%s” was created", MadeLead: "Copy it now: it is not shown again, and nobody can find it out later.",
	Secret: "the new key", Try: "Try it",
	OwnersTitle: "Only owners may do this", OwnersText: "Ask an owner of the project. The page of members tells who they are.",
	AskOwner:   "Only owners create and revoke API keys.",
	DaysF:      ui.Forms{One: "%s day", Many: "%s days"},
	ScopesMean: map[models.Scope]string{models.ScopeRead: "read: GET requests", models.ScopeWrite: "write: everything that changes something"},
}
