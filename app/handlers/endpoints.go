package handlers

import (
	"context"
	"fmt"
	"net/http"
	"time"

	"github.com/botix-pro/platform/api"
	"github.com/botix-pro/platform/app/actions"
	"github.com/botix-pro/platform/app/middleware"
	"github.com/botix-pro/platform/app/models"
	"github.com/botix-pro/platform/app/store"
)

const (
	endpointObject      = "webhook_endpoint"
	defaultOverlapHours = 24
	maskedValue         = "***"
)

// prepareEndpoint decodes, validates, and asks DNS about the URL.
func (a *API) prepareEndpoint(ctx context.Context, r *middleware.Request) (any, error) {
	input, err := decode[api.WebhookEndpointCreate](r)
	if err != nil {
		return nil, err
	}
	draft := &actions.EndpointDraft{WebhookEndpointCreate: input}
	return draft, draft.Check(ctx, a.urls)
}

// createEndpoint is POST /webhook-endpoints. Its answer is one of the two that
// show a secret.
func (a *API) createEndpoint(_ context.Context, tx *store.Tx, r *middleware.Request) (middleware.Result, error) {
	draft, _ := r.Prepared.(*actions.EndpointDraft)
	endpoint, secret, err := actions.CreateEndpoint(tx, draft)
	if err != nil {
		return middleware.Result{}, fmt.Errorf("create endpoint: %w", err)
	}
	shown := api.WebhookEndpointWithSecret{WebhookEndpoint: showEndpoint(endpoint), Secret: secret}
	shown.Warnings = draft.Warnings
	return middleware.Result{
		Status: http.StatusCreated, Body: shown, Location: "/webhook-endpoints/" + endpoint.ID, ETag: actions.EndpointTag(endpoint), Secret: true,
	}, nil
}

// readEndpoint is GET /webhook-endpoints/{id}.
func (a *API) readEndpoint(ctx context.Context, r *middleware.Request) (middleware.Result, error) {
	id, err := pathID(r, models.PrefixEndpoint)
	if err != nil {
		return middleware.Result{}, err
	}
	endpoint, err := a.store.Endpoint(ctx, r.Project(), id)
	if err != nil {
		return middleware.Result{}, fmt.Errorf("read endpoint: %w", err)
	}
	return endpointResult(endpoint), nil
}

// listEndpoints is GET /webhook-endpoints, newest first.
func (a *API) listEndpoints(ctx context.Context, r *middleware.Request) (middleware.Result, error) {
	if err := onlyParameters(r.Query, "limit", "cursor"); err != nil {
		return middleware.Result{}, err
	}
	page, err := pageOf(r.Query, models.PrefixEndpoint)
	if err != nil {
		return middleware.Result{}, err
	}
	endpoints, err := a.store.Endpoints(ctx, r.Project(), page)
	if err != nil {
		return middleware.Result{}, fmt.Errorf("list endpoints: %w", err)
	}
	endpoints, next := pageOut(endpoints, page, func(e models.WebhookEndpoint) string { return e.ID })
	list := api.WebhookEndpointList{Data: make([]api.WebhookEndpoint, len(endpoints)), NextCursor: next}
	for i := range endpoints {
		list.Data[i] = showEndpoint(&endpoints[i])
	}
	return middleware.Result{Status: http.StatusOK, Body: list}, nil
}

// deleteEndpoint is DELETE /webhook-endpoints/{id}. The row stays as a tombstone
// without its secrets, so that what is in flight ends in order.
func (a *API) deleteEndpoint(ctx context.Context, tx *store.Tx, r *middleware.Request) (middleware.Result, error) {
	if err := noBody(r); err != nil {
		return middleware.Result{}, err
	}
	id, err := pathID(r, models.PrefixEndpoint)
	if err != nil {
		return middleware.Result{}, err
	}
	if err := actions.DeleteEndpoint(ctx, tx, causeOf(r), id); err != nil {
		return middleware.Result{}, fmt.Errorf("delete endpoint: %w", err)
	}
	return middleware.Result{Status: http.StatusNoContent}, nil
}

// pauseEndpoint is POST /webhook-endpoints/{id}/pause.
func (a *API) pauseEndpoint(ctx context.Context, tx *store.Tx, r *middleware.Request) (middleware.Result, error) {
	if err := noBody(r); err != nil {
		return middleware.Result{}, err
	}
	id, err := pathID(r, models.PrefixEndpoint)
	if err != nil {
		return middleware.Result{}, err
	}
	endpoint, err := actions.PauseEndpoint(ctx, tx, causeOf(r), id)
	if err != nil {
		return middleware.Result{}, fmt.Errorf("pause endpoint: %w", err)
	}
	return endpointResult(endpoint), nil
}

