package webhooks_test

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/botix-pro/platform/app/jobs"
	"github.com/botix-pro/platform/app/models"
	"github.com/botix-pro/platform/app/store"
	"github.com/botix-pro/platform/app/webhooks"
)

const jobLease = time.Minute

// missed makes so many events of a minute ago whose deliveries have the status,
// and a dead letter each where that is theirs. What happens to them is counted
// from then on: see retries.
func (e *engine) missed(count int, status models.DeliveryStatus) {
	e.t.Helper()
	e.sql(`INSERT INTO events (project_id, id, type, source, api_version, request_id, body, created_at)
		SELECT $1, 'evt_' || new_ulid(), 'order.paid', 'api', '2026-12-01', '', '{}', now() - interval '1 minute' FROM generate_series(1, $2)`, string(e.project), count)
	e.sql(`INSERT INTO webhook_deliveries (project_id, id, event_id, event_type, endpoint_id, status, attempt_count, created_at)
		SELECT project_id, 'whd_' || new_ulid(), id, type, $1, $2, 5, created_at FROM events v
		WHERE NOT EXISTS (SELECT 1 FROM webhook_deliveries d WHERE d.event_id = v.id)`, e.endpoint, string(status))
	e.sql(`INSERT INTO dead_letters (project_id, id, delivery_id, endpoint_id, event_id, event_type, cause, expires_at)
		SELECT project_id, 'dlq_' || new_ulid(), id, endpoint_id, event_id, event_type, 'http_401', now() + interval '1 day'
		FROM webhook_deliveries d WHERE status = 'dead_letter' AND NOT EXISTS (SELECT 1 FROM dead_letters l WHERE l.delivery_id = d.id)`)
	e.sql(`CREATE TABLE IF NOT EXISTS asked (id text)`)
	e.sql(`CREATE OR REPLACE FUNCTION note_asked() RETURNS trigger LANGUAGE plpgsql AS $$
		BEGIN INSERT INTO asked VALUES (NEW.id); RETURN NEW; END $$`)
	e.sql(`CREATE OR REPLACE TRIGGER asked AFTER UPDATE OF status ON webhook_deliveries FOR EACH ROW
		WHEN (NEW.status = 'pending') EXECUTE FUNCTION note_asked()`)
}

// retries counts the deliveries that were made due again, and how often the one
// that it happened to most was.
func (e *engine) retries() (deliveries, most int) {
	e.t.Helper()
	require.NoError(e.t, e.store.DB().QueryRowContext(context.Background(),
		`SELECT count(*), coalesce(max(n), 0) FROM (SELECT count(*) AS n FROM asked GROUP BY id) AS each`).Scan(&deliveries, &most))
	return deliveries, most
}

// recovery starts one over everything that the endpoint missed.
func (e *engine) recovery(change ...func(*models.Recovery)) *models.Job {
	e.t.Helper()
	r := models.Recovery{EndpointID: e.endpoint}
	for _, apply := range change {
		apply(&r)
	}
	var job *models.Job
	_, err := e.store.Write(e.t.Context(), e.project, func(tx *store.Tx) (err error) {
		job, err = tx.StartRecovery(e.t.Context(), r, models.Job{APIVersion: models.CurrentAPIVersion})
		return err
	})
	require.NoError(e.t, err)
	return job
}

func (e *engine) job(id string) *models.Job {
	e.t.Helper()
	job, err := e.store.Job(context.Background(), e.project, id)
	require.NoError(e.t, err)
	return job
}

var recoveryTypes = []models.JobType{models.JobWebhookRecovery, models.JobWebhookRelease}

func (e *engine) claimJob() store.ClaimedJob {
	e.t.Helper()
	claimed, err := e.store.ClaimJob(e.t.Context(), uuid.NewString(), jobLease, recoveryTypes)
	require.NoError(e.t, err)
	return claimed
}

// runner returns one whose steps go through around, where that is given.
func (e *engine) runner(around func(jobs.Step) jobs.Step) *jobs.Runner {
	steps := map[models.JobType]jobs.Step{models.JobWebhookRecovery: webhooks.Recover, models.JobWebhookRelease: webhooks.Release}
	for kind, step := range steps {
		if around != nil {
			steps[kind] = around(step)
		}
	}
	return jobs.NewRunner(jobs.Config{
		Store: e.store, Steps: steps, Hint: func([]store.Lane) {}, Concurrency: 2, Log: slog.New(slog.DiscardHandler),
	})
}

