package store

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"github.com/google/uuid"
	"gorm.io/gorm"

	"github.com/botix-pro/platform/app/models"
)

// maxAttemptsShown is how many attempts a delivery is read with.
const maxAttemptsShown = 100

// Span narrows a list to rows made in a time span; nil ends are open.
type Span struct {
	Since *time.Time // inclusive
	Until *time.Time // exclusive
}

func (s Span) narrow(q *gorm.DB) *gorm.DB {
	if s.Since != nil {
		q = q.Where("created_at >= ?", *s.Since)
	}
	if s.Until != nil {
		q = q.Where("created_at < ?", *s.Until)
	}
	return q
}

// EventFilter narrows a list of events.
type EventFilter struct {
	Span

	Type *string
}

// Event returns one event of the project, or [ErrNotFound].
func (s *Store) Event(ctx context.Context, project models.ProjectID, id string) (*models.Event, error) {
	var e models.Event
	if err := s.read(ctx).Where("project_id = ? AND id = ?", project, id).Take(&e).Error; err != nil {
		return nil, one(err, "event")
	}
	return &e, nil
}

// Events returns a page of the project's events, newest first.
func (s *Store) Events(ctx context.Context, project models.ProjectID, filter EventFilter, page Page) ([]models.Event, error) {
	query := filter.narrow(s.read(ctx).Where("project_id = ?", project))
	if filter.Type != nil {
		query = query.Where("type = ?", *filter.Type)
	}
	var events []models.Event
	if err := page.newestFirst(query).Find(&events).Error; err != nil {
		return nil, fmt.Errorf("list events: %w", err)
	}
	return events, nil
}

// DeliveryFilter narrows a list of deliveries; nil fields do not.
type DeliveryFilter struct {
	Span

	Status, EndpointID, EventID, EventType, ErrorClass *string
}

// Deliveries returns a page of the project's deliveries, newest first.
func (s *Store) Deliveries(ctx context.Context, project models.ProjectID, filter DeliveryFilter, page Page) ([]models.WebhookDelivery, error) {
	query := filter.narrow(s.read(ctx).Where("project_id = ?", project))
	if filter.EventID != nil {
		// An event's deliveries are made with its time; there is no index but that.
		first, last := models.DeliveriesOf(*filter.EventID)
		query = query.Where("event_id = ? AND id BETWEEN ? AND ?", *filter.EventID, first, last)
	}
	for condition, value := range map[string]*string{
		"status = ?": filter.Status, "endpoint_id = ?": filter.EndpointID, "event_type = ?": filter.EventType, "last_error_class = ?": filter.ErrorClass,
	} {
		if value != nil {
			query = query.Where(condition, *value)
		}
	}
	var deliveries []models.WebhookDelivery
	if err := page.newestFirst(query).Find(&deliveries).Error; err != nil {
		return nil, fmt.Errorf("list deliveries: %w", err)
	}
	return deliveries, nil
}

// DeliveryRow returns one delivery of the project without its attempts, or
// [ErrNotFound].
func (s *Store) DeliveryRow(ctx context.Context, project models.ProjectID, id string) (*models.WebhookDelivery, error) {
	var delivery models.WebhookDelivery
	if err := s.read(ctx).Where("project_id = ? AND id = ?", project, id).Take(&delivery).Error; err != nil {
		return nil, one(err, "delivery")
	}
	return &delivery, nil
}

// Delivery returns one delivery of the project with its latest attempts that are
// kept, in the order in which they were sent, or [ErrNotFound].
func (s *Store) Delivery(ctx context.Context, project models.ProjectID, id string) (*models.WebhookDelivery, []models.WebhookAttempt, error) {
	delivery, err := s.DeliveryRow(ctx, project, id)
	if err != nil {
		return nil, nil, err
	}
	compact, ok := models.CompactID(models.PrefixDelivery, id)
	if !ok {
		return nil, nil, notFound("delivery")
	}
	var rows []attemptRow
	err = keptAttempts(s.read(ctx), project).
		Where("delivery_id = ? AND number > ?", uuid.UUID(compact), delivery.AttemptCount-maxAttemptsShown).Order("number").Find(&rows).Error
	if err != nil {
		return nil, nil, fmt.Errorf("list a delivery's attempts: %w", err)
	}
	attempts, err := withDeliveries(rows, map[string]*models.WebhookDelivery{id: delivery})
	return delivery, attempts, err
}

// sqlEventsAbout reads a millisecond's events by their ids, which begin with
// their time: a few rows, or a chunk of an import, whatever the history.
const sqlEventsAbout = `
	SELECT e.project_id, e.id, e.type, e.source, e.api_version, e.request_id, e.created_at
	FROM jsonb_to_recordset(CAST(@spans AS jsonb)) AS span(low text, high text) CROSS JOIN LATERAL (
		SELECT * FROM events WHERE project_id = @project AND id >= span.low COLLATE "C" AND id < span.high COLLATE "C"
		  AND type LIKE @types AND position(convert_to(@subject, 'UTF8') IN body) > 0
		ORDER BY id LIMIT 10) AS e
	ORDER BY e.id`

// EventsAbout returns the events about one object that were written at the given
// times, to the millisecond, in their order and without their bodies. kind is how
// their types begin, as in "message.".
func (s *Store) EventsAbout(ctx context.Context, project models.ProjectID, kind, subject string, times ...*time.Time) ([]models.Event, error) {
	type span struct {
		Low  string `json:"low"`
		High string `json:"high"`
	}
	spans := []span{}
	for _, at := range times {
		if at == nil {
			continue
		}
		low := models.FirstID(models.PrefixEvent, *at)
		if next := (span{low, models.FirstID(models.PrefixEvent, at.Add(time.Millisecond))}); !slices.Contains(spans, next) {
			spans = append(spans, next)
		}
	}
	encoded, err := json.Marshal(spans)
	if err != nil {
		return nil, fmt.Errorf("encode spans: %w", err)
	}
	var events []models.Event
	err = s.read(ctx).Raw(sqlEventsAbout, map[string]any{
		"spans": string(encoded), "project": project, "types": kind + "%", "subject": subject,
	}).Scan(&events).Error
	if err != nil {
		return nil, fmt.Errorf("find the events about %s: %w", subject, err)
	}
	return events, nil
}
