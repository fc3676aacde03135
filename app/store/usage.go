package store

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/botix-pro/platform/app/models"
)

// MinuteRetention is how long requests are known by the minute.
const MinuteRetention = 2 * 24 * time.Hour

// What a batch of the request log adds to the sums: only what it wrote itself, so
// that a batch that comes again counts once. Each sum's rows are taken in one
// order, so that two servers' batches wait for each other and never in a circle.
const sqlCountRequests = `, hours AS (
		INSERT INTO request_rollups AS r (project_id, hour, succeeded, replayed, refused, limited, failed)
		SELECT project_id, date_trunc('hour', at, 'UTC'), count(*) FILTER (WHERE status < 400 AND NOT replayed), count(*) FILTER (WHERE replayed),
		       count(*) FILTER (WHERE status BETWEEN 400 AND 499 AND status <> 429 AND NOT replayed),
		       count(*) FILTER (WHERE status = 429 AND NOT replayed), count(*) FILTER (WHERE status >= 500 AND NOT replayed)
		FROM written GROUP BY 1, 2 ORDER BY 1, 2
		ON CONFLICT (project_id, hour) DO UPDATE SET succeeded = r.succeeded + excluded.succeeded, replayed = r.replayed + excluded.replayed,
		       refused = r.refused + excluded.refused, limited = r.limited + excluded.limited, failed = r.failed + excluded.failed
	)
	INSERT INTO request_minutes AS m (project_id, key_id, minute, admitted, limited)
	SELECT project_id, key_id, date_trunc('minute', at), count(*) FILTER (WHERE status <> 429 OR replayed), count(*) FILTER (WHERE status = 429 AND NOT replayed)
	FROM written GROUP BY 1, 2, 3 ORDER BY 1, 3, 2
	ON CONFLICT (project_id, minute, key_id) DO UPDATE SET admitted = m.admitted + excluded.admitted, limited = m.limited + excluded.limited`

const (
	sqlRequestRollups = `
		SELECT project_id, hour, succeeded, replayed, refused, limited, failed
		FROM request_rollups WHERE project_id = $1 AND hour >= $2 AND hour < $3 ORDER BY hour`
	sqlRequestMinutes = `
		SELECT project_id, key_id, minute, admitted, limited
		FROM request_minutes WHERE project_id = $1 AND minute >= $2 AND minute < $3 ORDER BY minute, key_id`
	sqlDropRequestRollups = `
		DELETE FROM request_rollups WHERE (project_id, hour) IN (
			SELECT project_id, hour FROM request_rollups WHERE hour < now() - make_interval(secs => $1)
			ORDER BY hour LIMIT $2 FOR UPDATE SKIP LOCKED)`
	sqlPlans = `SELECT id, name, limits FROM plans ORDER BY (limits ->> 'api_rate_per_minute')::int, id`
)

// RequestRollups returns a project's API requests that began in [since, until),
// which should be whole hours, by the hour. Hours without any are left out. What
// was answered in the last seconds may be missing.
func (s *Store) RequestRollups(ctx context.Context, project models.ProjectID, since, until time.Time) ([]models.RequestRollup, error) {
	list, err := selectRows[models.RequestRollup](ctx, s, sqlRequestRollups, string(project), since, until)
	if err != nil {
		return nil, fmt.Errorf("read the requests' rollups: %w", err)
	}
	return list, nil
}

// RequestMinutes returns a project's API requests that began in [since, until) by
// minute and key, within [MinuteRetention]. Minutes without any are left out.
func (s *Store) RequestMinutes(ctx context.Context, project models.ProjectID, since, until time.Time) ([]models.RequestMinute, error) {
	list, err := selectRows[models.RequestMinute](ctx, s, sqlRequestMinutes, string(project), since, until)
	if err != nil {
		return nil, fmt.Errorf("read the requests' minutes: %w", err)
	}
	return list, nil
}

// Plans returns all plans, the smallest rate first.
func (s *Store) Plans(ctx context.Context) ([]models.Plan, error) {
	type row struct {
		ID, Name string
		Limits   []byte
	}
	rows, err := selectRows[row](ctx, s, sqlPlans)
	if err != nil {
		return nil, fmt.Errorf("list the plans: %w", err)
	}
	plans := make([]models.Plan, len(rows))
	for i, r := range rows {
		limits, err := models.ParsePlanLimits(r.Limits)
		if err != nil {
			return nil, fmt.Errorf("plan %s: %w", r.ID, err)
		}
		plans[i] = models.Plan{ID: r.ID, Name: r.Name, Limits: limits}
	}
	return plans, nil
}

// sqlOverview counts along indexes and stops at $2 everywhere, so that it is quick
// however much there is.
const sqlOverview = `
	SELECT (SELECT count(*) FROM (SELECT FROM dead_letters WHERE project_id = $1 LIMIT $2) AS d),
	       coalesce((SELECT min(id) FROM dead_letters WHERE project_id = $1), ''),
	       (SELECT count(*) FROM (SELECT FROM webhook_deliveries WHERE project_id = $1 AND status IN ('pending', 'waiting') LIMIT $2) AS w),
	       EXISTS (SELECT FROM api_keys WHERE project_id = $1 AND revoked_at IS NULL AND (expires_at IS NULL OR expires_at > now())),
	       EXISTS (SELECT FROM api_keys WHERE project_id = $1 AND last_used_at IS NOT NULL) OR EXISTS (SELECT FROM request_rollups WHERE project_id = $1),
	       EXISTS (SELECT FROM webhook_endpoints WHERE project_id = $1 AND status <> 'deleted'),
	       EXISTS (SELECT FROM webhook_endpoint_health WHERE project_id = $1 AND last_success_at IS NOT NULL)`

// Overview is how a project does now.
type Overview struct {
	DeadLetters int64 // at most [MaxAttention]
	// OldestDeadLetter is when that was given up; zero without one.
	OldestDeadLetter time.Time
	Waiting          int64 // deliveries that are due or wait for their next try, at most [MaxAttention]
	// The first steps of a project, each seen from what is there.
	HasKey, HasRequest, HasEndpoint, HasDelivery bool
}

// Overview tells how a project does now.
func (s *Store) Overview(ctx context.Context, project models.ProjectID) (o Overview, err error) {
	var oldest string
	err = s.withConn(ctx, func(c *pgx.Conn) error {
		return c.QueryRow(ctx, sqlOverview, string(project), MaxAttention).
			Scan(&o.DeadLetters, &oldest, &o.Waiting, &o.HasKey, &o.HasRequest, &o.HasEndpoint, &o.HasDelivery)
	})
	if err == nil && oldest != "" {
		o.OldestDeadLetter, err = models.TimeOfID(models.PrefixDeadLetter, oldest)
	}
	if err != nil {
		return Overview{}, fmt.Errorf("read the overview: %w", err)
	}
	return o, nil
}

// CountHeld counts what is held for an endpoint, up to limit.
func (s *Store) CountHeld(ctx context.Context, project models.ProjectID, endpoint string, limit int) (count int64, err error) {
	err = s.withConn(ctx, func(c *pgx.Conn) error {
		return c.QueryRow(ctx, `SELECT count(*) FROM (SELECT FROM webhook_deliveries
			WHERE project_id = $1 AND endpoint_id = $2 AND status IN ('dead_letter', 'held') AND status = 'held' LIMIT $3) AS h`,
			string(project), endpoint, limit).Scan(&count)
	})
	if err != nil {
		return 0, fmt.Errorf("count what is held: %w", err)
	}
	return count, nil
}
