package inspector

import (
	"github.com/botix-pro/platform/app/models"
	"github.com/botix-pro/platform/web/ui"
)

// words are the texts of these pages in one language.
type words struct {
	Title, Lead, NoBins, Name, NameHint, URL, Last, Expires, New, Wrong, TooMany, Default string
	Answers, SetScript, ScriptSet, Clear, Cleared, NoURL                                  string
	Requests, NoRequests, Request, Path, Source, Body, Answer, At, From                   string
	External, Copy, CopyOf, Redirected, Truncated                                         string
	Signature, Received, Expected, Headers                                                string
	OwnAnswers, AsEndpoint, Tree, Hex, HexPartF                                           string
	Own                                                                                   ownWords
	KeptF                                                                                 ui.Forms
	Recipes                                                                               map[string]string
	Outcomes                                                                              map[models.AnswerOutcome]string
	Verdicts, Why                                                                         map[models.VerdictStatus]string
}

// ownWords are about answers of the reader's own.
type ownWords struct {
	Times, TimesHint, FirstStatus, Status, StatusHint, Body, Delay, DelayHint, RetryAfter, RetryHint, Drip, Drop string
	Drops                                                                                                        map[models.BinDrop]string
}

func wordsIn(l ui.Language) *words { return ui.In(l, &english, &russian) }
