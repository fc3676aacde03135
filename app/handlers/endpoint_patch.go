package handlers

import (
	"context"
	"fmt"
	"maps"

	"github.com/botix-pro/platform/api"
	"github.com/botix-pro/platform/app/actions"
	"github.com/botix-pro/platform/app/middleware"
	"github.com/botix-pro/platform/app/models"
	"github.com/botix-pro/platform/app/store"
)

// endpointPatch is what changing an endpoint found out before its transaction.
type endpointPatch struct {
	api.WebhookEndpointUpdate

	warnings []string
}

// prepareEndpointPatch decodes, and asks DNS about a new URL.
func (a *API) prepareEndpointPatch(ctx context.Context, r *middleware.Request) (any, error) {
	input, err := decodeAs[api.WebhookEndpointUpdate](r, jsonType, mergePatchType)
	if err != nil {
		return nil, err
	}
	var found faults
	patch := endpointPatch{WebhookEndpointUpdate: input}
	switch {
	case input.URL.Null:
		found.add("/url", fieldType, "An endpoint always has a URL.")
	case input.URL.Set:
		patch.warnings = a.checkURL(ctx, &found, input.URL.Value)
	}
	if input.EventTypes.Null {
		found.add("/event_types", fieldType, "An endpoint always has event types.")
	}
	return patch, found.err()
}

// updateEndpoint is PATCH /webhook-endpoints/{id}, a merge patch (RFC 7396).
func (a *API) updateEndpoint(ctx context.Context, tx *store.Tx, r *middleware.Request) (middleware.Result, error) {
	patch, _ := r.Prepared.(endpointPatch)
	id, err := pathID(r, models.PrefixEndpoint)
	if err != nil {
		return middleware.Result{}, err
	}
	endpoint, err := actions.LockEndpoint(ctx, tx, causeOf(r), id)
	if err != nil {
		return middleware.Result{}, err
	}
	patchEndpoint(endpoint, patch.WebhookEndpointUpdate)
	if err := validateEndpoint(endpoint); err != nil {
		return middleware.Result{}, err
	}
	if err := actions.SaveEndpoint(tx, endpoint); err != nil {
		return middleware.Result{}, fmt.Errorf("save endpoint: %w", err)
	}
	result := endpointResult(endpoint)
	shown := showEndpoint(endpoint)
	shown.Warnings = patch.warnings
	result.Body = shown
	return result, nil
}

func patchEndpoint(e *models.WebhookEndpoint, patch api.WebhookEndpointUpdate) {
	patchValue(&e.URL, patch.URL, "")
	patchValue(&e.Description, patch.Description, "")
	patchValue(&e.EventTypes, patch.EventTypes, nil)
	patchValue(&e.MaxInFlight, patch.MaxInFlight, models.DefaultMaxInFlight)
	if patch.RatePerSecond.Set {
		e.RatePerSecond = nil
		if !patch.RatePerSecond.Null {
			e.RatePerSecond = &patch.RatePerSecond.Value
		}
	}
	if patch.Headers.Set {
		e.Headers = patchHeaders(e.Headers, patch.Headers)
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

func validateEndpoint(e *models.WebhookEndpoint) error {
	var found faults
	found.eventTypes(e.EventTypes)
	found.description(&e.Description)
	found.headers(e.Headers)
	found.optionalRange("/max_in_flight", &e.MaxInFlight, 1, maxInFlight)
	found.optionalRange("/rate_per_second", e.RatePerSecond, 1, maxRatePerSecond)
	return found.err()
}
