package store

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/botix-pro/platform/app/models"
)

const (
	// startSlack is more than an attempt's start and the time its id carries, which
	// is the claim's by the database's clock, are ever apart.
	startSlack = time.Hour
	// requestSlack is more than a request's id and what is written of it are apart.
	requestSlack = 3 * time.Minute

	// One search looks at so many attempts at most, in steps that grow: what
	// matches often is found in the first, and what matches rarely takes bounded
	// work, however much there is.
	firstScan  = 500
	scanGrowth = 8
	maxScan    = 12_000
	// maxDeliveriesFound bounds what an event or a request can have caused here.
	maxDeliveriesFound = 1000
)

// attemptListed are the columns of a list: neither headers nor bodies.
const attemptListed = `project_id, id, delivery_id, endpoint_id, number, step, manual, url,
	status_code, error_class, error, dns_ms, connect_ms, tls_ms, first_byte_ms, duration_ms, started_at`

// AttemptFilter narrows a list of attempts; empty fields do not.
type AttemptFilter struct {
	Since *time.Time // of the attempts' start, inclusive
	Until *time.Time // exclusive

	EndpointID, EventType string
	// Delivered keeps to attempts that delivered; Classes to those that failed in
	// one of these ways. They exclude each other.
	Delivered bool
	Classes   []models.ErrorClass
	// EventID and DeliveryID are what the attempts are about. RequestID is an
	// attempt's own, or that of the API request that caused the event.
	EventID, DeliveryID, RequestID string
	// After is an attempt's id: only newer ones are listed.
	After string
}

// AttemptList is a page of attempts, newest first, without their headers and
// bodies.
type AttemptList struct {
	Rows []models.WebhookAttempt
	// Next is the keyset of the next page, empty when there is nothing older.
	Next string
	// SearchedTo, when not nil, says that the page is not full because the search
	// stopped there: Next goes on with it.
	SearchedTo *time.Time
}

// A search is one walk along an index, or one for each class of errors: none of
// them reads more than @scan rows, and all that is below the edge was not looked
// at by each. The ways differ in the index that they walk along.
const (
	attemptBounds = `project_id = @project AND started_at > @from AND started_at < @to AND id > CAST(@after AS uuid) AND id < CAST(@before AS uuid)`

	// What is walked over is narrow: the rows themselves are read for a page only.
	attemptSeen = `id, started_at, endpoint_id, event_type, error_class`

	wayOfProject = `SELECT '' AS way, ` + attemptSeen + ` FROM webhook_attempts
		WHERE ` + attemptBounds + ` ORDER BY id DESC LIMIT @scan`
	wayOfEndpoint = `SELECT '' AS way, ` + attemptSeen + ` FROM webhook_attempts
		WHERE ` + attemptBounds + ` AND endpoint_id = CAST(@endpoint AS uuid) ORDER BY id DESC LIMIT @scan`
	wayOfClasses = `SELECT a.* FROM unnest(CAST(@classes AS text[])) AS c (class) CROSS JOIN LATERAL (
		SELECT c.class AS way, ` + attemptSeen + ` FROM webhook_attempts
		WHERE ` + attemptBounds + ` AND error_class = c.class ORDER BY id DESC LIMIT @scan) AS a`
	// Few, so the order is made after them: asked for before, it could lead along
	// the wrong index.
	wayOfDeliveries = `SELECT '' AS way, ` + attemptSeen + ` FROM webhook_attempts
		WHERE ` + attemptBounds + ` AND delivery_id = ANY(CAST(@deliveries AS uuid[])) LIMIT @scan`

	// LIMIT 1 keeps the planner from joining all partitions with the page.
	searchAttempts = `
		WITH scanned AS MATERIALIZED (%s),
		edge AS (SELECT last AS id FROM (SELECT (array_agg(id ORDER BY id))[1] AS last FROM scanned GROUP BY way HAVING count(*) >= @scan) AS ends ORDER BY last DESC LIMIT 1),
		picked AS (SELECT s.id, s.started_at FROM scanned s LEFT JOIN edge ON true WHERE (edge.id IS NULL OR s.id >= edge.id) %s ORDER BY s.id DESC LIMIT @limit)
		SELECT edge.id AS edge, a.* FROM (SELECT (SELECT id FROM edge) AS id) AS edge LEFT JOIN (picked p CROSS JOIN LATERAL (
			SELECT ` + attemptListed + ` FROM webhook_attempts w WHERE w.project_id = @project AND w.id = p.id AND w.started_at = p.started_at LIMIT 1) AS a) ON true
		ORDER BY a.id DESC`

	// A request's id carries its time, and what it did is close to it. An attempt's
	// own request is one with it, but for the prefix.
	sqlDeliveriesOfRequest = `
		SELECT delivery_id AS id FROM webhook_attempts
		WHERE project_id = @project AND started_at > @from AND started_at < @to AND id = CAST(@attempt AS uuid) LIMIT 1`
	// One look-up an event, whatever the planner believes about their number.
	sqlDeliveriesCausedBy = `
		SELECT compact_id(d.id) AS id FROM (
			SELECT project_id, id FROM events
			WHERE project_id = @project AND id > @first_event AND id < @last_event AND request_id = @request LIMIT @limit
		) AS v CROSS JOIN LATERAL (SELECT d.id FROM webhook_deliveries d WHERE ` + deliveryOfEvent + ` LIMIT @limit) AS d LIMIT @limit`
	sqlDeliveriesOfEvent = `
		SELECT compact_id(id) AS id FROM webhook_deliveries
		WHERE project_id = @project AND event_id = @event AND id BETWEEN @first_delivery AND @last_delivery LIMIT @limit`
)

