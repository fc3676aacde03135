package store

import (
	"context"
	"errors"
	"fmt"
	"time"

	"gorm.io/gorm"

	"github.com/botix-pro/platform/app/models"
)

// AttemptRetention is how long attempts are kept (contract §5).
const AttemptRetention = 14 * 24 * time.Hour

// WebhookAttempts returns a page of the attempts that are kept, newest first.
func (s *Store) WebhookAttempts(ctx context.Context, project models.ProjectID, page Page) ([]models.WebhookAttempt, error) {
	var attempts []models.WebhookAttempt
	if err := page.newestFirst(keptAttempts(s.read(ctx), project)).Find(&attempts).Error; err != nil {
		return nil, fmt.Errorf("list attempts: %w", err)
	}
	return attempts, nil
}

// WebhookAttempt returns one attempt with its delivery and event, or
// [ErrNotFound]. The last attempt of a dead letter is there as long as that is.
func (s *Store) WebhookAttempt(
	ctx context.Context, project models.ProjectID, id string,
) (*models.WebhookAttempt, *models.WebhookDelivery, *models.Event, error) {
	var attempt models.WebhookAttempt
	err := keptAttempts(s.read(ctx), project).Where("id = ?", id).Take(&attempt).Error
	if errors.Is(err, gorm.ErrRecordNotFound) {
		err = s.read(ctx).Table("dead_letter_attempts").Where("project_id = ? AND id = ?", project, id).Take(&attempt).Error
	}
	if err != nil {
		return nil, nil, nil, one(err, "attempt")
	}
	var delivery models.WebhookDelivery
	err = s.read(ctx).Where("project_id = ? AND id = ?", project, attempt.DeliveryID).Take(&delivery).Error
	if err != nil {
		return nil, nil, nil, one(err, "delivery")
	}
	var event models.Event
	if err := s.read(ctx).Where("project_id = ? AND id = ?", project, attempt.EventID).Take(&event).Error; err != nil {
		return nil, nil, nil, one(err, "event")
	}
	return &attempt, &delivery, &event, nil
}

// keptAttempts bounds a query to the partitions that can hold something.
func keptAttempts(q *gorm.DB, project models.ProjectID) *gorm.DB {
	return q.Where("project_id = ? AND started_at > now() - make_interval(secs => ?)", project, AttemptRetention.Seconds())
}
