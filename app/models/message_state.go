package models

import "slices"

// MessageStatus is the state of a message. The picture is in
// docs/state-machines.md; the same rules stand in SQL as guarded updates
// (app/store) and as CHECK constraints (migrations).
type MessageStatus string

// The message states, contract §6.
const (
	// MessageQueued waits for its time, or for its next try.
	MessageQueued MessageStatus = "queued"
	// MessageSending is claimed by a worker that holds a lease on it.
	MessageSending MessageStatus = "sending"
	// MessageSent was taken in by its channel.
	MessageSent MessageStatus = "sent"
	// MessageDelivered arrived, as the channel or a person says. Final.
	MessageDelivered MessageStatus = "delivered"
	// MessageFailed was certainly not sent, or did not arrive. Final.
	MessageFailed MessageStatus = "failed"
	// MessageCancelled was called off before anything was sent. Final.
	MessageCancelled MessageStatus = "cancelled"
	// MessageUnknown may have been sent: the channel's answer was lost, and the
	// channel cannot be asked. A person settles it.
	MessageUnknown MessageStatus = "unknown"
)

// messageTransitions is the whole machine: every state with the states that may
// follow it. sending → queued is a send that was certainly not accepted, or one
// that may be repeated under the same key; a worker's answer that comes after
// its lease, or a person, takes a message out of unknown.
var messageTransitions = map[MessageStatus][]MessageStatus{
	MessageQueued:  {MessageSending, MessageCancelled},
	MessageSending: {MessageSent, MessageFailed, MessageUnknown, MessageQueued},
	MessageSent:    {MessageDelivered, MessageFailed},
	MessageUnknown: {MessageSent, MessageDelivered, MessageFailed},
}

// MessageStatuses lists every state, in the order of a message's life.
func MessageStatuses() []MessageStatus {
	return []MessageStatus{
		MessageQueued, MessageSending, MessageSent, MessageDelivered,
		MessageFailed, MessageCancelled, MessageUnknown,
	}
}

// CanBecome reports whether the machine allows the step from s to next.
func (s MessageStatus) CanBecome(next MessageStatus) bool {
	return slices.Contains(messageTransitions[s], next)
}

// Settled reports whether no worker will move a message in this state any more:
// whoever waits for its outcome need not wait longer.
func (s MessageStatus) Settled() bool { return s != MessageQueued && s != MessageSending }
