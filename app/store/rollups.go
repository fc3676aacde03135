package store

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgtype"

	"github.com/botix-pro/platform/app/models"
)

const (
	// rollupGrace is how long after its end an hour is rolled up: what is recorded
	// later has marked its hour as stale.
	rollupGrace = 10 * time.Minute
	// RollupRetention is how long rollups are kept.
	RollupRetention = 400 * 24 * time.Hour
)

const (
	sqlMarkStale = `INSERT INTO webhook_rollup_stale SELECT unnest($1::timestamptz[])`
	// Whoever holds the state's row is the one that rolls up.
	sqlRollupState = `
		SELECT coalesce(until, (SELECT date_trunc('hour', min(started_at)) FROM webhook_attempts), date_trunc('hour', now())) AS until,
		       date_trunc('hour', now() - make_interval(secs => $1)) AS ripe, date_trunc('day', now()) - make_interval(secs => $2) AS kept
		FROM webhook_rollup_state FOR UPDATE`
	sqlTakeStale  = `WITH taken AS (DELETE FROM webhook_rollup_stale RETURNING hour) SELECT DISTINCT hour FROM taken ORDER BY hour`
	sqlSetUntil   = `UPDATE webhook_rollup_state SET until = $1`
	sqlClearHour  = `DELETE FROM webhook_rollups WHERE hour = $1`
	sqlRollupHour = `
		INSERT INTO webhook_rollups (project_id, endpoint_id, hour, attempts, successes, failures, answered, latency_ms, latencies)` +
		sqlRollUp + `started_at >= $2 AND started_at < $2::timestamptz + interval '1 hour'` + sqlRolledUp
	// The hours that are rolled up, and the same sums made on the spot for those
	// that are not yet: of one project, and of little more than an hour.
	sqlRollups = `
		WITH state AS (SELECT coalesce(until, '-infinity') AS until FROM webhook_rollup_state)
		SELECT r.project_id, r.endpoint_id, r.hour, r.attempts, r.successes, r.failures, r.answered, r.latency_ms, r.latencies
		FROM webhook_rollups r, state WHERE r.project_id = $2 AND r.hour >= $3 AND r.hour < $4 AND r.hour < state.until
		  AND ($5::text IS NULL OR r.endpoint_id = $5)
		UNION ALL SELECT * FROM (` + sqlRollUp + `project_id = $2 AND started_at >= $3 AND started_at < $4
		AND started_at >= (SELECT until FROM state) AND ($6::uuid IS NULL OR endpoint_id = $6)` + sqlRolledUp + `) AS live
		ORDER BY hour, endpoint_id`

	// Attempts by endpoint, hour, class and bucket, and then those counts as one row
	// an endpoint and hour. $1 are the buckets' bounds.
	sqlRollUp = `
		WITH cells AS (
			SELECT project_id, endpoint_id, date_trunc('hour', started_at) AS hour, error_class,
			       CASE WHEN status_code IS NOT NULL THEN width_bucket(duration_ms, $1::int[]) END AS bucket,
			       count(*) AS n, sum(duration_ms) AS ms
			FROM webhook_attempts WHERE `
	sqlRolledUp = ` GROUP BY 1, 2, 3, 4, 5
		), classes AS (
			SELECT project_id, endpoint_id, hour, jsonb_object_agg(error_class, n) AS failures FROM (
				SELECT project_id, endpoint_id, hour, error_class, sum(n) AS n FROM cells WHERE error_class IS NOT NULL GROUP BY 1, 2, 3, 4) AS c
			GROUP BY 1, 2, 3
		), buckets AS (
			SELECT project_id, endpoint_id, hour, jsonb_object_agg(bucket, n) AS latencies FROM (
				SELECT project_id, endpoint_id, hour, bucket, sum(n) AS n FROM cells WHERE bucket IS NOT NULL GROUP BY 1, 2, 3, 4) AS b
			GROUP BY 1, 2, 3
		), totals AS (
			SELECT project_id, endpoint_id, hour, sum(n)::bigint AS attempts, coalesce(sum(n) FILTER (WHERE error_class IS NULL), 0)::bigint AS successes,
			       coalesce(sum(n) FILTER (WHERE bucket IS NOT NULL), 0)::bigint AS answered,
			       coalesce(sum(ms) FILTER (WHERE bucket IS NOT NULL), 0)::bigint AS latency_ms
			FROM cells GROUP BY 1, 2, 3
		)
		SELECT project_id, 'whe_' || ulid_of(endpoint_id) AS endpoint_id, hour, attempts, successes, coalesce(failures, '{}') AS failures, answered, latency_ms,
		       coalesce(latencies, '{}') AS latencies
		FROM totals LEFT JOIN classes USING (project_id, endpoint_id, hour) LEFT JOIN buckets USING (project_id, endpoint_id, hour)`
)

