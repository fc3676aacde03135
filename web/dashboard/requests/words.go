package requests

import (
	"github.com/botix-pro/platform/app/models"
	"github.com/botix-pro/platform/web/ui"
)

// words are the texts of these pages in one language. A field whose name ends in
// F is a format; those that end in To, Until and Since have a %s for a time.
type words struct {
	Title, Lead, One, All, Errors, ErrorsLead                 string
	EmptyTitle, EmptyText, Quickstart, NoErrors, NoErrorsText string
	ByID, Method, Route, Code, Key, Since                     string
	Succeeded, Refused, Failed                                string // the classes of statuses
	Replayed, OnlyReplays, NoReplays, Replay                  string
	Request, Answer, Operation, Came, Meaning, Count, Latest  string
	Reach, CountedTo                                          string
	NotLogged, NotLoggedText, NoKey, NoKeyText                string
	ToDo, DocsF, NoOperation                                  string
	Steps                                                     map[step]string
	Outcomes                                                  map[outcome]string
	Codes                                                     map[models.Code]codeWords
	Caused, NothingCaused, NoDelivery, Delivery, Attempts     string
	MoreCaused, LaterEvents                                   string

	OneOperation                                        string
	States                                              map[state]stateWords
	RunningSince, AnsweredUntil, RememberedUntil        string
	Began, Completed, Expires, Executing                string
	Timeline, What, LaterF, EarlierCut, NotYetLogged    string
	StoredAnswer, Headers, Body, NoBody, Masked         string
	Object, SettleMessage                               string
	CanDo, Retry, RetryHint, RetryTitle, NothingToRetry string
	LostF, RetryTextF, RetriedF                         ui.Forms
	NotOffered                                          string
	Refusals                                            []refusalWords
	NoteTitle, Note, NoteHint, Record, Recorded         string
	Trail, NoTrail, When, Who, Deed                     string
	Deeds                                               map[string]string // by their names in the audit trail
}

// codeWords say when an error happens, and what its caller does.
type codeWords struct{ When, Do string }

// stateWords say what an operation's state is, what it means, and what to do.
type stateWords struct{ Name, Means, Do string }

// refusalWords are what cannot be done, and why.
type refusalWords struct{ What, Why string }

func wordsIn(v *ui.Visit) *words { return ui.In(v.Locale.Language, &english, &russian) }

// catalogueWords are the catalogue's own, which is in English.
func catalogueWords() map[models.Code]codeWords {
	all := map[models.Code]codeWords{}
	for _, entry := range models.Catalogue() {
		all[entry.Code] = codeWords{entry.When, entry.Caller}
	}
	return all
}
