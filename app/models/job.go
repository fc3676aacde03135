package models

import (
	"encoding/json"
	"fmt"
	"slices"
	"time"
)

// JobType says what a job does; app composes what runs for each.
type JobType string

// The job types.
const (
	// JobWebhookRecovery sends deliveries again that a person asked for (contract §8).
	JobWebhookRecovery JobType = "webhook_recovery"
	// JobWebhookRelease goes on with what was held for an endpoint that was
	// resumed or deleted, where that was too much for one request.
	JobWebhookRelease JobType = "webhook_release"
	// JobContactsBulk creates or updates many contacts (contract §6).
	JobContactsBulk JobType = "contacts_bulk"
)

// JobStatus is the state of a job. The picture is in docs/state-machines.md.
type JobStatus string

// The job states, contract §8.
const (
	// JobQueued has not begun.
	JobQueued JobStatus = "queued"
	// JobRunning has done a batch, or is about to.
	JobRunning JobStatus = "running"
	// JobCompleted went through everything. Final.
	JobCompleted JobStatus = "completed"
	// JobFailed cannot go on; what was done stays done. Final.
	JobFailed JobStatus = "failed"
	// JobCancelled was stopped by hand; what was done stays done. Final.
	JobCancelled JobStatus = "cancelled"
)

// jobTransitions is the whole machine: every state with those that may follow.
var jobTransitions = map[JobStatus][]JobStatus{
	JobQueued:    {JobRunning, JobCancelled},
	JobRunning:   {JobCompleted, JobFailed, JobCancelled},
	JobCompleted: {},
	JobFailed:    {},
	JobCancelled: {},
}

// JobStatuses lists every state, in the order of a job's life.
func JobStatuses() []JobStatus {
	return []JobStatus{JobQueued, JobRunning, JobCompleted, JobFailed, JobCancelled}
}

// CanBecome reports whether the machine allows the step from s to next.
func (s JobStatus) CanBecome(next JobStatus) bool { return slices.Contains(jobTransitions[s], next) }

// Ended reports whether nothing follows.
func (s JobStatus) Ended() bool { return len(jobTransitions[s]) == 0 }

// EventType is the event that tells of a job's end (contract §5).
func (s JobStatus) EventType() string { return "job." + string(s) }

// Job is long work that any worker continues where the last one stopped.
type Job struct {
	ProjectID ProjectID
	ID        string
	Type      JobType
	Status    JobStatus
	// Params are what was asked for, JSON by the type.
	Params json.RawMessage
	// Position is where the next batch begins. Only the type knows what it means;
	// it moves in the transaction of the batch's effects.
	Position string
	// Total is how much there was when the job was accepted.
	Total                        int
	Processed, Succeeded, Failed int // Processed is the sum of the others
	CancelRequested              bool
	// Error is one readable sentence about why it failed, else empty.
	Error string
	// Failures counts tries in a row that moved nothing.
	Failures   int
	APIVersion string // shapes the event of its end
	RequestID  string // the API request that asked for it, empty if none did
	CreatedAt  time.Time
	UpdatedAt  time.Time
	StartedAt  *time.Time // nil while queued
	FinishedAt *time.Time // nil until it ended
}

// Pace is how many rows a second were processed from the job's beginning to its
// last batch; 0 while that is not known.
func (j *Job) Pace() float64 {
	if j.StartedAt == nil || j.Processed == 0 {
		return 0
	}
	// A batch that took no time at all still took some.
	return float64(j.Processed) / max(j.UpdatedAt.Sub(*j.StartedAt), time.Millisecond).Seconds()
}

// EndsAbout estimates when a running job is through, nil where that is not
// known.
func (j *Job) EndsAbout() *time.Time {
	pace := j.Pace()
	if j.Status != JobRunning || pace == 0 {
		return nil
	}
	left := float64(max(j.Total-j.Processed, 0))
	at := j.UpdatedAt.Add(time.Duration(left / pace * float64(time.Second)))
	return &at
}

// JobStep is what one batch of a job came to.
type JobStep struct {
	Position          string // where the next batch begins
	Succeeded, Failed int
	Done              bool // there is nothing left
	// Failure, when not empty, says why the job cannot go on.
	Failure string
	// Pause is how long the next batch has to wait.
	Pause time.Duration
}

// Advance adds a batch to the job.
func (j *Job) Advance(step JobStep) {
	j.Position = step.Position
	j.Succeeded += step.Succeeded
	j.Failed += step.Failed
	j.Processed += step.Succeeded + step.Failed
	j.Failures = 0
}

// jobEnd is the data of a job's event.
type jobEnd struct {
	ID         string    `json:"id"`
	Object     string    `json:"object"`
	Type       JobType   `json:"type"`
	Status     JobStatus `json:"status"`
	Total      int       `json:"total"`
	Processed  int       `json:"processed"`
	Succeeded  int       `json:"succeeded"`
	Failed     int       `json:"failed"`
	Error      *string   `json:"error"`
	CreatedAt  string    `json:"created_at"`
	FinishedAt string    `json:"finished_at"`
}

// JobObject names jobs in answers and events.
const JobObject = "job"

// EndEvent builds the event of a job that has ended, at FinishedAt.
func (j *Job) EndEvent() (*Event, error) {
	end := jobEnd{
		ID: j.ID, Object: JobObject, Type: j.Type, Status: j.Status, Total: j.Total, Processed: j.Processed,
		Succeeded: j.Succeeded, Failed: j.Failed, CreatedAt: FormatTime(j.CreatedAt), FinishedAt: FormatTime(*j.FinishedAt),
	}
	if j.Error != "" {
		end.Error = &j.Error
	}
	data, err := json.Marshal(end)
	if err != nil {
		return nil, fmt.Errorf("encode the end of job %s: %w", j.ID, err)
	}
	event := &Event{
		ProjectID: j.ProjectID, ID: NewID(PrefixEvent, *j.FinishedAt), Type: j.Status.EventType(), Source: SourcePlatform,
		APIVersion: j.APIVersion, RequestID: j.RequestID, CreatedAt: *j.FinishedAt,
	}
	if err := event.SetData(data, Subject{ID: j.ID, Object: JobObject}); err != nil {
		return nil, fmt.Errorf("build the end of job %s: %w", j.ID, err)
	}
	return event, nil
}
