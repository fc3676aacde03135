package store

import (
	"context"
	"errors"
	"fmt"
	"time"

	"gorm.io/gorm"

	"github.com/botix-pro/platform/app/models"
	"github.com/botix-pro/platform/internal/clock"
)

// AttemptRetention is how long attempts are kept (contract §5).
const AttemptRetention = 14 * 24 * time.Hour

// AttemptFilter narrows a list of attempts; nil fields do not. Values from a
// reader need not be valid: what cannot be matches nothing.
type AttemptFilter struct {
	Failed      *bool
	EndpointID  *string
	EventType   *string
	ErrorClass  *string
	StatusClass *int // 2 for 2xx
	Since       *time.Time
	// ID is of an event, a delivery, a request of ours to an endpoint, or an API
	// request that caused an event.
	ID *string
}

// AttemptPage is a page of attempts, newest first.
type AttemptPage struct {
	Attempts []models.WebhookAttempt
	// SearchedTo is where the search ended although there may be more: a filter
	// that matches rarely is not searched for through all 14 days at once. Empty:
	// there is nothing more before the last attempt of the page, or it is full.
	SearchedTo string
}

// attemptScan is how many attempts are looked through for one page.
const attemptScan = 20_000

// The first part walks the newest attempts along an index, and is bounded; the
// second picks from them; the third reads the rows themselves.
const sqlAttemptsF = `
	WITH seen AS MATERIALIZED (
		SELECT id, started_at, event_type, error_class, status_code FROM webhook_attempts
		WHERE project_id = @project AND started_at > @since AND id >= @first AND id < @before
		  %s
		ORDER BY id DESC LIMIT @scan
	), picked AS (
		SELECT id, started_at FROM seen
		WHERE (CAST(@type AS text) IS NULL OR event_type = @type)
		  AND (CAST(@class AS text) IS NULL OR error_class = @class)
		  AND (CAST(@failed AS boolean) IS NULL OR (error_class IS NOT NULL) = @failed)
		  AND (CAST(@status AS int) IS NULL OR status_code / 100 = @status)
		ORDER BY id DESC LIMIT @limit
	), reach AS (SELECT min(id) AS last, count(*) AS n FROM seen)
	SELECT coalesce(reach.last, '') AS reach_last, reach.n AS reach_count, a.*
	FROM reach LEFT JOIN (picked p JOIN webhook_attempts a ON a.project_id = @project AND a.id = p.id AND a.started_at = p.started_at) ON true
	ORDER BY a.id DESC`

// attemptRow is an attempt, or none, with how far the search went.
type attemptRow struct {
	models.WebhookAttempt `gorm:"embedded"`

	ReachLast  string
	ReachCount int
}

// WebhookAttempts returns a page of the attempts that are kept, newest first.
func (s *Store) WebhookAttempts(
	ctx context.Context, project models.ProjectID, filter AttemptFilter, page Page,
) (AttemptPage, error) {
	if filter.ID != nil {
		return s.attemptsOf(ctx, project, *filter.ID, page)
	}
	since := clock.System{}.Now().Add(-AttemptRetention)
	if filter.Since != nil && filter.Since.After(since) {
		since = *filter.Since
	}
	before := page.Before
	if before == "" {
		before = afterEveryAttempt
	}
	ofEndpoint := "" // in the statement only where it is asked for: it decides which index is walked
	if filter.EndpointID != nil {
		ofEndpoint = "AND endpoint_id = @endpoint"
	}
	var rows []attemptRow
	err := s.read(ctx).Raw(fmt.Sprintf(sqlAttemptsF, ofEndpoint), map[string]any{
		"project": project, "since": since, "first": models.FirstID(models.PrefixAttempt, since.Add(-claimedAhead)), "before": before,
		"endpoint": filter.EndpointID, "type": filter.EventType, "class": filter.ErrorClass, "failed": filter.Failed,
		"status": filter.StatusClass, "scan": attemptScan, "limit": page.Limit,
	}).Scan(&rows).Error
	if err != nil {
		return AttemptPage{}, fmt.Errorf("list attempts: %w", err)
	}
	return attemptPage(rows, page.Limit), nil
}

// claimedAhead is how long before its start an attempt can have got its id.
const claimedAhead = time.Minute

func attemptPage(rows []attemptRow, limit int) (page AttemptPage) {
	for _, row := range rows {
		if row.ID != "" {
			page.Attempts = append(page.Attempts, row.WebhookAttempt)
		}
	}
	if len(rows) > 0 && len(page.Attempts) < limit && rows[0].ReachCount == attemptScan {
		page.SearchedTo = rows[0].ReachLast
	}
	return page
}

// The ids of attempts and events carry the time at which they were made, and so
// do those of requests: nothing is searched but that minute.
const (
	sqlAttemptsOf = `
		SELECT a.* FROM webhook_attempts a
		WHERE a.project_id = @project AND a.started_at > @since AND a.id < @before AND a.delivery_id IN (
			SELECT d.id FROM webhook_deliveries d WHERE d.project_id = @project AND (d.id = @id OR d.event_id = @id OR d.event_id IN (
				SELECT e.id FROM events e
				WHERE e.project_id = @project AND e.id >= @event_from AND e.id < @event_to AND e.request_id = @id)))
		ORDER BY a.id DESC LIMIT @limit`
	sqlAttemptOfRequest = `
		SELECT * FROM webhook_attempts
		WHERE project_id = @project AND started_at > @from AND started_at < @to AND id >= @first AND id < @last AND request_id = @id
		ORDER BY id DESC LIMIT @limit`
)

// aroundRequest is how far apart the ids of a request and of what it made can
// be.
const aroundRequest = time.Minute

// attemptsOf lists the attempts of whatever has the given id.
func (s *Store) attemptsOf(ctx context.Context, project models.ProjectID, id string, page Page) (found AttemptPage, err error) {
	values := map[string]any{
		"project": project, "since": clock.System{}.Now().Add(-AttemptRetention), "before": page.Before, "id": id, "limit": page.Limit,
		"event_from": models.PrefixEvent, "event_to": models.PrefixEvent, // no event
	}
	if page.Before == "" {
		values["before"] = afterEveryAttempt
	}
	if at, err := models.TimeOfID(models.PrefixRequest, id); err == nil && models.ValidID(models.PrefixRequest, id) {
		from, to := at.Add(-aroundRequest), at.Add(aroundRequest)
		values["from"], values["to"] = from, to
		values["first"], values["last"] = models.FirstID(models.PrefixAttempt, from), models.FirstID(models.PrefixAttempt, to)
		values["event_from"], values["event_to"] = models.FirstID(models.PrefixEvent, from), models.FirstID(models.PrefixEvent, to)
		if err := s.read(ctx).Raw(sqlAttemptOfRequest, values).Scan(&found.Attempts).Error; err != nil || len(found.Attempts) > 0 {
			return found, wrap(err, "find a request's attempt")
		}
	}
	err = s.read(ctx).Raw(sqlAttemptsOf, values).Scan(&found.Attempts).Error
	return found, wrap(err, "list the attempts of an id")
}

// afterEveryAttempt sorts after each attempt's id.
const afterEveryAttempt = models.PrefixAttempt + "~"

func wrap(err error, what string) error {
	if err != nil {
		return fmt.Errorf("%s: %w", what, err)
	}
	return nil
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
