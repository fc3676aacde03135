package webhooks_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/botix-pro/platform/app/models"
	"github.com/botix-pro/platform/app/store"
	"github.com/botix-pro/platform/internal/clock"
)

// Both sides of the equation: what the attempts add up to, and what the rollups say.
const (
	sumOfAttempts = `
		SELECT coalesce(string_agg(concat_ws(' ', endpoint_id, hour, n, ok, answered, ms, class), E'\n' ORDER BY endpoint_id, hour), '') FROM (
			SELECT 'whe_' || ulid_of(endpoint_id) AS endpoint_id, date_trunc('hour', started_at) AS hour, count(*) AS n, count(*) FILTER (WHERE error_class IS NULL) AS ok,
			       count(status_code) AS answered, coalesce(sum(duration_ms) FILTER (WHERE status_code IS NOT NULL), 0) AS ms,
			       count(error_class) AS class
			FROM webhook_attempts WHERE started_at < (SELECT until FROM webhook_rollup_state) GROUP BY 1, 2) AS a`
	sumOfRollups = `
		SELECT coalesce(string_agg(concat_ws(' ', endpoint_id, hour, attempts, successes, answered, latency_ms,
		       (SELECT coalesce(sum(value::int), 0) FROM jsonb_each_text(failures))), E'\n' ORDER BY endpoint_id, hour), '') FROM webhook_rollups`
)

// attempts plants n attempts of the last so many hours, of every kind.
func (e *engine) attempts(n, hours int) {
	e.t.Helper()
	e.sql(`INSERT INTO webhook_attempts (project_id, id, delivery_id, endpoint_id, event_type, number, step, manual, url,
		       status_code, error_class, duration_ms, started_at)
		SELECT $1, new_compact_id(), gen_random_uuid(), lpad((n % 3)::text, 32, '0')::uuid, 'a.b', 1, 1, false, 'http://x',
		       CASE n % 4 WHEN 0 THEN 200 WHEN 1 THEN 503 WHEN 2 THEN 404 END, (ARRAY[NULL, 'http_5xx', 'http_4xx', 'dns'])[n % 4 + 1],
		       n * 37 % 45000, now() - random() * $3::int * interval '1 hour'
		FROM generate_series(1, $2) n`, string(e.project), n, hours)
}

func (e *engine) requireEqualSums() {
	e.t.Helper()
	require.Equal(e.t, e.text(sumOfAttempts), e.text(sumOfRollups))
}

// The charts' numbers are the attempts' numbers: for hours that are over, for what
// was recorded late, and for the hour that is not over yet.
func TestRollupsEqualTheAttempts(t *testing.T) {
	t.Parallel()
	e := newEngine(t, ok)
	e.attempts(2000, 20)
	both(func() { e.keeper().RollUp(t.Context()) })
	require.NotEmpty(t, e.text(sumOfRollups))
	require.Equal(t, 1, e.count(`webhook_rollup_state WHERE until > now() - interval '71 minutes'`))
	e.requireEqualSums()
	e.keeper().RollUp(t.Context())
	e.requireEqualSums()

	// A frozen worker's outcome of hours ago.
	e.publish()
	e.outcome(func(o *store.Outcome) { o.Attempt.StartedAt = clock.System{}.Now().Add(-5 * time.Hour) })
	require.NotEqual(t, e.text(sumOfAttempts), e.text(sumOfRollups))
	e.keeper().RollUp(t.Context())
	e.requireEqualSums()

	// A loss that is recorded hours later, and the late answer in its place.
	claimed := e.claim()
	e.sql(`UPDATE webhook_deliveries SET lease_expires_at = now() - interval '3 hours'`)
	_, err := e.store.TakeBack(t.Context(), time.Minute, nil, 5, 10)
	require.NoError(t, err)
	e.keeper().RollUp(t.Context())
	e.requireEqualSums()
	late := outcomeOf(claimed)
	late.Status, late.Attempt.ErrorClass = models.DeliveryDelivered, nil
	require.NoError(t, e.store.RecordOutcomes(t.Context(), []store.Outcome{late}))
	e.keeper().RollUp(t.Context())
	e.requireEqualSums()

	now := clock.System{}.Now()
	list, err := e.store.Rollups(t.Context(), e.project, now.Add(-22*time.Hour), now.Add(time.Hour))
	require.NoError(t, err)
	var attempts, successes, failures, answered, latencies int64
	for _, r := range list {
		attempts, successes, answered = attempts+r.Attempts, successes+r.Successes, answered+r.Answered
		for _, n := range r.Failures {
			failures += n
		}
		for _, n := range r.Latencies {
			latencies += n
		}
	}
	require.EqualValues(t, e.count(`webhook_attempts`), attempts, "the hour under way is summed up on the spot")
	require.EqualValues(t, e.count(`webhook_attempts WHERE error_class IS NULL`), successes)
	require.Equal(t, attempts, successes+failures)
	require.EqualValues(t, e.count(`webhook_attempts WHERE status_code IS NOT NULL`), answered)
	require.Equal(t, answered, latencies)
}

// A mark that is made while its hour is being summed up again is not lost with it.
func TestMarksOfAnHourAreNotTakenForOneAnother(t *testing.T) {
	t.Parallel()
	e := newEngine(t, ok)
	e.attempts(100, 20)
	e.keeper().RollUp(t.Context())
	e.sql(`INSERT INTO webhook_rollup_stale SELECT date_trunc('hour', now()) - interval '5 hours'`)
	late, err := e.store.DB().BeginTx(t.Context(), nil)
	require.NoError(t, err)
	_, err = late.ExecContext(t.Context(), `INSERT INTO webhook_rollup_stale SELECT date_trunc('hour', now()) - interval '5 hours'`)
	require.NoError(t, err)
	_, err = late.ExecContext(t.Context(), `UPDATE webhook_attempts SET duration_ms = duration_ms + 1
		WHERE date_trunc('hour', started_at) = date_trunc('hour', now()) - interval '5 hours'`)
	require.NoError(t, err)
	e.keeper().RollUp(t.Context())
	require.NoError(t, late.Commit())
	e.keeper().RollUp(t.Context())
	e.requireEqualSums()
	require.Zero(t, e.count(`webhook_rollup_stale`))
}

// The sums outlive the attempts.
func TestRollupsSurviveTheirAttempts(t *testing.T) {
	t.Parallel()
	e := newEngine(t, ok)
	e.sql(`INSERT INTO webhook_rollups SELECT $1, 'whe_1', date_trunc('hour', now()) - make_interval(days => d), 1, 1, '{}', 0, 0, '{}' FROM unnest(ARRAY[20, 399, 401]) d`,
		string(e.project))
	e.sql(`INSERT INTO webhook_rollup_stale SELECT hour FROM webhook_rollups`)
	e.keeper().RollUp(t.Context())
	e.keeper().Forget(t.Context())
	require.Equal(t, 2, e.count(`webhook_rollups`), "kept for 400 days")
}