// resumeEndpoint is POST /webhook-endpoints/{id}/resume: it also says what
// becomes of what was held.
func (a *API) resumeEndpoint(ctx context.Context, tx *store.Tx, r *middleware.Request) (middleware.Result, error) {
	input, err := decodeOptional[api.WebhookEndpointResume](r)
	if err != nil {
		return middleware.Result{}, err
	}
	id, err := pathID(r, models.PrefixEndpoint)
	if err != nil {
		return middleware.Result{}, err
	}
	held, ok := map[api.HeldDeliveries]models.DeliveryStatus{
		api.HeldDeliveriesDeliver: models.DeliveryPending, api.HeldDeliveriesDiscard: models.DeliveryCancelled, api.HeldDeliveriesKeep: "",
	}[valueOr(input.Held, api.HeldDeliveriesDeliver)]
	if !ok {
		return middleware.Result{}, models.Invalid(models.FieldError{Pointer: "/held", Code: fieldFormat, Detail: "held is deliver, keep or discard."})
	}
	endpoint, err := actions.ResumeEndpoint(ctx, tx, causeOf(r), id, held)
	if err != nil {
		return middleware.Result{}, fmt.Errorf("resume endpoint: %w", err)
	}
	return endpointResult(endpoint), nil
}

// testEndpoint is POST /webhook-endpoints/{id}/test: an event to this endpoint
// only.
func (a *API) testEndpoint(ctx context.Context, tx *store.Tx, r *middleware.Request) (middleware.Result, error) {
	if err := noBody(r); err != nil {
		return middleware.Result{}, err
	}
	id, err := pathID(r, models.PrefixEndpoint)
	if err != nil {
		return middleware.Result{}, err
	}
	delivery, err := actions.TestEndpoint(ctx, tx, causeOf(r), id)
	if err != nil {
		return middleware.Result{}, fmt.Errorf("test endpoint: %w", err)
	}
	return acceptedDelivery(delivery), nil
}

// rotateSecret is POST /webhook-endpoints/{id}/rotate-secret. Its answer is one
// of the two that show a secret.
func (a *API) rotateSecret(ctx context.Context, tx *store.Tx, r *middleware.Request) (middleware.Result, error) {
	input, err := decodeOptional[api.WebhookEndpointRotateSecret](r)
	if err != nil {
		return middleware.Result{}, err
	}
	hours := valueOr(input.OverlapHours, defaultOverlapHours)
	var found faults
	found.optionalRange("/overlap_hours", &hours, 0, maxOverlapHours)
	if err := found.err(); err != nil {
		return middleware.Result{}, err
	}
	id, err := pathID(r, models.PrefixEndpoint)
	if err != nil {
		return middleware.Result{}, err
	}
	endpoint, secret, until, err := actions.RotateSecret(ctx, tx, causeOf(r), id, time.Duration(hours)*time.Hour)
	if err != nil {
		return middleware.Result{}, fmt.Errorf("rotate the secret: %w", err)
	}
	result := endpointResult(endpoint)
	result.Body = api.WebhookEndpointWithSecret{
		WebhookEndpoint: showEndpoint(endpoint), Secret: secret, PreviousSecretExpiresAt: api.TimestampPtr(until),
	}
	result.Secret = true
	return result, nil
}

func endpointResult(endpoint *models.WebhookEndpoint) middleware.Result {
	return middleware.Result{Status: http.StatusOK, Body: showEndpoint(endpoint), ETag: actions.EndpointTag(endpoint)}
}

// showEndpoint shows an endpoint without its secrets and its headers' values.
func showEndpoint(e *models.WebhookEndpoint) api.WebhookEndpoint {
	headers := api.WebhookHeadersMasked{}
	for name := range e.Headers {
		headers[name] = maskedValue
	}
	return api.WebhookEndpoint{
		ID: e.ID, Object: endpointObject, URL: e.URL, Description: e.Description, EventTypes: e.EventTypes, Headers: headers,
		Status: api.WebhookEndpointStatus(e.Status), MaxInFlight: e.MaxInFlight, RatePerSecond: e.RatePerSecond,
		CreatedAt: api.Timestamp(e.CreatedAt), UpdatedAt: api.Timestamp(e.UpdatedAt),
	}
}

func valueOr[T any](value *T, otherwise T) T {
	if value == nil {
		return otherwise
	}
	return *value
}
