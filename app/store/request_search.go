package store

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/botix-pro/platform/app/models"
)

// RequestFilter narrows a list of requests; nil fields do not. Values from a
// reader need not be valid: what cannot be matches nothing.
type RequestFilter struct {
	Method      *string
	Route       *string // the path's template, "/contacts/:id"
	StatusClass *int    // 2 for 2xx
	Code        *string
	Failed      *bool // with an error's code, or without
	Replayed    *bool
	KeyID       *string
	Since       *time.Time
	// ID is a request's id, or an Idempotency-Key.
	ID *string
}

// RequestList is a page of requests, newest first.
type RequestList struct {
	Rows []models.RequestRecord
	// Next is the keyset of the next page, empty when there is nothing older.
	Next string
	// SearchedTo, when not nil, says that the page is not full because the search
	// stopped there: Next goes on with it.
	SearchedTo *time.Time
}

// maxErrorsCounted bounds what is counted for the groups of errors.
const maxErrorsCounted = 10_000

// One walk along an index: of all requests, of errors, or of replays, by the
// condition in the first place. It reads no more than @scan rows, and all below
// the edge was not looked at. LIMIT 1 keeps the planner from joining all
// partitions with the page.
const sqlRequestsF = `
	WITH scanned AS MATERIALIZED (
		SELECT request_id, at, method, route, status, code, key_id, replayed FROM request_log
		WHERE project_id = @project AND at > @from AND at < @to AND request_id > @after AND request_id < @before %s
		ORDER BY request_id DESC LIMIT @scan
	), edge AS (SELECT min(request_id) AS id FROM scanned HAVING count(*) >= @scan),
	picked AS (SELECT request_id, at FROM scanned WHERE true %s ORDER BY request_id DESC LIMIT @limit)
	SELECT edge.id AS edge, r.* FROM (SELECT (SELECT id FROM edge) AS id) AS edge LEFT JOIN (picked p CROSS JOIN LATERAL (
		SELECT * FROM request_log w WHERE w.project_id = @project AND w.request_id = p.request_id AND w.at = p.at LIMIT 1) AS r) ON true
	ORDER BY r.request_id DESC`

// walkedRequest is a request, or none, with where the walk ended.
type walkedRequest struct {
	models.RequestRecord `gorm:"embedded"`

	Edge *string
}

// Requests returns a page of the API requests that are logged, newest first. Its
// work is bounded: see [RequestList].
func (s *Store) Requests(ctx context.Context, project models.ProjectID, filter RequestFilter, page Page) (list RequestList, err error) {
	if filter.ID != nil {
		return s.requestsOf(ctx, project, *filter.ID, page)
	}
	now, err := s.now(ctx)
	if err != nil {
		return list, err
	}
	values, sql := filter.values(project, page, now), fmt.Sprintf(sqlRequestsF, filter.walk(), filter.picks())
	for looked, scan := 0, max(firstScan, page.Limit); ; {
		values["scan"], values["limit"] = scan, page.Limit-len(list.Rows)
		rows, err := planned[walkedRequest](ctx, s, sql, values)
		if err != nil {
			return list, fmt.Errorf("list requests: %w", err)
		}
		edge := list.add(rows)
		looked += scan
		switch {
		case len(list.Rows) >= page.Limit:
			list.Next = list.Rows[len(list.Rows)-1].RequestID
			return list, nil
		case edge == "":
			return list, nil
		case looked >= maxScan:
			at, err := models.TimeOfID(models.PrefixRequest, edge)
			list.Next, list.SearchedTo = edge, &at
			return list, err //nolint:wrapcheck // it says which id
		}
		values["before"] = edge
		scan = min(scan*scanGrowth, maxScan-looked)
	}
}

// add takes what a walk found and returns where it ended, empty at the end of all.
func (l *RequestList) add(rows []walkedRequest) (edge string) {
	for _, row := range rows {
		if row.Edge != nil {
			edge = *row.Edge
		}
		if row.RequestID != "" { // the edge alone comes as a row without a request
			l.Rows = append(l.Rows, row.RequestRecord)
		}
	}
	return edge
}

