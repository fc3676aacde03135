package models

import (
	"crypto/rand"
	"fmt"
	"strings"
	"time"

	"github.com/oklog/ulid/v2"
)

// Prefixes of the identifiers, contract §1. An identifier is a prefix followed
// by a ULID in Crockford base32: 26 upper-case characters.
const (
	PrefixProject    = "prj_"
	PrefixKey        = "key_"
	PrefixUser       = "usr_"
	PrefixContact    = "ctc_"
	PrefixMessage    = "msg_"
	PrefixSettlement = "stl_"
	PrefixScenario   = "scn_"
	PrefixRun        = "run_"
	PrefixEvent      = "evt_"
	PrefixEndpoint   = "whe_"
	PrefixDelivery   = "whd_"
	PrefixAttempt    = "att_"
	PrefixDeadLetter = "dlq_"
	PrefixJob        = "job_"
	PrefixRequest    = "req_"
	PrefixNotice     = "ntc_"
	PrefixArchive    = "arc_"
	PrefixInvitation = "inv_"
	PrefixAudit      = "aud_"
	PrefixBin        = "bin_"
	PrefixCaptured   = "cap_"
)

const ulidLength = 26

// ProjectID names a project. It is a type of its own because it is the tenant:
// a store function that takes one cannot be handed another string by mistake.
type ProjectID string

// NewID returns a fresh identifier with the given prefix whose ULID carries the
// time at with millisecond precision. Identifiers made later sort later; within
// one millisecond the order is random.
func NewID(prefix string, at time.Time) string {
	return prefix + ulid.MustNew(ulid.Timestamp(at), rand.Reader).String()
}

// NewSecretID returns an identifier of the same form that tells nothing and that
// nobody can guess: 128 random bits.
func NewSecretID(prefix string) string {
	var id ulid.ULID
	_, _ = rand.Read(id[:]) // documented never to fail: it ends the process instead
	return prefix + id.String()
}

// FirstID is the smallest identifier with the given prefix of the time at: a
// bound for ranges of identifiers.
func FirstID(prefix string, at time.Time) string {
	var first ulid.ULID
	_ = first.SetTime(ulid.Timestamp(at)) // fails only beyond the year 10889
	return prefix + first.String()
}

// TimeOfID is the time that a valid identifier carries, to the millisecond.
func TimeOfID(prefix, id string) (time.Time, error) {
	parsed, err := ulid.ParseStrict(strings.TrimPrefix(id, prefix))
	if err != nil {
		return time.Time{}, fmt.Errorf("read the time of %s: %w", id, err)
	}
	return parsed.Timestamp().UTC(), nil
}

// ValidID reports whether id is prefix followed by a well-formed ULID. An
// identifier that is not valid cannot exist, so callers answer "not found"
// without asking the database.
func ValidID(prefix, id string) bool {
	rest, ok := strings.CutPrefix(id, prefix)
	if !ok || len(rest) != ulidLength || strings.ToUpper(rest) != rest {
		return false
	}
	_, err := ulid.ParseStrict(rest)
	return err == nil
}

// ulidTime is how many of a ULID's digits are its time.
const ulidTime = 10

// DeliveriesOf are the smallest and the largest id that a delivery of the event
// can have: an event's deliveries begin with its time.
func DeliveriesOf(eventID string) (first, last string) {
	at := strings.TrimPrefix(eventID, PrefixEvent)
	at = PrefixDelivery + at[:min(ulidTime, len(at))]
	return at, at + strings.Repeat("Z", ulidLength-ulidTime)
}

// NewDeliveryID is a fresh id of a delivery of the event, made at the time at.
func NewDeliveryID(eventID string, at time.Time) string {
	first, _ := DeliveriesOf(eventID)
	return first + NewID(PrefixDelivery, at)[len(first):]
}
