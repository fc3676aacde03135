package parts

import "github.com/botix-pro/platform/app/models"

//nolint:gochecknoglobals // a constant table
var english = Words{
	All: "All", Created: "Created", Updated: "Updated", Finished: "Finished", Took: "Took", Contact: "Contact", Channel: "Channel", Text: "Text",
	Status: "Status", Version: "Version", Message: "Message", Run: "Run", Scenario: "Scenario", Event: "Event", Request: "API request",
	Deliveries: "Webhooks", ShowDeliveries: "Deliveries of this event",
	MessageStates: map[models.MessageStatus]string{
		models.MessageQueued: "Queued", models.MessageSending: "Sending", models.MessageSent: "Sent", models.MessageDelivered: "Delivered",
		models.MessageFailed: "Failed", models.MessageCancelled: "Cancelled", models.MessageUnknown: "Unknown",
	},
	RunStates: map[models.RunStatus]string{
		models.RunQueued: "Queued", models.RunRunning: "Running", models.RunWaiting: "Waiting",
		models.RunCompleted: "Completed", models.RunFailed: "Failed", models.RunCancelled: "Cancelled",
	},
	Channels:   map[models.Channel]string{models.ChannelSandbox: "Sandbox", models.ChannelEmail: "E-mail", models.ChannelTelegram: "Telegram"},
	NoMessages: "No messages yet.", NoRuns: "No runs yet.",
	NoEvents: "There are no events about it yet, or they are no longer kept.",
	Messages: "Messages", Runs: "Runs", Events: "Events",
	Filters: "Filters", Apply: "Apply", FilterF: "%s: %s",
	NoMatch: "Nothing matches", NoMatchHint: "Take a filter away, or look for something else.",
	BadTime: "This is not a time.", BadFilters: "A filter cannot be used.",
	TimeHint: "In your time zone, or as RFC 3339.",
	NotValid: "Not saved yet. Please correct what is marked.",
	Refused:  "This was refused", Changed: "It has changed meanwhile",
	ChangedText: "Somebody else, or the platform itself, changed it after you opened the page. Nothing was done. Look at it again, then decide.",
	ReadAgain:   "Look at it again", NotCancellable: "It is too late to cancel",
	NotCancellableText: "It has ended or moved on meanwhile, so there is nothing left to call off. Nothing was changed.",
	MaybeSentText:      "An earlier try may have reached the recipient: its answer was lost. The platform repeats the message under the same key, which tells; then you see what became of it. Nothing was changed.",
	NotJSONF:           "This is not JSON: line %d, column %d.", AtLineF: "Line %d, %s: %s",
}
