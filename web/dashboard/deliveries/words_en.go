package deliveries

import (
	"github.com/botix-pro/platform/app/models"
	"github.com/botix-pro/platform/web/ui"
)

//nolint:gochecknoglobals // a constant table
var english = words{
	List: listWords{
		Title:   "Webhook deliveries",
		Lead:    "Every request that was sent to your endpoints in the last 14 days, newest first.",
		Caption: "Attempts to deliver webhooks, newest first",
		Details: "Details", Outcome: "Outcome", EventType: "Event type", Endpoint: "Endpoint",
		Try: "Attempt", Started: "Started", Took: "Took",
		DetailsOfF: "Details of attempt %s", Manual: "by hand",
		Reach: "Searched back to %s. Go on with “Older”.", NoOlder: "There is nothing older: attempts are kept for 14 days.",
		EmptyTitle: "Nothing was delivered in the last 14 days",
		EmptyLead:  "Each event that one of your webhook endpoints subscribes to is sent there, and each request is listed here. Make an event by creating a contact:",
		EmptyKey:   "Put one of the project's API keys into the first line.",
		Example:    "Example request",
		PastEnd:    "There are no attempts on this page any more: they are kept for 14 days.",
		ToNewest:   "To the newest",
	},

	Notices: noticeWords{
		Title: "Notices about your endpoints", Dismiss: "Dismiss", DismissF: "Dismiss the notice about %s",
		FailingF:  "Nothing was delivered since %%s. The endpoint is %d%% of the way to being disabled.",
		Disabled:  "The endpoint was disabled: nothing was delivered since %s. Its events are held until you resume it.",
		Gone:      "The endpoint answered 410 Gone and was disabled. Its events are held until you resume it.",
		Recovered: "The endpoint accepts events again.",
		Kinds:     map[models.NoticeKind]string{models.NoticeFailing: "The endpoint keeps failing.", models.NoticeDisabled: "The endpoint was disabled."},
	},

	Attempt: attemptWords{
		Title: "Webhook attempt", Back: "All deliveries",
		Request: "Request", Answer: "Answer", Payload: "Payload", Headers: "Headers", Body: "Body", IDs: "Identifiers",
		Timing: "Where the time went", About: "This attempt",
		Outcome: "Outcome", Error: "Error", Number: "Attempt", Delivery: "Delivery", Started: "Started", Exact: "Exactly",
		NextTry: "Next attempt", NoNextTry: "None is planned", Curl: "The request as a curl command", Took: "Took",
		URL: "URL", Status: "HTTP status",
		AutomaticF: "%d of %d so far, automatic", ManualF: "%d of %d so far, by hand",
		DNS: "DNS", Connect: "Connect", TLS: "TLS", FirstByte: "Wait for the answer", Total: "All together",
		NoAnswer: "No answer came.", NoBody: "The answer had no body.", NoHeaders: "No headers were kept.",
		Hex:   "The body is not UTF-8 text; its bytes are shown.",
		SizeF: "Size: %s.", CutF: "Only the first %s were kept.",
		EventID: "Event", DeliveryID: "Delivery", AttemptID: "Attempt", EndpointID: "Endpoint",
		RequestID: "Request of this attempt (X-Request-Id)", CausingID: "API request that caused the event",
		Deliveries: map[models.DeliveryStatus]string{
			models.DeliveryPending: "Due now", models.DeliveryInFlight: "Being sent", models.DeliveryWaiting: "Waiting for its next attempt",
			models.DeliveryDelivered: "Delivered", models.DeliveryDeadLetter: "Dead letter",
			models.DeliveryHeld: "Held: the endpoint is paused or disabled", models.DeliveryCancelled: "Cancelled: the endpoint was deleted",
		},
	},

	Outcomes: outcomeWords{
		Delivered: "Delivered", Failed: "Failed", Lost: "Lost",
		Classes: map[models.ErrorClass]string{
			models.ErrorDNS: "name not found", models.ErrorRefused: "refused", models.ErrorConnectTimeout: "connect timeout",
			models.ErrorTLSExpired: "certificate expired", models.ErrorTLSName: "wrong certificate name",
			models.ErrorTLSUntrusted: "untrusted certificate", models.ErrorTLS: "TLS error", models.ErrorReset: "connection reset",
			models.ErrorReadTimeout: "no answer in time", models.ErrorTimeout: "took too long", models.ErrorConnection: "connection error",
			models.ErrorBadResponse: "not HTTP", models.ErrorBlockedAddress: "address not allowed",
			models.ErrorRedirect: "redirect", models.ErrorHTTP1xx: "unexpected status", models.ErrorHTTP4xx: "rejected",
			models.ErrorHTTP5xx: "server error", models.ErrorWorkerLost: "sender stopped", models.ErrorInternal: "fault of ours",
		},
	},

	Diagnosis: diagnosisWords{
		DeliveredF: "Your endpoint answered %d: the event was delivered.",
		AnsweredF:  "Your endpoint answered %d.",
		RedirectF:  "Your endpoint answered %d, a redirect. Redirects are not followed: set the endpoint's URL to the final address.",
		SlowDownF:  "Your endpoint answered %d: it asked us to slow down.",
		Unknown:    "The attempt failed.",
		Classes: map[models.ErrorClass]string{
			models.ErrorDNS:            "The name of your endpoint's host could not be found in DNS.",
			models.ErrorRefused:        "Your endpoint's host refused the connection: nothing listens on that port.",
			models.ErrorConnectTimeout: "No connection to your endpoint could be made in time: a firewall may be dropping it.",
			models.ErrorTLSExpired:     "Your endpoint's TLS certificate has expired or is not valid yet.",
			models.ErrorTLSName:        "Your endpoint's TLS certificate is for another host name.",
			models.ErrorTLSUntrusted:   "Your endpoint's TLS certificate comes from an authority that is not trusted, or its chain is incomplete.",
			models.ErrorTLS:            "The TLS handshake with your endpoint failed.",
			models.ErrorReset:          "Your endpoint closed the connection before it answered.",
			models.ErrorReadTimeout:    "Your endpoint took the request but did not answer in time. Answer first and work afterwards.",
			models.ErrorTimeout:        "The exchange with your endpoint took too long and was ended.",
			models.ErrorConnection:     "The connection to your endpoint broke.",
			models.ErrorBadResponse:    "What your endpoint answered is not a valid HTTP response.",
			models.ErrorBlockedAddress: "The URL leads to an address that webhooks may not reach: only public addresses are allowed.",
			models.ErrorWorkerLost:     "Our sender stopped before the answer was recorded. This uses up no step of the schedule; your endpoint may have got the event.",
			models.ErrorInternal:       "A fault of ours kept this from being sent. It uses up no step of the schedule; your endpoint got nothing.",
		},
		NextAt:         "Next try at %s.",
		DueNow:         "The next try is due now.",
		Sending:        "The next try is under way.",
		Given:          "The delivery is a dead letter: it will not be tried again by itself.",
		Held:           "The delivery is held because the endpoint is paused or disabled.",
		Cancelled:      "The delivery was cancelled because the endpoint was deleted.",
		LaterDelivered: "A later attempt delivered the event.",
		LaterF:         "Later attempts were made. The delivery now: %s.",
	},

	Filters:  filterWords{Status: "Outcome", Class: "Cause", HTTP: "HTTP status", Since: "In the last", ID: "Event, delivery or request id"},
	Delivery: deliveryWords{Title: "Webhook delivery", Attempts: "Attempts so far", Created: "Created", None: "Nothing was sent yet, or it was more than 14 days ago."},
	Retry: retryWords{
		Button: "Retry", Done: "The retry is queued: the same event goes out again at once. Its outcome appears below.",
		Queued: "A try is queued already.", InFlight: "It is being sent right now. See how that ends.", Cancelled: "The endpoint was deleted: there is nowhere to send it.",
	},
	Dead: deadWords{
		Title: "Dead letters", Lead: "Deliveries that no longer retry by themselves, by endpoint and cause. They are kept as long as your plan says.",
		EmptyTitle: "There are no dead letters", EmptyText: "Everything was delivered, or is still being tried.",
		AnsweredF: "The endpoint answered %s", First: "First:", Last: "Last:", Show: "Show them", GivenUp: "Given up", KeptUntil: "Kept until",
		Question: "Each is sent again from its first step, under the same event id. You can watch it and stop it. Retry one by hand first if you are not sure.",
		Rate:     "At most so many a second", RateHintF: "1 to %d; empty: as fast as the endpoint takes them", RateWrongF: "The rate is a whole number from 1 to %d.",
		CountF: ui.Forms{One: "%s delivery", Many: "%s deliveries"}, RetryAllF: ui.Forms{One: "Retry %s", Many: "Retry all %s"},
		QuestionF: ui.Forms{One: "Retry %s delivery?", Many: "Retry %s deliveries?"}, StartedF: ui.Forms{One: "Retrying %s delivery.", Many: "Retrying %s deliveries."},
		Causes: map[models.DeadLetterCause]string{
			models.CauseRetriesExhausted: "All retries were used up", models.CauseWorkerLost: "Our senders stopped again and again",
			models.CauseHeldExpired: "Held until it expired",
		},
		Advice: map[models.DeadLetterCause]string{
			models.CauseRetriesExhausted: "Look at the last attempt to see what kept failing, mend it, retry one, then all.",
			models.CauseWorkerLost:       "This is a fault of ours, not of your endpoint. Retry them.",
			models.CauseHeldExpired:      "The endpoint was paused or disabled for too long. Resume it, then retry them.",
			"http":                       "The endpoint refused these for good, so they were not tried again. Mend what it refuses, retry one, then all.",
		},
	},
}
