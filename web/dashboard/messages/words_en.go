package messages

import (
	channels "github.com/botix-pro/platform/app/messages"
	"github.com/botix-pro/platform/app/models"
	"github.com/botix-pro/platform/web/ui"
)

//nolint:gochecknoglobals // a constant table
var english = words{
	Title: "Messages", Lead: "What was sent to contacts, and what became of it, newest first.", One: "Message", Since: "Created since",
	EmptyTitle: "No messages yet", EmptyText: "Send one here, with POST /messages, or from a scenario.",
	New: "Send a message", NewLead: "A worker hands it to its channel within a second, or at the time you give.",
	NewLeadTest: "This is a test project: whatever channel you choose, the message goes to the sandbox and reaches nobody.",
	Send:        "Send", NotSent: "Not sent yet. Please correct what is marked.", Queued: "The message is queued.",
	Text: "Text", Template: "Template", Variables: "Variables", SendAt: "Send at",
	ContactHint: "The contact's id, ctc_…", TextHint: "Sent as it is. Give a text or a template, not both.",
	TemplateHint: "{{name}} stands for a variable or a field of the contact.", VariablesHint: "A JSON object of texts, numbers and booleans; for a template only.",
	SendAtHint: "In your time zone; empty is at once.",
	Way:        "Its way", What: "What was sent", Address: "Address", Attempts: "Tries", ProviderID: "The channel's id for it", ErrorCode: "Error", Said: "The channel said:",
	Passed: "passed", Present: "now", Final: "final", Ahead: "to come", ByPerson: "decided by a person",
	TriesF: ui.Forms{One: "%s try", Many: "%s tries"},
	States: map[models.MessageStatus]string{
		models.MessageQueued: "It waits for its turn. You can still cancel it.", models.MessageSending: "A worker is handing it to the channel.",
		models.MessageSent:      "The channel took it in. If the channel reports its arrival, the state becomes delivered; most channels do not.",
		models.MessageDelivered: "It has arrived.", models.MessageCancelled: "It was called off before anything was sent.",
		models.MessageFailed: "It was certainly not sent, or did not arrive.", models.MessageUnknown: "Nobody can tell whether it was sent.",
	},
	Advice: map[string]string{
		"CONNECTION_FAILED":           "The channel could not be reached, so nothing was sent. Check the host and the port in its settings. While the message is queued, it is tried again by itself.",
		"REJECTED_BY_PROVIDER":        "The channel refused it for good. Check the address and the text, then send a new message.",
		"PROVIDER_UNAVAILABLE":        "The channel cannot take anything right now. While the message is queued, it is tried again by itself.",
		"THROTTLED_BY_PROVIDER":       "The channel asked us to slow down. The message goes when it lets us.",
		"ANSWER_LOST":                 "The channel's answer was lost, so the message may have been sent.",
		"WORKER_LOST":                 "The worker stopped in the middle of sending, so the message may have been sent.",
		"CONTACT_DELETED":             "The contact was deleted before it was sent. There is nothing to do.",
		"CHANNEL_NOT_CONFIGURED":      "The project has no settings for this channel. Have it set up, then send a new message.",
		"CHANNEL_SETTINGS_UNREADABLE": "The channel's settings cannot be read. Have it set up again, then send a new message.",
		"SETTLED":                     "A person decided that it was not sent; the reason is below. Send a new message if it is still needed.",
	},
	OtherAdvice:     "The channel reported an error; its own words are below. Check the channel's settings and the contact's address, then send a new message.",
	UnknownAdvice:   "The channel's answer was lost and it cannot be asked, so the message may or may not have been sent. Look into the channel's own log for the time and the address below, then say what became of it. It is not sent again by itself.",
	MaybeSentAdvice: "The answer to an earlier try was lost. It is repeated under the same key, so the recipient gets it once; it cannot be cancelled meanwhile.",
	Cancel:          "Cancel the message", Keep: "Keep it", CancelTitle: "Cancel this message?", CancelText: "It will not be sent. Your endpoints are told by message.cancelled.",
	Cancelled: "The message was cancelled; message.cancelled is on its way.", Choose: "Choose…", SettleTitle: "Say what became of it", SettleAs: "It was",
	Settle: "Record the decision", Settled: "Your decision was recorded.", Reason: "Reason", ReasonHint: "How you know: 1 to 500 characters. It is kept with your address.",
	Decisions: "Decisions", Who: "Who", Decision: "Decision", When: "When", ByKey: "by API key",
	Outbox: "Sandbox", OutboxLead: "What the sandbox channel took in. It reaches nobody: every message of a test project ends here.",
	OutboxEmpty: "The sandbox has taken nothing in", OutboxEmptyText: "Send a message on the sandbox channel; it stands here a second later.",
	Receipt: "Receipt", Times: "Handed over", Taken: "Taken in",
	Rehearse: "Rehearse trouble", RehearseLead: "What the sandbox does with messages from now on.", SetSandbox: "Apply", SandboxSet: "The sandbox was told. It holds for messages sent from now on.",
	Behaviour: "It will", Delay: "Answer after, ms", DelayHint: "0 to 20,000", DelayWrong: "A delay is a whole number of milliseconds, 0 to 20,000.",
	Deliver: "Report what it takes in as delivered", Blind: "Be a channel that cannot be asked: a lost answer leaves the message unknown",
	Behaviours: map[channels.Behaviour]string{
		channels.SandboxAccept: "Accept everything", channels.SandboxFail: "Fail for now (tried again later)",
		channels.SandboxRefuse: "Refuse for good", channels.SandboxLose: "Take it in and lose the answer",
	},
}
