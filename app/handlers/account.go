package handlers

import (
	"context"
	"fmt"
	"net/http"

	"github.com/botix-pro/platform/api"
	"github.com/botix-pro/platform/app/actions"
	"github.com/botix-pro/platform/app/idempotency"
	"github.com/botix-pro/platform/app/middleware"
	"github.com/botix-pro/platform/app/models"
)

// readMe is GET /me: the calling key.
func (a *API) readMe(_ context.Context, r *middleware.Request) (middleware.Result, error) {
	c := r.Caller
	me := api.Me{
		ID: c.Key.ID, Object: "me", Mode: api.MeMode(c.Project.Mode), Plan: c.Plan.ID,
		Project: api.Project{ID: string(c.Project.ID), Name: c.Project.Name},
		Limits: api.Limits{
			APIRatePerMinute: c.Plan.Limits.APIRatePerMinute, IdempotencyTTLHours: c.Plan.Limits.IdempotencyTTLHours,
			DeadLetterRetentionDays: c.Plan.Limits.DeadLetterRetentionDays,
		},
		CreatedAt: api.Timestamp(c.Key.CreatedAt), ExpiresAt: api.TimestampPtr(c.Key.ExpiresAt),
	}
	for _, scope := range c.Key.Scopes {
		me.Scopes = append(me.Scopes, api.Scope(scope))
	}
	return middleware.Result{Status: http.StatusOK, Body: me}, nil
}

// readIdempotencyKey is GET /idempotency-keys/{key}: what became of an operation
// whose answer was lost.
func (a *API) readIdempotencyKey(ctx context.Context, r *middleware.Request) (middleware.Result, error) {
	key := r.Param("key")
	if err := idempotency.CheckKey(key); err != nil {
		return middleware.Result{}, err
	}
	op, err := actions.ReadOperation(ctx, a.store, r.Project(), key)
	if err != nil {
		return middleware.Result{}, fmt.Errorf("read idempotency key: %w", err)
	}
	if op.State == actions.OperationUnknown {
		return middleware.Result{}, models.NewError(models.CodeNotFound,
			"No operation with this key has been completed so far. It may not have arrived, or was rolled back: repeat it with the same key.")
	}
	shown := api.IdempotencyKey{
		ID: key, Object: "idempotency_key", Status: api.IdempotencyKeyStatus(op.State), CreatedAt: api.Timestamp(op.Began),
		Attempts: attemptsOf(op.Requests),
	}
	err = fillOperation(&shown, op)
	return middleware.Result{Status: http.StatusOK, Body: shown}, err
}

// fillOperation adds what is known once an operation is completed.
func fillOperation(shown *api.IdempotencyKey, op *actions.Operation) error {
	record := op.Record
	if record == nil {
		return nil
	}
	completed, expires := api.Timestamp(record.CompletedAt), api.Timestamp(record.ExpiresAt)
	shown.Method, shown.Path, shown.FirstRequestID = &record.Method, &record.Path, &record.RequestID
	shown.CompletedAt, shown.ExpiresAt = &completed, &expires
	if link := op.Resource(); link != "" {
		shown.Resource = &link
	}
	if op.State == actions.OperationExpired {
		return nil
	}
	body, err := actions.MaskedBody(record.Answer)
	shown.Response = &api.StoredResponse{Status: record.Answer.Status, Body: body}
	if err != nil {
		return fmt.Errorf("show the stored answer: %w", err)
	}
	return nil
}

// attemptsOf are the logged physical requests with a key, in the order in which
// they came.
func attemptsOf(requests []models.RequestRecord) []api.IdempotencyAttempt {
	attempts := make([]api.IdempotencyAttempt, 0, len(requests))
	for _, request := range requests {
		attempts = append(attempts, api.IdempotencyAttempt{
			RequestID: request.RequestID, At: api.Timestamp(request.At), Status: &request.Status, Replayed: request.Replayed,
		})
	}
	return attempts
}
