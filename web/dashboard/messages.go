package dashboard

import "github.com/botix-pro/platform/app/models"

// messages is every text of the dashboard in one language. A field whose name
// ends in F is a format; those with %t in their comment take a time, where %s is
// the place of a <time> element. Whole sentences only: none is put together
// from parts.
type messages struct {
	Language   string // BCP 47, for <html lang>
	TimeLayout string // of Go's package time
	Product    string
	Skip       string // to the main part, for keyboards
	SignedInAs string
	SignOut    string
	Plan       string
	Deliveries string // in the navigation
	Main       string // the navigation's name
	Copy       string
	CopyOfF    string // what is copied
	Copied     string
	Loading    string
	Modes      map[models.Mode]string
	Plans      map[string]string // by plan id; another id is shown as it is
	SignIn     signInWords
	List       listWords
	Notices    noticeWords
	Attempt    attemptWords
	Outcomes   outcomeWords
	Diagnosis  diagnosisWords
	Errors     errorWords
}

type signInWords struct {
	Title, Email, Password, Show, Hide, Submit string
	Wrong                                      string
	Throttled                                  string // %t
}

type listWords struct {
	Title, Lead                                                 string
	AsOf                                                        string // %t
	Refresh                                                     string
	Caption                                                     string
	Details, Outcome, EventType, Endpoint, Try, Started, Took   string
	DetailsOfF                                                  string // id
	Manual                                                      string
	Newer, Older, Pages                                         string
	NoOlder                                                     string
	EmptyTitle, EmptyLead, EmptyKey, Example, PastEnd, ToNewest string
}

// noticeWords tell about an endpoint whose URL stands beside them.
type noticeWords struct {
	Title           string // of the list
	Dismiss         string
	DismissF        string // url
	FailingF        string // level, %t: since when
	Disabled        string // %t: since when it failed
	Gone, Recovered string
	Kinds           map[models.NoticeKind]string // when nothing more is known
}

type attemptWords struct {
	Title, Back                                                      string
	Request, Answer, Payload, Headers, Body, IDs, Timing, About      string
	Outcome, Error, Number, Delivery, Started, Exact, NextTry, Took  string
	NoNextTry                                                        string
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

type errorWords struct {
	NotFound, Internal, OtherOrigin, BadForm, NoProject errorText
	RequestID, Back                                     string
}

// errorText is one error page.
type errorText struct{ Title, Text string }

func (m *messages) refused(why refusal) errorText {
	switch why {
	case refusedForm:
		return m.Errors.BadForm
	case refusedNoProject:
		return m.Errors.NoProject
	case refusedOrigin:
	}
	return m.Errors.OtherOrigin
}

// word looks a value up and falls back to the value itself.
func word[K ~string](words map[K]string, value K) string {
	if found, ok := words[value]; ok {
		return found
	}
	return visible(string(value))
}
