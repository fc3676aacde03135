package store

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/botix-pro/platform/app/models"
)

// Outcome is what came of a claimed delivery, and what becomes of it.
type Outcome struct {
	Token   string // of the claim
	Attempt models.WebhookAttempt
	Status  models.DeliveryStatus // delivered, waiting, pending or dead_letter
	Step    int
	// KeepStep: the step goes on, with the beginning that it has.
	KeepStep bool
	DueIn    time.Duration // of waiting and pending
	Cause    models.DeadLetterCause
	// CloseLaneFor keeps everything away from the endpoint for that long.
	CloseLaneFor time.Duration
	// DisableEndpoint follows a 410.
	DisableEndpoint bool
}

// One guarded statement moves the delivery, if the claim still holds, and only
// then writes the attempt, the dead letter, the lane and the endpoint.
const sqlRecordOutcome = `
	WITH moved AS (
		UPDATE webhook_deliveries SET
		       status = @status, step = @step, step_started_at = CASE WHEN @keep_step THEN step_started_at END,
		       next_attempt_at = CASE WHEN @status IN ('pending', 'waiting') THEN clock_timestamp() + make_interval(secs => @due_in) END,
		       claim_token = NULL, attempt_id = NULL, lease_expires_at = NULL, worker_losses = 0,
		       manual = manual AND @status IN ('pending', 'waiting'),
		       last_status_code = @code, last_error_class = @class, updated_at = clock_timestamp()
		WHERE project_id = @project AND id = @delivery AND status = 'in_flight' AND claim_token = @token
		RETURNING id, event_id, endpoint_id, event_type
	), attempt AS (
		INSERT INTO webhook_attempts (` + attemptColumns + `)
		SELECT ` + attemptValues + ` FROM moved m
	), dead AS (
		INSERT INTO dead_letters (project_id, id, delivery_id, endpoint_id, event_id, event_type, cause, attempt_id, expires_at)
		SELECT @project, 'dlq_' || new_ulid(), m.id, m.endpoint_id, m.event_id, m.event_type, @cause, @attempt,
		       clock_timestamp() + (SELECT make_interval(days => (t.limits ->> 'dead_letter_retention_days')::int)
		                            FROM projects p JOIN plans t ON t.id = p.plan_id WHERE p.id = @project)
		FROM moved m WHERE @status = 'dead_letter'
	), lane AS (
		UPDATE webhook_lanes l SET closed_until = greatest(l.closed_until, clock_timestamp() + make_interval(secs => @close_lane))
		FROM moved m WHERE l.project_id = @project AND l.endpoint_id = m.endpoint_id AND @close_lane > 0
	), endpoint AS (
		UPDATE webhook_endpoints e SET status = 'disabled', version = e.version + 1, updated_at = clock_timestamp()
		FROM moved m WHERE e.project_id = @project AND e.id = m.endpoint_id AND e.status IN ('active', 'paused') AND @disable
	)
	SELECT count(*) = 1 FROM moved`

// The claim was taken back, or another late outcome delivered it: the attempt is
// still recorded, in the place of its "worker_lost" if that was written.
const sqlRecordLate = `
	WITH corrected AS (
		UPDATE webhook_attempts SET
		       url = @url, request_headers = @request_headers, status_code = @code, error_class = @class, error = @error, response_headers = @response_headers,
		       response_body = @response_body, response_truncated = @truncated, dns_ms = @dns, connect_ms = @connect, tls_ms = @tls,
		       first_byte_ms = @first_byte, duration_ms = @duration
		WHERE project_id = @project AND delivery_id = @delivery AND number = @number AND error_class = 'worker_lost'
		RETURNING 1
	), attempt AS (
		INSERT INTO webhook_attempts (` + attemptColumns + `)
		SELECT ` + attemptValues + ` FROM webhook_deliveries m
		WHERE m.project_id = @project AND m.id = @delivery AND NOT EXISTS (SELECT 1 FROM corrected)
	), delivered AS (
		UPDATE webhook_deliveries SET
		       status = 'delivered', next_attempt_at = NULL, claim_token = NULL, attempt_id = NULL, lease_expires_at = NULL,
		       last_status_code = @code, last_error_class = NULL, updated_at = clock_timestamp()
		WHERE project_id = @project AND id = @delivery AND status <> 'delivered' AND @status = 'delivered'
		RETURNING 1
	)
	DELETE FROM dead_letters WHERE project_id = @project AND delivery_id = @delivery AND EXISTS (SELECT 1 FROM delivered)`

