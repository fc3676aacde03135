package store

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/botix-pro/platform/app/models"
)

// Set-based, once a batch. A success of an endpoint that does well writes nothing
// but the minute of its last success, and takes no lock that another recorder of
// the same endpoint would wait for.
const sqlRecordHealth = `
	INSERT INTO webhook_endpoint_health AS h
	       (project_id, endpoint_id, failing_since, failures, failed_days, last_failed_on, last_success_at, last_failure_at)
	SELECT u.project, u.endpoint, CASE WHEN u.failures > 0 THEN now() END, u.failures, (u.failures > 0)::int,
	       CASE WHEN u.failures > 0 THEN (now() AT TIME ZONE 'UTC')::date END, CASE WHEN u.failures = 0 THEN now() END,
	       CASE WHEN u.failures > 0 THEN now() END
	FROM unnest($1::text[], $2::text[], $3::int[]) AS u (project, endpoint, failures)
	LEFT JOIN webhook_endpoint_health k ON k.project_id = u.project AND k.endpoint_id = u.endpoint
	WHERE u.failures > 0 OR k.failing_since IS NOT NULL OR k.last_success_at IS NULL OR k.last_success_at < now() - interval '1 minute'
	ORDER BY u.project, u.endpoint
	ON CONFLICT (project_id, endpoint_id) DO UPDATE SET
	       failing_since = CASE WHEN excluded.failures > 0 THEN coalesce(h.failing_since, excluded.failing_since) END,
	       failures = CASE WHEN excluded.failures > 0 THEN h.failures + excluded.failures ELSE 0 END,
	       failed_days = CASE WHEN excluded.failures = 0 THEN 0 WHEN h.failures = 0 THEN 1
	           ELSE h.failed_days + (excluded.last_failed_on > h.last_failed_on)::int END,
	       last_failed_on = greatest(h.last_failed_on, excluded.last_failed_on),
	       last_success_at = coalesce(excluded.last_success_at, h.last_success_at),
	       last_failure_at = coalesce(excluded.last_failure_at, h.last_failure_at)`

// tallies are what a batch says about its endpoints, in columns: how many failures
// each had, 0 for a success. A success among the failures of one batch,
// milliseconds apart, counts as the last of them.
func tallies(outcomes []Outcome) (projects, endpoints []string, failures []int32) {
	at := map[Lane]int{}
	for i := range outcomes {
		o := &outcomes[i]
		success := o.Status == models.DeliveryDelivered
		if !success && !o.Attempt.CountsAgainstEndpoint() {
			continue
		}
		lane := Lane{ProjectID: o.Attempt.ProjectID, EndpointID: o.Attempt.EndpointID}
		n, known := at[lane]
		switch {
		case !known:
			at[lane] = len(projects)
			projects, endpoints = append(projects, string(lane.ProjectID)), append(endpoints, lane.EndpointID)
			failures = append(failures, 1)
			if success {
				failures[len(failures)-1] = 0
			}
		case success:
			failures[n] = 0
		case failures[n] > 0:
			failures[n]++
		}
	}
	return projects, endpoints, failures
}

const (
	// How far the endpoint of h is, as one of the levels. least() passes over the
	// NULL of one that does not fail, whose other parts are 0.
	levelOf = `(SELECT max(l) FROM unnest(ARRAY[0] || @levels::int[]) AS l WHERE l <= least(
		floor(extract(epoch FROM now() - h.failing_since) * 100 / @after), h.failures * 100 / @failures, h.failed_days * 100 / @days))`
	sqlToJudge = `
		SELECT h.project_id, h.endpoint_id
		FROM webhook_endpoint_health h JOIN webhook_endpoints e ON e.project_id = h.project_id AND e.id = h.endpoint_id
		WHERE (h.failing_since IS NOT NULL OR h.level > 0) AND e.status = 'active' AND ` + levelOf + ` <> h.level
		ORDER BY h.project_id, h.endpoint_id LIMIT @limit`
	// Whoever comes second finds the level set already.
	sqlJudge = `
		UPDATE webhook_endpoint_health h SET level = n.level
		FROM (SELECT h.level AS before, ` + levelOf + ` AS level FROM webhook_endpoint_health h
		      WHERE h.project_id = @project AND h.endpoint_id = @endpoint FOR NO KEY UPDATE) AS n
		WHERE h.project_id = @project AND h.endpoint_id = @endpoint AND n.level <> n.before
		RETURNING n.before, h.level`
	sqlLockActive = `
		SELECT e.url FROM webhook_endpoints e WHERE e.project_id = $1 AND e.id = $2 AND e.status = 'active' FOR NO KEY UPDATE`
	sqlHealth = `
		SELECT project_id, endpoint_id, failing_since, failures, failed_days, last_success_at, last_failure_at, level
		FROM webhook_endpoint_health WHERE project_id = $1 AND endpoint_id = ANY($2)`
	sqlDisable = `
		UPDATE webhook_endpoints e SET status = 'disabled', version = e.version + 1, updated_at = now(), status_since = now()
		FROM projects p
		WHERE p.id = e.project_id AND e.project_id = $1 AND e.id = $2 AND e.status IN ('active', 'paused')
		RETURNING e.url, p.api_version`
	sqlSetLevel = `
		INSERT INTO webhook_endpoint_health (project_id, endpoint_id, level) VALUES ($1, $2, $3)
		ON CONFLICT (project_id, endpoint_id) DO UPDATE SET level = excluded.level`
	// What its owner stops or starts begins with a clean slate: a pause of a week
	// is no week of failures, and an endpoint that is active again gets its five
	// days again.
	sqlForgiveEndpoint = `
		UPDATE webhook_endpoint_health SET failing_since = NULL, failures = 0, failed_days = 0, level = 0
		WHERE project_id = $1 AND endpoint_id = $2 AND ($3 <> 'active' OR level = 100)`
)

