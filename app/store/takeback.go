package store

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/botix-pro/platform/app/models"
)

// A worker that died, or is frozen, holds its deliveries no longer than their
// lease, and one that is known to be gone not even that long. The send is recorded
// as lost under its own number and costs no step; too many in a row, and the
// delivery itself is suspected of killing workers.
const sqlTakeBack = `
	WITH lost AS (
		SELECT project_id, id, lease_expires_at - make_interval(secs => @lease) AS started_at, attempt_id
		FROM webhook_deliveries
		WHERE status = 'in_flight' AND (lease_expires_at <= clock_timestamp() OR substr(uuid_send(claim_token), 1, 8) = ANY (@gone::bytea[]))
		ORDER BY id LIMIT @limit FOR UPDATE SKIP LOCKED
	), moved AS (
		UPDATE webhook_deliveries d SET
		       status = CASE WHEN d.worker_losses + 1 >= @max_losses THEN 'dead_letter' ELSE 'pending' END,
		       next_attempt_at = CASE WHEN d.worker_losses + 1 >= @max_losses THEN NULL ELSE clock_timestamp() END,
		       worker_losses = d.worker_losses + 1,
		       claim_token = NULL, attempt_id = NULL, lease_expires_at = NULL,
		       last_status_code = NULL, last_error_class = 'worker_lost', updated_at = clock_timestamp()
		FROM lost WHERE d.project_id = lost.project_id AND d.id = lost.id
		RETURNING d.*, lost.started_at, lost.attempt_id AS lost_attempt
	), attempt AS (
		INSERT INTO webhook_attempts (project_id, id, delivery_id, endpoint_id, event_type, number, step, manual, url, error_class, error, started_at)
		SELECT m.project_id, m.lost_attempt, compact_id(m.id), compact_id(m.endpoint_id), m.event_type, m.attempt_count, m.step, m.manual, e.url,
		       'worker_lost', 'The worker ended before it could record an answer; the receiver may have got the request.', m.started_at
		FROM moved m JOIN webhook_endpoints e ON e.project_id = m.project_id AND e.id = m.endpoint_id
		-- A claim so old that its day is no longer kept (everything stood still for
		-- weeks) is taken back without a record, rather than not at all.
		WHERE m.started_at > now() - make_interval(secs => @kept)
	), stale AS (
		INSERT INTO webhook_rollup_stale
		SELECT DISTINCT date_trunc('hour', m.started_at) FROM moved m WHERE m.started_at < now() - make_interval(secs => @stale)
	), dead AS (
		INSERT INTO dead_letters (project_id, id, delivery_id, endpoint_id, event_id, event_type, cause, attempt_id, expires_at)
		SELECT m.project_id, 'dlq_' || new_ulid(), m.id, m.endpoint_id, m.event_id, m.event_type, @cause, 'att_' || ulid_of(m.lost_attempt),
		       clock_timestamp() + make_interval(days => (t.limits ->> 'dead_letter_retention_days')::int)
		FROM moved m JOIN projects p ON p.id = m.project_id JOIN plans t ON t.id = p.plan_id
		WHERE m.status = 'dead_letter'
	)
	SELECT count(*) FROM moved`

// TakeBack frees at most limit deliveries whose lease, of the given length, ran
// out, or whose worker is gone, and returns how many. After maxLosses losses in a
// row a delivery becomes a dead letter.
func (s *Store) TakeBack(ctx context.Context, lease time.Duration, gone []WorkerID, maxLosses, limit int) (count int, err error) {
	err = s.withConn(ctx, func(c *pgx.Conn) error {
		return c.QueryRow(ctx, sqlTakeBack, pgx.NamedArgs{
			"lease": lease.Seconds(), "gone": workerBytes(gone), "max_losses": maxLosses, "limit": limit, "kept": (AttemptRetention - day).Seconds(),
			"stale": staleAfter.Seconds(),
			"cause": string(models.CauseWorkerLost),
		}).Scan(&count)
	})
	if err != nil {
		return 0, fmt.Errorf("take back lost deliveries: %w", err)
	}
	return count, nil
}
