package models

import (
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"
)

// Bounds of a message's fields, as api/openapi.yaml has them, in characters.
const (
	MaxMessageText      = 10_000
	MaxMessageTemplate  = 10_000
	MaxMessageVariables = 100
	// MaxTelegramText is the Bot API's own bound.
	MaxTelegramText = 4096
	// MaxMessageDelay is how far ahead a message may be put.
	MaxMessageDelay = 366 * 24 * time.Hour
)

// Codes of the faults that a draft of a message may have.
const (
	faultMissing  = "MISSING"
	faultFormat   = "INVALID_FORMAT"
	faultType     = "INVALID_TYPE"
	faultTooLong  = "TOO_LONG"
	faultTooShort = "TOO_SHORT"
	faultTooMany  = "TOO_MANY"
	faultRange    = "OUT_OF_RANGE"
	faultUnknown  = "UNKNOWN_CHANNEL"
	faultAddress  = "NO_ADDRESS"
)

// MessageDraft is what a caller or a scenario says of a message.
type MessageDraft struct {
	Channel   Channel
	Text      *string // either this
	Template  *string // or this, with {{placeholders}}
	Variables []byte  // a JSON object of texts, numbers and booleans; nil: none
	SendAt    *time.Time
}

// placeholder is {{name}}, blanks allowed inside the braces.
var placeholder = regexp.MustCompile(`\{\{\s*([A-Za-z0-9_.\-]+)\s*\}\}`)

// Check returns what is wrong with the draft whoever it is for, with pointers
// into the draft as POST /messages takes it.
func (d MessageDraft) Check(now time.Time) []FieldError {
	var found []FieldError
	add := func(pointer, code, format string, args ...any) {
		found = append(found, FieldError{Pointer: pointer, Code: code, Detail: fmt.Sprintf(format, args...)})
	}
	if !d.Channel.Valid() {
		add("/channel", faultUnknown, "The channels are sandbox, email and telegram.")
	}
	switch {
	case d.Text == nil && d.Template == nil:
		add("/text", faultMissing, "A message needs a text or a template.")
	case d.Text != nil && d.Template != nil:
		add("/template", faultFormat, "A message has a text or a template, not both.")
	case d.Text != nil && d.Variables != nil:
		add("/variables", faultFormat, "Variables belong to a template; a text is sent as it is.")
	case d.Text != nil:
		found = append(found, checkLength("/text", *d.Text, MaxMessageText)...)
	default:
		found = append(found, checkLength("/template", *d.Template, MaxMessageTemplate)...)
		found = append(found, checkBraces(*d.Template)...)
	}
	if d.SendAt != nil && d.SendAt.After(now.Add(MaxMessageDelay)) {
		add("/send_at", faultRange, "A message can be put off by a year at most.")
	}
	_, faults := d.values()
	return append(found, faults...)
}

func checkLength(pointer, text string, high int) []FieldError {
	switch n := utf8.RuneCountInString(text); {
	case strings.TrimSpace(text) == "":
		return []FieldError{{Pointer: pointer, Code: faultTooShort, Detail: "There is nothing to send."}}
	case n > high:
		return []FieldError{{Pointer: pointer, Code: faultTooLong, Detail: fmt.Sprintf("At most %d characters are allowed; there are %d.", high, n)}}
	default:
		return nil
	}
}

// checkBraces refuses what looks like a placeholder and is none: it would be
// sent as it stands.
func checkBraces(template string) []FieldError {
	rest := placeholder.ReplaceAllString(template, "")
	if !strings.Contains(rest, "{{") && !strings.Contains(rest, "}}") {
		return nil
	}
	return []FieldError{{
		Pointer: "/template", Code: faultFormat,
		Detail: "A placeholder is a name in double braces, as in {{name}}: letters, digits, underscores, hyphens and dots.",
	}}
}

