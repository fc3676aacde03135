package store

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/botix-pro/platform/app/models"
)

// HistoryRetention is how long events and deliveries are kept at least (contract
// §5): longer while one that waits, is held or is dead needs them, and while an
// attempt of theirs may be kept.
const HistoryRetention = 30 * 24 * time.Hour

// NoticeRetention is how long notices are kept.
const NoticeRetention = 90 * 24 * time.Hour

const (
	// One probe of the index a project, since each has its own plan's time.
	sqlExpireHeld = `
		WITH old AS (
			SELECT d.project_id, d.id, t.limits FROM projects p JOIN plans t ON t.id = p.plan_id
			CROSS JOIN LATERAL (
				SELECT h.project_id, h.id FROM webhook_deliveries h
				WHERE h.project_id = p.id AND h.status = 'held'
				  AND h.updated_at <= now() - make_interval(days => (t.limits ->> 'dead_letter_retention_days')::int)
				ORDER BY h.updated_at LIMIT $1 FOR UPDATE SKIP LOCKED) AS d
			LIMIT $1
		), moved AS (
			UPDATE webhook_deliveries d SET status = 'dead_letter', updated_at = clock_timestamp()
			FROM old WHERE d.project_id = old.project_id AND d.id = old.id AND d.status = 'held'
			RETURNING d.project_id, d.id, d.endpoint_id, d.event_id, d.event_type, old.limits
		), dead AS (
			INSERT INTO dead_letters (project_id, id, delivery_id, endpoint_id, event_id, event_type, cause, attempt_id, expires_at)
			SELECT m.project_id, 'dlq_' || new_ulid(), m.id, m.endpoint_id, m.event_id, m.event_type, $2,
			       (SELECT 'att_' || ulid_of(a.id) FROM webhook_attempts a
			        WHERE a.project_id = m.project_id AND a.delivery_id = compact_id(m.id) ORDER BY a.number DESC LIMIT 1),
			       clock_timestamp() + make_interval(days => (m.limits ->> 'dead_letter_retention_days')::int)
			FROM moved m
		)
		SELECT count(*) FROM moved`
	// What the plan archives is left to the archive, and kept while there is none.
	sqlDropExpired = `
		DELETE FROM dead_letters WHERE (project_id, id) IN (
			SELECT d.project_id, d.id FROM projects p JOIN plans t ON t.id = p.plan_id
			CROSS JOIN LATERAL (
				SELECT l.project_id, l.id FROM dead_letters l WHERE l.project_id = p.id AND l.expires_at <= now()
				ORDER BY l.expires_at LIMIT $1 FOR UPDATE SKIP LOCKED) AS d
			WHERE NOT ` + planArchives + ` LIMIT $1)`
	sqlCountUnarchived = `
		SELECT count(*) FROM projects p JOIN plans t ON t.id = p.plan_id
		CROSS JOIN LATERAL (SELECT 1 FROM dead_letters l WHERE l.project_id = p.id AND l.expires_at <= now() LIMIT $1) AS d
		WHERE ` + planArchives
	planArchives = `coalesce((t.limits ->> 'archive')::boolean, false)`
	// What a recorder left waiting for an endpoint that was deleted at that moment,
	// and what the deletion itself left.
	sqlCancelContradictions = `
		UPDATE webhook_deliveries SET status = 'cancelled', next_attempt_at = NULL, updated_at = clock_timestamp()
		WHERE (project_id, id) IN (
			SELECT d.project_id, d.id FROM webhook_endpoints e CROSS JOIN LATERAL (
				(SELECT w.project_id, w.id FROM webhook_deliveries w
				 WHERE w.project_id = e.project_id AND w.endpoint_id = e.id AND w.status IN ('pending', 'waiting') LIMIT $1)
				UNION ALL
				(SELECT h.project_id, h.id FROM webhook_deliveries h
				 WHERE h.project_id = e.project_id AND h.endpoint_id = e.id AND h.status = 'held' LIMIT $1)) AS d
			WHERE e.status = 'deleted' AND e.updated_at > now() - interval '1 day' LIMIT $1)
		AND status IN ('pending', 'waiting', 'held')`

	// Rows are locked in one statement and judged in the next, whose look at the
	// other tables is then newer than the lock: a restore that brings a dead letter
	// back holds the same locks.
	sqlLockOldDeliveries = `
		SELECT id FROM webhook_deliveries d
		WHERE project_id = $1 AND id > $2 AND id < $3 AND status IN ('delivered', 'cancelled', 'dead_letter') AND updated_at < $4
		ORDER BY id LIMIT $5 FOR UPDATE SKIP LOCKED`
	sqlDropDeliveries = `
		DELETE FROM webhook_deliveries d WHERE project_id = $1 AND id = ANY ($2)
		AND NOT EXISTS (SELECT 1 FROM dead_letters l WHERE l.project_id = d.project_id AND l.delivery_id = d.id)`
	sqlLockOldEvents = `
		SELECT id FROM events v WHERE project_id = $1 AND id > $2 AND id < $3
		AND NOT EXISTS (SELECT 1 FROM webhook_deliveries d WHERE ` + deliveryOfEvent + `)
		ORDER BY id LIMIT $4 FOR UPDATE SKIP LOCKED`
	sqlDropEvents = `
		DELETE FROM events v WHERE project_id = $1 AND id = ANY ($2)
		AND NOT EXISTS (SELECT 1 FROM webhook_deliveries d WHERE ` + deliveryOfEvent + `)`
	// That the delivery d is of the event v. Its id begins with the event's time, see
	// [models.DeliveriesOf].
	deliveryOfEvent = `d.project_id = v.project_id AND d.event_id = v.id
		AND d.id BETWEEN 'whd_' || substr(v.id, 5, 10) AND 'whd_' || substr(v.id, 5, 10) || 'ZZZZZZZZZZZZZZZZ'`
	// Attempts that were saved for dead letters that are gone.
	sqlDropAttempts = `
		DELETE FROM dead_letter_attempts a WHERE project_id = $1
		AND NOT EXISTS (SELECT 1 FROM dead_letters l WHERE l.project_id = a.project_id AND l.delivery_id = 'whd_' || ulid_of(a.delivery_id))`
	sqlDropNotices = `DELETE FROM notices WHERE project_id = $1 AND id < $2`
	sqlDropRollups = `
		DELETE FROM webhook_rollups WHERE (project_id, endpoint_id, hour) IN (
			SELECT project_id, endpoint_id, hour FROM webhook_rollups WHERE hour < now() - make_interval(secs => $1)
			ORDER BY hour LIMIT $2 FOR UPDATE SKIP LOCKED)`
)

