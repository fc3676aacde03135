package endpoints

import (
	"github.com/botix-pro/platform/app/models"
	"github.com/botix-pro/platform/web/ui"
)

// words are the texts of these pages in one language. A field whose name ends in F
// is a format; a %s in a text is the place of a time.
type words struct {
	Title, Lead, One, EmptyTitle, EmptyText                                string
	URL, State, Types, Day, P95, Nothing                                   string
	SuccessF                                                               string // share, attempts
	SinceF                                                                 string // a time
	LastSuccess, LastFailure, InFlight, Rate, NoRate                       string
	Headers, Created, Changed, Attempts, Success, Description              string
	New, NewLead, Create, EditTitle, EditLead, Edit, Save, Saved           string
	URLHint, TypesHint, HeadersHint, InFlightHint, RateHint                string
	Pause, Paused                                                          string
	Resume, Resumed, ResumeTitle, ResumeText, ResumeDrop, DropText         string
	HeldF, ResumeHeldF, DropTitleF                                         ui.Forms
	HeldLabel, Keep                                                        string
	DeliverF                                                               string
	Test, TestLead, Tested, TestTitle, TestRunning, TestDelivered          string
	TestDeliveredText, TestOver, TestShow, TestTook, TestOff               string
	Rotate, RotateTitle, RotateText                                        string
	Secret, SecretLead, SecretUntil, Stored                                string
	Secrets, SecretsLead, SecretName, SignsUntil, Current, Previous, NoEnd string
	Delete, DeleteTitle, DeleteText, Deleted                               string
	OwnersTitle, OwnersText                                                string
	Health, Settings, Ranges, Failing                                      string
	Told, When, What, NothingTold                                          string
	ActiveMeans, PausedMeans, FailingMeans, DisabledMeans, GoneMeans       string
	States                                                                 map[models.EndpointStatus]string
}

func wordsIn(l ui.Language) *words { return ui.In(l, &english, &russian) }
