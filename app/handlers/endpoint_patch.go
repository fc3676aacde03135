package handlers

import (
	"context"
	"fmt"

	"github.com/botix-pro/platform/api"
	"github.com/botix-pro/platform/app/actions"
	"github.com/botix-pro/platform/app/middleware"
	"github.com/botix-pro/platform/app/models"
	"github.com/botix-pro/platform/app/store"
)

// prepareEndpointPatch decodes, and asks DNS about a new URL.
func (a *API) prepareEndpointPatch(ctx context.Context, r *middleware.Request) (any, error) {
	input, err := decodeAs[api.WebhookEndpointUpdate](r, jsonType, mergePatchType)
	if err != nil {
		return nil, err
	}
	patch := &actions.EndpointPatch{WebhookEndpointUpdate: input}
	return patch, patch.Check(ctx, a.urls)
}

// updateEndpoint is PATCH /webhook-endpoints/{id}, a merge patch (RFC 7396).
func (a *API) updateEndpoint(ctx context.Context, tx *store.Tx, r *middleware.Request) (middleware.Result, error) {
	patch, _ := r.Prepared.(*actions.EndpointPatch)
	id, err := pathID(r, models.PrefixEndpoint)
	if err != nil {
		return middleware.Result{}, err
	}
	endpoint, err := actions.UpdateEndpoint(ctx, tx, causeOf(r), id, patch)
	if err != nil {
		return middleware.Result{}, fmt.Errorf("update endpoint: %w", err)
	}
	result := endpointResult(endpoint)
	shown := showEndpoint(endpoint)
	shown.Warnings = patch.Warnings
	result.Body = shown
	return result, nil
}
