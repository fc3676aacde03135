package models

import "slices"

// DeliveryStatus is the state of a webhook delivery. The picture is in
// docs/state-machines.md; the same rules stand in SQL as guarded updates
// (app/store) and as CHECK constraints (migrations).
type DeliveryStatus string

// The delivery states, contract §5 and §8.
const (
	// DeliveryPending is due now: new, or asked for again by hand.
	DeliveryPending DeliveryStatus = "pending"
	// DeliveryInFlight is claimed by a worker that holds a lease on it.
	DeliveryInFlight DeliveryStatus = "in_flight"
	// DeliveryWaiting waits for its next step or for its endpoint's lane.
	DeliveryWaiting DeliveryStatus = "waiting"
	// DeliveryDelivered got a 2xx. Final, except for a retry by hand.
	DeliveryDelivered DeliveryStatus = "delivered"
	// DeliveryDeadLetter was given up; a person may send it again.
	DeliveryDeadLetter DeliveryStatus = "dead_letter"
	// DeliveryHeld belongs to an endpoint that was not active when it was claimed,
	// or when its send was recorded.
	DeliveryHeld DeliveryStatus = "held"
	// DeliveryCancelled belongs to an endpoint that was deleted. Final.
	DeliveryCancelled DeliveryStatus = "cancelled"
)

// deliveryTransitions is the whole machine: every state with the states that
// may follow it. A late 2xx makes a delivery delivered from any state.
var deliveryTransitions = map[DeliveryStatus][]DeliveryStatus{
	DeliveryPending:    {DeliveryInFlight, DeliveryHeld, DeliveryCancelled, DeliveryDelivered},
	DeliveryInFlight:   {DeliveryDelivered, DeliveryWaiting, DeliveryPending, DeliveryDeadLetter, DeliveryHeld, DeliveryCancelled},
	DeliveryWaiting:    {DeliveryInFlight, DeliveryHeld, DeliveryCancelled, DeliveryPending, DeliveryDelivered},
	DeliveryHeld:       {DeliveryPending, DeliveryDeadLetter, DeliveryCancelled, DeliveryDelivered},
	DeliveryDeadLetter: {DeliveryPending, DeliveryDelivered},
	DeliveryDelivered:  {DeliveryPending},
	DeliveryCancelled:  {DeliveryDelivered},
}

// DeliveryStatuses lists every state, in the order of a delivery's life.
func DeliveryStatuses() []DeliveryStatus {
	return []DeliveryStatus{
		DeliveryPending, DeliveryInFlight, DeliveryWaiting, DeliveryDelivered,
		DeliveryDeadLetter, DeliveryHeld, DeliveryCancelled,
	}
}

// CanBecome reports whether the machine allows the step from s to next.
func (s DeliveryStatus) CanBecome(next DeliveryStatus) bool {
	return slices.Contains(deliveryTransitions[s], next)
}

// Due reports whether a delivery in this state is waiting to be claimed and
// therefore has a next attempt's time.
func (s DeliveryStatus) Due() bool { return s == DeliveryPending || s == DeliveryWaiting }
