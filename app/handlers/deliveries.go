package handlers

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"unicode/utf8"

	"github.com/botix-pro/platform/api"
	"github.com/botix-pro/platform/app/middleware"
	"github.com/botix-pro/platform/app/models"
	"github.com/botix-pro/platform/app/store"
)

const deliveryObject = "webhook_delivery"

// listDeliveries is GET /webhook-deliveries, newest first.
func (a *API) listDeliveries(ctx context.Context, r *middleware.Request) (middleware.Result, error) {
	page, span, err := listOf(r, models.PrefixDelivery, "status", "endpoint_id", "event_id", "event_type", "error_class")
	if err != nil {
		return middleware.Result{}, err
	}
	filter := store.DeliveryFilter{
		Span: span, Status: parameter(r.Query, "status"), EndpointID: parameter(r.Query, "endpoint_id"),
		EventID: parameter(r.Query, "event_id"), EventType: parameter(r.Query, "event_type"), ErrorClass: parameter(r.Query, "error_class"),
	}
	if filter.Status != nil && !slices.Contains(models.DeliveryStatuses(), models.DeliveryStatus(*filter.Status)) {
		return middleware.Result{}, badParameter("status", "There is no such status of a delivery.")
	}
	deliveries, err := a.store.Deliveries(ctx, r.Project(), filter, page)
	if err != nil {
		return middleware.Result{}, fmt.Errorf("list deliveries: %w", err)
	}
	deliveries, next := pageOut(deliveries, page, func(d models.WebhookDelivery) string { return d.ID })
	list := api.WebhookDeliveryList{Data: make([]api.WebhookDelivery, len(deliveries)), NextCursor: next}
	for i := range deliveries {
		list.Data[i] = showDelivery(&deliveries[i])
	}
	return middleware.Result{Status: http.StatusOK, Body: list}, nil
}

// readDelivery is GET /webhook-deliveries/{id}, with the attempts.
func (a *API) readDelivery(ctx context.Context, r *middleware.Request) (middleware.Result, error) {
	id, err := pathID(r, models.PrefixDelivery)
	if err != nil {
		return middleware.Result{}, err
	}
	delivery, attempts, err := a.store.Delivery(ctx, r.Project(), id)
	if err != nil {
		return middleware.Result{}, fmt.Errorf("read delivery: %w", err)
	}
	shown := api.WebhookDeliveryWithAttempts{WebhookDelivery: showDelivery(delivery), Attempts: make([]api.WebhookAttempt, len(attempts))}
	for i := range attempts {
		if shown.Attempts[i], err = showAttempt(&attempts[i]); err != nil {
			return middleware.Result{}, err
		}
	}
	return middleware.Result{Status: http.StatusOK, Body: shown, ETag: deliveryTag(delivery)}, nil
}

func deliveryTag(d *models.WebhookDelivery) string {
	return fmt.Sprintf(`"%s-%d-%d"`, d.Status, d.AttemptCount, d.UpdatedAt.UnixMicro())
}

// retryDelivery is POST /webhook-deliveries/{id}/retry: the same event again, by
// hand.
func (a *API) retryDelivery(ctx context.Context, tx *store.Tx, r *middleware.Request) (middleware.Result, error) {
	if err := noBody(r); err != nil {
		return middleware.Result{}, err
	}
	id, err := pathID(r, models.PrefixDelivery)
	if err != nil {
		return middleware.Result{}, err
	}
	locked, err := tx.LockDelivery(ctx, id)
	if err != nil {
		return middleware.Result{}, fmt.Errorf("lock delivery: %w", err)
	}
	if err := checkMatch(r, deliveryTag(&locked.WebhookDelivery)); err != nil {
		return middleware.Result{}, err
	}
	delivery, err := tx.RetryDelivery(locked)
	if err != nil {
		return middleware.Result{}, fmt.Errorf("retry delivery: %w", err)
	}
	return acceptedDelivery(delivery), nil
}

// acceptedDelivery answers with a delivery that will be sent.
func acceptedDelivery(d *models.WebhookDelivery) middleware.Result {
	return middleware.Result{Status: http.StatusAccepted, Body: showDelivery(d), Location: "/webhook-deliveries/" + d.ID}
}

func showDelivery(d *models.WebhookDelivery) api.WebhookDelivery {
	return api.WebhookDelivery{
		ID: d.ID, Object: deliveryObject, EventID: d.EventID, EventType: d.EventType, EndpointID: d.EndpointID,
		Status: api.WebhookDeliveryStatus(d.Status), Step: d.Step, AttemptCount: d.AttemptCount,
		NextAttemptAt: api.TimestampPtr(d.NextAttemptAt), LastStatusCode: d.LastStatusCode, LastErrorClass: (*string)(d.LastErrorClass),
		CreatedAt: api.Timestamp(d.CreatedAt), UpdatedAt: api.Timestamp(d.UpdatedAt),
	}
}

func showAttempt(a *models.WebhookAttempt) (api.WebhookAttempt, error) {
	shown := api.WebhookAttempt{
		ID: a.ID, Number: a.Number, Manual: a.Manual, URL: a.URL, RequestID: a.RequestID, StatusCode: a.StatusCode,
		ErrorClass: (*string)(a.ErrorClass), ResponseBodyTruncated: a.ResponseTruncated,
		DNSMs: a.Timing.DNSMs, ConnectMs: a.Timing.ConnectMs, TLSMs: a.Timing.TLSMs,
		FirstByteMs: a.Timing.FirstByteMs, DurationMs: a.Timing.DurationMs, StartedAt: api.Timestamp(a.StartedAt),
	}
	if a.Error != "" {
		shown.Error = &a.Error
	}
	shown.ResponseBody, shown.ResponseBodyEncoding = showBody(a.ResponseBody, a.StatusCode != nil)
	if err := json.Unmarshal(a.RequestHeaders, &shown.RequestHeaders); err != nil {
		return shown, fmt.Errorf("decode the request headers of %s: %w", a.ID, err)
	}
	if a.ResponseHeaders == nil {
		return shown, nil
	}
	if err := json.Unmarshal(a.ResponseHeaders, &shown.ResponseHeaders); err != nil {
		return shown, fmt.Errorf("decode the response headers of %s: %w", a.ID, err)
	}
	return shown, nil
}

// showBody shows what a receiver answered: as it is where JSON can carry it,
// else in base64.
func showBody(body []byte, answered bool) (*string, api.WebhookAttemptResponseBodyEncoding) {
	if !answered {
		return nil, api.WebhookAttemptResponseBodyEncodingUTF8
	}
	text := string(body)
	if utf8.Valid(body) && !slices.Contains(body, 0) {
		return &text, api.WebhookAttemptResponseBodyEncodingUTF8
	}
	text = base64.StdEncoding.EncodeToString(body)
	return &text, api.WebhookAttemptResponseBodyEncodingBase64
}
