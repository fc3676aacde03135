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
	RunStates                                                                      map[models.RunStatus]string
	Channels                                                                       map[models.Channel]string
	NoMessages, NoRuns, NoEvents                                                   string
	Messages, Runs, Events                                                         string
	Filters, Apply                                                                 string
	FilterF                                                                        string // name, value
	NoMatch, NoMatchHint                                                           string
	BadTime, BadFilters                                                            string
	TimeHint                                                                       string
	NotValid                                                                       string // the summary's title
	Refused, Changed, ChangedText                                                  string
	ReadAgain                                                                      string
	NotCancellable, NotCancellableText, MaybeSentText                              string
	NotJSONF                                                                       string // line, column
	AtLineF                                                                        string // line, pointer, fault
}

// WordsOf are the shared texts for a visit.
func WordsOf(v *ui.Visit) *Words { return ui.In(v.Locale.Language, &english, &russian) }
