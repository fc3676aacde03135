package deliveries

import (
	"github.com/botix-pro/platform/app/models"
	"github.com/botix-pro/platform/web/ui"
)

// words are the texts of these pages in one language. A field whose name ends in
// F is a format; a %s in the others is the place of a time.
type words struct {
	List      listWords
	Attempt   attemptWords
	Outcomes  outcomeWords
	Diagnosis diagnosisWords
	Filters   filterWords
	State     stateWords
	Recover   recoverWords
	Dead      deadWords
}

type filterWords struct {
	AllOutcomes, DeadLetters               string // tabs
	Outcome, Endpoint, EventType           string
	HTTP, Class, Range, From, To, ID, NoID string
	Outcomes, HTTPNames, Ranges            map[string]string
	DeletedF                               string // endpoint
}

// stateWords are about a delivery and what can be done with it.
type stateWords struct {
	Title, Heading, Timeline    string
	Retry, RetryNow, SendAgain  string
	Redirect, RedirectMeans     string
	Queued, InFlight, Cancelled string // why it cannot be retried
	RetriedF                    string // number of the next attempt
	Refusals                    map[models.Code]string
	AutomaticF, ManualF         string // number
	WaitedF                     string // how long
	Shown, Older, NoAttempts    string
	NoPayload                   string
}

// recoverWords ask before many deliveries are sent again.
type recoverWords struct {
	Title, Nothing, NoneChosen, TooMany string
	TitleF                              ui.Forms
	MoreTitleF                          string // number
	EndpointsF                          ui.Forms
	DeadF, HeldF, WaitingF, DeliveredF  ui.Forms
	QueuedF, ExpiredF, InactiveF        ui.Forms
	About                               string
	Rate, RateHint, RateFaultF          string // the most
	SubmitF                             ui.Forms
	SubmitAll                           string
	StartedF                            ui.Forms
}

type deadWords struct {
	Title, Lead, EmptyTitle, EmptyText    string
	Cause, Endpoint, EventType, At, Keeps string
	TotalF, CountF, RetryAllF             ui.Forms
	Causes                                map[models.DeadLetterCause]string
	AnsweredF                             string // HTTP status
	Advice                                map[models.DeadLetterCause]string
	Rejected, Unknown                     string
	Docs, Days, Example, FirstAt, LastAt  string
	Test, List, Retry                     string
	RetryF                                string // delivery
	Stopped                               map[models.EndpointStatus]string
	Archive, More, NoMatch                string
	Actions                               string
}

type listWords struct {
	Title, Lead                                               string
	Caption                                                   string
	Details, Outcome, EventType, Endpoint, Try, Started, Took string
	DetailsOfF                                                string // id
	SelectF                                                   string // delivery
	Manual                                                    string
	NewF                                                      ui.Forms
	ManyNewF                                                  string // number
	Show, Chosen, Matching                                    string
	Sparse                                                    string // %s: a time
	GoOn                                                      string
	NoOlder                                                   string
	EmptyTitle, EmptyLead, EmptyKey, Example, PastEnd         string
}

type attemptWords struct {
	Title, Back                                                      string
	Request, Answer, Payload, Headers, Body, IDs, Timing, About      string
	Outcome, Error, Number, Started, NextTry, Took                   string
	NoNextTry                                                        string
	Rest, Curl, CurlHint, Download, Docs                             string
	Operation                                                        string
	URL, Status                                                      string
	AutomaticF, ManualF                                              string // number, count
	DNS, Connect, TLS, FirstByte, Total                              string
	NoAnswer, NoBody, NoHeaders, Hex                                 string
	SizeF                                                            string // size
	CutF                                                             string // size
	EventID, DeliveryID, AttemptID, EndpointID, RequestID, CausingID string
}

type outcomeWords struct {
	Delivered, Failed, Lost string
	Classes                 map[models.ErrorClass]string // short, beside the outcome
}

// diagnosisWords say what happened, and what happens next.
type diagnosisWords struct {
	DeliveredF, AnsweredF, RedirectF, SlowDownF string // status
	Classes                                     map[models.ErrorClass]string
	Unknown                                     string

	NextAt, DueNow, Sending, Given, Held, Cancelled string // NextAt: %t
	LaterDelivered, LaterF                          string // state
}

func wordsIn(l ui.Language) *words { return ui.In(l, &english, &russian) }
