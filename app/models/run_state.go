package models

import "slices"

// RunStatus is the state of a scenario's run. The picture is in
// docs/state-machines.md; the same rules stand in SQL as guarded updates
// (app/store) and as CHECK constraints (migrations).
type RunStatus string

// The run states, contract §8.
const (
	// RunQueued waits for its first worker.
	RunQueued RunStatus = "queued"
	// RunRunning is claimed by a worker that holds a lease on it.
	RunRunning RunStatus = "running"
	// RunWaiting waits for a time, for a message's end, or for the next try of a
	// request.
	RunWaiting RunStatus = "waiting"
	// RunCompleted went through. Final.
	RunCompleted RunStatus = "completed"
	// RunFailed cannot go on; its error says why. Final.
	RunFailed RunStatus = "failed"
	// RunCancelled was called off. Final.
	RunCancelled RunStatus = "cancelled"
)

// runTransitions is the whole machine: every state with the states that may
// follow it.
var runTransitions = map[RunStatus][]RunStatus{
	RunQueued:  {RunRunning, RunCancelled},
	RunRunning: {RunWaiting, RunCompleted, RunFailed, RunCancelled},
	RunWaiting: {RunRunning, RunCancelled},
}

// RunStatuses lists every state, in the order of a run's life.
func RunStatuses() []RunStatus {
	return []RunStatus{RunQueued, RunRunning, RunWaiting, RunCompleted, RunFailed, RunCancelled}
}

// CanBecome reports whether the machine allows the step from s to next.
func (s RunStatus) CanBecome(next RunStatus) bool { return slices.Contains(runTransitions[s], next) }

// Over reports whether nothing follows this state.
func (s RunStatus) Over() bool { return len(runTransitions[s]) == 0 }

// RunStepStatus is the state of one step of a run.
type RunStepStatus string

// The step states, contract §8. Pending and skipped are never stored: they are
// what a step without a row is, by where its run stands.
const (
	// StepPending has not begun.
	StepPending RunStepStatus = "pending"
	// StepRunning was begun; of an http_request: its request may be under way.
	StepRunning RunStepStatus = "running"
	// StepWaiting waits for what its run waits for.
	StepWaiting RunStepStatus = "waiting"
	// StepCompleted had its effect, exactly once. Final.
	StepCompleted RunStepStatus = "completed"
	// StepFailed ended its run. Final.
	StepFailed RunStepStatus = "failed"
	// StepCancelled was under way when its run was cancelled. Final.
	StepCancelled RunStepStatus = "cancelled"
	// StepSkipped was passed over, or its run ended before it. Final.
	StepSkipped RunStepStatus = "skipped"
)

// runStepTransitions is the whole machine of a step.
var runStepTransitions = map[RunStepStatus][]RunStepStatus{
	StepPending: {StepRunning, StepWaiting, StepCompleted, StepFailed, StepSkipped},
	StepRunning: {StepWaiting, StepCompleted, StepFailed, StepCancelled},
	StepWaiting: {StepRunning, StepCompleted, StepFailed, StepCancelled},
}

// RunStepStatuses lists every state, in the order of a step's life.
func RunStepStatuses() []RunStepStatus {
	return []RunStepStatus{StepPending, StepRunning, StepWaiting, StepCompleted, StepFailed, StepCancelled, StepSkipped}
}

// CanBecome reports whether the machine allows the step from s to next.
func (s RunStepStatus) CanBecome(next RunStepStatus) bool {
	return slices.Contains(runStepTransitions[s], next)
}

// Over reports whether nothing follows this state.
func (s RunStepStatus) Over() bool { return len(runStepTransitions[s]) == 0 }
