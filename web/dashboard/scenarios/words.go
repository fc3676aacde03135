package scenarios

import (
	"github.com/botix-pro/platform/app/models"
	"github.com/botix-pro/platform/web/ui"
)

// words are the texts of these pages in one language. A field whose name ends in
// F is a format.
type words struct {
	Title, Lead, One, Name, Steps, Definition, Masked      string
	EmptyTitle, EmptyText                                  string
	States                                                 map[models.ScenarioStatus]string
	New, NewLead, Create, Created                          string
	Edit, EditTitle, EditLead, Save, Saved, Conflict       string
	StepsHint                                              string
	Activate, Activated                                    string
	Archive, ArchiveTitle, ArchiveText, Archived           string
	Versions, Shown, OldF                                  string
	RunTitle, Run, NotRun, Started, ContactHint, Variables string
	VariablesHint, AllRuns, NotActive                      string
	Drawing, Flow, End, Then, YesWay, NoWay, UntilF, StepF string
	Types                                                  map[string]string
	Operators                                              map[string]string
	RunsLead, RunsEmptyTitle, RunsEmptyText                string
	StepStates                                             map[models.RunStepStatus]string
	Timeline, Entered, Left, Took, Began                   string
	RequestsF                                              ui.Forms
	WaitsUntil, WaitsFor                                   string
	RunAdvice                                              map[models.RunStatus]string
	RunErrors                                              map[string]string
	CancelRun, GoOn, CancelTitle, CancelText, RunCancelled string
}

func wordsIn(v *ui.Visit) *words { return ui.In(v.Locale.Language, &english, &russian) }