// A worker dies in the middle of a batch, another is frozen after one: a third
// goes on where the last finished batch ended, and each delivery is sent again
// exactly once.
func TestRecoveryGoesOnWhereALostWorkerStopped(t *testing.T) {
	t.Parallel()
	e := newEngine(t, ok)
	e.missed(350, models.DeliveryDeadLetter)
	job := e.recovery()
	require.Equal(t, 350, job.Total)
	first := e.claimJob()
	_, err := e.store.ClaimJob(t.Context(), uuid.NewString(), jobLease, recoveryTypes)
	require.ErrorIs(t, err, store.ErrNotFound, "a job has one worker")
	_, err = e.runner(nil).Batch(t.Context(), first)
	require.NoError(t, err)
	require.Equal(t, 100, e.job(job.ID).Processed)
	// They fail again at once; a person may start another recovery for those.
	e.unguarded(`UPDATE webhook_deliveries SET status = 'dead_letter', next_attempt_at = NULL WHERE status = 'pending'`)

	dying, die := context.WithCancel(t.Context())
	_, err = e.runner(func(step jobs.Step) jobs.Step {
		return func(ctx context.Context, tx *store.Tx, job *models.Job) (models.JobStep, error) {
			did, err := step(ctx, tx, job)
			require.Equal(t, 100, did.Succeeded, "the batch is all there, and not committed")
			die()
			return did, err
		}
	}).Batch(dying, first)
	require.Error(t, err)
	require.Equal(t, 100, e.job(job.ID).Processed)
	deliveries, _ := e.retries()
	require.Equal(t, 100, deliveries, "nothing of the lost batch")

	e.sql(`UPDATE jobs SET lease_expires_at = now() - interval '1 second'`)
	second := e.claimJob()
	require.Equal(t, 1, second.Failures, "a lost worker counts as a try")
	_, err = e.runner(nil).Batch(t.Context(), first)
	require.ErrorIs(t, err, store.ErrLeaseLost, "the first was only frozen")
	for ended := false; !ended; {
		turn, err := e.runner(nil).Batch(t.Context(), second)
		require.NoError(t, err)
		ended = turn.Ended
	}
	done := e.job(job.ID)
	require.Equal(t, []any{models.JobCompleted, 350, 350, 0}, []any{done.Status, done.Processed, done.Succeeded, done.Failed})
	deliveries, most := e.retries()
	require.Equal(t, []int{350, 1}, []int{deliveries, most})
}

// While a batch is being committed nobody takes the job, lease or no lease.
func TestJobIsNotTakenInTheMiddleOfABatch(t *testing.T) {
	t.Parallel()
	e := newEngine(t, ok)
	e.missed(10, models.DeliveryDeadLetter)
	job := e.recovery()
	claimed := e.claimJob()
	e.sql(`UPDATE jobs SET lease_expires_at = now() - interval '1 second'`)
	_, err := e.runner(func(step jobs.Step) jobs.Step {
		return func(ctx context.Context, tx *store.Tx, job *models.Job) (models.JobStep, error) {
			_, err := e.store.ClaimJob(ctx, uuid.NewString(), jobLease, recoveryTypes)
			require.ErrorIs(t, err, store.ErrNotFound)
			return step(ctx, tx, job)
		}
	}).Batch(t.Context(), claimed)
	require.NoError(t, err)
	require.Equal(t, models.JobCompleted, e.job(job.ID).Status)
}

// Two workers and a receiver: everything arrives once more, under the next
// number, also what fails again at once and becomes a dead letter anew.
func TestRecoveredDeliveriesAreSentOnce(t *testing.T) {
	t.Parallel()
	e := newEngine(t, func(n int, w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader([]int{http.StatusOK, http.StatusUnauthorized}[n%2])
	})
	e.missed(200, models.DeliveryDeadLetter)
	e.missed(50, models.DeliveryHeld)
	e.worker()
	for range 2 {
		runner := e.runner(nil)
		require.NoError(t, runner.Start(t.Context()))
		t.Cleanup(func() { require.NoError(t, runner.Stop(context.Background())) })
	}
	job := e.recovery()
	require.Eventually(t, func() bool { return e.job(job.ID).Status == models.JobCompleted }, soon, 20*time.Millisecond)
	require.Equal(t, 250, e.job(job.ID).Succeeded)
	// And the event that tells of the job's end.
	require.Eventually(t, func() bool { return len(e.receiver.numbers()) == 251 }, soon, 20*time.Millisecond)
	seen := map[string]int{}
	for _, numbers := range e.receiver.numbers() {
		seen[strings.Join(numbers, ",")]++
	}
	require.Equal(t, map[string]int{"6": 250, "1": 1}, seen)
	deliveries, most := e.retries()
	require.Equal(t, []int{250, 1}, []int{deliveries, most})
}

