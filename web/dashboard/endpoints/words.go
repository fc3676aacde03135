package endpoints

import (
	"github.com/botix-pro/platform/app/models"
	"github.com/botix-pro/platform/web/ui"
)

// words are the texts of these pages in one language.
type words struct {
	Title, Lead, One, EmptyTitle, EmptyText              string
	URL, State, Types, Day, Nothing, SuccessF            string
	LastSuccess, FailingSince, InFlight, Rate, NoRate    string
	Headers, Attempts                                    string
	Pause, Paused, Resume, Resumed, ResumeDrop, HeldText string
	Test, Tested                                         string
	Rotate, RotateText, Secret, SecretLead, SecretUntil  string // SecretUntil: %s: a time
	Delete, DeleteTitle, DeleteText, Deleted             string
	OwnersTitle, OwnersText                              string
	States, Means                                        map[models.EndpointStatus]string
}

func wordsIn(l ui.Language) *words { return ui.In(l, &english, &russian) }
