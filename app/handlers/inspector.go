package handlers

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"

	"github.com/botix-pro/platform/api"
	"github.com/botix-pro/platform/app/inspector"
	"github.com/botix-pro/platform/app/middleware"
	"github.com/botix-pro/platform/app/models"
	"github.com/botix-pro/platform/app/store"
)

// WithCopies makes the API copy deliveries to the inspector through desk. It
// returns the API itself.
func (a *API) WithCopies(desk *inspector.Desk) *API {
	a.desk = desk
	return a
}

// redirectDelivery is POST /webhook-deliveries/{id}/redirect: a copy for the
// inspector.
func (a *API) redirectDelivery(ctx context.Context, tx *store.Tx, r *middleware.Request) (middleware.Result, error) {
	input, err := decodeOptional[api.InspectorRedirect](r)
	if err != nil {
		return middleware.Result{}, err
	}
	id, err := pathID(r, models.PrefixDelivery)
	if err != nil {
		return middleware.Result{}, err
	}
	captured, err := a.desk.Redirect(ctx, tx, id, input.BinID)
	if err != nil {
		return middleware.Result{}, fmt.Errorf("redirect a delivery: %w", err)
	}
	shown, err := showCaptured(captured)
	return middleware.Result{Status: http.StatusCreated, Body: shown, Location: "/inspector-requests/" + captured.ID, ETag: capturedTag(captured)}, err
}

// readCaptured is GET /inspector-requests/{id}.
func (a *API) readCaptured(ctx context.Context, r *middleware.Request) (middleware.Result, error) {
	id, err := pathID(r, models.PrefixCaptured)
	if err != nil {
		return middleware.Result{}, err
	}
	captured, err := a.store.CapturedRequest(ctx, r.Project(), id)
	if err != nil {
		return middleware.Result{}, fmt.Errorf("read a captured request: %w", err)
	}
	shown, err := showCaptured(captured)
	return middleware.Result{Status: http.StatusOK, Body: shown, ETag: capturedTag(captured)}, err
}

// capturedTag changes when the answer has ended: nothing else of the request does.
func capturedTag(c *models.CapturedRequest) string {
	return fmt.Sprintf(`"%s-%d"`, c.AnswerOutcome, c.DurationMs)
}

func showCaptured(c *models.CapturedRequest) (api.InspectorRequest, error) {
	shown := api.InspectorRequest{
		ID: c.ID, Object: models.CapturedObject, BinID: c.BinID, Source: api.InspectorRequestSource(c.Source), DeliveryID: c.DeliveryID,
		Method: c.Method, Path: c.Path, Query: c.Query, BodyBytes: int(c.BodyBytes), BodyTruncated: c.Truncated,
		AnswerOutcome: api.InspectorRequestAnswerOutcome(c.AnswerOutcome), DurationMs: c.DurationMs, CreatedAt: api.Timestamp(c.ReceivedAt),
	}
	if c.Answer != nil {
		shown.AnswerStatus = &c.Answer.Status
	}
	body, encoding := showBody(c.Body, true)
	shown.Body, shown.BodyEncoding = *body, api.InspectorRequestBodyEncoding(encoding)
	if err := json.Unmarshal(c.Headers, &shown.Headers); err != nil {
		return shown, fmt.Errorf("decode the headers of %s: %w", c.ID, err)
	}
	return shown, nil
}
