package models

import (
	"encoding/json"
	"fmt"
	"time"
)

// MessageObject is the value of a message's "object".
const MessageObject = "message"

// Message is one text on its way to one contact (contract §6).
type Message struct {
	ProjectID ProjectID
	ID        string
	ContactID string
	Channel   Channel
	Address   string  // the contact's on that channel, when the message was made
	Text      string  // what is sent, the template filled in
	Template  *string // what Text was made of; nil: it was given as it is
	Variables []byte  // a JSON object, byte for byte as it was given; nil without a template
	// SendAt is the time before which it is not sent; nil: at once.
	SendAt *time.Time
	Status MessageStatus
	// AttemptCount counts physical sends, begun or done.
	AttemptCount int
	// Failures is the place on the ladder of delays.
	Failures int
	// MaybeSent: the answer to one of the sends was lost.
	MaybeSent         bool
	ProviderMessageID *string // the channel's own name for it
	ErrorCode         *string // why it failed or is unknown, or the last try's fault
	ErrorDetail       *string // the same for people
	RunID             *string // the scenario run that made it
	StepID            *string // and the run's step: one message each
	APIVersion        string  // shapes the message's events
	RequestID         string  // the API request that caused it, empty if none did
	SentAt            *time.Time
	CreatedAt         time.Time
	UpdatedAt         time.Time
}

// MessageError says why a message is where it is.
type MessageError struct {
	Code   string `json:"code"`
	Detail string `json:"detail"`
}

// MessageView is a message as the API and its events show it (contract §8).
type MessageView struct {
	ID                string          `json:"id"`
	Object            string          `json:"object"`
	ContactID         string          `json:"contact_id"`
	Channel           Channel         `json:"channel"`
	Text              string          `json:"text"`
	Template          *string         `json:"template"`
	Variables         json.RawMessage `json:"variables"`
	SendAt            *string         `json:"send_at"`
	Status            MessageStatus   `json:"status"`
	AttemptCount      int             `json:"attempt_count"`
	ProviderMessageID *string         `json:"provider_message_id"`
	Error             *MessageError   `json:"error"`
	RunID             *string         `json:"run_id"`
	SentAt            *string         `json:"sent_at"`
	CreatedAt         string          `json:"created_at"`
	UpdatedAt         string          `json:"updated_at"`
}

// View returns the message as it is shown. Its address and its place on the
// ladder are not.
func (m *Message) View() MessageView {
	view := MessageView{
		ID: m.ID, Object: MessageObject, ContactID: m.ContactID, Channel: m.Channel, Text: m.Text, Template: m.Template,
		Variables: m.Variables, SendAt: formatOptional(m.SendAt), Status: m.Status, AttemptCount: m.AttemptCount,
		ProviderMessageID: m.ProviderMessageID, RunID: m.RunID, SentAt: formatOptional(m.SentAt),
		CreatedAt: FormatTime(m.CreatedAt), UpdatedAt: FormatTime(m.UpdatedAt),
	}
	if view.Variables == nil {
		view.Variables = json.RawMessage("null")
	}
	if m.ErrorCode != nil && m.ErrorDetail != nil {
		view.Error = &MessageError{Code: *m.ErrorCode, Detail: *m.ErrorDetail}
	}
	return view
}

func formatOptional(t *time.Time) *string {
	if t == nil {
		return nil
	}
	text := FormatTime(*t)
	return &text
}

// Event builds the event about the message's present state, at the given time.
// Being sent is a worker's affair and has none: nil.
func (m *Message) Event(at time.Time) (*Event, error) {
	if m.Status == MessageSending {
		return nil, nil //nolint:nilnil // not every step is told
	}
	data, err := json.Marshal(m.View())
	if err != nil {
		return nil, fmt.Errorf("encode message %s: %w", m.ID, err)
	}
	event := &Event{
		ProjectID: m.ProjectID, ID: NewID(PrefixEvent, at), Type: MessageObject + "." + string(m.Status), Source: SourcePlatform,
		APIVersion: m.APIVersion, RequestID: m.RequestID, CreatedAt: at,
	}
	return event, event.SetData(data, Subject{ID: m.ID, Object: MessageObject})
}

// MessageSettlement is the record of a person's decision about a message that
// nobody could tell about (contract §6).
type MessageSettlement struct {
	ProjectID  ProjectID
	MessageID  string
	ID         string
	KeyID      *string // the API key that was used; nil: a member decided at the pages
	UserID     *string // that member
	UserEmail  *string // and their address at that time
	FromStatus MessageStatus
	ToStatus   MessageStatus
	Reason     string
	RequestID  string // empty: a member decided at the pages
	CreatedAt  time.Time
}

// SettlementView is a decision as the API shows it.
type SettlementView struct {
	ID        string        `json:"id"`
	KeyID     *string       `json:"key_id"`
	UserID    *string       `json:"user_id"`
	From      MessageStatus `json:"from"`
	To        MessageStatus `json:"to"`
	Reason    string        `json:"reason"`
	RequestID *string       `json:"request_id"`
	CreatedAt string        `json:"created_at"`
}

// present is a text that is there, or nil.
func present(text string) *string {
	if text == "" {
		return nil
	}
	return &text
}

// MessageList is a page of messages as the API shows it.
type MessageList struct {
	Data       []MessageView `json:"data"`
	NextCursor *string       `json:"next_cursor"` // nil: the last page
}

// MessageWithSettlements is a message read by its id.
type MessageWithSettlements struct {
	MessageView

	Settlements []SettlementView `json:"settlements"`
}

// ViewWith returns the message as it is shown with what people decided about it.
func (m *Message) ViewWith(decisions []MessageSettlement) MessageWithSettlements {
	view := MessageWithSettlements{MessageView: m.View(), Settlements: make([]SettlementView, len(decisions))}
	for i, d := range decisions {
		view.Settlements[i] = SettlementView{
			ID: d.ID, KeyID: d.KeyID, UserID: d.UserID, From: d.FromStatus, To: d.ToStatus, Reason: d.Reason, RequestID: present(d.RequestID),
			CreatedAt: FormatTime(d.CreatedAt),
		}
	}
	return view
}
