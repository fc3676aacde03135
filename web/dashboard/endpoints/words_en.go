package endpoints

import (
	"github.com/botix-pro/platform/app/models"
	"github.com/botix-pro/platform/web/ui"
)

//nolint:gochecknoglobals,gosec // a constant table; the words are no credentials
var english = words{
	Title: "Webhook endpoints", Lead: "Where your events are sent, and how that went in the last 24 hours.", One: "Webhook endpoint",
	EmptyTitle: "There is no endpoint yet", EmptyText: "Add the URL of your server: the events you choose are then sent to it, signed, and again until it takes them.",
	URL: "URL", State: "State", Types: "Event types", Day: "Delivered in 24 hours", P95: "p95", Nothing: "Nothing sent", SuccessF: "%s of %s", SinceF: "since %s",
	LastSuccess: "Last success", LastFailure: "Last failure", InFlight: "Attempts at once, at most", Rate: "Attempts a second, at most", NoRate: "As fast as it takes them",
	Headers: "Own headers", Created: "Created", Changed: "Changed", Attempts: "Attempts", Success: "Delivered", Description: "Description",
	New: "New endpoint", NewLead: "The signing secret is shown once, after the endpoint is made.", Create: "Create the endpoint",
	EditTitle: "Edit the endpoint", EditLead: "The next attempt of every delivery follows what you save.", Edit: "Edit", Save: "Save", Saved: "The endpoint was saved.",
	URLHint:      "Public addresses only, http or https. Redirects are not followed: give the final address.",
	TypesHint:    `One a line: a type such as contact.created, a group such as contact.*, or * for all.`,
	HeadersHint:  "One a line, as in Authorization: Bearer … Values that are saved are shown as ***; leave that to keep them.",
	InFlightHint: "Attempts under way at the same time, 1 to 100. Empty is 10.", RateHint: "Attempts that may begin in a second, 1 to 1,000. Empty is no such limit.",
	Pause: "Pause", Paused: "The endpoint is paused. Its events are held.",
	Resume: "Resume", Resumed: "The endpoint is active again.", ResumeTitle: "Resume the endpoint?", ResumeText: "New events are sent to it from now on. Nothing is held.",
	ResumeDrop: "Resume and drop what is held", DropText: "The events that are held are never delivered to this endpoint. This cannot be undone.",
	HeldF:       ui.Forms{One: "%s event is held for it.", Many: "%s events are held for it."},
	ResumeHeldF: ui.Forms{One: "%s event came while it was off. Shall it be delivered now?", Many: "%s events came while it was off. Shall they be delivered now?"},
	DropTitleF:  ui.Forms{One: "Resume and drop %s event?", Many: "Resume and drop %s events?"},
	HeldLabel:   "What is held", DeliverF: "Deliver now (%s)", Keep: "Hold on",
	Test: "Send a test event", TestLead: "An event of the type webhook_endpoint.test goes to this endpoint only, signed like every other.",
	Tested: "A test event is on its way.", TestTitle: "Test event", TestRunning: "On its way", TestDelivered: "Delivered", TestDeliveredText: "Your endpoint took the event.",
	TestOver: "The test event was answered or has failed.", TestShow: "What was sent and answered", TestTook: "Took", TestOff: "Resume the endpoint to test it.",
	Rotate: "New secret", RotateTitle: "Make a new signing secret?", RotateText: "The secret before signs as well for 24 hours, so that nothing is refused while you change it.",
	Secret: "Signing secret", SecretLead: "Copy it now: it is not shown again. With it you check that an event comes from us.", SecretUntil: "The one before signs as well until %s.", Stored: "I have stored it",
	Secrets: "Signing secrets", SecretsLead: "Each event is signed with every secret of this list.", SecretName: "Secret", SignsUntil: "Signs until", Current: "Current", Previous: "Previous", NoEnd: "Until you make a new one",
	Delete: "Delete", DeleteTitle: "Delete this endpoint?", DeleteText: "Deliveries that wait are cancelled. This cannot be undone.", Deleted: "The endpoint was deleted.",
	OwnersTitle: "Only owners may do this", OwnersText: "Ask an owner of the project. The page of members tells who they are.",
	Health: "Health", Settings: "Settings", Ranges: "Time range", Failing: "Failing",
	Told: "Notices", When: "When", What: "What", NothingTold: "There were none so far.",
	ActiveMeans: "Events are sent as they come.", PausedMeans: "You paused it at %s. Events are held until you resume it.",
	FailingMeans:  "Nothing was delivered since %s. Events are tried again; after five days of failures the endpoint is disabled. Look at its attempts for the reason.",
	DisabledMeans: "We disabled it at %s, after five days without a success. Mend it, then resume it: its events are held.",
	GoneMeans:     "We disabled it at %s, because it answered 410 Gone. If it is there again, or you have given it another URL, resume it: its events are held.",
	States:        map[models.EndpointStatus]string{models.EndpointActive: "Active", models.EndpointPaused: "Paused by you", models.EndpointDisabled: "Disabled by us"},
}
