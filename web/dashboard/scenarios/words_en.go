package scenarios

import (
	"github.com/botix-pro/platform/app/models"
	"github.com/botix-pro/platform/app/scenarios"
	"github.com/botix-pro/platform/web/ui"
)

//nolint:gochecknoglobals // a constant table
var english = words{
	Title: "Scenarios", Lead: "Steps that a contact goes through, over seconds or months.", One: "Scenario", Name: "Name", Steps: "Steps", Definition: "Definition (JSON)",
	Masked:     "The values of headers are hidden here, as they are often secrets.",
	EmptyTitle: "No scenarios yet", EmptyText: "Write one here as JSON, or with POST /scenarios.",
	States: map[models.ScenarioStatus]string{models.ScenarioDraft: "Draft", models.ScenarioActive: "Active", models.ScenarioArchived: "Archived"},
	New:    "New scenario", NewLead: "It begins as a draft. Activate it to run it.", Create: "Create the draft", Created: "The draft was created.",
	Edit: "Edit", EditTitle: "Edit the scenario", EditLead: "What you save is a new version. Runs under way keep the one they began with.", Save: "Save", Saved: "Saved.",
	Conflict:  "This scenario was changed after you opened the form. What you typed is kept below. Save again to make it the newest version.",
	StepsHint: "A JSON array of steps. Steps lead forward only; \"end\" is the end.",
	Activate:  "Activate", Activated: "The scenario is active: it can be run.",
	Archive: "Archive", ArchiveTitle: "Archive this scenario?", ArchiveText: "It starts no more runs; those under way go on. You can activate it again.", Archived: "The scenario was archived.",
	Versions: "Versions", Shown: "shown here", OldF: "This is version %d. The present one is %d.",
	RunTitle: "Run it for a contact", Run: "Run", NotRun: "Not started. Please correct what is marked.", Started: "The run is queued.",
	ContactHint: "The contact's id, ctc_…", Variables: "Variables", VariablesHint: "A JSON object, or empty.", AllRuns: "All runs",
	NotActive: "Only an active scenario can be run.",
	Drawing:   "The steps as a flow", Flow: "Flow", End: "End", Then: "then", YesWay: "yes", NoWay: "no", UntilF: "until %s", StepF: "step %d: %s",
	Types: map[string]string{
		scenarios.TypeSendMessage: "Send a message", scenarios.TypeWait: "Wait", scenarios.TypeUpdateContact: "Change the contact",
		scenarios.TypeCondition: "Condition", scenarios.TypeEmitEvent: "Publish an event", scenarios.TypeHTTPRequest: "HTTP request",
	},
	Operators: map[string]string{
		"eq": "=", "ne": "≠", "gt": ">", "gte": "≥", "lt": "<", "lte": "≤", "contains": "contains", "not_contains": "does not contain",
		"in": "is in", "not_in": "is not in", "exists": "is there", "not_exists": "is not there",
	},
	RunsLead: "Contacts on their way through scenarios, newest first.", RunsEmptyTitle: "No runs yet", RunsEmptyText: "Open an active scenario and run it for a contact, or use POST /scenarios/{id}/run.",
	StepStates: map[models.RunStepStatus]string{
		models.StepPending: "To come", models.StepRunning: "Running", models.StepWaiting: "Waiting", models.StepCompleted: "Done",
		models.StepFailed: "Failed", models.StepCancelled: "Cancelled", models.StepSkipped: "Passed over",
	},
	Timeline: "Steps", Entered: "Entered", Left: "Left", Took: "Took", Began: "Began",
	RequestsF:  ui.Forms{One: "%s request", Many: "%s requests"},
	WaitsUntil: "Goes on at", WaitsFor: "Waits for",
	RunAdvice: map[models.RunStatus]string{
		models.RunQueued: "It waits for a free worker.", models.RunRunning: "A worker is taking the contact through.", models.RunWaiting: "It waits, and goes on by itself.",
		models.RunCompleted: "It came to its end.", models.RunFailed: "A step failed, so the run ended. The steps before it had their effects. Mend the cause and run the scenario again.",
		models.RunCancelled: "It was called off. The steps before had their effects.",
	},
	RunErrors: map[string]string{
		"CONTACT_DELETED":      "The contact was deleted, so the run ended. There is nothing to do.",
		"CONTACT_INVALID":      "The contact would have become one that cannot be saved. Look at the step's values.",
		"MESSAGE_INVALID":      "The message could not be made: look at the template, and at the contact's address for the channel.",
		"MESSAGE_FAILED":       "The message failed. Open it below to see why.",
		"MESSAGE_CANCELLED":    "The message was cancelled, so the run ended.",
		"MESSAGE_UNKNOWN":      "Nobody can tell whether the message was sent, and the step says that the run then fails. Settle the message, then decide whether to run again.",
		"VARIABLE_MISSING":     "A placeholder has no value. Give the variable when you run the scenario, or set the contact's field.",
		"HTTP_REQUEST_FAILED":  "The other system refused the request, or did not answer in time. Mend it there, then run the scenario again.",
		"HTTP_REQUEST_UNKNOWN": "The answer to the request was lost. Look in the other system whether it had its effect, then decide whether to run again.",
	},
	CancelRun: "Cancel the run", GoOn: "Let it go on", CancelTitle: "Cancel this run?",
	CancelText: "No step follows the present one, which may still have its effect. Your endpoints are told by scenario.run.cancelled.", RunCancelled: "The run was cancelled.",
}