// values reads the variables as the texts that they stand for.
func (d MessageDraft) values() (map[string]string, []FieldError) {
	if d.Variables == nil {
		return nil, nil
	}
	var raw map[string]any
	decoder := json.NewDecoder(strings.NewReader(string(d.Variables)))
	decoder.UseNumber() // a number is written as it was given
	if err := decoder.Decode(&raw); err != nil || raw == nil {
		return nil, []FieldError{{Pointer: "/variables", Code: faultType, Detail: "Variables are a JSON object."}}
	}
	if len(raw) > MaxMessageVariables {
		return nil, []FieldError{{Pointer: "/variables", Code: faultTooMany, Detail: fmt.Sprintf("At most %d variables are allowed.", MaxMessageVariables)}}
	}
	values := make(map[string]string, len(raw))
	var found []FieldError
	for _, name := range slices.Sorted(maps.Keys(raw)) {
		text, ok := scalar(raw[name])
		if !ok {
			found = append(found, FieldError{
				Pointer: "/variables/" + EscapePointer(name), Code: faultType, Detail: "A variable is a text, a number or a boolean.",
			})
			continue
		}
		values[name] = text
	}
	return values, found
}

func scalar(value any) (string, bool) {
	switch v := value.(type) {
	case string:
		return v, true
	case json.Number:
		return v.String(), true
	case bool:
		return strconv.FormatBool(v), true
	default:
		return "", false
	}
}

// Compose makes the message for a contact of a project in the given mode: it
// fills the template in and finds the address. The draft was checked before;
// what can only be known with the contact is returned as faults.
func (d MessageDraft) Compose(mode Mode, contact *Contact) (*Message, []FieldError) {
	m := &Message{ContactID: contact.ID, Channel: d.Channel.For(mode), Template: d.Template, SendAt: d.SendAt}
	var found []FieldError
	if m.Address = m.Channel.AddressOf(contact); m.Address == "" {
		found = append(found, FieldError{
			Pointer: "/contact_id", Code: faultAddress,
			Detail: fmt.Sprintf("This contact has no address for the channel %s: %s.", m.Channel, addressFields[m.Channel]),
		})
	}
	if d.Text != nil {
		m.Text = *d.Text
		return m, append(found, checkLength("/text", m.Text, m.Channel.maxText())...)
	}
	m.Variables = d.Variables
	if m.Variables == nil {
		m.Variables = []byte("{}")
	}
	values, _ := d.values()
	text, faults := fill(*d.Template, values, contact)
	m.Text = text
	if len(faults) == 0 {
		faults = checkLength("/template", text, m.Channel.maxText())
	}
	return m, append(found, faults...)
}

var addressFields = map[Channel]string{ChannelEmail: "set its email", ChannelTelegram: "set identities.telegram to its chat id"}

// fill replaces every placeholder by the variable of that name or, where there
// is none, by the contact's field.
func fill(template string, values map[string]string, contact *Contact) (string, []FieldError) {
	var found []FieldError
	missing := map[string]bool{}
	text := placeholder.ReplaceAllStringFunc(template, func(match string) string {
		name := placeholder.FindStringSubmatch(match)[1]
		if value, ok := values[name]; ok {
			return value
		}
		value, ok := contact.field(name)
		if !ok && !missing[name] {
			missing[name] = true
			found = append(found, FieldError{
				Pointer: "/variables/" + EscapePointer(name), Code: faultMissing,
				Detail: fmt.Sprintf("The template names %q, which is neither a variable nor a field of this contact that has a value.", name),
			})
		}
		return value
	})
	return text, found
}

// field returns a contact's own field as a template names it: name, email,
// phone, external_id, or attributes.x.
func (c *Contact) field(name string) (string, bool) {
	if attribute, ok := strings.CutPrefix(name, "attributes."); ok {
		values, _ := MessageDraft{Variables: c.Attributes}.values()
		value, ok := values[attribute]
		return value, ok
	}
	value, ok := map[string]*string{
		"name": c.Name, "email": c.Email, "phone": c.Phone, "external_id": c.ExternalID,
	}[name]
	if !ok || value == nil {
		return "", false
	}
	return *value, true
}