// search is one list's statement with its parameters.
type search struct {
	way, conditions string
	walks           int // how many walks share the work
	bounds          map[string]any
}

// WebhookAttempts returns a page of the attempts that are kept, newest first. Its
// work is bounded: see [AttemptList].
func (s *Store) WebhookAttempts(ctx context.Context, project models.ProjectID, filter AttemptFilter, page Page) (AttemptList, error) {
	found, err := s.searchFor(ctx, project, filter, page)
	if err != nil || found == nil {
		return AttemptList{}, err
	}
	var list AttemptList
	for looked, scan := 0, max(firstScan, page.Limit); ; {
		edge, err := s.walk(ctx, project, found, &list, page.Limit, scan)
		looked += scan
		switch {
		case err != nil:
			return AttemptList{}, err
		case len(list.Rows) >= page.Limit:
			list.Next = list.Rows[page.Limit-1].ID
			return list, nil
		case edge == "":
			return list, nil
		case looked >= maxScan:
			return list.stoppedAt(edge)
		}
		scan = min(scan*scanGrowth, maxScan-looked)
	}
}

// stoppedAt is the list of a search that ended at an attempt before it was full.
func (l AttemptList) stoppedAt(edge string) (AttemptList, error) {
	at, err := models.TimeOfID(models.PrefixAttempt, edge)
	if err != nil {
		return l, fmt.Errorf("tell how far was searched: %w", err)
	}
	l.Next, l.SearchedTo = edge, &at
	return l, nil
}

// walked is an attempt, or none, with where the walk ended.
type walked struct {
	Attempt attemptRow `gorm:"embedded"`
	Edge    *uuid.UUID
}

// walk adds what the next rows have and returns where they ended, empty at the
// end of all.
func (s *Store) walk(ctx context.Context, project models.ProjectID, found *search, list *AttemptList, limit, scan int) (string, error) {
	found.bounds["scan"], found.bounds["limit"] = max(scan/found.walks, limit), limit-len(list.Rows)
	seen, err := planned[walked](ctx, s, fmt.Sprintf(searchAttempts, found.way, found.conditions), found.bounds)
	if err != nil {
		return "", fmt.Errorf("list attempts: %w", err)
	}
	edge, rows := "", make([]attemptRow, 0, len(seen))
	for _, row := range seen {
		if row.Edge != nil {
			edge = models.FullID(models.PrefixAttempt, *row.Edge)
			found.bounds["before"] = row.Edge.String()
		}
		if row.Attempt.ID != uuid.Nil { // the edge alone comes as a row without an attempt
			rows = append(rows, row.Attempt)
		}
	}
	attempts, err := s.attempts(ctx, project, rows)
	list.Rows = append(list.Rows, attempts...)
	return edge, err
}