func ruleArguments() pgx.NamedArgs {
	return pgx.NamedArgs{
		"levels": models.NoticeLevels(), "after": models.DisableAfter.Seconds(),
		"failures": models.DisableFailures, "days": models.DisableDays,
	}
}

// JudgeEndpoints tells the owners of at most limit endpoints how far these are on
// their way to being disabled, or that they work again, and disables those at its
// end ([models.DisableAfter]). It returns how many it looked at. Several callers
// at once tell everything once; the sweeper finds the events' deliveries.
//
// It is the passing of time, as much as another failure, that brings an endpoint
// further; so it is judged here and not when an attempt is recorded.
func (s *Store) JudgeEndpoints(ctx context.Context, limit int) (seen int, err error) {
	var list []Lane
	err = s.withConn(ctx, func(c *pgx.Conn) error {
		arguments := ruleArguments()
		arguments["limit"] = limit
		rows, err := c.Query(ctx, sqlToJudge, arguments)
		if err != nil {
			return err
		}
		list, err = pgx.CollectRows(rows, pgx.RowToStructByPos[Lane])
		return err
	})
	if err != nil {
		return 0, fmt.Errorf("find endpoints to judge: %w", err)
	}
	for _, endpoint := range list {
		if err := s.judge(ctx, endpoint); err != nil {
			return 0, fmt.Errorf("judge endpoint %s: %w", endpoint.EndpointID, err)
		}
	}
	return len(list), nil
}

func (s *Store) judge(ctx context.Context, endpoint Lane) error {
	tx, err := s.beginTimed(ctx, endpoint.ProjectID, &pgx.Batch{})
	if err != nil {
		return err
	}
	defer tx.Rollback(ctx)
	url, found, err := queryOne[string](ctx, tx, sqlLockActive, string(endpoint.ProjectID), endpoint.EndpointID)
	if err != nil || !found {
		return err
	}
	arguments := ruleArguments()
	arguments["project"], arguments["endpoint"] = string(endpoint.ProjectID), endpoint.EndpointID
	levels, changed, err := queryOne[levelChange](ctx, tx, sqlJudge, arguments)
	switch {
	case err != nil || !changed:
		return err
	case levels.Now == models.LevelDisabled:
		err = tx.disableEndpoint(ctx, endpoint, models.DisabledFailing)
	default:
		err = tx.notifyLevel(ctx, endpoint, url, levels)
	}
	if err != nil {
		return err
	}
	return tx.flush(ctx, &pgx.Batch{})
}

// levelChange is how far an endpoint was when its owner was last told, and is.
type levelChange struct{ Before, Now int }

// notifyLevel queues the notice of a changed level. Only a success makes it less.
func (tx *Tx) notifyLevel(ctx context.Context, endpoint Lane, url string, levels levelChange) error {
	health, err := tx.health(ctx, endpoint)
	if err != nil {
		return err
	}
	kind := models.NoticeFailing
	if levels.Now < levels.Before {
		kind = models.NoticeRecovered
	}
	return tx.notify(models.Notice{
		ProjectID: endpoint.ProjectID, Kind: kind, EndpointID: endpoint.EndpointID, Level: levels.Now,
		Params: models.NoticeParams{URL: url, FailingSince: health.FailingSince, Failures: health.Failures},
	})
}

