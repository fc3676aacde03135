package store

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgtype"

	"github.com/botix-pro/platform/app/models"
)

// Outcome is what came of a claimed delivery, and what becomes of it.
type Outcome struct {
	Token   string // of the claim
	Attempt models.WebhookAttempt
	Sent    *models.SentRequest   // nil: nothing was sent
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

// outcomeRows are a batch's outcomes as rows, o; see outcomeColumns for their
// arguments.
const outcomeRows = `
	WITH o AS MATERIALIZED (
		SELECT * FROM unnest($1::text[], $2::text[], $3::text[], $4::uuid[], $5::text[], $6::int[], $7::bool[], $8::float8[], $9::text[],
		       $10::float8[], $11::uuid[], $12::uuid[], $13::uuid[], $14::timestamptz[], $15::int[], $16::int[], $17::int[], $18::int[], $19::int[],
		       $20::int[], $21::int[], $22::int[], $23::int[], $24::bool[], $25::bool[], $26::bool[], $27::text[], $28::text[], $29::bytea[],
		       $30::json[], $31::text[], $32::text[], $33::json[], $34::bytea[])
		AS o (project, delivery, endpoint, token, status, step, keep_step, due_in, cause,
		      close_lane, attempt, delivery_id, endpoint_id, started_at, number, body_bytes, dns, connect, tls,
		      first_byte, duration, code, attempt_step, manual, fresh, truncated, url, user_agent, signatures,
		      own_headers, class, error, response_headers, response_body)
	)`

// lockedRows are their deliveries, locked in the order of their ids, so that two
// batches never wait for each other in a circle.
const (
	lockedRows = `, locked AS MATERIALIZED (
		SELECT d.project_id, d.id FROM webhook_deliveries d JOIN o ON d.project_id = o.project AND d.id = o.delivery`
	lockedInOrder = ` ORDER BY d.id FOR UPDATE OF d
	)`
)

// outcomeColumns are the arguments of outcomeRows. An id that is not one has no
// compact form, and its outcome cannot be recorded.
func outcomeColumns(outcomes []Outcome) []any {
	return append(deliveryColumnsOf(outcomes), attemptColumnsOf(outcomes)...)
}

func deliveryColumnsOf(outcomes []Outcome) []any {
	return []any{
		column(outcomes, func(o *Outcome) string { return string(o.Attempt.ProjectID) }),
		column(outcomes, func(o *Outcome) string { return o.Attempt.DeliveryID }),
		column(outcomes, func(o *Outcome) string { return o.Attempt.EndpointID }),
		column(outcomes, func(o *Outcome) string { return o.Token }),
		column(outcomes, func(o *Outcome) string { return string(o.Status) }),
		column(outcomes, func(o *Outcome) int { return o.Step }),
		column(outcomes, func(o *Outcome) bool { return o.KeepStep }),
		column(outcomes, func(o *Outcome) float64 { return o.DueIn.Seconds() }),
		column(outcomes, func(o *Outcome) string { return string(o.Cause) }),
		column(outcomes, func(o *Outcome) float64 { return o.CloseLaneFor.Seconds() }),
	}
}

func attemptColumnsOf(outcomes []Outcome) []any {
	return []any{
		column(outcomes, func(o *Outcome) pgtype.UUID { return compact(models.PrefixAttempt, o.Attempt.ID) }),
		column(outcomes, func(o *Outcome) pgtype.UUID { return compact(models.PrefixDelivery, o.Attempt.DeliveryID) }),
		column(outcomes, func(o *Outcome) pgtype.UUID { return compact(models.PrefixEndpoint, o.Attempt.EndpointID) }),
		column(outcomes, func(o *Outcome) time.Time { return o.Attempt.StartedAt }),
		column(outcomes, func(o *Outcome) int { return o.Attempt.Number }),
		column(outcomes, func(o *Outcome) int { return sent(o).BodyBytes }),
		column(outcomes, func(o *Outcome) *int { return unlessZero(o.Attempt.Timing.DNSMs) }),
		column(outcomes, func(o *Outcome) *int { return unlessZero(o.Attempt.Timing.ConnectMs) }),
		column(outcomes, func(o *Outcome) *int { return unlessZero(o.Attempt.Timing.TLSMs) }),
		column(outcomes, func(o *Outcome) int { return o.Attempt.Timing.FirstByteMs }),
		column(outcomes, func(o *Outcome) int { return o.Attempt.Timing.DurationMs }),
		column(outcomes, func(o *Outcome) *int { return o.Attempt.StatusCode }),
		column(outcomes, func(o *Outcome) int { return o.Attempt.Step }),
		column(outcomes, func(o *Outcome) bool { return o.Attempt.Manual }),
		column(outcomes, func(o *Outcome) bool { return sent(o).Fresh }),
		column(outcomes, func(o *Outcome) bool { return o.Attempt.ResponseTruncated }),
		column(outcomes, func(o *Outcome) string { return o.Attempt.URL }),
		column(outcomes, func(o *Outcome) *string { return unlessZero(sent(o).UserAgent) }),
		column(outcomes, func(o *Outcome) []byte { return sent(o).Signatures }),
		column(outcomes, func(o *Outcome) *string { return document(namesOf(sent(o))) }),
		column(outcomes, func(o *Outcome) *models.ErrorClass { return o.Attempt.ErrorClass }),
		column(outcomes, func(o *Outcome) *string { return unlessZero(o.Attempt.Error) }),
		column(outcomes, func(o *Outcome) *string { return document(o.Attempt.ResponseHeaders) }),
		column(outcomes, func(o *Outcome) []byte { return o.Attempt.ResponseBody }),
	}
}

// sent is what an outcome's attempt sent, all zero when that was nothing.
func sent(o *Outcome) *models.SentRequest {
	if o.Sent == nil {
		return &models.SentRequest{}
	}
	return o.Sent
}

func compact(prefix, id string) pgtype.UUID {
	bytes, ok := models.CompactID(prefix, id)
	return pgtype.UUID{Bytes: bytes, Valid: ok}
}

// namesOf are the names of an endpoint's own headers, as JSON.
func namesOf(r *models.SentRequest) []byte {
	if len(r.OwnHeaders) == 0 {
		return nil
	}
	names, _ := json.Marshal(r.OwnHeaders) // a list of strings always encodes
	return names
}

// unlessZero is a value that is stored as NULL when it is zero.
func unlessZero[T comparable](value T) *T {
	var zero T
	if value == zero {
		return nil
	}
	return &value
}

func column[T any](outcomes []Outcome, of func(*Outcome) T) []T {
	values := make([]T, len(outcomes))
	for i := range outcomes {
		values[i] = of(&outcomes[i])
	}
	return values
}

// document is a JSON document as a text, nil for none.
func document(raw []byte) *string {
	if raw == nil {
		return nil
	}
	text := string(raw)
	return &text
}

// One guarded statement moves the deliveries whose claims still hold, and writes
// only for them the attempt, the dead letter and the lane. Of an endpoint that
// was deleted meanwhile nothing waits any more, and of one that is not active
// what would wait is held: decided under a lock on the endpoint, taken only when
// it is not active, so that what is held here is there when a resume looks for
// it. An endpoint that changes after this look leaves the delivery waiting, for
// the claim or the sweeper to correct.
const sqlRecordOutcomes = outcomeRows + `, endpoint AS MATERIALIZED (
		SELECT e.project_id, e.id, e.status FROM webhook_endpoints e JOIN (SELECT DISTINCT project, endpoint FROM o) AS u
		       ON e.project_id = u.project AND e.id = u.endpoint
		WHERE e.status <> 'active' ORDER BY e.id FOR SHARE OF e
	)` + lockedRows + ` WHERE (SELECT count(*) FROM endpoint) >= 0 -- endpoints first, as everywhere
		` + lockedInOrder + `, next AS (
		SELECT o.*, CASE WHEN e.status = 'deleted' AND o.status <> 'delivered' THEN 'cancelled'
		                 WHEN e.status IS NOT NULL AND o.status IN ('pending', 'waiting') THEN 'held'
		                 ELSE o.status END AS becomes
		FROM o JOIN locked l ON l.project_id = o.project AND l.id = o.delivery
		LEFT JOIN endpoint e ON e.project_id = o.project AND e.id = o.endpoint
	), moved AS (
		UPDATE webhook_deliveries d SET
		       status = n.becomes, step = n.step, step_started_at = CASE WHEN n.keep_step THEN d.step_started_at END,
		       next_attempt_at = CASE WHEN n.becomes IN ('pending', 'waiting') THEN clock_timestamp() + make_interval(secs => n.due_in) END,
		       claim_token = NULL, attempt_id = NULL, lease_expires_at = NULL, worker_losses = 0,
		       manual = d.manual AND n.becomes IN ('pending', 'waiting', 'held'),
		       last_status_code = n.code, last_error_class = n.class, updated_at = clock_timestamp()
		FROM next n
		-- Only what is in flight has a token. To ask for the status as well would make
		-- the planner look for every row among all that are in flight.
		WHERE d.project_id = n.project AND d.id = n.delivery AND d.claim_token = n.token
		RETURNING n.*, d.event_id, d.event_type
	), attempt AS (
		INSERT INTO webhook_attempts (` + attemptColumns + `) SELECT ` + attemptValues + ` FROM moved o
	), dead AS (
		INSERT INTO dead_letters (project_id, id, delivery_id, endpoint_id, event_id, event_type, cause, attempt_id, expires_at)
		SELECT m.project, 'dlq_' || new_ulid(), m.delivery, m.endpoint, m.event_id, m.event_type, m.cause, 'att_' || ulid_of(m.attempt),
		       clock_timestamp() + (SELECT make_interval(days => (t.limits ->> 'dead_letter_retention_days')::int)
		                            FROM projects p JOIN plans t ON t.id = p.plan_id WHERE p.id = m.project)
		FROM moved m WHERE m.becomes = 'dead_letter'
	), lane AS (
		UPDATE webhook_lanes l SET closed_until = greatest(l.closed_until, clock_timestamp() + make_interval(secs => m.close_lane))
		FROM (SELECT project, endpoint, max(close_lane) AS close_lane FROM moved GROUP BY project, endpoint) AS m
		WHERE l.project_id = m.project AND l.endpoint_id = m.endpoint AND m.close_lane > 0
	), stale AS (
		INSERT INTO webhook_rollup_stale
		SELECT DISTINCT date_trunc('hour', started_at) FROM moved WHERE started_at < now() - make_interval(secs => $35)
	)
	SELECT attempt FROM moved`

// The claims were taken back, or other late outcomes delivered them: the attempts
// are still recorded, in the place of their "worker_lost" if that was written.
const sqlRecordLate = outcomeRows + lockedRows + lockedInOrder + `, corrected AS (
		UPDATE webhook_attempts a SET
		       url = o.url, user_agent = o.user_agent, signatures = o.signatures, own_headers = o.own_headers, body_bytes = o.body_bytes, fresh = o.fresh,
		       status_code = o.code, error_class = o.class, error = o.error,
		       response_headers = o.response_headers, response_body = o.response_body, response_truncated = o.truncated, dns_ms = o.dns,
		       connect_ms = o.connect, tls_ms = o.tls, first_byte_ms = o.first_byte, duration_ms = o.duration
		FROM o
		WHERE a.project_id = o.project AND a.delivery_id = o.delivery_id AND a.number = o.number AND a.error_class = 'worker_lost'
		RETURNING o.attempt, a.started_at
	), stale AS ( -- the hour of the record that was corrected, which need not be this one's
		INSERT INTO webhook_rollup_stale SELECT date_trunc('hour', started_at) FROM corrected
	), attempt AS (
		INSERT INTO webhook_attempts (` + attemptColumns + `)
		SELECT ` + attemptValues + `
		FROM (SELECT o.*, d.event_type FROM o JOIN webhook_deliveries d ON d.project_id = o.project AND d.id = o.delivery) AS o
		WHERE o.attempt NOT IN (SELECT attempt FROM corrected)
		ON CONFLICT DO NOTHING -- recorded already, by a batch whose COMMIT was not heard of
	), delivered AS (
		UPDATE webhook_deliveries d SET
		       status = 'delivered', next_attempt_at = NULL, claim_token = NULL, attempt_id = NULL, lease_expires_at = NULL,
		       last_status_code = o.code, last_error_class = NULL, updated_at = clock_timestamp()
		FROM o JOIN locked l ON l.project_id = o.project AND l.id = o.delivery
		WHERE d.project_id = o.project AND d.id = o.delivery AND d.status <> 'delivered' AND o.status = 'delivered'
		RETURNING d.project_id, d.id
	)
	DELETE FROM dead_letters l USING delivered d WHERE l.project_id = d.project_id AND l.delivery_id = d.id`

const attemptColumns = `started_at, number, body_bytes, dns_ms, connect_ms, tls_ms, first_byte_ms, duration_ms, status_code, step, manual, fresh,
	response_truncated, id, delivery_id, endpoint_id, project_id, event_type, url, user_agent, signatures, own_headers, error_class, error,
	response_headers, response_body`

// attemptValues are an outcome's.
const attemptValues = `o.started_at, o.number, o.body_bytes, o.dns, o.connect, o.tls, o.first_byte, o.duration, o.code, o.attempt_step, o.manual, o.fresh,
	o.truncated, o.attempt, o.delivery_id, o.endpoint_id, o.project, o.event_type, o.url, o.user_agent, o.signatures, o.own_headers, o.class, o.error,
	o.response_headers, o.response_body`

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

// RecordOutcomes records what came of claimed deliveries and what that says about
// their endpoints: how they do ([models.EndpointHealth]), and that one is
// disabled, with the event about it, which the sweeper finds. All whose claims
// hold are recorded by one statement in one transaction, all or none; those that
// come late in another, after it. What was recorded may be recorded again.
//
// Rows are locked in one order: lanes, endpoints, deliveries by their ids, health.
func (s *Store) RecordOutcomes(ctx context.Context, outcomes []Outcome) error {
	outcomes = slices.Clone(outcomes)
	slices.SortFunc(outcomes, func(a, b Outcome) int { return strings.Compare(a.Attempt.DeliveryID, b.Attempt.DeliveryID) })
	record := s.recordAtOnce
	if slices.ContainsFunc(outcomes, func(o Outcome) bool { return o.DisableEndpoint }) {
		record = s.recordDisabling
	}
	late, err := record(ctx, outcomes)
	if err == nil && len(late) > 0 {
		err = s.recordLate(ctx, late)
	}
	if err != nil {
		return fmt.Errorf("record outcomes: %w", err)
	}
	return nil
}

// recordAtOnce takes one round trip, from BEGIN to COMMIT.
func (s *Store) recordAtOnce(ctx context.Context, outcomes []Outcome) (late []Outcome, err error) {
	batch := &pgx.Batch{}
	queueOutcomes(batch, outcomes, &late)
	if projects, endpoints, failures := tallies(outcomes); len(projects) > 0 {
		batch.Queue(sqlRecordHealth, projects, endpoints, failures)
	}
	batch.Queue(sqlCommit).Exec(committed)
	tx, err := s.begin(ctx, "", batch)
	if err != nil {
		return nil, err
	}
	tx.release()
	return late, nil
}

// recordDisabling is for outcomes that disable an endpoint: what is told of it
// includes what was just recorded.
func (s *Store) recordDisabling(ctx context.Context, outcomes []Outcome) (late []Outcome, err error) {
	batch := &pgx.Batch{}
	queueOutcomes(batch, outcomes, &late)
	if projects, endpoints, failures := tallies(outcomes); len(projects) > 0 {
		batch.Queue(sqlRecordHealth, projects, endpoints, failures)
	}
	tx, err := s.beginTimed(ctx, "", batch)
	if err != nil {
		return nil, err
	}
	defer tx.Rollback(ctx)
	for _, endpoint := range disabled(outcomes, late) {
		if err := tx.disableEndpoint(ctx, endpoint, models.DisabledGone); err != nil {
			return nil, err
		}
	}
	return late, tx.flush(ctx, &pgx.Batch{})
}

func (s *Store) recordLate(ctx context.Context, late []Outcome) error {
	tx, err := s.beginTimed(ctx, "", &pgx.Batch{})
	if err != nil {
		return err
	}
	defer tx.Rollback(ctx)
	tx.exec(sqlRecordLate, outcomeColumns(late)...)
	tx.markStale(late)
	return tx.flush(ctx, &pgx.Batch{})
}

// queueOutcomes queues the statement that records outcomes, and the locks that
// come before it. Those whose claims do not hold any more become late.
func queueOutcomes(batch *pgx.Batch, outcomes []Outcome, late *[]Outcome) {
	lockFirst(batch, outcomes)
	arguments := append(outcomeColumns(outcomes), staleAfter.Seconds())
	batch.Queue(sqlRecordOutcomes, arguments...).Query(func(rows pgx.Rows) error {
		moved, err := pgx.CollectRows(rows, pgx.RowTo[pgtype.UUID])
		if len(moved) < len(outcomes) {
			*late = slices.DeleteFunc(slices.Clone(outcomes), func(o Outcome) bool {
				return slices.Contains(moved, compact(models.PrefixAttempt, o.Attempt.ID))
			})
		}
		return err
	})
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
