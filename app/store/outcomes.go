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
	// DisableEndpoint follows a 410, unless the claim was lost: that the endpoint
	// said so long ago proves nothing about what its owner has done since.
	DisableEndpoint bool
}

// One guarded statement moves the delivery, if the claim still holds, and only
// then writes the attempt, the dead letter and the lane. Of an endpoint that was
// deleted meanwhile nothing waits any more, and of one that is not active what
// would wait is held: decided under a lock on the endpoint, taken only when it is
// not active, so that what is held here is there when a resume looks for it. An
// endpoint that changes after this look leaves the delivery waiting, for the
// claim or the sweeper to correct.
const sqlRecordOutcome = `
	WITH endpoint AS (
		SELECT e.status FROM webhook_endpoints e
		WHERE e.project_id = @project AND e.id = @endpoint AND e.status <> 'active' FOR SHARE
	), next AS (
		SELECT CASE WHEN e.status = 'deleted' AND @status::text <> 'delivered' THEN 'cancelled'
		            WHEN e.status IS NOT NULL AND @status::text IN ('pending', 'waiting') THEN 'held'
		            ELSE @status::text END AS status
		FROM (SELECT 1) AS one LEFT JOIN endpoint e ON true
	), moved AS (
		UPDATE webhook_deliveries d SET
		       status = next.status, step = @step, step_started_at = CASE WHEN @keep_step THEN d.step_started_at END,
		       next_attempt_at = CASE WHEN next.status IN ('pending', 'waiting') THEN clock_timestamp() + make_interval(secs => @due_in) END,
		       claim_token = NULL, attempt_id = NULL, lease_expires_at = NULL, worker_losses = 0,
		       manual = d.manual AND next.status IN ('pending', 'waiting', 'held'),
		       last_status_code = @code, last_error_class = @class, updated_at = clock_timestamp()
		FROM next
		WHERE d.project_id = @project AND d.id = @delivery AND d.status = 'in_flight' AND d.claim_token = @token
		RETURNING d.id, d.event_id, d.endpoint_id, d.event_type, d.status
	), attempt AS (
		INSERT INTO webhook_attempts (` + attemptColumns + `)
		SELECT ` + attemptValues + ` FROM moved m
	), dead AS (
		INSERT INTO dead_letters (project_id, id, delivery_id, endpoint_id, event_id, event_type, cause, attempt_id, expires_at)
		SELECT @project, 'dlq_' || new_ulid(), m.id, m.endpoint_id, m.event_id, m.event_type, @cause, @attempt,
		       clock_timestamp() + (SELECT make_interval(days => (t.limits ->> 'dead_letter_retention_days')::int)
		                            FROM projects p JOIN plans t ON t.id = p.plan_id WHERE p.id = @project)
		FROM moved m WHERE m.status = 'dead_letter'
	), lane AS (
		UPDATE webhook_lanes l SET closed_until = greatest(l.closed_until, clock_timestamp() + make_interval(secs => @close_lane))
		FROM moved m WHERE l.project_id = @project AND l.endpoint_id = m.endpoint_id AND @close_lane > 0
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
		RETURNING started_at
	), stale AS ( -- the hour of the record that was corrected, which need not be this one's
		INSERT INTO webhook_rollup_stale SELECT date_trunc('hour', started_at) FROM corrected
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

// What a batch changes beside its deliveries is locked before them, in the order
// of the endpoints' ids: two recorders that close the same lanes, or disable the
// same endpoints, then never wait for each other in a circle. It is the order in
// which a claim locks, too.
const (
	sqlLockLanes = `
		SELECT 1 FROM webhook_lanes l JOIN unnest($1::text[], $2::text[]) AS u (project, endpoint)
		       ON l.project_id = u.project AND l.endpoint_id = u.endpoint
		ORDER BY l.project_id, l.endpoint_id FOR NO KEY UPDATE OF l`
	sqlLockEndpoints = `
		SELECT 1 FROM webhook_endpoints e JOIN unnest($1::text[], $2::text[]) AS u (project, endpoint)
		       ON e.project_id = u.project AND e.id = u.endpoint
		ORDER BY e.project_id, e.id FOR NO KEY UPDATE OF e`
)

// RecordOutcomes records what came of claimed deliveries, all or none, and what
// that says about their endpoints: how they do ([models.EndpointHealth]), and
// that one is disabled, with the event about it, which the sweeper finds.
//
// Rows are locked in one order: lanes, endpoints, deliveries by their ids, health.
func (s *Store) RecordOutcomes(ctx context.Context, outcomes []Outcome) error {
	outcomes = slices.Clone(outcomes)
	slices.SortFunc(outcomes, func(a, b Outcome) int { return strings.Compare(a.Attempt.DeliveryID, b.Attempt.DeliveryID) })
	if err := s.recordOutcomes(ctx, outcomes); err != nil {
		return fmt.Errorf("record outcomes: %w", err)
	}
	return nil
}

// recordOutcomes takes two round trips, unless an endpoint is disabled.
func (s *Store) recordOutcomes(ctx context.Context, outcomes []Outcome) error {
	var late []Outcome
	batch := &pgx.Batch{}
	lockFirst(batch, outcomes)
	recordClaims(batch, outcomes, &late)
	tx, err := s.beginTimed(ctx, "", batch)
	if err != nil {
		return err
	}
	defer tx.Rollback(ctx)
	for _, o := range late {
		tx.exec(sqlRecordLate, outcomeArguments(o))
	}
	tx.recordHealth(outcomes)
	tx.markStale(outcomes)
	gone := disabled(outcomes, late)
	if len(gone) > 0 { // what is told of them includes what was just recorded
		if err := tx.sendQueued(ctx); err != nil {
			return err
		}
	}
	for _, endpoint := range gone {
		if err := tx.disableEndpoint(ctx, endpoint, models.DisabledGone); err != nil {
			return err
		}
	}
	return tx.flush(ctx, &pgx.Batch{})
}

func lockFirst(batch *pgx.Batch, outcomes []Outcome) {
	closing := slices.ContainsFunc(outcomes, func(o Outcome) bool { return o.CloseLaneFor > 0 })
	disabling := slices.ContainsFunc(outcomes, func(o Outcome) bool { return o.DisableEndpoint })
	if !closing && !disabling {
		return
	}
	projects, endpoints := make([]string, len(outcomes)), make([]string, len(outcomes))
	for i, o := range outcomes {
		projects[i], endpoints[i] = string(o.Attempt.ProjectID), o.Attempt.EndpointID
	}
	if closing {
		batch.Queue(sqlLockLanes, projects, endpoints)
	}
	if disabling {
		batch.Queue(sqlLockEndpoints, projects, endpoints)
	}
}

// recordClaims queues the record of what is still claimed; the rest comes out in
// late.
func recordClaims(batch *pgx.Batch, outcomes []Outcome, late *[]Outcome) {
	for _, o := range outcomes {
		batch.Queue(sqlRecordOutcome, outcomeArguments(o)).QueryRow(func(row pgx.Row) error {
			var moved bool
			if err := row.Scan(&moved); err != nil {
				return err
			}
			if !moved {
				*late = append(*late, o)
			}
			return nil
		})
	}
}

// disabled are the endpoints that a batch disables, once each, in their order.
func disabled(outcomes, late []Outcome) []Lane {
	var list []Lane
	for _, o := range outcomes {
		lost := slices.ContainsFunc(late, func(l Outcome) bool { return l.Attempt.ID == o.Attempt.ID })
		if o.DisableEndpoint && !lost {
			list = append(list, Lane{ProjectID: o.Attempt.ProjectID, EndpointID: o.Attempt.EndpointID})
		}
	}
	slices.SortFunc(list, Lane.compare)
	return slices.Compact(list)
}

func outcomeArguments(o Outcome) pgx.NamedArgs {
	a := o.Attempt
	return pgx.NamedArgs{
		"project": string(a.ProjectID), "delivery": a.DeliveryID, "endpoint": a.EndpointID, "token": o.Token,
		"status": string(o.Status), "step": o.Step, "keep_step": o.KeepStep, "due_in": o.DueIn.Seconds(),
		"cause": string(o.Cause), "close_lane": o.CloseLaneFor.Seconds(),
		"attempt": a.ID, "number": a.Number, "attempt_step": a.Step, "manual": a.Manual, "url": a.URL,
		"request_id": a.RequestID, "started_at": a.StartedAt, "request_headers": a.RequestHeaders,
		"code": a.StatusCode, "class": a.ErrorClass, "error": a.Error,
		"response_headers": a.ResponseHeaders, "response_body": a.ResponseBody, "truncated": a.ResponseTruncated,
		"dns": a.Timing.DNSMs, "connect": a.Timing.ConnectMs, "tls": a.Timing.TLSMs,
		"first_byte": a.Timing.FirstByteMs, "duration": a.Timing.DurationMs,
	}
}
