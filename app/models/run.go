package models

import (
	"encoding/json"
	"fmt"
	"time"
)

// RunObject is the value of a run's "object".
const RunObject = "run"

// The event types about runs, contract §5.
const (
	EventRunStarted   = "scenario.run.started"
	EventRunCompleted = "scenario.run.completed"
	EventRunFailed    = "scenario.run.failed"
	EventRunCancelled = "scenario.run.cancelled"
)

// ScenarioRun is one contact's way through one version of a scenario (contract
// §6).
type ScenarioRun struct {
	ProjectID       ProjectID
	ID              string
	ScenarioID      string
	ScenarioVersion int
	ContactID       string
	Variables       []byte // a JSON object: what the run was given and what its steps saved
	Status          RunStatus
	Position        int // of the present step; the number of steps once completed
	// DueAt is when a worker may take the run; of a running one, when its worker's
	// lease ends. nil: over, or waiting for a message alone.
	DueAt       *time.Time
	ClaimToken  *string // of the worker that holds it; nil unless running
	MessageID   *string // the message whose end it waits for
	ErrorCode   *string // why it failed
	ErrorDetail *string
	APIVersion  string // shapes the run's events
	RequestID   string // the API request that caused it
	Revision    int64  // 1, and one more with every change: the ETag
	StartedAt   *time.Time
	FinishedAt  *time.Time
	CreatedAt   time.Time
	UpdatedAt   time.Time
}

// ScenarioRunStep is the record of a step that was begun.
type ScenarioRunStep struct {
	ProjectID   ProjectID
	RunID       string
	StepID      string
	Status      RunStepStatus
	Attempts    int  // requests of an http_request step, begun or done
	MaybeDone   bool // the answer to one of them was lost
	ErrorCode   *string
	ErrorDetail *string
	StartedAt   time.Time
	FinishedAt  *time.Time
}

// RunError says why a run or a step failed.
type RunError struct {
	Code   string `json:"code"`
	Detail string `json:"detail"`
}

// RunView is a run as the API and its events show it (contract §8).
type RunView struct {
	ID              string          `json:"id"`
	Object          string          `json:"object"`
	ScenarioID      string          `json:"scenario_id"`
	ScenarioVersion int             `json:"scenario_version"`
	ContactID       string          `json:"contact_id"`
	Variables       json.RawMessage `json:"variables"`
	Status          RunStatus       `json:"status"`
	Error           *RunError       `json:"error"`
	StartedAt       *string         `json:"started_at"`
	FinishedAt      *string         `json:"finished_at"`
	CreatedAt       string          `json:"created_at"`
	UpdatedAt       string          `json:"updated_at"`
	// Steps are there where one run is shown, not in lists and events.
	Steps []RunStepView `json:"steps,omitempty"`
}

// RunStepView is a step of a run as the API shows it (contract §8).
type RunStepView struct {
	ID         string        `json:"id"`
	Type       string        `json:"type"`
	Status     RunStepStatus `json:"status"`
	Attempts   int           `json:"attempts"`
	StartedAt  *string       `json:"started_at"`
	FinishedAt *string       `json:"finished_at"`
	Error      *RunError     `json:"error"`
}

// StepName is what a definition says of a step whatever its type is.
type StepName struct {
	ID   string `json:"id"`
	Type string `json:"type"`
}

// View returns the run as it is shown in lists and events.
func (r *ScenarioRun) View() RunView {
	return RunView{
		ID: r.ID, Object: RunObject, ScenarioID: r.ScenarioID, ScenarioVersion: r.ScenarioVersion, ContactID: r.ContactID,
		Variables: r.Variables, Status: r.Status, Error: runError(r.ErrorCode, r.ErrorDetail),
		StartedAt: formatOptional(r.StartedAt), FinishedAt: formatOptional(r.FinishedAt),
		CreatedAt: FormatTime(r.CreatedAt), UpdatedAt: FormatTime(r.UpdatedAt),
	}
}

// ViewWith returns the run with all steps of its definition, in their order:
// those that were begun by their records.
func (r *ScenarioRun) ViewWith(steps []StepName, records []ScenarioRunStep) RunView {
	begun := make(map[string]*ScenarioRunStep, len(records))
	for i := range records {
		begun[records[i].StepID] = &records[i]
	}
	view := r.View()
	view.Steps = make([]RunStepView, len(steps))
	for i, step := range steps {
		view.Steps[i] = RunStepView{ID: step.ID, Type: step.Type, Status: StepPending}
		switch record := begun[step.ID]; {
		case record != nil:
			view.Steps[i] = record.view(step.Type)
		case r.Status.Over() || i < r.Position:
			view.Steps[i].Status = StepSkipped
		}
	}
	return view
}

func (s *ScenarioRunStep) view(kind string) RunStepView {
	return RunStepView{
		ID: s.StepID, Type: kind, Status: s.Status, Attempts: s.Attempts, StartedAt: formatOptional(&s.StartedAt),
		FinishedAt: formatOptional(s.FinishedAt), Error: runError(s.ErrorCode, s.ErrorDetail),
	}
}

func runError(code, detail *string) *RunError {
	if code == nil || detail == nil {
		return nil
	}
	return &RunError{Code: *code, Detail: *detail}
}

// Event builds an event about the run's present state.
func (r *ScenarioRun) Event(kind string, at time.Time) (*Event, error) {
	data, err := json.Marshal(r.View())
	if err != nil {
		return nil, fmt.Errorf("encode run %s: %w", r.ID, err)
	}
	event := r.event(kind, SourcePlatform, at)
	return event, event.SetData(data, Subject{ID: r.ID, Object: RunObject})
}

// OwnEvent builds an event that the run's scenario asks for, about itself.
func (r *ScenarioRun) OwnEvent(kind string, data []byte, at time.Time) (*Event, error) {
	event := r.event(kind, SourceScenario, at)
	return event, event.SetData(data, Subject{ID: event.ID, Object: "event"})
}

// EventAbout builds an event about an object that the run changed.
func (r *ScenarioRun) EventAbout(kind string, about Subject, data []byte, at time.Time) (*Event, error) {
	event := r.event(kind, SourcePlatform, at)
	return event, event.SetData(data, about)
}

func (r *ScenarioRun) event(kind string, source EventSource, at time.Time) *Event {
	return &Event{
		ProjectID: r.ProjectID, ID: NewID(PrefixEvent, at), Type: kind, Source: source,
		APIVersion: r.APIVersion, RequestID: r.RequestID, CreatedAt: at,
	}
}