// rollupState is what there is to roll up.
type rollupState struct {
	Until time.Time // rolled up before
	Ripe  time.Time // hours before it are over for long enough
	Kept  time.Time // attempts that began before may be gone
}

// RollUp sums up the hours that are over and not yet summed up, and again those
// that something late has changed, at most limit hours. It returns how many.
// Several callers at once wait for each other.
func (s *Store) RollUp(ctx context.Context, limit int) (hours int, err error) {
	err = s.withConn(ctx, func(c *pgx.Conn) error {
		return pgx.BeginTxFunc(ctx, c, pgx.TxOptions{IsoLevel: pgx.ReadCommitted}, func(tx pgx.Tx) error {
			var state rollupState
			err := tx.QueryRow(ctx, sqlRollupState, rollupGrace.Seconds(), AttemptRetention.Seconds()).Scan(&state.Until, &state.Ripe, &state.Kept)
			if err != nil {
				return err
			}
			hours, err = rollUp(ctx, tx, state, limit)
			return err
		})
	})
	if err != nil {
		return 0, fmt.Errorf("roll up attempts: %w", err)
	}
	return hours, nil
}

// rollUp takes the marks first: what they stand for was committed before, so
// every sum made after that has it.
func rollUp(ctx context.Context, tx pgx.Tx, state rollupState, limit int) (hours int, err error) {
	rows, err := tx.Query(ctx, sqlTakeStale)
	if err != nil {
		return 0, err
	}
	stale, err := pgx.CollectRows(rows, pgx.RowTo[time.Time])
	if err != nil {
		return 0, err
	}
	for _, hour := range stale {
		// An hour that is not rolled up yet will be; one whose attempts are gone
		// keeps the sums that it has.
		if hour.Before(state.Until) && !hour.Before(state.Kept) {
			if err := rollUpHour(ctx, tx, hour); err != nil {
				return 0, err
			}
			hours++
		}
	}
	for state.Until.Before(state.Ripe) && hours < limit {
		if err := rollUpHour(ctx, tx, state.Until); err != nil {
			return 0, err
		}
		state.Until = state.Until.Add(time.Hour)
		hours++
	}
	_, err = tx.Exec(ctx, sqlSetUntil, state.Until)
	return hours, err
}

func rollUpHour(ctx context.Context, tx pgx.Tx, hour time.Time) error {
	if _, err := tx.Exec(ctx, sqlClearHour, hour); err != nil {
		return err
	}
	_, err := tx.Exec(ctx, sqlRollupHour, models.LatencyBounds(), hour)
	return err
}

// Rollups returns the sums of a project's attempts that began in [since, until),
// which should be whole hours, one an endpoint and hour, in the order of time.
// The latest hour or two are summed up on the spot.
func (s *Store) Rollups(ctx context.Context, project models.ProjectID, since, until time.Time) ([]models.Rollup, error) {
	return s.rollups(ctx, project, nil, pgtype.UUID{}, since, until)
}

// EndpointRollups is [Store.Rollups] of one endpoint.
func (s *Store) EndpointRollups(ctx context.Context, project models.ProjectID, endpoint string, since, until time.Time) ([]models.Rollup, error) {
	short := compact(models.PrefixEndpoint, endpoint)
	if !short.Valid {
		return nil, nil
	}
	return s.rollups(ctx, project, &endpoint, short, since, until)
}

// rollups are of all endpoints, or of the one whose id is given in both its forms.
func (s *Store) rollups(
	ctx context.Context, project models.ProjectID, endpoint *string, short pgtype.UUID, since, until time.Time,
) ([]models.Rollup, error) {
	list, err := selectRows[models.Rollup](ctx, s, sqlRollups, models.LatencyBounds(), string(project), since, until, endpoint, short)
	if err != nil {
		return nil, fmt.Errorf("read rollups: %w", err)
	}
	return list, nil
}

// sqlRollupTotals reads no more than two numbers a row: it is about a range that
// is only compared with.
const sqlRollupTotals = `
	SELECT coalesce(sum(attempts), 0)::bigint, coalesce(sum(successes), 0)::bigint
	FROM webhook_rollups WHERE project_id = $1 AND hour >= $2 AND hour < $3`

// RollupTotals returns how many attempts of a project began in whole hours that
// are rolled up, and how many of them delivered.
func (s *Store) RollupTotals(ctx context.Context, project models.ProjectID, since, until time.Time) (attempts, successes int64, err error) {
	err = s.withConn(ctx, func(c *pgx.Conn) error {
		return c.QueryRow(ctx, sqlRollupTotals, string(project), since, until).Scan(&attempts, &successes)
	})
	if err != nil {
		return 0, 0, fmt.Errorf("sum rollups: %w", err)
	}
	return attempts, successes, nil
}
