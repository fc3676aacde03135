package handlers

import (
	"strconv"

	"github.com/botix-pro/platform/app/models"
	"github.com/botix-pro/platform/app/webhooks"
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

// faults collects what is wrong with a request, so that a caller learns all of
// it at once.
type faults struct{ models.Faults }

func (f *faults) add(pointer, code, format string, args ...any) {
	f.Add(pointer, code, format, args...)
}

// err returns VALIDATION_FAILED, or nil if nothing was found.
func (f faults) err() error { return f.Err() }

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
	f.OptionalLength("/description", text, 0, maxDescription)
}

func (f *faults) headers(headers map[string]string) {
	for _, fault := range webhooks.CheckHeaders(headers) {
		pointer := "/headers"
		if fault.Name != "" {
			pointer += "/" + models.EscapePointer(fault.Name)
		}
		f.add(pointer, fieldFormat, "%s", fault.Reason)
	}
}

func (f *faults) optionalRange(pointer string, value *int, low, high int) {
	if value != nil && (*value < low || *value > high) {
		f.add(pointer, fieldRange, "The value must be %d to %d.", low, high)
	}
}