func TestRunningJobStopsAtItsNextBatch(t *testing.T) {
	t.Parallel()
	e := newEngine(t, ok)
	e.missed(150, models.DeliveryDeadLetter)
	job := e.recovery()
	claimed := e.claimJob()
	_, err := e.runner(nil).Batch(t.Context(), claimed)
	require.NoError(t, err)
	cancel := func() (after *models.Job, err error) {
		_, err = e.store.Write(t.Context(), e.project, func(tx *store.Tx) (err error) {
			if after, err = tx.LockJob(t.Context(), job.ID); err != nil {
				return err
			}
			return tx.CancelJob(after)
		})
		return after, err
	}
	for range 2 {
		asked, err := cancel()
		require.NoError(t, err)
		require.True(t, asked.CancelRequested)
		require.Equal(t, models.JobRunning, asked.Status, "the batch under way is finished")
	}
	turn, err := e.runner(nil).Batch(t.Context(), claimed)
	require.NoError(t, err)
	require.True(t, turn.Ended)
	stopped := e.job(job.ID)
	require.Equal(t, []any{models.JobCancelled, 100}, []any{stopped.Status, stopped.Processed})
	deliveries, _ := e.retries()
	require.Equal(t, 100, deliveries, "what was done stays done, and that is all")
	events, err := e.store.Events(t.Context(), e.project, store.EventFilter{}, store.Page{Limit: 1})
	require.NoError(t, err)
	require.Equal(t, "job.cancelled", events[0].Type)
	_, err = cancel()
	require.Equal(t, models.CodeNotCancellable, code(err))
}

// New events queue behind a bounded part of a recovery, however much it is.
func TestRecoveryLeavesRoomInTheLane(t *testing.T) {
	t.Parallel()
	e := newEngine(t, ok)
	e.missed(700, models.DeliveryDeadLetter)
	job := e.recovery()
	claimed := e.claimJob()
	var turn jobs.Turn
	for range 6 {
		var err error
		turn, err = e.runner(nil).Batch(t.Context(), claimed)
		require.NoError(t, err)
	}
	require.Equal(t, 500, e.job(job.ID).Processed)
	require.Positive(t, turn.Pause)
	e.sql(`UPDATE webhook_deliveries SET status = 'delivered', next_attempt_at = NULL WHERE id IN (
		SELECT id FROM webhook_deliveries WHERE status = 'pending' LIMIT 30)`)
	_, err := e.runner(nil).Batch(t.Context(), claimed)
	require.NoError(t, err)
	require.Equal(t, 530, e.job(job.ID).Processed)
}

func TestRecoveryKeepsToItsRate(t *testing.T) {
	t.Parallel()
	e := newEngine(t, ok)
	e.missed(30, models.DeliveryDeadLetter)
	rate := 10
	job := e.recovery(func(r *models.Recovery) { r.RatePerSecond = &rate })
	runner := e.runner(nil)
	began := time.Now()
	require.NoError(t, runner.Start(t.Context()))
	require.Eventually(t, func() bool { return e.job(job.ID).Status == models.JobCompleted }, soon, 10*time.Millisecond)
	require.GreaterOrEqual(t, time.Since(began), 1900*time.Millisecond, "10 at once, 10 a second later, 10 after another")
	require.NoError(t, runner.Stop(context.Background()))
}

// An endpoint that is paused in the middle gets nothing more: the rest stays
// where a person finds it.
func TestRecoveryOfAPausedEndpointEnds(t *testing.T) {
	t.Parallel()
	e := newEngine(t, ok)
	e.missed(150, models.DeliveryDeadLetter)
	job := e.recovery()
	claimed := e.claimJob()
	_, err := e.runner(nil).Batch(t.Context(), claimed)
	require.NoError(t, err)
	e.sql(`UPDATE webhook_endpoints SET status = 'paused'`)
	turn, err := e.runner(nil).Batch(t.Context(), claimed)
	require.NoError(t, err)
	require.True(t, turn.Ended)
	ended := e.job(job.ID)
	require.Equal(t, []any{models.JobFailed, 100}, []any{ended.Status, ended.Processed})
	require.Contains(t, ended.Error, "paused")
	var left int
	require.NoError(t, e.store.DB().QueryRowContext(t.Context(), `SELECT count(*) FROM dead_letters`).Scan(&left))
	require.Equal(t, 50, left)
}

