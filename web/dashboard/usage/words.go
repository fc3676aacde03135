package usage

import "github.com/botix-pro/platform/web/ui"

// words are the texts of this page in one language. A field whose name ends in F
// is a format.
type words struct {
	Title, Lead                                                         string
	PlanF                                                               string // the plan
	Used, Keys                                                          string
	UsedF                                                               string // used, allowed
	Limits                                                              string
	Rate, RateMeans, Idempotency, IdempotencyMeans                      string
	DeadLetters, DeadLettersMeans, Archive, ArchiveMeans                string
	Endpoints, EndpointsMeans, Body, BodyMeans, Attempts, AttemptsMeans string
	PerMinuteF, HoursF, DaysF                                           ui.Forms
	Now, MinutesTitle, Idle, Admitted, Refused                          string
	BusiestF                                                            string // requests, limit, key, refused
	LimitF                                                              string // limit
	Over, Ranges                                                        string
	HeadersTitle, Header, Value, Means, NotSeen                         string
	SeenF                                                               string // key, a time
	LimitMeans, RemainingMeans, ResetMeans, RetryMeans                  string
	Full, FullRate, FullKeys, FullBody, FullOther                       string
	PlansTitle, PlansLead, Plan, Yours                                  string
}

func wordsIn(l ui.Language) *words { return ui.In(l, &english, &russian) }
