package contacts

import "github.com/botix-pro/platform/web/ui"

// words are the texts of these pages in one language. A field whose name ends in
// F is a format.
type words struct {
	Title, Lead, One                                        string
	Name, Email, Phone, ExternalID, Tag, Tags, UpdatedSince string
	Identities, Attributes                                  string
	NoTags, NoIdentities                                    string
	EmptyTitle, EmptyText                                   string
	New, NewLead, Create, Created                           string
	Edit, EditTitle, EditLead, Save, Saved                  string
	Conflict, NowF                                          string
	Delete, DeleteTitleF, DeleteText, Deleted               string
	Send, AllMessages, AllRuns                              string
	EventsLead                                              string
	PhoneHint, ExternalIDHint, TagsHint, IdentitiesHint     string
	AttributesHint                                          string
}

func wordsIn(v *ui.Visit) *words { return ui.In(v.Locale.Language, &english, &russian) }
