package usage

import "github.com/botix-pro/platform/web/ui"

//nolint:gochecknoglobals // a constant table
var english = words{
	Title: "Usage and limits", Lead: "What your plan allows, how much of it you use, and what happens at each limit.", PlanF: "Your plan: %s",
	Keys: "API keys", KeysUsed: "API keys in use", UsedF: "%s of %s",
	KeysMeans: "In use at the same time. Keys that are revoked or expired do not count.", KeysThen: "Another key is not made. Revoke one first.",
	Limits: "What each limit means", Limit: "Limit", Allowed: "Your plan", Means: "What it means", Then: "What happens at the limit",
	Rate: "Requests", RateMeans: "For each API key, counted in calendar minutes. Replays count as well.",
	RateThen:    "429 with Retry-After. Nothing was done and nothing is queued: send the same request with the same idempotency key later. Across the edge of two minutes up to twice the limit may pass.",
	Idempotency: "Idempotency keys", IdempotencyMeans: "For this long the same key gets the stored answer again.",
	IdempotencyThen: "409 IDEMPOTENCY_KEY_EXPIRED for 7 more days: nothing is done a second time. After that the key is as good as new.",
	DeadLetters:     "Dead letters", DeadLettersMeans: "For this long a delivery that was given up can be retried.",
	DeadLettersThen: "The delivery is deleted and can no longer be retried.", Archive: "Archive of dead letters",
	ArchivedThen: "The delivery goes to the archive, and can be brought back from it.",
	Body:         "Body of a request", BodyMeans: "An import of contacts may be 16 MiB.", BodyThen: "413. Nothing was done, and the idempotency key is still free.",
	Attempts: "Webhook attempts and the request log", AttemptsMeans: "For this long you can look at them here.", AttemptsThen: "They are deleted.",
	Endpoints: "Webhook endpoints", NoLimit: "No limit", EndpointsMeans: "The plan limits neither their number nor how much is delivered.", EndpointsThen: "Each gets as much as it takes, as fast as its own settings say.",
	PerMinuteF: ui.Forms{One: "%s a minute", Many: "%s a minute"}, HoursF: ui.Forms{One: "%s hour", Many: "%s hours"}, DaysF: ui.Forms{One: "%s day", Many: "%s days"},
	Now: "The last hour", Over: "Over time", Ranges: "Time range",
	HeadersTitle: "Headers of every answer", Header: "Header", Value: "Last value", NotSeen: "No request in the last hour: there are no values to show.",
	SeenF:      "The values are those of the last request with the key %s, in the minute from %s on.",
	LimitMeans: "Requests that the key may make in a minute.", RemainingMeans: "Requests left in this minute.",
	ResetMeans: "When the minute ends, in Unix seconds.", RetryMeans: "On 429 and 503 only: after so many seconds try again.",
	PlansTitle: "All plans", PlansLead: "A change of plan takes effect within 10 seconds.", YoursF: "%s – yours",
}