// disableEndpoint disables an endpoint that the transaction may already have
// locked, and queues the event and the notice about it: both exactly once, since
// only the change itself makes them.
func (tx *Tx) disableEndpoint(ctx context.Context, endpoint Lane, why models.DisableReason) error {
	was, changed, err := queryOne[struct{ URL, APIVersion string }](ctx, tx, sqlDisable, string(endpoint.ProjectID), endpoint.EndpointID)
	if err != nil || !changed {
		return err
	}
	health, err := tx.health(ctx, endpoint)
	if err != nil {
		return err
	}
	event, err := models.NewEndpointDisabledEvent(health, was.URL, was.APIVersion, why, tx.Now())
	if err != nil {
		return err
	}
	tx.appendEvent(endpoint.ProjectID, event)
	tx.exec(sqlSetLevel, string(endpoint.ProjectID), endpoint.EndpointID, models.LevelDisabled)
	return tx.notify(models.Notice{
		ProjectID: endpoint.ProjectID, Kind: models.NoticeDisabled, EndpointID: endpoint.EndpointID, Level: models.LevelDisabled,
		Params: models.NoticeParams{URL: was.URL, Reason: why, FailingSince: health.FailingSince, Failures: health.Failures},
	})
}

// health returns how an endpoint does, as if it did well when nothing is known.
func (tx *Tx) health(ctx context.Context, endpoint Lane) (models.EndpointHealth, error) {
	health, found, err := queryOne[models.EndpointHealth](ctx, tx, sqlHealth, string(endpoint.ProjectID), []string{endpoint.EndpointID})
	if !found {
		health = models.EndpointHealth{ProjectID: endpoint.ProjectID, EndpointID: endpoint.EndpointID}
	}
	return health, err
}

// EndpointHealth returns how an endpoint does: all zero before its first attempt.
func (s *Store) EndpointHealth(ctx context.Context, project models.ProjectID, endpoint string) (models.EndpointHealth, error) {
	known, err := s.EndpointsHealth(ctx, project, []string{endpoint})
	return known[endpoint], err
}

// EndpointsHealth returns how endpoints do, by their ids: all zero before the
// first attempt.
func (s *Store) EndpointsHealth(ctx context.Context, project models.ProjectID, endpoints []string) (map[string]models.EndpointHealth, error) {
	list, err := selectRows[models.EndpointHealth](ctx, s, sqlHealth, string(project), endpoints)
	if err != nil {
		return nil, fmt.Errorf("read endpoints' health: %w", err)
	}
	known := make(map[string]models.EndpointHealth, len(endpoints))
	for _, id := range endpoints {
		known[id] = models.EndpointHealth{ProjectID: project, EndpointID: id}
	}
	for _, health := range list {
		known[health.EndpointID] = health
	}
	return known, nil
}

// selectRows reads a statement's rows into structs by position, or into values of
// one column.
func selectRows[T any](ctx context.Context, s *Store, sql string, args ...any) (list []T, err error) {
	err = s.withConn(ctx, func(c *pgx.Conn) error {
		rows, err := c.Query(ctx, sql, args...)
		if err != nil {
			return err
		}
		list, err = pgx.CollectRows(rows, rowTo[T])
		return err
	})
	return list, err
}

// queryOne runs a statement at once, ahead of everything that is queued, and
// returns its row, if there is one, in a value of one column or a struct of
// several.
func queryOne[T any](ctx context.Context, tx *Tx, sql string, args ...any) (value T, found bool, err error) {
	err = tx.native(func(c *pgx.Conn) error {
		rows, err := c.Query(ctx, sql, args...)
		if err != nil {
			return err
		}
		list, err := pgx.CollectRows(rows, rowTo[T])
		if len(list) > 0 {
			value, found = list[0], true
		}
		return err
	})
	return value, found, err
}

func rowTo[T any](row pgx.CollectableRow) (T, error) {
	if len(row.FieldDescriptions()) == 1 {
		return pgx.RowTo[T](row)
	}
	return pgx.RowToStructByPos[T](row)
}

// staleAfter is the age at its recording from which on an attempt's hour may
// have been rolled up without it. Together with how long a commit may take it
// is far less than rollupGrace.
const staleAfter = 2 * time.Minute

// markStale queues the hours of attempts that are recorded late.
func (tx *Tx) markStale(outcomes []Outcome) {
	var hours []time.Time
	for _, o := range outcomes {
		if tx.now.Sub(o.Attempt.StartedAt) > staleAfter {
			hours = append(hours, o.Attempt.StartedAt.UTC().Truncate(time.Hour))
		}
	}
	if len(hours) > 0 {
		slices.SortFunc(hours, time.Time.Compare)
		tx.exec(sqlMarkStale, slices.Compact(hours))
	}
}
