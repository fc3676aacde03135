package store

import (
	"context"
	"fmt"
	"slices"

	"github.com/botix-pro/platform/app/models"
)

const deliveryColumns = `d.project_id, d.id, d.event_id, d.event_type, d.endpoint_id, d.status, d.step, d.attempt_count, d.manual,
	d.next_attempt_at, d.last_status_code, d.last_error_class, d.created_at, d.updated_at`

const (
	// Rows are locked in the order of their ids, like everywhere, so that nobody
	// waits in a circle; the events too, so that retention leaves them alone.
	sqlLockDeliveries = `
		WITH kept AS MATERIALIZED (
			SELECT v.id FROM events v
			WHERE v.project_id = @project AND v.id IN (
				SELECT event_id FROM webhook_deliveries WHERE project_id = @project AND id IN @ids)
			FOR KEY SHARE)
		SELECT ` + deliveryColumns + `, e.status AS endpoint_status, d.event_id IN (SELECT id FROM kept) AS event_kept
		FROM webhook_deliveries d JOIN webhook_endpoints e ON e.project_id = d.project_id AND e.id = d.endpoint_id
		WHERE d.project_id = @project AND d.id IN @ids
		ORDER BY d.id FOR UPDATE OF d`
	// Contract §5, "retry by hand": from any of four states to the first step,
	// replacing what was scheduled and the dead letter with it. The number of the
	// next attempt goes on from attempt_count.
	sqlRetry = `
		WITH moved AS (
			UPDATE webhook_deliveries SET
			       status = 'pending', step = 1, step_started_at = NULL, manual = true, worker_losses = 0,
			       next_attempt_at = $3, updated_at = $3
			WHERE project_id = $1 AND id = ANY($2) AND status IN ('waiting', 'held', 'dead_letter', 'delivered')
			RETURNING id, endpoint_id
		), risen AS (
			DELETE FROM dead_letters WHERE project_id = $1 AND delivery_id IN (SELECT id FROM moved)
		)
		SELECT DISTINCT endpoint_id FROM moved`
)

// LockedDelivery is a delivery that nobody else can move until the transaction
// ends.
type LockedDelivery struct {
	models.WebhookDelivery `gorm:"embedded"`

	EndpointStatus models.EndpointStatus
	EventKept      bool // false: retention took the event, there is no body to send
}

// Refusal says why the delivery cannot be retried by hand, nil when it can. One
// that is pending already needs no retry and is not refused.
func (d *LockedDelivery) Refusal() *models.Error {
	switch {
	case d.Status == models.DeliveryInFlight:
		return models.NewError(models.CodeDeliveryInFlight, "The delivery is being sent right now. See how that ends before you retry it.")
	case d.Status == models.DeliveryCancelled && d.EndpointStatus != models.EndpointDeleted:
		return models.NewError(models.CodeEndpointDeleted, "The delivery was discarded when its endpoint was resumed; it cannot be sent any more.")
	case d.Status == models.DeliveryCancelled || d.EndpointStatus == models.EndpointDeleted:
		return models.NewError(models.CodeEndpointDeleted, "The endpoint of this delivery was deleted; there is nowhere to send it.")
	case !d.EventKept:
		return models.NewError(models.CodeEventExpired, "The event of this delivery is no longer kept; there is nothing to send.")
	default:
		return nil
	}
}

// LockDeliveries locks those of the named deliveries that exist and returns
// them in the order of their ids.
func (tx *Tx) LockDeliveries(ctx context.Context, ids []string) ([]LockedDelivery, error) {
	if len(ids) == 0 {
		return nil, nil
	}
	var rows []LockedDelivery
	err := tx.read(ctx).Raw(sqlLockDeliveries, map[string]any{"project": tx.project, "ids": ids}).Scan(&rows).Error
	if err != nil {
		return nil, fmt.Errorf("lock deliveries: %w", err)
	}
	return rows, nil
}

// LockDelivery locks one delivery, or returns [ErrNotFound].
func (tx *Tx) LockDelivery(ctx context.Context, id string) (*LockedDelivery, error) {
	rows, err := tx.LockDeliveries(ctx, []string{id})
	switch {
	case err != nil:
		return nil, err
	case len(rows) == 0:
		return nil, notFound("delivery")
	default:
		return &rows[0], nil
	}
}

// RetryDelivery queues the retry of one delivery and returns it as it will be,
// or says why it cannot be: [LockedDelivery.Refusal]. One that is pending is due
// anyway and is returned as it is.
func (tx *Tx) RetryDelivery(locked *LockedDelivery) (*models.WebhookDelivery, error) {
	if refusal := locked.Refusal(); refusal != nil {
		return nil, refusal
	}
	delivery := locked.WebhookDelivery
	if delivery.Status == models.DeliveryPending {
		return &delivery, nil
	}
	now := tx.Now()
	delivery.Status, delivery.Step, delivery.Manual = models.DeliveryPending, 1, true
	delivery.NextAttemptAt, delivery.UpdatedAt = &now, now
	tx.RetryDeliveries([]string{delivery.ID})
	return &delivery, nil
}

// RetryDeliveries queues the retry of deliveries that [Tx.LockDeliveries]
// returned. One that is in no state to be retried stays as it is.
func (tx *Tx) RetryDeliveries(ids []string) {
	if len(ids) == 0 {
		return
	}
	ids = slices.Sorted(slices.Values(ids))
	tx.query(tx.collectLanes, sqlRetry, string(tx.project), ids, tx.now)
}
