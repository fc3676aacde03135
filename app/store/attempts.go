package store

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/google/uuid"
	"gorm.io/gorm"

	"github.com/botix-pro/platform/app/models"
)

// AttemptRetention is how long attempts are kept (contract §5).
const AttemptRetention = 14 * 24 * time.Hour

// WebhookAttempt returns one attempt with its delivery and event, or
// [ErrNotFound]. The last attempt of a dead letter is there as long as that is.
func (s *Store) WebhookAttempt(
	ctx context.Context, project models.ProjectID, id string,
) (*models.WebhookAttempt, *models.WebhookDelivery, *models.Event, error) {
	compact, ok := models.CompactID(models.PrefixAttempt, id)
	if !ok {
		return nil, nil, nil, notFound("attempt")
	}
	var row attemptRow
	err := keptAttempts(s.read(ctx), project).Where("id = ?", uuid.UUID(compact)).Scopes(startedAbout(id)).Take(&row).Error
	if errors.Is(err, gorm.ErrRecordNotFound) {
		err = s.read(ctx).Table("dead_letter_attempts").Where("project_id = ? AND id = ?", project, uuid.UUID(compact)).Take(&row).Error
	}
	if err != nil {
		return nil, nil, nil, one(err, "attempt")
	}
	var delivery models.WebhookDelivery
	err = s.read(ctx).Where("project_id = ? AND id = ?", project, models.FullID(models.PrefixDelivery, row.DeliveryID)).Take(&delivery).Error
	if err != nil {
		return nil, nil, nil, one(err, "delivery")
	}
	attempt, err := row.attempt(&delivery)
	if err != nil {
		return nil, nil, nil, err
	}
	event, err := s.Event(ctx, project, delivery.EventID)
	if err != nil {
		return nil, nil, nil, err
	}
	return &attempt, &delivery, event, nil
}

// keptAttempts bounds a query to the partitions that can hold something.
func keptAttempts(q *gorm.DB, project models.ProjectID) *gorm.DB {
	return q.Where("project_id = ? AND started_at > now() - make_interval(secs => ?)", project, AttemptRetention.Seconds())
}

// startedAbout leaves the partitions in which the attempt with a valid id can be.
func startedAbout(id string) func(*gorm.DB) *gorm.DB {
	return func(q *gorm.DB) *gorm.DB {
		at, err := models.TimeOfID(models.PrefixAttempt, id)
		if err != nil {
			return q
		}
		return q.Where("started_at > ? AND started_at < ?", at.Add(-startSlack), at.Add(startSlack))
	}
}

// AttemptsOfDelivery returns the latest attempts of a delivery that are kept, in
// the order in which they were sent, without their headers and bodies.
func (s *Store) AttemptsOfDelivery(ctx context.Context, project models.ProjectID, delivery string) ([]models.WebhookAttempt, error) {
	compact, ok := models.CompactID(models.PrefixDelivery, delivery)
	if !ok {
		return nil, nil
	}
	query := keptAttempts(s.read(ctx), project).Where("delivery_id = ?", uuid.UUID(compact))
	if made, err := models.TimeOfID(models.PrefixDelivery, delivery); err == nil {
		query = query.Where("started_at > ?", made.Add(-startSlack))
	}
	var rows []attemptRow
	if err := query.Select(attemptListed).Order("number DESC").Limit(maxAttemptsShown).Find(&rows).Error; err != nil {
		return nil, fmt.Errorf("list a delivery's attempts: %w", err)
	}
	slices.Reverse(rows)
	return s.attempts(ctx, project, rows)
}