// values are the named parameters. Times bound the partitions, ids the index.
func (f RequestFilter) values(project models.ProjectID, page Page, now time.Time) map[string]any {
	from, to := loggedSince(f.Since, now), now.Add(requestSlack)
	before := models.FirstID(models.PrefixRequest, to)
	if page.Before != "" && page.Before < before {
		before = page.Before
		if at, err := models.TimeOfID(models.PrefixRequest, before); err == nil {
			to = at.Add(requestSlack)
		}
	}
	return map[string]any{
		"project": string(project), "from": from, "to": to, "after": models.FirstID(models.PrefixRequest, from.Add(-requestSlack)), "before": before,
		"method": f.Method, "route": f.Route, "class": f.StatusClass, "code": f.Code, "key": f.KeyID,
	}
}

func loggedSince(asked *time.Time, now time.Time) time.Time {
	since := now.Add(-RequestRetention)
	if asked != nil && asked.After(since) {
		return *asked
	}
	return since
}

// walk is the condition that an index is made for: only what fulfils it is looked
// through.
func (f RequestFilter) walk() string {
	switch {
	case f.Code != nil:
		return "AND code = @code AND code <> ''"
	case f.Replayed != nil && *f.Replayed:
		return "AND replayed"
	case f.Failed != nil && *f.Failed:
		return "AND code <> ''"
	default:
		return ""
	}
}

// picks are the conditions that a walk's index does not know.
func (f RequestFilter) picks() string {
	conditions := ""
	for condition, on := range map[string]bool{
		"method = @method": f.Method != nil, "route = @route": f.Route != nil, "status / 100 = @class": f.StatusClass != nil,
		"key_id = @key": f.KeyID != nil, "code <> ''": f.Failed != nil && *f.Failed, "code = ''": f.Failed != nil && !*f.Failed,
		"replayed": f.Replayed != nil && *f.Replayed, "NOT replayed": f.Replayed != nil && !*f.Replayed,
	} {
		if on {
			conditions += " AND " + condition
		}
	}
	return conditions
}

// requestsOf is the request with the given id, or those that carried it as their
// Idempotency-Key.
func (s *Store) requestsOf(ctx context.Context, project models.ProjectID, id string, page Page) (list RequestList, err error) {
	if models.ValidID(models.PrefixRequest, id) {
		request, err := s.Request(ctx, project, id)
		switch {
		case errors.Is(err, ErrNotFound):
			return list, nil
		case err != nil:
			return list, err
		}
		list.Rows = []models.RequestRecord{*request}
		return list, nil
	}
	query := s.read(ctx).Table("request_log").Where("project_id = ? AND idempotency_key = ?", project, id)
	if made, err := models.TimeOfID(models.PrefixRequest, page.Before); page.Before != "" && err == nil {
		query = query.Where("at < ? AND request_id < ?", made.Add(requestSlack), page.Before)
	}
	// In the order of their times, which the index has; ids are made with them.
	if err := query.Order("at DESC, request_id DESC").Limit(page.Limit).Find(&list.Rows).Error; err != nil {
		return list, fmt.Errorf("list the requests of a key: %w", err)
	}
	if len(list.Rows) == page.Limit {
		list.Next = list.Rows[page.Limit-1].RequestID
	}
	return list, nil
}

// Request returns one logged request, or [ErrNotFound]. Its id says when it came,
// so one day's partition is looked at, at midnight two.
func (s *Store) Request(ctx context.Context, project models.ProjectID, id string) (*models.RequestRecord, error) {
	made, err := models.TimeOfID(models.PrefixRequest, id)
	if err != nil {
		return nil, notFound("request")
	}
	var request models.RequestRecord
	err = s.read(ctx).Table("request_log").Where("project_id = ? AND request_id = ? AND at > ? AND at < ?",
		project, id, made.Add(-requestSlack), made.Add(requestSlack)).Take(&request).Error
	if err != nil {
		return nil, one(err, "request")
	}
	return &request, nil
}

