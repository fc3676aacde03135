package models

import (
	"encoding/json"
	"fmt"
	"time"
)

// The rule of contract §5: an endpoint with no success since a failure at least
// DisableAfter ago, and at least DisableFailures failed attempts on DisableDays
// days (UTC) or more, is disabled.
//
// How far an endpoint is on its way there is the least of the three parts: the
// time since the first failure, the failures and the days with one, each in per
// cent of what the rule asks for. It only grows until a success sets it to 0.
//
// A failed attempt counts when the endpoint is to blame, or the address that its
// owner gave: not "worker_lost" and "internal", which are ours, not what was held
// or waited, since nothing was sent. Retries by hand do not count either: a
// person who tries whether a repair has worked, or sends a thousand missed events
// again, must not bring the end nearer. A success counts whoever asked for it.
const (
	DisableAfter    = 5 * 24 * time.Hour
	DisableFailures = 10
	DisableDays     = 2
)

// NoticeLevels are the per cent of the way to being disabled at which an
// endpoint's owner is told, once each. The last is the end of the way.
func NoticeLevels() []int { return []int{50, 70, 90, LevelDisabled} }

// LevelDisabled is the level of an endpoint that the platform has disabled.
const LevelDisabled = 100

// EndpointHealth is how an endpoint does.
type EndpointHealth struct {
	ProjectID     ProjectID
	EndpointID    string
	FailingSince  *time.Time // the first failure since the last success; nil: none
	Failures      int        // since then, that count
	FailedDays    int        // days (UTC) with one, since then
	LastSuccessAt *time.Time // to the minute; nil: none yet
	LastFailureAt *time.Time // of those that count; nil: none yet
	Level         int        // what its owner was told last: 0 or one of [NoticeLevels]
}

// CountsAgainstEndpoint reports whether a failed attempt counts for the rule that
// disables endpoints.
func (a WebhookAttempt) CountsAgainstEndpoint() bool {
	return a.ErrorClass != nil && !a.Manual && *a.ErrorClass != ErrorWorkerLost && *a.ErrorClass != ErrorInternal
}

// DisableReason says why the platform disabled an endpoint.
type DisableReason string

// The reasons.
const (
	DisabledGone    DisableReason = "gone"    // it answered 410
	DisabledFailing DisableReason = "failing" // no success for too long
)

// DisabledEndpoint is the data of [EventEndpointDisabled].
type DisabledEndpoint struct {
	ID         string         `json:"id"`
	Object     string         `json:"object"` // "webhook_endpoint"
	URL        string         `json:"url"`
	Status     EndpointStatus `json:"status"` // disabled
	Reason     DisableReason  `json:"reason"`
	DisabledAt string         `json:"disabled_at"`
	// FailingSince is the first failure since the last success, null if the
	// endpoint worked until it answered 410.
	FailingSince *string `json:"failing_since"`
	Failures     int     `json:"failures"` // since then
}

// NewEndpointDisabledEvent builds the event about an endpoint that
// was disabled at the given time.
func NewEndpointDisabledEvent(h EndpointHealth, url, apiVersion string, reason DisableReason, at time.Time) (*Event, error) {
	data := DisabledEndpoint{
		ID: h.EndpointID, Object: "webhook_endpoint", URL: url, Status: EndpointDisabled, Reason: reason,
		DisabledAt: FormatTime(at), Failures: h.Failures,
	}
	if h.FailingSince != nil {
		since := FormatTime(*h.FailingSince)
		data.FailingSince = &since
	}
	encoded, err := json.Marshal(data)
	if err != nil {
		return nil, fmt.Errorf("encode the data of %s: %w", EventEndpointDisabled, err)
	}
	event := &Event{
		ProjectID: h.ProjectID, ID: NewID(PrefixEvent, at), Type: EventEndpointDisabled, Source: SourcePlatform,
		APIVersion: apiVersion, CreatedAt: at,
	}
	return event, event.SetData(encoded, Subject{ID: data.ID, Object: data.Object})
}
