package jobs

import (
	"github.com/botix-pro/platform/app/models"
	"github.com/botix-pro/platform/web/ui"
)

//nolint:gochecknoglobals // a constant table
var english = words{
	Title: "Jobs", Lead: "Work too long for one request: imports of contacts, and webhooks sent again. What has ended is kept for 30 days.", Job: "Job", Type: "Type",
	EmptyTitle: "No jobs yet", EmptyText: "POST /contacts/bulk starts an import; sending dead letters again starts a recovery.",
	UnderWay: "Under way", Ended: "All jobs",
	Types: map[models.JobType]string{
		models.JobContactsBulk: "Import of contacts", models.JobWebhookRecovery: "Webhooks sent again", models.JobWebhookRelease: "Held webhooks released",
	},
	States: map[models.JobStatus]string{
		models.JobQueued: "Queued", models.JobRunning: "Running", models.JobCompleted: "Completed", models.JobFailed: "Failed", models.JobCancelled: "Stopped",
	},
	Rows: map[models.RowStatus]string{
		models.RowCreated: "Created", models.RowUpdated: "Updated", models.RowUnchanged: "Unchanged", models.RowFailed: "Failed",
	},
	Advice: map[models.JobStatus]string{
		models.JobQueued: "It waits for a free worker.", models.JobRunning: "It is under way. Whatever happens to its worker, another one continues where it stopped.",
		models.JobCompleted: "It went through everything.", models.JobFailed: "It cannot go on. What was done stays done; mend the cause and start a new one for the rest.",
		models.JobCancelled: "It was stopped. What was done stays done.",
	},
	Stalled: "Stalled", StalledF: "Nothing has moved for %s. A worker that was lost is replaced by itself; if this lasts, look whether any worker runs.",
	Stopping: "Stopping", StoppingAdvice: "It stops after the batch under way.",
	ProgressOfF: "Progress: %s", DoneF: "%s of %s (%s)", DoneUnknownF: "%s done", RateF: "%s a second", Ends: "done at about %s",
	FailedF: ui.Forms{One: "%s of them failed", Many: "%s of them failed"},
	Total:   "Total", Processed: "Processed", Succeeded: "Succeeded", Failed: "Failed", Moved: "Last moved", Endpoint: "Endpoint",
	Params: "What was asked for", Results: "What became of each row", Row: "Row", Outcome: "Outcome", Why: "Why", NoResults: "No rows to show yet.",
	RowsBefore: "Rows before", RowsAfter: "Rows after",
	Stop: "Stop", GoOn: "Let it go on", StopTitle: "Stop this job?", StopText: "It stops after the batch under way. What was done stays done; the rest is not done.",
	Stopped: "The job was told to stop.", Began: "Started",
}
