package handlers

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/botix-pro/platform/api"
	"github.com/botix-pro/platform/app/idempotency"
	"github.com/botix-pro/platform/app/middleware"
	"github.com/botix-pro/platform/app/models"
	"github.com/botix-pro/platform/app/store"
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
	shown := api.IdempotencyKey{ID: key, Object: "idempotency_key"}
	switch {
	case record != nil && !record.Forgotten:
		shown.Attempts = withExecuting(record, attemptsOf(requests))
		err = fillOperation(&shown, record)
	case running != nil:
		shown.Status, shown.CreatedAt = api.IdempotencyKeyStatusInProgress, api.Timestamp(*running)
		shown.Attempts = attemptsOf(requests)
	default:
		err = models.NewError(models.CodeNotFound,
			"No operation with this key has been completed so far. It may not have arrived, or was rolled back: repeat it with the same key.")
	}
	return middleware.Result{Status: http.StatusOK, Body: shown}, err
}

func fillOperation(shown *api.IdempotencyKey, record *models.IdempotencyRecord) error {
	completed, expires := api.Timestamp(record.CompletedAt), api.Timestamp(record.ExpiresAt)
	shown.CreatedAt = api.Timestamp(record.Began())
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

// withExecuting adds the request that executed an operation where the log does
// not show it (yet, or any more): it is part of the key's row and never missing.
func withExecuting(record *models.IdempotencyRecord, logged []api.IdempotencyAttempt) []api.IdempotencyAttempt {
	if slices.ContainsFunc(logged, func(a api.IdempotencyAttempt) bool { return a.RequestID == record.RequestID }) {
		return logged
	}
	status := record.Answer.Status
	executing := api.IdempotencyAttempt{RequestID: record.RequestID, At: api.Timestamp(record.Began()), Status: &status}
	at, _ := slices.BinarySearchFunc(logged, executing, func(a, b api.IdempotencyAttempt) int {
		return strings.Compare(a.RequestID, b.RequestID) // which begin with their time
	})
	if len(logged) == store.MaxRequestsShown { // it stays, however long ago it was
		logged, at = logged[1:], max(at-1, 0)
	}
	return slices.Insert(logged, at, executing)
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
