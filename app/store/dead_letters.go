package store

import (
	"context"
	"fmt"
	"time"

	"github.com/botix-pro/platform/app/models"
)

// DeadLetterFilter narrows a list of dead letters; nil fields do not.
type DeadLetterFilter struct {
	Span

	EndpointID, EventType, Cause *string
}

// DeadLetter returns one dead letter of the project, or [ErrNotFound].
func (s *Store) DeadLetter(ctx context.Context, project models.ProjectID, id string) (*models.DeadLetter, error) {
	var letter models.DeadLetter
	if err := s.read(ctx).Where("project_id = ? AND id = ?", project, id).Take(&letter).Error; err != nil {
		return nil, one(err, "dead letter")
	}
	return &letter, nil
}

// DeadLetters returns a page of the project's dead letters, newest first.
func (s *Store) DeadLetters(ctx context.Context, project models.ProjectID, filter DeadLetterFilter, page Page) ([]models.DeadLetter, error) {
	query := filter.narrow(s.read(ctx).Where("project_id = ?", project))
	for condition, value := range map[string]*string{
		"endpoint_id = ?": filter.EndpointID, "event_type = ?": filter.EventType, "cause = ?": filter.Cause,
	} {
		if value != nil {
			query = query.Where(condition, *value)
		}
	}
	var letters []models.DeadLetter
	if err := page.newestFirst(query).Find(&letters).Error; err != nil {
		return nil, fmt.Errorf("list dead letters: %w", err)
	}
	return letters, nil
}

// Read from the index alone, in its order: the times are those that the first
// and the last id carry.
const sqlDeadLetterGroups = `
	SELECT endpoint_id, cause, count(*) AS count, min(id) AS first_id, max(id) AS last_id
	FROM dead_letters
	WHERE project_id = @project AND (CAST(@endpoint AS text) IS NULL OR endpoint_id = @endpoint) AND (endpoint_id, cause) > (@after_endpoint, @after_cause)
	GROUP BY endpoint_id, cause ORDER BY endpoint_id, cause LIMIT @limit`

// DeadLetterGroups counts the project's dead letters by endpoint and cause,
// ordered by both; after is the last group of the page before. endpoint, when
// not nil, keeps to one endpoint.
func (s *Store) DeadLetterGroups(
	ctx context.Context, project models.ProjectID, endpoint *string, after models.DeadLetterGroup, limit int,
) ([]models.DeadLetterGroup, error) {
	var rows []struct {
		EndpointID      string
		Cause           models.DeadLetterCause
		Count           int
		FirstID, LastID string
	}
	err := s.read(ctx).Raw(sqlDeadLetterGroups, map[string]any{
		"project": project, "endpoint": endpoint, "after_endpoint": after.EndpointID, "after_cause": after.Cause, "limit": limit,
	}).Scan(&rows).Error
	if err != nil {
		return nil, fmt.Errorf("group dead letters: %w", err)
	}
	groups := make([]models.DeadLetterGroup, len(rows))
	for i, row := range rows {
		group := models.DeadLetterGroup{EndpointID: row.EndpointID, Cause: row.Cause, Count: row.Count}
		if group.First, err = models.TimeOfID(models.PrefixDeadLetter, row.FirstID); err != nil {
			return nil, fmt.Errorf("group dead letters: %w", err)
		}
		if group.Last, err = models.TimeOfID(models.PrefixDeadLetter, row.LastID); err != nil {
			return nil, fmt.Errorf("group dead letters: %w", err)
		}
		groups[i] = group
	}
	return groups, nil
}

// DayCount is how many there were on a day, in UTC.
type DayCount struct {
	Day   time.Time
	Count int64
}

// maxCountedADay is where counting a day's dead letters ends: a picture needs no
// more.
const maxCountedADay = 5000

// Each day is a range of ids in the index.
const sqlDeadLetterDays = `
	SELECT r.day, c.count FROM unnest(CAST(@days AS timestamptz[]), CAST(@firsts AS text[]), CAST(@nexts AS text[])) AS r (day, first, next)
	CROSS JOIN LATERAL (
		SELECT count(*) FROM (
			SELECT 1 FROM dead_letters
			WHERE project_id = @project AND endpoint_id = @endpoint AND cause = @cause AND id >= r.first AND id < r.next LIMIT @most) AS l) AS c
	ORDER BY r.day`

// DeadLetterDays counts the dead letters of a group on each of the last 14 days,
// the oldest first, each up to a few thousand.
func (s *Store) DeadLetterDays(ctx context.Context, project models.ProjectID, group models.DeadLetterGroup) ([]DayCount, error) {
	now, err := s.now(ctx)
	if err != nil {
		return nil, err
	}
	var days, firsts, nexts []string
	for from := now.UTC().Truncate(day).Add(-13 * day); from.Before(now); from = from.Add(day) {
		days = append(days, from.Format(time.RFC3339))
		firsts = append(firsts, models.FirstID(models.PrefixDeadLetter, from))
		nexts = append(nexts, models.FirstID(models.PrefixDeadLetter, from.Add(day)))
	}
	var counts []DayCount
	err = s.read(ctx).Raw(sqlDeadLetterDays, map[string]any{
		"project": project, "endpoint": group.EndpointID, "cause": group.Cause, "most": maxCountedADay,
		"days": textArray(days), "firsts": textArray(firsts), "nexts": textArray(nexts),
	}).Scan(&counts).Error
	if err != nil {
		return nil, fmt.Errorf("count dead letters by day: %w", err)
	}
	return counts, nil
}
