package parts

import (
	"github.com/botix-pro/platform/app/models"
	"github.com/botix-pro/platform/web/ui"
)

// Words are the texts that the sections share. A field whose name ends in F is a
// format.
type Words struct {
	All, Created, Updated, Finished, Took, Contact, Channel, Text, Status, Version string
	Message, Run, Scenario, Event, Request, Deliveries, ShowDeliveries             string
	MessageStates                                                                  map[models.MessageStatus]string
	DeliveryStates                                                                 map[models.DeliveryStatus]string
	RunStates                                                                      map[models.RunStatus]string
	Channels                                                                       map[models.Channel]string
	NoMessages, NoRuns, NoEvents                                                   string
	Messages, Runs, Events                                                         string
	Filters, Apply                                                                 string
	FilterF                                                                        string // name, value
	NoMatch, NoMatchHint                                                           string
	BadTime, BadFilters                                                            string
	NotValid                                                                       string // the summary's title
	Refused, Changed, ChangedText                                                  string
	NotCancellable, NotCancellableText                                             string
	Ranges                                                                         map[string]string // by their names
	DeliveriesTitles                                                               map[string]string // by the range's name
	Delivered, AnsweredBadly, Unanswered                                           string
	NothingSent, NothingAnswered, LatencyTitle                                     string
	AllDeliveredF                                                                  ui.Forms
	WorstF                                                                         string // failed, attempts, a time, share
	LatencyF                                                                       string // p50, p95
	SparkF                                                                         string // delivered, attempts
	Notices                                                                        NoticeWords
	LimitedTitle                                                                   string
	LimitedF                                                                       ui.Forms
	RateUse, NoRequests, Replayed, Succeeded                                       string
	RateUseF                                                                       string // used, limit
	MinutesTitle, Idle, Admitted, LimitedAll                                       string
	BusiestF                                                                       string            // requests, limit, key, refused
	LimitF                                                                         string            // limit
	RequestsF                                                                      string            // all, 4xx, 5xx, replayed
	RequestsTitles                                                                 map[string]string // by the range's name
	NotJSONF                                                                       string            // line, column
	AtLineF                                                                        string            // line, pointer, fault
}

// NoticeWords tell about an endpoint whose URL stands beside them.
type NoticeWords struct {
	Title           string // of the list
	Dismiss         string
	DismissF        string // url
	FailingF        string // level, %s: since when
	Disabled        string // %s: since when it failed
	Gone, Recovered string
	Kinds           map[models.NoticeKind]string // when nothing more is known
}

// WordsOf are the shared texts for a visit.
func WordsOf(v *ui.Visit) *Words { return WordsIn(v.Locale.Language) }

// WordsIn are the shared texts in a language.
func WordsIn(l ui.Language) *Words { return ui.In(l, &english, &russian) }