// ErrorGroup is how often one route answered with one code.
type ErrorGroup struct {
	Code   models.Code
	Status int
	Method string
	Route  string
	Count  int64
	Last   string // the newest of them, by its id
}

// ErrorGroups are the errors of a time by what they have in common, the most
// frequent first.
type ErrorGroups struct {
	Groups []ErrorGroup
	// CountedTo is the oldest error that was counted, where there are more than are
	// counted at once. Empty: all were.
	CountedTo string
}

const sqlErrorGroups = `
	WITH seen AS MATERIALIZED (
		SELECT request_id, method, route, status, code FROM request_log
		WHERE project_id = @project AND at > @from AND request_id > @after AND code <> ''
		ORDER BY request_id DESC LIMIT @scan
	), reach AS (SELECT min(request_id) AS last, count(*) AS n FROM seen)
	SELECT code, status, method, route, count(*) AS count, max(request_id) AS last,
	       CASE WHEN reach.n = @scan THEN reach.last ELSE '' END AS counted_to
	FROM seen, reach GROUP BY code, status, method, route, reach.n, reach.last
	ORDER BY count(*) DESC, max(request_id) DESC LIMIT @limit`

// RequestErrors groups the newest errors since a time, 10,000 at most, along the
// index of errors.
func (s *Store) RequestErrors(ctx context.Context, project models.ProjectID, since *time.Time, limit int) (found ErrorGroups, err error) {
	now, err := s.now(ctx)
	if err != nil {
		return found, err
	}
	from := loggedSince(since, now)
	rows, err := planned[struct {
		ErrorGroup `gorm:"embedded"`

		CountedTo string
	}](ctx, s, sqlErrorGroups, map[string]any{
		"project": string(project), "from": from, "after": models.FirstID(models.PrefixRequest, from.Add(-requestSlack)),
		"scan": maxErrorsCounted, "limit": limit,
	})
	if err != nil {
		return found, fmt.Errorf("group the errors: %w", err)
	}
	for _, row := range rows {
		found.Groups, found.CountedTo = append(found.Groups, row.ErrorGroup), row.CountedTo
	}
	return found, nil
}

// EventsOfRequest returns the events that a request wrote between two times, in
// their order and without their bodies: their ids begin with their time.
func (s *Store) EventsOfRequest(ctx context.Context, project models.ProjectID, request string, from, to time.Time, limit int) (events []models.Event, err error) {
	err = s.read(ctx).Raw(`
		SELECT project_id, id, type, source, api_version, request_id, created_at FROM events
		WHERE project_id = ? AND id >= ? AND id < ? AND request_id = ? ORDER BY id LIMIT ?`,
		project, models.FirstID(models.PrefixEvent, from), models.FirstID(models.PrefixEvent, to), request, limit).Scan(&events).Error
	if err != nil {
		return nil, fmt.Errorf("list a request's events: %w", err)
	}
	return events, nil
}

// DeliveriesOfEvents returns the deliveries of some events of about the same time,
// in their order: they are looked for among the ids that these can have.
func (s *Store) DeliveriesOfEvents(ctx context.Context, project models.ProjectID, events []string, limit int) (list []models.WebhookDelivery, err error) {
	if len(events) == 0 {
		return nil, nil
	}
	first, _ := models.DeliveriesOf(slices.Min(events))
	_, last := models.DeliveriesOf(slices.Max(events))
	err = s.read(ctx).Where("project_id = ? AND event_id IN ? AND id BETWEEN ? AND ?", project, events, first, last).
		Order("event_id, id").Limit(limit).Find(&list).Error
	if err != nil {
		return nil, fmt.Errorf("list the deliveries of events: %w", err)
	}
	return list, nil
}
