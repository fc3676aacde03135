package inspector

import (
	"github.com/botix-pro/platform/app/models"
	"github.com/botix-pro/platform/web/ui"
)

//nolint:gochecknoglobals // a constant table
var english = words{
	Title: "Inspector", Lead: "Addresses that capture whatever is sent to them, check its signature, and answer as you tell them to. Use one as an endpoint's URL, or send a copy of a delivery here.",
	NoBins: "There is no bin yet. The first copy of a delivery makes one.", Name: "Name", NameHint: "What you try out with it", URL: "Address", Last: "Last request", Expires: "Ends",
	New: "New bin", Wrong: "The bin was not made", TooMany: "The project has as many bins as it may have. They end by themselves.", Default: "Copies of deliveries",
	Answers: "It answers", SetScript: "Set", ScriptSet: "The answers were set, from the first one on.", Clear: "Clear", Cleared: "The list was cleared.", NoURL: "This server has no address for bins; copies of deliveries still land here.",
	Requests: "Captured requests", NoRequests: "Nothing was captured yet.", Request: "Request", Path: "Path", Source: "From", Body: "Body", Answer: "Answer", At: "Received", From: "Sender",
	External: "Outside", Copy: "Copy of a delivery", CopyOf: "Copy of", Redirected: "A copy is in the inspector. The delivery itself and your endpoint were not touched.", Truncated: "Only the beginning was kept.",
	Signature: "Signature", Received: "Received", Expected: "Expected with", Headers: "Headers",
	OwnAnswers: "Answers of your own", AsEndpoint: "Make it an endpoint", Tree: "As a tree", Hex: "Byte by byte", HexPartF: "The first %s.",
	Own: ownWords{
		Times: "Answer differently this often at first", TimesHint: "Empty: never. Three with status 500 is what a server does that fails three times and then comes back.",
		FirstStatus: "Status of these first answers", Status: "Status", StatusHint: "200 to 599.", Body: "Body", Delay: "Wait before the answer, ms", DelayHint: "At most 45,000.",
		RetryAfter: "Retry-After, seconds", RetryHint: "Sent with the first answers where there are some.", Drip: "Wait before each byte of the body, ms", Drop: "Cut the connection",
		Drops: map[models.BinDrop]string{models.DropNever: "Never", models.DropBefore: "Before the answer", models.DropDuring: "Within the answer"},
	},
	KeptF: ui.Forms{One: "The last %s request is kept, for 72 hours.", Many: "The last %s requests are kept, for 72 hours."},
	Recipes: map[string]string{
		"ok": "200 at once", "fail_twice": "500 twice, then 200", "fail": "500 every time", "rate_limited_once": "429 with Retry-After once, then 200",
		"rate_limited": "429 with Retry-After", "unavailable": "503 with Retry-After", "unauthorized": "401", "gone": "410 Gone", "redirect": "302 to another page",
		"slow": "200 after 5 seconds", "time_out": "too late: after 35 seconds", "drip": "a byte at a time", "drop_before": "the connection cut before the answer", "drop_during": "the connection cut within the answer",
	},
	Outcomes: map[models.AnswerOutcome]string{
		models.AnswerGiven: "Given", models.AnswerPending: "Still waiting", models.AnswerDropped: "Connection cut", models.AnswerSenderLeft: "The sender left", models.AnswerBusy: "503: too many waited",
		models.AnswerTooLarge: "413: too large", models.AnswerBrokenBody: "400: the body broke off", models.AnswerNone: "None: a copy",
	},
	Verdicts: map[models.VerdictStatus]string{
		models.SignatureValid: "Valid", models.SignatureWrongSecret: "Wrong secret", models.SignatureTooOld: "Too old", models.SignatureInFuture: "In the future",
		models.SignatureMissing: "Missing", models.SignatureMalformed: "Malformed", models.SignatureUnknowable: "Cannot be told",
	},
	Why: map[models.VerdictStatus]string{
		models.SignatureValid: "It was made with a secret that belongs here, over exactly this body.", models.SignatureWrongSecret: "None of the secrets that belong here makes it over this body: another secret, or a body that was changed.",
		models.SignatureTooOld: "The secret is right, but the timestamp is more than five minutes before the receipt.", models.SignatureInFuture: "The secret is right, but the timestamp is more than five minutes after the receipt: look at the clocks.",
		models.SignatureMissing: "The request carries no such header.", models.SignatureMalformed: "The header is there, but no library would read it.", models.SignatureUnknowable: "The body was too large to be kept whole.",
	},
}
