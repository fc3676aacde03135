package overview

import "github.com/botix-pro/platform/web/ui"

//nolint:gochecknoglobals // a constant table
var english = words{
	Title: "Overview", Lead: "What needs you now, and how your webhooks and API requests are doing.", Ranges: "Time range",
	Attention: "Needs attention now", Calm: "Nothing needs you right now.",
	DeadLetters: "Given up", SeeDeadLetters: "Dead letters",
	DeadLettersF: ui.Forms{One: "%s delivery was given up, at %s. It will not be tried again by itself.", Many: "%s deliveries were given up, the oldest at %s. They will not be tried again by themselves."},
	Disabled:     "Disabled by us", DisabledText: "Disabled at %s. Its events are held: mend the endpoint, then resume it.", SeeEndpoint: "Endpoint",
	Failing:  "Failing",
	FailingF: ui.Forms{One: "%s attempt failed and nothing was delivered since %s.", Many: "%s attempts failed and nothing was delivered since %s."},
	Unsteady: "Unsteady", UnsteadyF: "%s of %s attempts failed in the last %s.",
	KeyExpires: "Key expires", KeyExpiresText: "The API key stops working at %s. Make another one before.", SeeKeys: "API keys",
	LimitNear: "Near the limit", SeeUsage: "Usage and limits",
	LimitF:  "This key used %s of its %s requests a minute, and %s requests were refused with 429 in the last hour. The busiest minute began at %s.",
	Figures: "Figures", DeliveredFigure: "Attempts delivered", WaitingFigure: "Waiting to be sent, now", DeadFigure: "Dead letters, now", ErrorsFigure: "API requests with an error",
	OfAttemptsF: "of %s attempts; %s in the %s before", OfRequestsF: "of %s requests; %s in the %s before",
	WaitingNote: "due, or waiting for the next try", DeadNote: "given up until you retry them",
	SeeDeliveries: "Webhook deliveries",
	LimitFigure:   "Rate limit used, last hour", OfLimitF: "busiest minute of a key: %s of %s requests",
	TopFailing: "Endpoints that fail most", Endpoint: "Endpoint", MostCommon: "Most common reason", History: "Attempts over time", FailedShare: "Failed",
	TopCauses: "Why attempts fail", Cause: "Reason", Times: "Attempts", NoneFailing: "No attempt failed in this time.",
	Steps: "First steps", StepsF: "%d of %d done", Done: "Done", ToDo: "To do",
	StepKey: "Create an API key", StepKeyText: "Your requests carry it. It is shown once.", StepKeyLink: "API keys",
	StepRequest: "Send the first request", StepRequestF: "Create a contact at %s/contacts.", StepRequestLink: "Quickstart",
	StepEndpoint: "Add an endpoint", StepEndpointText: "The URL to which your events are sent.", StepEndpointLink: "New endpoint",
	StepDelivery: "Receive the first event", StepDeliveryText: "Send a test event from the endpoint's page, or create a contact.", StepDeliveryLink: "Endpoints",
}
