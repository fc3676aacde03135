package store

import (
	"context"
	"fmt"
	"time"

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
	for condition, value := range map[string]*string{
		"status = ?": filter.Status, "endpoint_id = ?": filter.EndpointID, "event_id = ?": filter.EventID,
		"event_type = ?": filter.EventType, "last_error_class = ?": filter.ErrorClass,
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

// Delivery returns one delivery of the project with its latest attempts that are
// kept, in the order in which they were sent, or [ErrNotFound].
func (s *Store) Delivery(ctx context.Context, project models.ProjectID, id string) (*models.WebhookDelivery, []models.WebhookAttempt, error) {
	var delivery models.WebhookDelivery
	if err := s.read(ctx).Where("project_id = ? AND id = ?", project, id).Take(&delivery).Error; err != nil {
		return nil, nil, one(err, "delivery")
	}
	var attempts []models.WebhookAttempt
	err := keptAttempts(s.read(ctx), project).Where("delivery_id = ? AND number > ?", id, delivery.AttemptCount-maxAttemptsShown).
		Order("number").Find(&attempts).Error
	if err != nil {
		return nil, nil, fmt.Errorf("list a delivery's attempts: %w", err)
	}
	return &delivery, attempts, nil
}
