package store

import (
	"fmt"

	"github.com/jackc/pgx/v5"

	"github.com/botix-pro/platform/app/models"
)

const (
	sqlAppendEvent = `
		INSERT INTO events (project_id, id, type, source, api_version, request_id, body, data, created_at)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)`
	// One delivery per matching endpoint, always as due. Whether it may go is
	// decided when it is claimed, so a pause that commits meanwhile loses nothing.
	// Its id is made of the event's time and a hash of event and endpoint.
	sqlFanOut = `
		INSERT INTO webhook_deliveries (project_id, id, event_id, event_type, endpoint_id, status, next_attempt_at)
		SELECT e.project_id, 'whd_' || substr($2, 5, 10) || upper(left(encode(sha256(convert_to($2 || e.id, 'UTF8')), 'hex'), 16)),
		       $2, $3, e.id, 'pending', now()
		FROM webhook_endpoints e
		WHERE e.project_id = $1 AND e.status <> 'deleted' AND e.event_types ?| $4
		RETURNING endpoint_id`
	sqlDeliverTo = `
		INSERT INTO webhook_deliveries (project_id, id, event_id, event_type, endpoint_id, status, next_attempt_at, created_at, updated_at)
		VALUES ($1, $2, $3, $4, $5, 'pending', $6, $6, $6)
		RETURNING endpoint_id`
)

// AppendEvent queues an event together with its deliveries. There is no other
// way to write an event, but for [Tx.AppendEventTo], so none exists without its
// cause or its deliveries.
func (tx *Tx) AppendEvent(e *models.Event) {
	tx.appendEvent(tx.project, e)
}

func (tx *Tx) appendEvent(project models.ProjectID, e *models.Event) {
	tx.insertEvent(project, e)
	tx.query(tx.collectLanesOf(project), sqlFanOut, string(project), e.ID, e.Type, models.SubscriptionsTo(e.Type))
}

func (tx *Tx) insertEvent(project models.ProjectID, e *models.Event) {
	tx.exec(sqlAppendEvent, string(project), e.ID, e.Type, string(e.Source), e.APIVersion, e.RequestID,
		e.Body, e.Data, e.CreatedAt)
}

// AppendEventTo queues an event with one delivery, to one endpoint whatever its
// filters say, and returns the delivery.
func (tx *Tx) AppendEventTo(e *models.Event, endpoint string) *models.WebhookDelivery {
	now := tx.Now()
	delivery := &models.WebhookDelivery{
		ProjectID: tx.project, ID: models.NewID(models.PrefixDelivery, now), EventID: e.ID, EventType: e.Type, EndpointID: endpoint,
		Status: models.DeliveryPending, Step: 1, NextAttemptAt: &now, CreatedAt: now, UpdatedAt: now,
	}
	tx.insertEvent(tx.project, e)
	tx.query(tx.collectLanes, sqlDeliverTo, string(tx.project), delivery.ID, e.ID, e.Type, endpoint, now)
	return delivery
}

func (tx *Tx) collectLanes(rows pgx.Rows) error { return tx.collectLanesOf(tx.project)(rows) }

func (tx *Tx) collectLanesOf(project models.ProjectID) func(pgx.Rows) error {
	return func(rows pgx.Rows) error {
		endpoints, err := pgx.CollectRows(rows, pgx.RowTo[string])
		if err != nil {
			return fmt.Errorf("fan out: %w", err)
		}
		for _, id := range endpoints {
			tx.lanes = append(tx.lanes, Lane{ProjectID: project, EndpointID: id})
		}
		return nil
	}
}
