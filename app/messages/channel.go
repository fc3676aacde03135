package messages

import (
	"context"
	"encoding/json"
	"errors"
	"time"

	"github.com/botix-pro/platform/app/models"
)

// Abilities say how a channel helps when its answer was lost.
type Abilities struct {
	// TakesKey: handing a message over again under the same key has no second
	// effect and is answered like the first time.
	TakesKey bool
	// LooksUp: the channel can say whether it took a message in.
	LooksUp bool
}

// Channel hands messages to a provider. It is safe for concurrent use.
type Channel interface {
	// Abilities of the channel with these settings.
	Abilities(settings json.RawMessage) Abilities
	// Send makes one attempt: at most one physical request. It ends soon after
	// ctx does.
	Send(ctx context.Context, p Parcel) Result
	// Find asks what became of a message, where the channel looks up: its
	// receipt, or errNotTaken when it certainly was not taken in.
	Find(ctx context.Context, p Parcel) (receipt string, err error)
}

// errNotTaken is a channel's answer that it does not have a message.
var errNotTaken = errors.New("the channel did not take the message in")

// errCannotTell is the answer of a channel that looks nothing up.
var errCannotTell = errors.New("the channel cannot look messages up")

// opaque is the part of a channel that can do neither.
type opaque struct{}

// Abilities implements [Channel].
func (opaque) Abilities(json.RawMessage) Abilities { return Abilities{} }

// Find implements [Channel].
func (opaque) Find(context.Context, Parcel) (string, error) { return "", errCannotTell }

// Parcel is what a channel needs to know of a message.
type Parcel struct {
	ProjectID models.ProjectID
	Key       string // the message's id: the same on every attempt
	ContactID string
	Address   string
	Text      string
	Settings  json.RawMessage // the channel's, nil: none
}

// Verdict says what an attempt led to.
type Verdict int

// The verdicts. Only the last leaves a question open.
const (
	// Taken: the channel has it.
	Taken Verdict = iota + 1
	// Refused: the channel will never take it.
	Refused
	// NotTaken: it certainly did not get there; later it may.
	NotTaken
	// Throttled: not taken; the channel wants to be left alone for RetryAfter.
	Throttled
	// Lost: it may have been taken, the answer did not come.
	Lost
)

// Result is what came of an attempt.
type Result struct {
	Verdict    Verdict
	Receipt    string        // of Taken: the channel's own name for it, if it gave one
	Delivered  bool          // of Taken: it has arrived
	RetryAfter time.Duration // of Throttled
	Code       string        // of all others, stable
	Detail     string        // the same for people: valid UTF-8, no secrets
}

// Codes of what may be wrong with a message, shown as error.code.
const (
	CodeConnection   = "CONNECTION_FAILED"    // nothing was sent
	CodeRejected     = "REJECTED_BY_PROVIDER" // for good
	CodeUnavailable  = "PROVIDER_UNAVAILABLE" // for now
	CodeThrottled    = "THROTTLED_BY_PROVIDER"
	CodeAnswerLost   = "ANSWER_LOST"
	CodeWorkerLost   = "WORKER_LOST"
	CodeContactGone  = "CONTACT_DELETED"
	CodeUnconfigured = "CHANNEL_NOT_CONFIGURED"
	CodeSettings     = "CHANNEL_SETTINGS_UNREADABLE"
)
