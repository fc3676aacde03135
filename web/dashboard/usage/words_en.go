package usage

import "github.com/botix-pro/platform/web/ui"

//nolint:gochecknoglobals // a constant table
var english = words{
	Title: "Usage and limits", Lead: "What your plan allows, how much of it you use, and what happens beyond it.", PlanF: "Your plan: %s",
	Used: "Used", Keys: "API keys in use", UsedF: "%s of %s",
	Limits: "What the plan means",
	Rate:   "Requests", RateMeans: "For each API key, counted in calendar minutes. Replays count as well.",
	Idempotency: "Idempotency keys", IdempotencyMeans: "For so long the same key gets the stored answer again.",
	DeadLetters: "Dead letters", DeadLettersMeans: "For so long a delivery that was given up can be retried.",
	Archive: "Archive", ArchiveMeans: "Dead letters past that time go to an archive, and can be brought back.",
	Endpoints: "Webhook endpoints", EndpointsMeans: "There is no limit on their number.",
	Body: "Body of a request", BodyMeans: "At most. An import of contacts may be 16 MiB.",
	Attempts: "Webhook attempts and the request log", AttemptsMeans: "For so long they are kept.",
	PerMinuteF: ui.Forms{One: "%s a minute", Many: "%s a minute"}, HoursF: ui.Forms{One: "%s hour", Many: "%s hours"}, DaysF: ui.Forms{One: "%s day", Many: "%s days"},
	Now: "The last hour", MinutesTitle: "Requests per minute of the busiest key", Idle: "There were no API requests in the last hour.", Admitted: "Admitted", Refused: "Refused with 429, all keys",
	BusiestF: "At most %s of %s requests in a minute, by the key %s. %s were refused with 429.", LimitF: "Limit: %s",
	Over: "Over time", Ranges: "Time range",
	HeadersTitle: "Headers of every answer", Header: "Header", Value: "Last value", Means: "What it means", NotSeen: "No request in the last hour: there are no values to show.",
	SeenF:      "The values are those of the last request with the key %s, in the minute from %s on.",
	LimitMeans: "Requests that the key may make in a minute.", RemainingMeans: "Requests left in this minute.",
	ResetMeans: "When the minute ends, in Unix seconds.", RetryMeans: "On 429 and 503 only: after so many seconds try again.",
	Full: "What happens at 100 %", FullRate: "Requests beyond the rate are answered 429 with Retry-After. Nothing is queued, nothing is charged, and nothing was done: send the same request with the same idempotency key later. A window's edge may let through up to twice the limit.",
	FullKeys:   "A key beyond the number is not made. Revoke one first.",
	FullBody:   "A body that is too large is answered 413 and not read.",
	FullOther:  "Webhooks are not limited by the plan: an endpoint gets what it takes, as fast as its own settings say.",
	PlansTitle: "All plans", PlansLead: "A change of plan takes effect within 10 seconds.", Plan: "Plan", Yours: "yours",
}