// ExpireHeld turns at most limit deliveries that were held for as long as their
// project's plan keeps dead letters into dead letters, and returns how many.
func (s *Store) ExpireHeld(ctx context.Context, limit int) (count int, err error) {
	err = s.withConn(ctx, func(c *pgx.Conn) error {
		return c.QueryRow(ctx, sqlExpireHeld, limit, string(models.CauseHeldExpired)).Scan(&count)
	})
	if err != nil {
		return 0, fmt.Errorf("expire held deliveries: %w", err)
	}
	return count, nil
}

// DropExpired deletes at most limit dead letters past their retention and returns
// how many. Those of projects whose plan has the archive are left to
// [Store.BeginArchive]. Their deliveries follow when their own time is over.
func (s *Store) DropExpired(ctx context.Context, limit int) (int, error) {
	return s.affected(ctx, "drop expired dead letters", sqlDropExpired, limit)
}

// CountUnarchived counts the dead letters past their retention that wait for the
// archive, at most limit of each project.
func (s *Store) CountUnarchived(ctx context.Context, limit int) (count int, err error) {
	err = s.withConn(ctx, func(c *pgx.Conn) error { return c.QueryRow(ctx, sqlCountUnarchived, limit).Scan(&count) })
	if err != nil {
		return 0, fmt.Errorf("count what waits for the archive: %w", err)
	}
	return count, nil
}

// CancelContradictions cancels at most limit deliveries that still wait for an
// endpoint that was deleted lately, and returns how many.
func (s *Store) CancelContradictions(ctx context.Context, limit int) (int, error) {
	return s.affected(ctx, "cancel deliveries of deleted endpoints", sqlCancelContradictions, limit)
}

