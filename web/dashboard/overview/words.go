package overview

import "github.com/botix-pro/platform/web/ui"

// words are the texts of this page in one language. A field whose name ends in F
// is a format; a %s in a text is the place of a time.
type words struct {
	Title, Lead                                              string
	Ranges                                                   string // what the tabs choose
	Attention, Calm                                          string
	DeadLetters, SeeDeadLetters                              string
	DeadLettersF                                             ui.Forms // how many, a time
	Disabled, DisabledText, SeeEndpoint                      string
	Failing                                                  string
	FailingF                                                 ui.Forms // failures, a time
	Unsteady                                                 string
	UnsteadyF                                                string // share, attempts, span
	KeyExpires, KeyExpiresText, SeeKeys                      string
	LimitNear, SeeUsage                                      string
	LimitF                                                   string // share, limit, refused, a time
	Figures                                                  string
	DeliveredFigure, WaitingFigure, DeadFigure, ErrorsFigure string
	OfAttemptsF, OfRequestsF                                 string // how many, the rate before, span
	WaitingNote, DeadNote                                    string
	SeeDeliveries                                            string
	LimitFigure                                              string
	OfLimitF                                                 string // used, limit
	TopFailing, Endpoint, MostCommon, History, FailedShare   string
	TopCauses, Cause, Times, NoneFailing                     string
	Steps                                                    string
	StepsF                                                   string // taken, all
	Done, ToDo                                               string
	StepKey, StepKeyText, StepKeyLink                        string
	StepRequest, StepRequestLink                             string
	StepRequestF                                             string // base URL
	StepEndpoint, StepEndpointText, StepEndpointLink         string
	StepDelivery, StepDeliveryText, StepDeliveryLink         string
}

func wordsIn(l ui.Language) *words { return ui.In(l, &english, &russian) }