// A job whose batches always fail is given up, not tried for ever.
func TestJobThatNeverMovesFails(t *testing.T) {
	t.Parallel()
	e := newEngine(t, ok)
	e.missed(1, models.DeliveryDeadLetter)
	job := e.recovery()
	var tries atomic.Int32
	broken := e.runner(func(jobs.Step) jobs.Step {
		return func(context.Context, *store.Tx, *models.Job) (models.JobStep, error) {
			tries.Add(1)
			return models.JobStep{}, errors.New("broken")
		}
	})
	for turn := (jobs.Turn{}); !turn.Ended; {
		claimed := e.claimJob()
		var err error
		if turn, err = broken.Batch(t.Context(), claimed); err != nil {
			require.NoError(t, e.store.LeaveJob(t.Context(), claimed, true, 0))
		}
	}
	require.EqualValues(t, 10, tries.Load())
	require.Equal(t, models.JobFailed, e.job(job.ID).Status)
	require.NotContains(t, e.job(job.ID).Error, "broken", "a fault of ours is not shown")
}

// A span whose deliveries are few among very many is found in bounded steps, and
// completely.
func TestRecoveryFindsFewAmongMany(t *testing.T) {
	t.Parallel()
	e := newEngine(t, ok)
	e.missed(5100, models.DeliveryHeld)
	e.missed(3, models.DeliveryDeadLetter)
	cause := models.DeadLetterCause("http_401")
	job := e.recovery(func(r *models.Recovery) { r.Cause = &cause })
	require.Equal(t, 3, job.Total)
	claimed := e.claimJob()
	batches := 1
	for ; ; batches++ {
		turn, err := e.runner(nil).Batch(t.Context(), claimed)
		require.NoError(t, err)
		if turn.Ended {
			break
		}
	}
	require.Equal(t, 2, batches)
	require.Equal(t, 3, e.job(job.ID).Succeeded)
	deliveries, most := e.retries()
	require.Equal(t, []int{3, 1}, []int{deliveries, most})
}

// A recovery of everything goes through the endpoints one after the other, passes
// over those that are not active, and keeps to its filters.
func TestARecoveryOfAllEndpointsGoesThroughThem(t *testing.T) {
	t.Parallel()
	e := newEngine(t, ok)
	e.missed(130, models.DeliveryDeadLetter)
	e.missed(5, models.DeliveryHeld)
	const second, paused = "whe_7ZZZZZZZZZZZZZZZZZZZZZZZZY", "whe_7ZZZZZZZZZZZZZZZZZZZZZZZZZ"
	for id, status := range map[string]string{second: "active", paused: "paused"} {
		e.sql(`INSERT INTO webhook_endpoints (project_id, id, url, event_types, status, max_in_flight, secrets, headers, created_at, updated_at, status_since)
			SELECT project_id, $1, url, event_types, $2, max_in_flight, secrets, headers, created_at, updated_at, status_since FROM webhook_endpoints WHERE id = $3`, id, status, e.endpoint)
		e.sql(`INSERT INTO webhook_deliveries (project_id, id, event_id, event_type, endpoint_id, status, attempt_count, last_error_class)
			SELECT v.project_id, 'whd_' || new_ulid(), v.id, v.type, $1, 'dead_letter', 5, 'dns' FROM events v ORDER BY v.id LIMIT 7`, id)
	}
	run := func(change func(*models.Recovery)) *models.Job {
		job := e.recovery(func(r *models.Recovery) { r.EndpointID, r.Everywhere = "", true; change(r) })
		claimed := e.claimJob()
		for ended := false; !ended; {
			turn, err := e.runner(nil).Batch(t.Context(), claimed)
			require.NoError(t, err)
			ended = turn.Ended
		}
		return e.job(job.ID)
	}
	job := run(func(r *models.Recovery) { r.ErrorClasses = []models.ErrorClass{models.ErrorDNS} })
	require.Equal(t, 7, job.Total)
	require.Equal(t, 7, job.Succeeded, "of the second endpoint only, and not of the paused one")
	job = run(func(r *models.Recovery) { r.EventType = "no.such" })
	require.Equal(t, 0, job.Total+job.Processed)
	job = run(func(*models.Recovery) {})
	require.Equal(t, 135, job.Total)
	require.Equal(t, 135, job.Succeeded)
	deliveries, most := e.retries()
	require.Equal(t, 142, deliveries)
	require.Equal(t, 1, most)
}
