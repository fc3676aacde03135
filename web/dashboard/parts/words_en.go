package parts

import (
	"github.com/botix-pro/platform/app/models"
	"github.com/botix-pro/platform/web/ui"
)

//nolint:gochecknoglobals // a constant table
var english = Words{
	All: "All", Created: "Created", Updated: "Updated", Finished: "Finished", Took: "Took", Contact: "Contact", Channel: "Channel", Text: "Text",
	Status: "Status", Version: "Version", Message: "Message", Run: "Run", Scenario: "Scenario", Event: "Event", Request: "API request",
	Deliveries: "Webhooks", ShowDeliveries: "Deliveries of this event",
	MessageStates: map[models.MessageStatus]string{
		models.MessageQueued: "Queued", models.MessageSending: "Sending", models.MessageSent: "Sent", models.MessageDelivered: "Delivered",
		models.MessageFailed: "Failed", models.MessageCancelled: "Cancelled", models.MessageUnknown: "Unknown",
	},
	DeliveryStates: map[models.DeliveryStatus]string{
		models.DeliveryPending: "Due now", models.DeliveryInFlight: "Being sent", models.DeliveryWaiting: "Waiting for its next attempt",
		models.DeliveryDelivered: "Delivered", models.DeliveryDeadLetter: "Dead letter",
		models.DeliveryHeld: "Held: the endpoint is paused or disabled", models.DeliveryCancelled: "Cancelled: the endpoint was deleted",
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
	NotValid: "Not saved yet. Please correct what is marked.",
	Refused:  "This was refused", Changed: "It has changed meanwhile",
	ChangedText:        "Somebody else, or the platform itself, changed it after you opened the page. Nothing was done. Look at it again, then decide.",
	NotCancellable:     "It is too late to cancel",
	NotCancellableText: "It has ended or moved on meanwhile, so there is nothing left to call off. Nothing was changed.",
	Ranges:             map[string]string{"24h": "24 hours", "7d": "7 days", "14d": "14 days"},
	DeliveriesTitles: map[string]string{
		"24h": "Webhook attempts per hour, by outcome", "7d": "Webhook attempts per 3 hours, by outcome", "14d": "Webhook attempts per 6 hours, by outcome",
	},
	Delivered: "Delivered", AnsweredBadly: "Answered with an error", Unanswered: "Not answered",
	NothingSent: "Nothing was sent in this time.", NothingAnswered: "Nothing was answered in this time.",
	LatencyTitle:  "Time to acknowledge",
	AllDeliveredF: ui.Forms{One: "%s attempt was made and delivered.", Many: "All %s attempts were delivered."},
	WorstF:        "%s of %s attempts failed, most of them from %s on: %s of those then.",
	LatencyF:      "Half of the answers came within %s, 95 of 100 within %s.",
	SparkF:        "%s of %s attempts delivered",
	Notices: NoticeWords{
		Title: "Notices about your endpoints", Dismiss: "Dismiss", DismissF: "Dismiss the notice about %s",
		FailingF:  "Nothing was delivered since %%s. The endpoint is %d%% of the way to being disabled.",
		Disabled:  "The endpoint was disabled: nothing was delivered since %s. Its events are held until you resume it.",
		Gone:      "The endpoint answered 410 Gone and was disabled. Its events are held until you resume it.",
		Recovered: "The endpoint accepts events again.",
		Kinds:     map[models.NoticeKind]string{models.NoticeFailing: "The endpoint keeps failing.", models.NoticeDisabled: "The endpoint was disabled."},
	},
	LimitedTitle: "Requests refused with 429", LimitedF: ui.Forms{One: "%s request was refused in this time.", Many: "%s requests were refused in this time."},
	RateUse: "Busiest key in the last hour", RateUseF: "%s of %s requests in a minute", NoRequests: "There were no API requests in this time.",
	MinutesTitle: "Requests per minute against the limit, in the last hour", Idle: "There were no API requests in the last hour.", Admitted: "Admitted, busiest key", LimitedAll: "Refused with 429, all keys",
	BusiestF: "At most %s of %s requests in a minute, by the key %s. %s were refused with 429.", LimitF: "Limit: %s",
	Replayed: "Replayed", Succeeded: "Succeeded",
	RequestsF:      "%s requests: %s were refused (4xx), %s failed (5xx), and %s got a stored answer again.",
	RequestsTitles: map[string]string{"24h": "API requests per hour, by outcome", "7d": "API requests per 3 hours, by outcome", "14d": "API requests per 6 hours, by outcome"},
	NotJSONF:       "This is not JSON: line %d, column %d.", AtLineF: "Line %d, %s: %s",
}
