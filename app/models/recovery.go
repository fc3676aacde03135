package models

import "time"

// MaxSelection is how many deliveries one recovery may name.
const MaxSelection = 100

// Recovery says which deliveries are to be sent again: those named, or an
// endpoint's dead letters and held deliveries (contract §5), or those of all
// endpoints. It is the params of a [JobWebhookRecovery].
type Recovery struct {
	EndpointID string `json:"endpoint_id,omitempty"`
	// Everywhere takes the place of EndpointID: every endpoint that is active, one
	// after the other.
	Everywhere bool `json:"everywhere,omitempty"`
	// Since (inclusive) and Until (exclusive) are about the events' created_at;
	// nil leaves an end open, but what comes after the recovery began is never in it.
	Since *time.Time `json:"since,omitempty"`
	Until *time.Time `json:"until,omitempty"`
	// Cause keeps to dead letters with that cause; held deliveries have none.
	Cause *DeadLetterCause `json:"cause,omitempty"`
	// EventType and ErrorClasses, those of the last attempt, narrow it further.
	EventType    string       `json:"event_type,omitempty"`
	ErrorClasses []ErrorClass `json:"error_classes,omitempty"`
	// Waiting takes what waits for its next attempt as well.
	Waiting bool `json:"waiting,omitempty"`
	// DeliveryIDs is a selection of at most [MaxSelection]; the fields above are
	// then empty.
	DeliveryIDs []string `json:"delivery_ids,omitempty"`
	// RatePerSecond is the owner's own throttle; nil leaves it to the lane.
	RatePerSecond *int `json:"rate_per_second,omitempty"`
}

// HeldRelease is what becomes of held deliveries: the params of a
// [JobWebhookRelease].
type HeldRelease struct {
	EndpointID string `json:"endpoint_id"`
	// To is pending or cancelled.
	To DeliveryStatus `json:"to"`
}

// DeadLetterGroup is the dead letters of one endpoint with one cause.
type DeadLetterGroup struct {
	EndpointID string
	Cause      DeadLetterCause
	Count      int
	First      time.Time // when the oldest was given up
	Last       time.Time // and the newest
}

// Bounded is the recovery with an end, at now if it has none before: what comes
// later is never in it.
func (r Recovery) Bounded(now time.Time) Recovery {
	if r.Until == nil || r.Until.After(now) {
		r.Until = &now
	}
	return r
}

// Takes reports whether a delivery in this state is one that the recovery sends
// again.
func (r Recovery) Takes(status DeliveryStatus) bool {
	return status == DeliveryDeadLetter || status == DeliveryHeld || r.Waiting && status == DeliveryWaiting
}
