package store

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/botix-pro/platform/app/models"
)

// Lane names what a hint is about: an endpoint whose deliveries are due, or a
// kind of [Work].
type Lane struct {
	ProjectID  models.ProjectID
	EndpointID string
}

// Work is a kind of work that any worker may look for.
type Work string

// What workers look for besides deliveries.
const (
	WorkMessages Work = "messages"
	WorkRuns     Work = "runs"
	WorkJobs     Work = "jobs"
)

func (w Work) lane() Lane { return Lane{EndpointID: string(w)} }

// Work returns the kind of work that the lane stands for; ok is false for an
// endpoint's.
func (l Lane) Work() (kind Work, ok bool) { return Work(l.EndpointID), l.ProjectID == "" }

// due notes that the transaction makes something of the kind due. Who commits is
// told, as of the endpoints'.
func (tx *Tx) due(kind Work) {
	if lane := kind.lane(); !slices.Contains(tx.works, lane) {
		tx.works = append(tx.works, lane)
	}
}

// compare is the order in which endpoints and their lanes are locked.
func (l Lane) compare(other Lane) int {
	return cmp.Or(strings.Compare(string(l.ProjectID), string(other.ProjectID)), strings.Compare(l.EndpointID, other.EndpointID))
}

const (
	// Takes a lane that nobody holds, or leaves word with its holder: both in
	// one statement, under the row's lock, so that no knock is lost between a
	// holder's last look and its release.
	sqlAcquireLane = `
		UPDATE webhook_lanes SET
		       holder = CASE WHEN holder IS NULL OR lease_expires_at <= clock_timestamp() THEN $3 ELSE holder END,
		       lease_expires_at = CASE WHEN holder IS NULL OR lease_expires_at <= clock_timestamp()
		           THEN clock_timestamp() + make_interval(secs => $4) ELSE lease_expires_at END,
		       again = NOT (holder IS NULL OR lease_expires_at <= clock_timestamp())
		WHERE project_id = $1 AND endpoint_id = $2
		RETURNING holder = $3`
	// Gives a lane back, unless somebody knocked: then the holder keeps it and
	// looks again.
	sqlReleaseLane = `
		UPDATE webhook_lanes SET
		       holder = CASE WHEN again THEN holder END,
		       lease_expires_at = CASE WHEN again THEN lease_expires_at END,
		       again = false
		WHERE project_id = $1 AND endpoint_id = $2 AND holder = $3
		RETURNING holder IS NOT NULL`
	sqlLeaveLane = `
		UPDATE webhook_lanes SET holder = NULL, lease_expires_at = NULL, again = false
		WHERE project_id = $1 AND endpoint_id = $2 AND holder = $3`
	// One probe of the index a lane, whatever the planner thinks of a backlog; not
	// what waits for its endpoint's cap; in random order, so that no project's
	// lanes always come last.
	sqlDueLanes = `
		SELECT l.project_id, l.endpoint_id
		FROM webhook_lanes l JOIN webhook_endpoints e ON e.project_id = l.project_id AND e.id = l.endpoint_id
		CROSS JOIN LATERAL (
			SELECT 1 FROM webhook_deliveries d
			WHERE d.project_id = l.project_id AND d.endpoint_id = l.endpoint_id
			  AND d.status IN ('pending', 'waiting') AND d.next_attempt_at <= now()
			ORDER BY d.next_attempt_at LIMIT 1) AS due
		WHERE (l.holder IS NULL OR l.lease_expires_at <= clock_timestamp())
		  AND (l.closed_until IS NULL OR l.closed_until <= clock_timestamp())
		  AND (e.status <> 'active' OR e.max_in_flight > (
		        SELECT count(*) FROM webhook_deliveries f
		        WHERE f.project_id = l.project_id AND f.endpoint_id = l.endpoint_id AND f.status = 'in_flight'))
		ORDER BY random() LIMIT $1`
)

// AcquireLane tries to become the one that drains a lane, for the length of the
// lease. When somebody else holds it, they are told to look again before they
// let go, and AcquireLane returns false.
func (s *Store) AcquireLane(ctx context.Context, lane Lane, holder string, lease time.Duration) (bool, error) {
	var mine bool
	err := s.laneRow(ctx, &mine, sqlAcquireLane, string(lane.ProjectID), lane.EndpointID, holder, lease.Seconds())
	if err != nil {
		return false, fmt.Errorf("acquire a lane: %w", err)
	}
	return mine, nil
}

// ReleaseLane gives a lane back. It returns true when the lane is still the
// holder's, because somebody knocked meanwhile.
func (s *Store) ReleaseLane(ctx context.Context, lane Lane, holder string) (kept bool, err error) {
	err = s.laneRow(ctx, &kept, sqlReleaseLane, string(lane.ProjectID), lane.EndpointID, holder)
	if err != nil {
		return false, fmt.Errorf("release a lane: %w", err)
	}
	return kept, nil
}

// LeaveLane gives a lane back with whatever is still due in it.
func (s *Store) LeaveLane(ctx context.Context, lane Lane, holder string) error {
	return s.withConn(ctx, func(c *pgx.Conn) error {
		if _, err := c.Exec(ctx, sqlLeaveLane, string(lane.ProjectID), lane.EndpointID, holder); err != nil {
			return fmt.Errorf("leave a lane: %w", err)
		}
		return nil
	})
}

// DueLanes returns at most limit lanes that have something due and that nobody
// drains.
func (s *Store) DueLanes(ctx context.Context, limit int) (lanes []Lane, err error) {
	err = s.withConn(ctx, func(c *pgx.Conn) error {
		rows, err := c.Query(ctx, sqlDueLanes, limit)
		if err != nil {
			return err
		}
		lanes, err = pgx.CollectRows(rows, pgx.RowToStructByPos[Lane])
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("find lanes with something due: %w", err)
	}
	return lanes, nil
}

// laneRow runs a statement that answers one boolean, or no row, which is false.
func (s *Store) laneRow(ctx context.Context, answer *bool, sql string, args ...any) error {
	return s.withConn(ctx, func(c *pgx.Conn) error {
		rows, err := c.Query(ctx, sql, args...)
		if err != nil {
			return err
		}
		answers, err := pgx.CollectRows(rows, pgx.RowTo[bool])
		*answer = len(answers) == 1 && answers[0]
		return err
	})
}