// searchFor chooses the way; nil: there can be nothing.
func (s *Store) searchFor(ctx context.Context, project models.ProjectID, f AttemptFilter, page Page) (*search, error) {
	now, err := s.now(ctx)
	if err != nil {
		return nil, err
	}
	found := &search{way: wayOfProject, walks: 1, bounds: f.bounds(project, page, now)}
	if f.EndpointID != "" {
		endpoint, ok := models.CompactID(models.PrefixEndpoint, f.EndpointID)
		if !ok {
			return nil, nil //nolint:nilnil // as documented
		}
		found.bounds["endpoint"] = uuid.UUID(endpoint).String()
	}
	switch {
	case f.EventID != "" || f.DeliveryID != "" || f.RequestID != "":
		ids, err := s.deliveriesMeant(ctx, f, found)
		if err != nil || len(ids) == 0 {
			return nil, err
		}
		found.way, found.bounds["deliveries"] = wayOfDeliveries, textArray(ids)
	case len(f.Classes) > 0:
		found.way, found.walks, found.bounds["classes"] = wayOfClasses, len(f.Classes), textArray(f.Classes)
	case f.EndpointID != "":
		found.way = wayOfEndpoint
	}
	found.narrow(f)
	return found, nil
}

// narrow adds the conditions that a walk's index does not know.
func (q *search) narrow(f AttemptFilter) {
	add := func(condition string) { q.conditions += " AND " + condition }
	if f.EndpointID != "" && q.way != wayOfEndpoint {
		add("endpoint_id = CAST(@endpoint AS uuid)")
	}
	if f.EventType != "" {
		add("event_type = @type")
	}
	if f.Delivered {
		add("error_class IS NULL")
	}
	if len(f.Classes) > 0 && q.way != wayOfClasses {
		q.bounds["classes"] = textArray(f.Classes)
		add("error_class = ANY(CAST(@classes AS text[]))")
	}
}

// bounds are the named parameters. Times bound the partitions, ids the index.
func (f AttemptFilter) bounds(project models.ProjectID, page Page, now time.Time) map[string]any {
	from, to := now.Add(-AttemptRetention), now.Add(startSlack)
	if f.Since != nil && f.Since.After(from) {
		from = *f.Since
	}
	if f.Until != nil && f.Until.Before(to) {
		to = *f.Until
	}
	after, before := models.FirstID(models.PrefixAttempt, from.Add(-startSlack)), models.FirstID(models.PrefixAttempt, to.Add(startSlack))
	if f.After > after && models.ValidID(models.PrefixAttempt, f.After) {
		after = f.After
	}
	if page.Before != "" && page.Before < before && models.ValidID(models.PrefixAttempt, page.Before) {
		before = page.Before
		if at, err := models.TimeOfID(models.PrefixAttempt, before); err == nil && at.Add(startSlack).Before(to) {
			to = at.Add(startSlack)
		}
	}
	return map[string]any{
		"project": string(project), "type": f.EventType, "from": from, "to": to,
		"after": compactText(models.PrefixAttempt, after), "before": compactText(models.PrefixAttempt, before),
	}
}

// compactText is a valid identifier as the text of a uuid.
func compactText(prefix, id string) string {
	compact, _ := models.CompactID(prefix, id)
	return uuid.UUID(compact).String()
}

