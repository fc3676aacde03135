package usage

import "github.com/botix-pro/platform/web/ui"

// words are the texts of this page in one language. A field whose name ends in F
// is a format. What ends in Means says what a limit is, what ends in Then what
// happens where it ends.
type words struct {
	Title, Lead                                        string
	PlanF                                              string // the plan
	Keys, KeysUsed, KeysMeans, KeysThen                string
	UsedF                                              string // used, allowed
	Limits, Limit, Allowed, Means, Then                string
	Rate, RateMeans, RateThen                          string
	Idempotency, IdempotencyMeans, IdempotencyThen     string
	DeadLetters, DeadLettersMeans, DeadLettersThen     string
	Archive, ArchivedThen                              string
	Body, BodyMeans, BodyThen                          string
	Attempts, AttemptsMeans, AttemptsThen              string
	Endpoints, NoLimit, EndpointsMeans, EndpointsThen  string
	PerMinuteF, HoursF, DaysF                          ui.Forms
	Now, Over, Ranges                                  string
	HeadersTitle, Header, Value, NotSeen               string
	SeenF                                              string // key, a time
	LimitMeans, RemainingMeans, ResetMeans, RetryMeans string
	PlansTitle, PlansLead                              string
	YoursF                                             string // the plan
}

func wordsIn(l ui.Language) *words { return ui.In(l, &english, &russian) }
