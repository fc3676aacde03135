package deliveries

import (
	"github.com/botix-pro/platform/app/models"
	"github.com/botix-pro/platform/web/ui"
)

// words are the texts of these pages in one language. A field whose name ends in
// F is a format; a %s in the others is the place of a time.
type words struct {
	List      listWords
	Notices   noticeWords
	Attempt   attemptWords
	Outcomes  outcomeWords
	Diagnosis diagnosisWords
	Filters   filterWords
	Delivery  deliveryWords
	Retry     retryWords
	Dead      deadWords
}

type filterWords struct{ Status, Class, HTTP, Since, ID string }

type deliveryWords struct{ Title, Attempts, Created, None string }

type retryWords struct{ Button, Done, Queued, InFlight, Cancelled string }

type deadWords struct {
	Title, Lead, EmptyTitle, EmptyText     string
	AnsweredF                              string
	First, Last, Show, GivenUp, KeptUntil  string
	Question, Rate, RateHintF, RateWrongF  string
	CountF, RetryAllF, QuestionF, StartedF ui.Forms
	Causes                                 map[models.DeadLetterCause]string
	Advice                                 map[models.DeadLetterCause]string // "http": for every status
}

type listWords struct {
	Title, Lead                                                 string
	Caption                                                     string
	Details, Outcome, EventType, Endpoint, Try, Started, Took   string
	DetailsOfF                                                  string // id
	Manual                                                      string
	Reach                                                       string // %s: a time
	NoOlder                                                     string
	EmptyTitle, EmptyLead, EmptyKey, Example, PastEnd, ToNewest string
}

// noticeWords tell about an endpoint whose URL stands beside them.
type noticeWords struct {
	Title           string // of the list
	Dismiss         string
	DismissF        string // url
	FailingF        string // level, %s: since when
	Disabled        string // %s: since when it failed
	Gone, Recovered string
	Kinds           map[models.NoticeKind]string // when nothing more is known
}

type attemptWords struct {
	Title, Back                                                      string
	Request, Answer, Payload, Headers, Body, IDs, Timing, About      string
	Outcome, Error, Number, Delivery, Started, Exact, NextTry, Took  string
	NoNextTry, Curl                                                  string
	URL, Status                                                      string
	AutomaticF, ManualF                                              string // number, count
	DNS, Connect, TLS, FirstByte, Total                              string
	NoAnswer, NoBody, NoHeaders, Hex                                 string
	SizeF                                                            string // size
	CutF                                                             string // size
	EventID, DeliveryID, AttemptID, EndpointID, RequestID, CausingID string
	Deliveries                                                       map[models.DeliveryStatus]string
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
