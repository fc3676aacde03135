package actions

import (
	"context"
	"fmt"
	"maps"
	"net/url"
	"strconv"
	"unicode/utf8"

	"github.com/botix-pro/platform/api"
	"github.com/botix-pro/platform/app/models"
	"github.com/botix-pro/platform/app/store"
	"github.com/botix-pro/platform/app/webhooks"
)

// Bounds of a webhook endpoint's fields.
const (
	maxURL         = 2048
	maxDescription = 500
	maxEventTypes  = 50
	maxInFlight    = 100
	// MaxRatePerSecond is the highest rate an owner may give.
	MaxRatePerSecond = 1000
)

// EndpointDraft is what somebody says of a new endpoint.
type EndpointDraft struct {
	api.WebhookEndpointCreate

	// Warnings say what is doubtful, once the draft is checked.
	Warnings []string
}

// Check collects what is wrong with the draft, and asks DNS about its host. It
// must have found nothing before the draft is used.
func (d *EndpointDraft) Check(ctx context.Context, urls URLChecker) error {
	var found models.Faults
	d.Warnings = checkEndpointURL(ctx, urls, &found, d.URL)
	checkEventTypes(&found, d.EventTypes)
	found.OptionalLength("/description", d.Description, 0, maxDescription)
	checkHeaders(&found, d.Headers)
	checkRange(&found, "/max_in_flight", d.MaxInFlight, maxInFlight)
	checkRange(&found, "/rate_per_second", d.RatePerSecond, MaxRatePerSecond)
	return found.Err()
}

// checkEndpointURL collects what is wrong with a URL and returns what is doubtful.
func checkEndpointURL(ctx context.Context, urls URLChecker, found *models.Faults, raw string) []string {
	parsed, err := url.Parse(raw)
	if err != nil || utf8.RuneCountInString(raw) > maxURL {
		found.Add("/url", models.FieldFormat, "This is not an absolute URL of at most %d characters.", maxURL)
		return nil
	}
	warning, err := urls.CheckURL(ctx, parsed)
	if err != nil {
		found.Add("/url", models.FieldRefused, "%s", err)
	}
	if warning == "" {
		return nil
	}
	return []string{warning}
}

func checkEventTypes(found *models.Faults, types []string) {
	if len(types) == 0 {
		found.Add("/event_types", models.FieldTooShort, `At least one event type is needed; "*" is all of them.`)
	}
	if len(types) > maxEventTypes {
		found.Add("/event_types", models.FieldTooMany, "At most %d event types are allowed.", maxEventTypes)
		return
	}
	for i, kind := range types {
		if !models.ValidSubscription(kind) {
			found.Add("/event_types/"+strconv.Itoa(i), models.FieldFormat, `An event type is written out, as "contact.created", or ends in ".*", or is "*".`)
		}
	}
}

func checkHeaders(found *models.Faults, headers map[string]string) {
	for _, fault := range webhooks.CheckHeaders(headers) {
		found.Add(headerPointer("", fault.Name), models.FieldFormat, "%s", fault.Reason)
	}
}

func checkRange(found *models.Faults, pointer string, value *int, high int) {
	if value != nil && (*value < 1 || *value > high) {
		found.Add(pointer, models.FieldRange, "The value must be %d to %d.", 1, high)
	}
}

// CreateEndpoint makes an endpoint of a checked draft, with its secret, which is
// shown only then.
func CreateEndpoint(tx *store.Tx, draft *EndpointDraft) (endpoint *models.WebhookEndpoint, secret string, err error) {
	now := tx.Now()
	secret = webhooks.NewSecret().Reveal()
	endpoint = &models.WebhookEndpoint{
		ProjectID: tx.Project(), ID: models.NewID(models.PrefixEndpoint, now), URL: draft.URL, EventTypes: draft.EventTypes,
		Status: models.EndpointActive, MaxInFlight: models.DefaultMaxInFlight, RatePerSecond: draft.RatePerSecond,
		Secrets: []models.EndpointSecret{{Value: secret}}, Headers: draft.Headers, Version: 1,
		CreatedAt: now, UpdatedAt: now, StatusSince: now,
	}
	if draft.Description != nil {
		endpoint.Description = *draft.Description
	}
	if draft.MaxInFlight != nil {
		endpoint.MaxInFlight = *draft.MaxInFlight
	}
	if err := tx.CreateEndpoint(endpoint); err != nil {
		return nil, "", fmt.Errorf("create endpoint: %w", err)
	}
	return endpoint, secret, nil
}

// EndpointPatch is a merge patch (RFC 7396) of an endpoint.
type EndpointPatch struct {
	api.WebhookEndpointUpdate

	// Warnings say what is doubtful, once the patch is checked.
	Warnings []string
}

// Check collects what is wrong with the patch by itself, and asks DNS about a new
// URL. It must have found nothing before the patch is used.
func (p *EndpointPatch) Check(ctx context.Context, urls URLChecker) error {
	var found models.Faults
	switch {
	case p.URL.Null:
		found.Add("/url", models.FieldType, "An endpoint always has a URL.")
	case p.URL.Set:
		p.Warnings = checkEndpointURL(ctx, urls, &found, p.URL.Value)
	}
	if p.EventTypes.Null {
		found.Add("/event_types", models.FieldType, "An endpoint always has event types.")
	}
	return found.Err()
}

// UpdateEndpoint applies a checked patch, and collects what is wrong with what
// comes of it.
func UpdateEndpoint(ctx context.Context, tx *store.Tx, cause Cause, id string, patch *EndpointPatch) (*models.WebhookEndpoint, error) {
	endpoint, err := LockEndpoint(ctx, tx, cause, id)
	if err != nil {
		return nil, err
	}
	patch.apply(endpoint)
	if err := checkEndpoint(endpoint); err != nil {
		return nil, err
	}
	return endpoint, SaveEndpoint(tx, endpoint)
}

func (p *EndpointPatch) apply(e *models.WebhookEndpoint) {
	patchValue(&e.URL, p.URL, "")
	patchValue(&e.Description, p.Description, "")
	patchValue(&e.EventTypes, p.EventTypes, nil)
	patchValue(&e.MaxInFlight, p.MaxInFlight, models.DefaultMaxInFlight)
	if p.RatePerSecond.Set {
		e.RatePerSecond = nil
		if !p.RatePerSecond.Null {
			e.RatePerSecond = &p.RatePerSecond.Value
		}
	}
	if p.Headers.Set {
		e.Headers = patchHeaders(e.Headers, p.Headers)
	}
}

func patchValue[T any](field *T, patch api.Optional[T], cleared T) {
	switch {
	case patch.Null:
		*field = cleared
	case patch.Set:
		*field = patch.Value
	}
}

func patchHeaders(current map[string]string, patch api.Optional[map[string]*string]) map[string]string {
	merged := maps.Clone(current)
	if patch.Null || merged == nil {
		merged = map[string]string{}
	}
	for name, value := range patch.Value {
		if value == nil {
			delete(merged, name)
		} else {
			merged[name] = *value
		}
	}
	return merged
}

func checkEndpoint(e *models.WebhookEndpoint) error {
	var found models.Faults
	checkEventTypes(&found, e.EventTypes)
	found.OptionalLength("/description", &e.Description, 0, maxDescription)
	checkHeaders(&found, e.Headers)
	checkRange(&found, "/max_in_flight", &e.MaxInFlight, maxInFlight)
	checkRange(&found, "/rate_per_second", e.RatePerSecond, MaxRatePerSecond)
	return found.Err()
}
