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
	fanOut = `
		INSERT INTO webhook_deliveries (project_id, id, event_id, event_type, endpoint_id, status, next_attempt_at)
		SELECT e.project_id, 'whd_' || substr(v.id, 5, 10) || upper(left(encode(sha256(convert_to(v.id || e.id, 'UTF8')), 'hex'), 16)),
		       v.id, $3, e.id, 'pending', now()
		FROM webhook_endpoints e CROSS JOIN `
	fanOutTo = ` AS v(id)
		WHERE e.project_id = $1 AND e.status <> 'deleted' AND e.event_types ?| $4
		RETURNING endpoint_id`
	sqlFanOut       = fanOut + `(VALUES ($2::text))` + fanOutTo
	sqlFanOutMany   = `WITH made AS (` + fanOut + `unnest($2::text[])` + fanOutTo + `) SELECT DISTINCT endpoint_id FROM made`
	sqlAppendEvents = `
		INSERT INTO events (project_id, id, type, source, api_version, request_id, body, data, created_at)
		SELECT $1, v.id, $3, $4, $5, $6, v.body, v.data, $9 FROM unnest($2::text[], $7::bytea[], $8::bytea[]) AS v(id, body, data)`
	sqlDeliverTo = `
		INSERT INTO webhook_deliveries (project_id, id, event_id, event_type, endpoint_id, status, next_attempt_at, created_at, updated_at)
		VALUES ($1, $2, $3, $4, $5, 'pending', $6, $6, $6)
		RETURNING endpoint_id`
)

// AppendEvent queues an event together with its deliveries. There is no other
// way to write an event, but for [Tx.AppendEvents] and [Tx.AppendEventTo], so none exists without its
// cause or its deliveries.
func (tx *Tx) AppendEvent(e *models.Event) {
	tx.appendEvent(tx.project, e)
}

// AppendEvents does the same for events of one cause: what is not their own they
// have in common with the first, their type included.
func (tx *Tx) AppendEvents(events []*models.Event) {
	if len(events) == 0 {
		return
	}
	var ids []string
	var bodies, data [][]byte
	for _, e := range events {
		ids, bodies, data = append(ids, e.ID), append(bodies, e.Body), append(data, e.Data)
	}
	e := events[0]
	tx.exec(sqlAppendEvents, string(tx.project), ids, e.Type, string(e.Source), e.APIVersion, e.RequestID, bodies, data, e.CreatedAt)
	tx.query(tx.collectLanes, sqlFanOutMany, string(tx.project), ids, e.Type, models.SubscriptionsTo(e.Type))
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
		ProjectID: tx.project, ID: models.NewDeliveryID(e.ID, now), EventID: e.ID, EventType: e.Type, EndpointID: endpoint,
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
