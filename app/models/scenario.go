package models

import (
	"encoding/json"
	"slices"
	"time"
)

// ScenarioObject is the value of a scenario's "object".
const ScenarioObject = "scenario"

// ScenarioStatus is the state of a scenario.
type ScenarioStatus string

// The scenario states, contract §8.
const (
	// ScenarioDraft is being written; it cannot be run yet.
	ScenarioDraft ScenarioStatus = "draft"
	// ScenarioActive can be run.
	ScenarioActive ScenarioStatus = "active"
	// ScenarioArchived is kept for its runs; it starts no new ones.
	ScenarioArchived ScenarioStatus = "archived"
)

// scenarioTransitions is the whole machine: every state with the states that
// may follow it.
var scenarioTransitions = map[ScenarioStatus][]ScenarioStatus{
	ScenarioDraft:    {ScenarioActive, ScenarioArchived},
	ScenarioActive:   {ScenarioArchived},
	ScenarioArchived: {ScenarioActive},
}

// ScenarioStatuses lists every state, in the order of a scenario's life.
func ScenarioStatuses() []ScenarioStatus {
	return []ScenarioStatus{ScenarioDraft, ScenarioActive, ScenarioArchived}
}

// CanBecome reports whether the machine allows the step from s to next.
func (s ScenarioStatus) CanBecome(next ScenarioStatus) bool {
	return slices.Contains(scenarioTransitions[s], next)
}

// Scenario is an ordered list of steps that can be run for a contact (contract
// §6).
type Scenario struct {
	ProjectID ProjectID
	ID        string
	Name      string
	Status    ScenarioStatus
	Version   int    // of Steps: 1, and one more with every change of name or steps
	Revision  int64  // 1, and one more with every change: the ETag
	Steps     []byte `gorm:"-"` // a JSON array, byte for byte as it was given
	CreatedAt time.Time
	UpdatedAt time.Time
}

// ScenarioView is a scenario as the API shows it (contract §8).
type ScenarioView struct {
	ID        string          `json:"id"`
	Object    string          `json:"object"`
	Name      string          `json:"name"`
	Status    ScenarioStatus  `json:"status"`
	Version   int             `json:"version"`
	Steps     json.RawMessage `json:"steps"`
	CreatedAt string          `json:"created_at"`
	UpdatedAt string          `json:"updated_at"`
}

// View returns the scenario as it is shown.
func (s *Scenario) View() ScenarioView {
	return ScenarioView{
		ID: s.ID, Object: ScenarioObject, Name: s.Name, Status: s.Status, Version: s.Version, Steps: s.Steps,
		CreatedAt: FormatTime(s.CreatedAt), UpdatedAt: FormatTime(s.UpdatedAt),
	}
}
