package models

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	jsonv2 "github.com/go-json-experiment/json"
)

// EventSource says who wrote an event.
type EventSource string

// The event sources, contract §8.
const (
	SourcePlatform EventSource = "platform"
	SourceAPI      EventSource = "api"
	SourceScenario EventSource = "scenario"
)

// The platform's own event types about contacts, contract §5.
const (
	EventContactCreated = "contact.created"
	EventContactUpdated = "contact.updated"
	EventContactDeleted = "contact.deleted"
)

// EventEndpointTest is what "send a test event" sends, to one endpoint only.
const EventEndpointTest = "webhook_endpoint.test"

// EventEndpointDisabled is the platform's own event type about an endpoint that
// it gave up on, contract §5.
const EventEndpointDisabled = "webhook_endpoint.disabled"

// MaxEventBody is the size in bytes above which an event's body travels
// without its data (contract §5).
const MaxEventBody = 64 << 10

// Event is something that happened in a project.
type Event struct {
	ProjectID  ProjectID
	ID         string
	Type       string
	Source     EventSource
	APIVersion string
	RequestID  string // the API request that caused it, empty if none did
	CreatedAt  time.Time
	// Body is what every webhook of the event carries and signs, to the byte.
	Body []byte
	// Data is the full data when Body had to leave it out, otherwise nil.
	Data []byte
}

// Subject names the object an event is about, for the bodies that must leave
// the object itself out.
type Subject struct {
	ID     string
	Object string
}

// wireEvent is the body of a webhook, contract §5.
type wireEvent struct {
	ID         string          `json:"id"`
	Type       string          `json:"type"`
	APIVersion string          `json:"api_version"`
	CreatedAt  string          `json:"created_at"`
	ProjectID  ProjectID       `json:"project_id"`
	Data       json.RawMessage `json:"data"`
}

// truncatedData stands in for data that makes a body too large.
type truncatedData struct {
	ID        string `json:"id"`
	Object    string `json:"object"`
	Truncated bool   `json:"truncated"`
	URL       string `json:"url"`
}

// SetData builds the event's Body around data, a JSON value, and fills Data
// when the body would exceed [MaxEventBody]. The other fields must be set.
func (e *Event) SetData(data []byte, about Subject) error {
	body, err := e.wireBody(data)
	if err != nil {
		return err
	}
	if len(body) <= MaxEventBody {
		e.Body, e.Data = body, nil
		return nil
	}
	short, err := json.Marshal(truncatedData{ID: about.ID, Object: about.Object, Truncated: true, URL: "/events/" + e.ID})
	if err != nil {
		return fmt.Errorf("encode the short data of event %s: %w", e.ID, err)
	}
	if e.Body, err = e.wireBody(short); err != nil {
		return err
	}
	e.Data = data
	return nil
}

// SetObject does the same with data that is yet to be encoded.
func (e *Event) SetObject(data any, about Subject) error {
	encoded, err := jsonv2.Marshal(data, jsonv2.Deterministic(true))
	if err != nil {
		return fmt.Errorf("encode the data of event %s: %w", e.ID, err)
	}
	return e.SetData(encoded, about)
}

func (e *Event) wireBody(data []byte) ([]byte, error) {
	body, err := json.Marshal(wireEvent{
		ID: e.ID, Type: e.Type, APIVersion: e.APIVersion, ProjectID: e.ProjectID,
		CreatedAt: FormatTime(e.CreatedAt), Data: data,
	})
	if err != nil {
		return nil, fmt.Errorf("encode the body of event %s: %w", e.ID, err)
	}
	return body, nil
}

// FormatTime renders a time as the API does: RFC 3339, UTC, milliseconds
// (contract §1).
func FormatTime(t time.Time) string { return t.UTC().Format("2006-01-02T15:04:05.000Z") }

// SubscriptionsTo returns every entry of an endpoint's event_types that
// matches the event type: itself, "*", and "a.*", "a.b.*" for each leading part.
func SubscriptionsTo(eventType string) []string {
	patterns := []string{eventType, "*"}
	for i, c := range eventType {
		if c == '.' {
			patterns = append(patterns, eventType[:i]+".*")
		}
	}
	return patterns
}

// ValidSubscription reports whether pattern can stand in event_types: "*", a
// type, or a leading part followed by ".*".
func ValidSubscription(pattern string) bool {
	prefix, all := strings.CutSuffix(pattern, ".*")
	switch {
	case pattern == "*":
		return true
	case !all:
		return ValidEventType(pattern)
	default:
		// As long as a type could still follow.
		return ValidEventType(prefix + ".x")
	}
}

// ValidEventType reports whether t has the form the contract's §5 gives:
// ^[a-z][a-z0-9_]*(\.[a-z0-9_]+){1,4}$, at most 100 characters.
func ValidEventType(t string) bool {
	parts := strings.Split(t, ".")
	if len(t) > 100 || len(parts) < 2 || len(parts) > 5 || !validSegment(parts[0]) {
		return false
	}
	for _, part := range parts[1:] {
		if part == "" || strings.Trim(part, segmentAlphabet) != "" {
			return false
		}
	}
	return true
}

// platformTypes are the first parts of the platform's own event types.
var platformTypes = []string{"contact", "message", "scenario", "job", "webhook_endpoint"}

// PlatformEventType reports whether a type is one of those that nobody else may
// publish (contract §5).
func PlatformEventType(t string) bool {
	first, _, _ := strings.Cut(t, ".")
	return slices.Contains(platformTypes, first)
}

const segmentAlphabet = "abcdefghijklmnopqrstuvwxyz0123456789_"

func validSegment(s string) bool {
	return s != "" && s[0] >= 'a' && s[0] <= 'z' && strings.Trim(s, segmentAlphabet) == ""
}