// deliveriesMeant are the deliveries that an event's, a delivery's or a request's
// id is about.
func (s *Store) deliveriesMeant(ctx context.Context, f AttemptFilter, found *search) ([]string, error) {
	project := found.bounds["project"]
	ask := func(sql string, values map[string]any) (ids []string, err error) {
		values["project"], values["limit"] = project, maxDeliveriesFound
		rows, err := planned[struct{ ID string }](ctx, s, sql, values)
		if err != nil {
			return nil, fmt.Errorf("find deliveries: %w", err)
		}
		for _, row := range rows {
			ids = append(ids, row.ID)
		}
		return ids, nil
	}
	switch {
	case f.DeliveryID != "":
		id, ok := models.CompactID(models.PrefixDelivery, f.DeliveryID)
		if !ok {
			return nil, nil
		}
		return []string{uuid.UUID(id).String()}, nil
	case f.EventID != "":
		first, last := models.DeliveriesOf(f.EventID)
		return ask(sqlDeliveriesOfEvent, map[string]any{"event": f.EventID, "first_delivery": first, "last_delivery": last})
	}
	values, ok := aboutRequest(f.RequestID)
	if !ok {
		return nil, nil // what is no id of ours names nothing
	}
	ids, err := ask(sqlDeliveriesOfRequest, values)
	if err != nil || len(ids) == 0 {
		if err == nil {
			ids, err = ask(sqlDeliveriesCausedBy, values)
		}
		return ids, err
	}
	found.bounds["attempt"] = values["attempt"]
	found.conditions += " AND s.id = CAST(@attempt AS uuid)"
	return ids, nil
}

func aboutRequest(id string) (values map[string]any, ok bool) {
	attempt, ok := models.CompactID(models.PrefixRequest, id)
	at, err := models.TimeOfID(models.PrefixRequest, id)
	if !ok || err != nil {
		return nil, false
	}
	from, to := at.Add(-requestSlack), at.Add(requestSlack)
	return map[string]any{
		"request": id, "from": from, "to": to, "attempt": uuid.UUID(attempt).String(),
		"first_event": models.FirstID(models.PrefixEvent, from), "last_event": models.FirstID(models.PrefixEvent, to),
	}, true
}

// planned runs a question that is planned for its own values. A plan that is kept
// for all values does not know how rare one is, and walks along the wrong index.
func planned[T any](ctx context.Context, s *Store, sql string, values map[string]any) (list []T, err error) {
	rows, err := s.db.QueryContext(ctx, sql, pgx.QueryExecModeExec, pgx.NamedArgs(values))
	if err != nil {
		return nil, err //nolint:wrapcheck // the caller says what was asked
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	for rows.Next() {
		var row T
		if err := s.gorm.ScanRows(rows, &row); err != nil {
			return nil, err //nolint:wrapcheck // as above
		}
		list = append(list, row)
	}
	return list, rows.Err() //nolint:wrapcheck // as above
}

// textArray writes values that need no quotes as an array's literal.
func textArray[T ~string](values []T) string {
	texts := make([]string, len(values))
	for i, value := range values {
		texts[i] = string(value)
	}
	return "{" + strings.Join(texts, ",") + "}"
}

// OperationOfRequest returns the idempotency key that an API request carried,
// empty when it had none or is no longer in the log.
func (s *Store) OperationOfRequest(ctx context.Context, project models.ProjectID, request string) (string, error) {
	at, err := models.TimeOfID(models.PrefixRequest, request)
	if err != nil {
		return "", nil //nolint:nilerr // what is no id of ours is not in the log
	}
	var keys []string
	err = s.read(ctx).Raw(`
		SELECT coalesce(idempotency_key, '') FROM request_log WHERE project_id = ? AND request_id = ? AND at > ? AND at < ? LIMIT 1`,
		project, request, at.Add(-requestSlack), at.Add(requestSlack)).Scan(&keys).Error
	if err != nil || len(keys) == 0 {
		if err != nil {
			err = fmt.Errorf("find a request's operation: %w", err)
		}
		return "", err
	}
	return keys[0], nil
}