// DropRollups deletes rollups past [RollupRetention], at most limit of attempts
// and as many of requests, and returns the larger of the two numbers.
func (s *Store) DropRollups(ctx context.Context, limit int) (int, error) {
	attempts, err := s.affected(ctx, "drop old rollups", sqlDropRollups, RollupRetention.Seconds(), limit)
	if err != nil {
		return 0, err
	}
	requests, err := s.affected(ctx, "drop old rollups of requests", sqlDropRequestRollups, RollupRetention.Seconds(), limit)
	return max(attempts, requests), err
}

// DropHistory deletes what is past its retention in one project: deliveries, then
// events that no delivery needs, limit rows at a time, and notices.
func (s *Store) DropHistory(ctx context.Context, project models.ProjectID, limit int) error {
	for _, drop := range []func(context.Context, models.ProjectID, string, int) (string, error){s.dropDeliveries, s.dropEvents} {
		for after, err := drop(ctx, project, "", limit); after != "" || err != nil; after, err = drop(ctx, project, after, limit) {
			if err != nil {
				return fmt.Errorf("drop old history: %w", err)
			}
		}
	}
	if _, err := s.affected(ctx, "drop attempts of dead letters", sqlDropAttempts, string(project)); err != nil {
		return err
	}
	now, err := s.now(ctx)
	if err != nil {
		return err
	}
	_, err = s.affected(ctx, "drop old notices", sqlDropNotices, string(project), models.FirstID(models.PrefixNotice, now.Add(-NoticeRetention)))
	return err
}

// dropDeliveries looks at the limit deliveries after the given one and returns
// the last, or nothing when there are no more.
func (s *Store) dropDeliveries(ctx context.Context, project models.ProjectID, after string, limit int) (last string, err error) {
	tx, err := s.beginTimed(ctx, project, &pgx.Batch{})
	if err != nil {
		return "", err
	}
	defer tx.Rollback(ctx)
	return tx.dropLocked(ctx, limit, sqlDropDeliveries, sqlLockOldDeliveries, string(project), after,
		models.FirstID(models.PrefixDelivery, tx.Now().Add(-HistoryRetention)), tx.Now().Add(-AttemptRetention), limit)
}

// dropEvents is [Store.dropDeliveries] for events.
func (s *Store) dropEvents(ctx context.Context, project models.ProjectID, after string, limit int) (last string, err error) {
	tx, err := s.beginTimed(ctx, project, &pgx.Batch{})
	if err != nil {
		return "", err
	}
	defer tx.Rollback(ctx)
	return tx.dropLocked(ctx, limit, sqlDropEvents, sqlLockOldEvents, string(project), after,
		models.FirstID(models.PrefixEvent, tx.Now().Add(-HistoryRetention)), limit)
}

// dropLocked locks what the one statement returns, deletes of it what the other
// agrees to, and commits.
func (tx *Tx) dropLocked(ctx context.Context, limit int, drop, lock string, args ...any) (last string, err error) {
	var ids []string
	err = tx.native(func(c *pgx.Conn) error {
		rows, err := c.Query(ctx, lock, args...)
		if err != nil {
			return err
		}
		ids, err = pgx.CollectRows(rows, pgx.RowTo[string])
		return err
	})
	if err != nil || len(ids) == 0 {
		return "", err
	}
	tx.exec(drop, string(tx.project), ids)
	if len(ids) == limit {
		last = ids[limit-1]
	}
	return last, tx.flush(ctx, &pgx.Batch{})
}

// affected runs one statement and returns how many rows it changed.
func (s *Store) affected(ctx context.Context, what, sql string, args ...any) (count int, err error) {
	err = s.withConn(ctx, func(c *pgx.Conn) error {
		done, err := c.Exec(ctx, sql, args...)
		count = int(done.RowsAffected())
		return err
	})
	if err != nil {
		return 0, fmt.Errorf("%s: %w", what, err)
	}
	return count, nil
}

func (s *Store) now(ctx context.Context) (now time.Time, err error) {
	err = s.withConn(ctx, func(c *pgx.Conn) error { return c.QueryRow(ctx, sqlNow).Scan(&now) })
	if err != nil {
		return time.Time{}, fmt.Errorf("ask for the time: %w", err)
	}
	return now, nil
}
