package messages

import (
	channels "github.com/botix-pro/platform/app/messages"
	"github.com/botix-pro/platform/app/models"
	"github.com/botix-pro/platform/web/ui"
)

// words are the texts of these pages in one language. A field whose name ends in
// F is a format.
type words struct {
	Title, Lead, One, Since                                            string
	EmptyTitle, EmptyText                                              string
	New, NewLead, NewLeadTest, Send, NotSent, Queued                   string
	Text, Template, Variables, SendAt                                  string
	ContactHint, TextHint, TemplateHint, VariablesHint, SendAtHint     string
	Way, What, Address, Attempts, ProviderID, ErrorCode, Said          string
	Passed, Present, Final, Ahead, ByPerson                            string
	TriesF                                                             ui.Forms
	States                                                             map[models.MessageStatus]string // what happens next, where something does
	Advice                                                             map[string]string               // by error code
	OtherAdvice, UnknownAdvice, MaybeSentAdvice                        string
	Cancel, Keep, CancelTitle, CancelText, Cancelled                   string
	Choose, SettleTitle, SettleAs, Settle, Settled, Reason, ReasonHint string
	Decisions, Who, Decision, When, ByKey                              string
	Outbox, OutboxLead, OutboxEmpty, OutboxEmptyText                   string
	Receipt, Times, Taken                                              string
	Rehearse, RehearseLead, SetSandbox, SandboxSet                     string
	Behaviour, Delay, DelayHint, DelayWrong, Deliver, Blind            string
	Behaviours                                                         map[channels.Behaviour]string
}

func wordsIn(v *ui.Visit) *words { return ui.In(v.Locale.Language, &english, &russian) }
