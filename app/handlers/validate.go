package handlers

import (
	"fmt"
	"net/mail"
	"regexp"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/botix-pro/platform/app/models"
	"github.com/botix-pro/platform/app/webhooks"
)

// Bounds of a contact's fields, as api/openapi.yaml has them. Lengths are in
// characters unless said otherwise.
const (
	maxName           = 200
	maxEmail          = 254
	maxExternalID     = 255
	maxIdentities     = 10
	maxIdentity       = 255
	maxTags           = 50
	maxTag            = 64
	maxAttributes     = 100
	maxAttributeBytes = 16 << 10
)

// Bounds of a webhook endpoint's fields.
const (
	maxURL           = 2048
	maxDescription   = 500
	maxEventTypes    = 50
	maxInFlight      = 100
	maxRatePerSecond = 1000
	maxOverlapHours  = 168
)

var (
	phonePattern   = regexp.MustCompile(`^\+[1-9][0-9]{6,14}$`)
	channelPattern = regexp.MustCompile(`^[a-z][a-z0-9_]{0,31}$`)
)

// faults collects what is wrong with a request, so that a caller learns all of
// it at once.
type faults []models.FieldError

// maxFaults bounds an answer: a small body must not cause a huge one.
const maxFaults = 50

func (f *faults) add(pointer, code, format string, args ...any) {
	if len(*f) >= maxFaults {
		return
	}
	*f = append(*f, models.FieldError{Pointer: pointer, Code: code, Detail: fmt.Sprintf(format, args...)})
}

// err returns VALIDATION_FAILED, or nil if nothing was found.
func (f faults) err() error {
	if len(f) == 0 {
		return nil
	}
	return models.Invalid(f...)
}

// validateContact checks a contact as it would be stored.
func validateContact(c *models.Contact) error {
	var found faults
	found.optionalLength("/external_id", c.ExternalID, 1, maxExternalID)
	found.optionalLength("/name", c.Name, 0, maxName)
	found.email("/email", c.Email)
	found.phone("/phone", c.Phone)
	found.identities("/identities", c.Identities)
	found.tags("/tags", c.Tags)
	found.attributes("/attributes", c.Attributes)
	return found.err()
}

// length checks a text's characters against its bounds, both inclusive.
func (f *faults) length(pointer, text string, low, high int) {
	switch n := utf8.RuneCountInString(text); {
	case n < low:
		f.add(pointer, fieldTooShort, "At least %d characters are needed.", low)
	case n > high:
		f.add(pointer, fieldTooLong, "At most %d characters are allowed; there are %d.", high, n)
	}
}

func (f *faults) optionalLength(pointer string, text *string, low, high int) {
	if text != nil {
		f.length(pointer, *text, low, high)
	}
}

func (f *faults) email(pointer string, email *string) {
	if email == nil {
		return
	}
	f.length(pointer, *email, 3, maxEmail)
	// ParseAddress also takes "Name <address>"; only the bare address will do.
	if address, err := mail.ParseAddress(*email); err != nil || address.Address != *email {
		f.add(pointer, fieldFormat, "This is not an e-mail address.")
	}
}

func (f *faults) phone(pointer string, phone *string) {
	if phone != nil && !phonePattern.MatchString(*phone) {
		f.add(pointer, fieldFormat, "A phone number is written in E.164: +, country code, number, 7 to 15 digits.")
	}
}

func (f *faults) identities(pointer string, identities map[string]string) {
	if len(identities) > maxIdentities {
		f.add(pointer, fieldTooMany, "At most %d identities are allowed.", maxIdentities)
		return
	}
	for channel, address := range identities {
		at := pointer + "/" + escapePointer(channel)
		if !channelPattern.MatchString(channel) {
			f.add(at, fieldFormat, "A channel's name is lower-case letters, digits and underscores, at most 32.")
		}
		f.length(at, address, 1, maxIdentity)
	}
}

func (f *faults) tags(pointer string, tags []string) {
	if len(tags) > maxTags {
		f.add(pointer, fieldTooMany, "At most %d tags are allowed.", maxTags)
		return
	}
	seen := make(map[string]bool, len(tags))
	for i, tag := range tags {
		at := pointer + "/" + strconv.Itoa(i)
		f.length(at, tag, 1, maxTag)
		if seen[tag] {
			f.add(at, fieldDuplicate, "This tag is there twice.")
		}
		seen[tag] = true
	}
}

func (f *faults) attributes(pointer string, attributes jsontext.Value) {
	if attributes.Kind() != '{' {
		f.add(pointer, fieldType, "Attributes are a JSON object.")
		return
	}
	if len(attributes) > maxAttributeBytes {
		f.add(pointer, fieldTooLong, "At most %d bytes are allowed; there are %d.", maxAttributeBytes, len(attributes))
	}
	if n := countMembers(attributes); n > maxAttributes {
		f.add(pointer, fieldTooMany, "At most %d names are allowed; there are %d.", maxAttributes, n)
	}
}

func (f *faults) eventTypes(types []string) {
	if len(types) == 0 {
		f.add("/event_types", fieldTooShort, `At least one event type is needed; "*" is all of them.`)
	}
	if len(types) > maxEventTypes {
		f.add("/event_types", fieldTooMany, "At most %d event types are allowed.", maxEventTypes)
		return
	}
	for i, kind := range types {
		if !models.ValidSubscription(kind) {
			f.add("/event_types/"+strconv.Itoa(i), fieldFormat, `An event type is written out, as "contact.created", or ends in ".*", or is "*".`)
		}
	}
}

func (f *faults) description(text *string) {
	f.optionalLength("/description", text, 0, maxDescription)
}

func (f *faults) headers(headers map[string]string) {
	for _, fault := range webhooks.CheckHeaders(headers) {
		pointer := "/headers"
		if fault.Name != "" {
			pointer += "/" + escapePointer(fault.Name)
		}
		f.add(pointer, fieldFormat, "%s", fault.Reason)
	}
}

func (f *faults) optionalRange(pointer string, value *int, low, high int) {
	if value != nil && (*value < low || *value > high) {
		f.add(pointer, fieldRange, "The value must be %d to %d.", low, high)
	}
}

// countMembers counts the names of a JSON object that was already checked.
func countMembers(object jsontext.Value) int {
	decoder := jsontext.NewDecoder(strings.NewReader(string(object)))
	count := 0
	for {
		token, err := decoder.ReadToken()
		if err != nil {
			return count
		}
		if token.Kind() == '"' && decoder.StackDepth() == 1 {
			if _, seen := decoder.StackIndex(1); seen%2 == 1 {
				count++
			}
		}
	}
}

func escapePointer(token string) string {
	return strings.NewReplacer("~", "~0", "/", "~1").Replace(token)
}