const attemptColumns = `project_id, id, delivery_id, endpoint_id, event_id, event_type, number, step, manual, url, request_id,
	request_headers, status_code, error_class, error, response_headers, response_body, response_truncated,
	dns_ms, connect_ms, tls_ms, first_byte_ms, duration_ms, started_at`

// attemptValues are an attempt's own values and those of its delivery, m.
const attemptValues = `@project, @attempt, m.id, m.endpoint_id, m.event_id, m.event_type, @number, @attempt_step, @manual, @url, @request_id,
	@request_headers, @code, @class, @error, @response_headers, @response_body, @truncated, @dns, @connect, @tls, @first_byte, @duration, @started_at`

// RecordOutcomes records what came of claimed deliveries, all or none. Rows are
// locked in the order of their ids, so that two recorders never wait for each
// other in a circle.
func (s *Store) RecordOutcomes(ctx context.Context, outcomes []Outcome) error {
	outcomes = slices.Clone(outcomes)
	slices.SortFunc(outcomes, func(a, b Outcome) int { return strings.Compare(a.Attempt.DeliveryID, b.Attempt.DeliveryID) })
	conn, err := s.db.Conn(ctx)
	if err != nil {
		return fmt.Errorf("record outcomes: %w", err)
	}
	defer func() { _ = conn.Close() }()
	err = native(conn, func(c *pgx.Conn) error {
		return pgx.BeginTxFunc(ctx, c, pgx.TxOptions{IsoLevel: pgx.ReadCommitted}, func(tx pgx.Tx) error {
			late, err := recordClaims(ctx, tx, outcomes)
			if err != nil || len(late) == 0 {
				return err
			}
			return recordLate(ctx, tx, late)
		})
	})
	if err != nil {
		return fmt.Errorf("record outcomes: %w", err)
	}
	return nil
}

// recordClaims records what is still claimed and returns the rest.
func recordClaims(ctx context.Context, tx pgx.Tx, outcomes []Outcome) (late []Outcome, err error) {
	batch := &pgx.Batch{}
	for _, o := range outcomes {
		batch.Queue(sqlRecordOutcome, outcomeArguments(o)).QueryRow(func(row pgx.Row) error {
			var moved bool
			if err := row.Scan(&moved); err != nil {
				return err
			}
			if !moved {
				late = append(late, o)
			}
			return nil
		})
	}
	return late, tx.SendBatch(ctx, batch).Close()
}

func recordLate(ctx context.Context, tx pgx.Tx, late []Outcome) error {
	batch := &pgx.Batch{}
	for _, o := range late {
		batch.Queue(sqlRecordLate, outcomeArguments(o))
	}
	return tx.SendBatch(ctx, batch).Close()
}

func outcomeArguments(o Outcome) pgx.NamedArgs {
	a := o.Attempt
	return pgx.NamedArgs{
		"project": string(a.ProjectID), "delivery": a.DeliveryID, "token": o.Token,
		"status": string(o.Status), "step": o.Step, "keep_step": o.KeepStep, "due_in": o.DueIn.Seconds(),
		"cause": string(o.Cause), "close_lane": o.CloseLaneFor.Seconds(), "disable": o.DisableEndpoint,
		"attempt": a.ID, "number": a.Number, "attempt_step": a.Step, "manual": a.Manual, "url": a.URL,
		"request_id": a.RequestID, "started_at": a.StartedAt, "request_headers": a.RequestHeaders,
		"code": a.StatusCode, "class": a.ErrorClass, "error": a.Error,
		"response_headers": a.ResponseHeaders, "response_body": a.ResponseBody, "truncated": a.ResponseTruncated,
		"dns": a.Timing.DNSMs, "connect": a.Timing.ConnectMs, "tls": a.Timing.TLSMs,
		"first_byte": a.Timing.FirstByteMs, "duration": a.Timing.DurationMs,
	}
}
