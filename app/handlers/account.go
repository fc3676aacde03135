package handlers

import (
	"context"
	"fmt"
	"net/http"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/botix-pro/platform/api"
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
	running, record, err := a.store.Operation(ctx, r.Project(), key)
	if err != nil {
		return middleware.Result{}, fmt.Errorf("read idempotency key: %w", err)
	}
	requests, err := a.store.RequestsOfOperation(ctx, r.Project(), key)
	if err != nil {
		return middleware.Result{}, fmt.Errorf("read idempotency key: %w", err)
	}
	shown := api.IdempotencyKey{ID: key, Object: "idempotency_key", Attempts: []api.IdempotencyAttempt{}}
	switch {
	case record != nil && !record.Forgotten:
		shown.Attempts = attemptsOf(record, requests)
		err = fillOperation(&shown, record)
	case running:
		shown.Status = api.IdempotencyKeyStatusInProgress
	default:
		err = models.NewError(models.CodeNotFound,
			"No operation with this key has been completed so far. It may not have arrived, or was rolled back: repeat it with the same key.")
	}
	return middleware.Result{Status: http.StatusOK, Body: shown}, err
}

func fillOperation(shown *api.IdempotencyKey, record *models.IdempotencyRecord) error {
	completed, expires := api.Timestamp(record.CompletedAt), api.Timestamp(record.ExpiresAt)
	shown.Status = api.IdempotencyKeyStatusCompleted
	shown.Method, shown.Path, shown.FirstRequestID = &record.Method, &record.Path, &record.RequestID
	shown.CompletedAt, shown.ExpiresAt = &completed, &expires
	status := record.Answer.Status
	if link := record.Answer.Header.Get("Location"); link != "" {
		shown.Resource = &link
	}
	if record.Expired {
		shown.Status = api.IdempotencyKeyStatusExpired
		return nil
	}
	body, err := maskedBody(record.Answer)
	shown.Response = &api.StoredResponse{Status: status, Body: body}
	return err
}

// attemptsOf are the physical requests of an operation, in the order in which
// they came. The one that executed it is part of the key's row and never
// missing; the others are logged within a second.
func attemptsOf(record *models.IdempotencyRecord, requests []models.RequestRecord) []api.IdempotencyAttempt {
	attempts := make([]api.IdempotencyAttempt, 0, len(requests)+1)
	logged := false
	for _, request := range requests {
		logged = logged || request.RequestID == record.RequestID
		attempts = append(attempts, api.IdempotencyAttempt{
			RequestID: request.RequestID, At: api.Timestamp(request.At), Status: &request.Status, Replayed: request.Replayed,
		})
	}
	if logged {
		return attempts
	}
	status := record.Answer.Status
	executing := api.IdempotencyAttempt{RequestID: record.RequestID, At: api.Timestamp(record.CompletedAt), Status: &status}
	return append([]api.IdempotencyAttempt{executing}, attempts...)
}

// maskedBody is a stored body without the secret that it may hold: only a
// repeat of the request itself shows it.
func maskedBody(answer models.Answer) (jsontext.Value, error) {
	if len(answer.Body) == 0 {
		return jsontext.Value("null"), nil
	}
	if !answer.Secret {
		return jsontext.Value(answer.Body), nil
	}
	var fields map[string]jsontext.Value
	if err := json.Unmarshal(answer.Body, &fields); err != nil {
		return nil, fmt.Errorf("decode a stored answer: %w", err)
	}
	if _, held := fields["secret"]; held { // a scenario's headers are shown with it, to the same readers
		fields["secret"] = jsontext.Value(`"***"`)
	}
	masked, err := json.Marshal(fields, json.Deterministic(true))
	if err != nil {
		return nil, fmt.Errorf("encode a masked answer: %w", err)
	}
	return masked, nil
}
