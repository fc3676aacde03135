package endpoints

import "github.com/botix-pro/platform/app/models"

//nolint:gochecknoglobals,gosec // a constant table; the words are no credentials
var english = words{
	Title: "Webhook endpoints", Lead: "Where your events are sent, and how that went in the last 24 hours.", One: "Webhook endpoint",
	EmptyTitle: "There is no endpoint yet", EmptyText: "Create one with POST /webhook-endpoints: the events you choose are then sent to its URL.",
	URL: "URL", State: "State", Types: "Event types", Day: "Delivered in 24 hours", Nothing: "Nothing sent", SuccessF: "%s of %s",
	LastSuccess: "Last success", FailingSince: "Failing since", InFlight: "At once, at most", Rate: "A second, at most", NoRate: "As fast as it takes them",
	Headers: "Own headers", Attempts: "Its attempts",
	Pause: "Pause", Paused: "The endpoint is paused. Its events are held.", Resume: "Resume and send what was held", Resumed: "The endpoint is active again.",
	ResumeDrop: "Resume and drop what was held", HeldText: "Events that came meanwhile are held.",
	Test: "Send a test event", Tested: "A test event is on its way. Its outcome appears here; refresh to see it.",
	Rotate: "New secret", RotateText: "The secret before signs as well for 24 hours, so that nothing is refused while you change it.",
	Secret: "The new secret", SecretLead: "Copy it now: it is not shown again.", SecretUntil: "The one before signs as well until %s.",
	Delete: "Delete", DeleteTitle: "Delete this endpoint?", DeleteText: "Deliveries that wait are cancelled. This cannot be undone.", Deleted: "The endpoint was deleted.",
	OwnersTitle: "Only owners may do this", OwnersText: "Ask an owner of the project. The page of members tells who they are.",
	States: map[models.EndpointStatus]string{models.EndpointActive: "Active", models.EndpointPaused: "Paused by you", models.EndpointDisabled: "Disabled by us"},
	Means: map[models.EndpointStatus]string{
		models.EndpointActive: "Events are sent as they come.", models.EndpointPaused: "You paused it. Events are held until you resume it.",
		models.EndpointDisabled: "It failed for days, or answered 410 Gone. Mend it, then resume it: its events are held.",
	},
}
