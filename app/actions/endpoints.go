package actions

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/botix-pro/platform/app/models"
	"github.com/botix-pro/platform/app/store"
	"github.com/botix-pro/platform/app/webhooks"
)

// endpointObject is what an endpoint is called in events.
const endpointObject = "webhook_endpoint"

// EndpointTag names an endpoint's version.
func EndpointTag(e *models.WebhookEndpoint) string { return fmt.Sprintf(`"%d"`, e.Version) }

// LockEndpoint returns an endpoint that nobody else changes until the transaction
// ends, at the version that the cause means.
func LockEndpoint(ctx context.Context, tx *store.Tx, cause Cause, id string) (*models.WebhookEndpoint, error) {
	endpoint, err := tx.LockEndpoint(ctx, id)
	if err != nil {
		return nil, fmt.Errorf("lock endpoint: %w", err)
	}
	return endpoint, cause.match(EndpointTag(endpoint))
}

// SaveEndpoint queues a locked endpoint's new version.
func SaveEndpoint(tx *store.Tx, endpoint *models.WebhookEndpoint) error {
	endpoint.UpdatedAt = tx.Now()
	endpoint.Version++
	if err := tx.UpdateEndpoint(endpoint); err != nil {
		return fmt.Errorf("update endpoint: %w", err)
	}
	return nil
}

// PauseEndpoint holds an endpoint's deliveries until it is resumed. A paused one
// stays as it is.
func PauseEndpoint(ctx context.Context, tx *store.Tx, cause Cause, id string) (*models.WebhookEndpoint, error) {
	endpoint, err := LockEndpoint(ctx, tx, cause, id)
	if err != nil || endpoint.Status == models.EndpointPaused {
		return endpoint, err
	}
	endpoint.Status = models.EndpointPaused
	return endpoint, SaveEndpoint(tx, endpoint)
}

// ResumeEndpoint sends to an endpoint again. held is what becomes of the
// deliveries that were held: pending, cancelled, or empty to hold them on.
func ResumeEndpoint(ctx context.Context, tx *store.Tx, cause Cause, id string, held models.DeliveryStatus) (*models.WebhookEndpoint, error) {
	endpoint, err := LockEndpoint(ctx, tx, cause, id)
	if err != nil {
		return nil, err
	}
	if held != "" {
		if err := releaseHeld(ctx, tx, cause, id, held); err != nil {
			return nil, err
		}
	}
	endpoint.Status = models.EndpointActive
	return endpoint, SaveEndpoint(tx, endpoint)
}

// DeleteEndpoint ends an endpoint. The row stays as a tombstone without its
// secrets, so that what is in flight ends in order.
func DeleteEndpoint(ctx context.Context, tx *store.Tx, cause Cause, id string) error {
	endpoint, err := LockEndpoint(ctx, tx, cause, id)
	if err != nil {
		return err
	}
	endpoint.Status, endpoint.Secrets, endpoint.Headers = models.EndpointDeleted, nil, nil
	tx.CancelWaiting(id, store.AtOnce)
	if err := releaseHeld(ctx, tx, cause, id, models.DeliveryCancelled); err != nil {
		return err
	}
	return SaveEndpoint(tx, endpoint)
}

// releaseHeld decides about what was held for an endpoint that this transaction
// has locked.
func releaseHeld(ctx context.Context, tx *store.Tx, cause Cause, endpoint string, to models.DeliveryStatus) error {
	job := models.Job{APIVersion: cause.APIVersion, RequestID: cause.RequestID}
	if err := tx.ReleaseAllHeld(ctx, models.HeldRelease{EndpointID: endpoint, To: to}, job); err != nil {
		return fmt.Errorf("release what was held: %w", err)
	}
	return nil
}

// RotateSecret gives an endpoint a new secret and returns it: it is shown only
// then. The one before signs as well until the overlap ends, at until; without an
// overlap it is dropped at once and until is nil.
func RotateSecret(
	ctx context.Context, tx *store.Tx, cause Cause, id string, overlap time.Duration,
) (endpoint *models.WebhookEndpoint, secret string, until *time.Time, err error) {
	if endpoint, err = LockEndpoint(ctx, tx, cause, id); err != nil {
		return nil, "", nil, err
	}
	secret = webhooks.NewSecret().Reveal()
	previous := endpoint.Secrets[0].Value
	endpoint.Secrets = []models.EndpointSecret{{Value: secret}}
	if overlap > 0 {
		ends := tx.Now().Add(overlap)
		until = &ends
		endpoint.Secrets = append(endpoint.Secrets, models.EndpointSecret{Value: previous, ExpiresAt: until})
	}
	return endpoint, secret, until, SaveEndpoint(tx, endpoint)
}

// testData is what a test event says.
type testData struct {
	EndpointID string `json:"endpoint_id"`
	Message    string `json:"message"`
}

// TestEndpoint sends an event to this endpoint only.
func TestEndpoint(ctx context.Context, tx *store.Tx, cause Cause, id string) (*models.WebhookDelivery, error) {
	endpoint, err := LockEndpoint(ctx, tx, cause, id)
	if err != nil {
		return nil, err
	}
	if endpoint.Status != models.EndpointActive {
		return nil, store.NotActive(endpoint.Status)
	}
	data, err := json.Marshal(testData{EndpointID: endpoint.ID, Message: "This is a test event. It was asked for by hand and means nothing."})
	if err != nil {
		return nil, fmt.Errorf("encode the test event: %w", err)
	}
	event := cause.Event(tx, models.EventEndpointTest, models.SourcePlatform)
	if err := event.SetData(data, models.Subject{ID: endpoint.ID, Object: endpointObject}); err != nil {
		return nil, fmt.Errorf("build the test event: %w", err)
	}
	return tx.AppendEventTo(event, endpoint.ID), nil
}
