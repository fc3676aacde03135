package webhooks_test

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/botix-pro/platform/app/models"
	"github.com/botix-pro/platform/app/store"
)

// deliveryID is the id of the event's one delivery.
func (e *engine) deliveryID(event string) (id string) {
	e.t.Helper()
	require.NoError(e.t, e.store.DB().QueryRowContext(e.t.Context(), `SELECT id FROM webhook_deliveries WHERE event_id = $1`, event).Scan(&id))
	return id
}

// retry asks for a delivery again like the API does; between, when not nil, runs
// while the delivery is locked and nothing is committed. moved says whether this
// call changed anything.
func (e *engine) retry(id string, between func()) (moved bool, err error) {
	lanes, err := e.store.Write(context.Background(), e.project, func(tx *store.Tx) error {
		locked, err := tx.LockDelivery(context.Background(), id)
		if err == nil {
			_, err = tx.RetryDelivery(locked)
		}
		if between != nil {
			between()
		}
		return err
	})
	return len(lanes) > 0, err
}

func code(err error) models.Code {
	var known *models.Error
	if errors.As(err, &known) {
		return known.Code
	}
	return ""
}

// lane takes the endpoint's lane for the test and returns a claim on it.
func (e *engine) lane() func() []store.Claimed {
	e.t.Helper()
	lane, holder := store.Lane{ProjectID: e.project, EndpointID: e.endpoint}, uuid.NewString()
	mine, err := e.store.AcquireLane(e.t.Context(), lane, holder, time.Minute)
	require.NoError(e.t, err)
	require.True(e.t, mine)
	return func() []store.Claimed {
		list, _, err := e.store.ClaimDue(context.Background(), store.ClaimRequest{
			Lane: lane, Holder: holder, Token: uuid.NewString(), Max: 10, Lease: time.Minute, LaneLease: time.Minute,
		})
		require.NoError(e.t, err)
		return list
	}
}

// unguarded sets a scene that a delivery would come to in more than one step.
func (e *engine) unguarded(statement string, args ...any) {
	e.t.Helper()
	e.sql(`ALTER TABLE webhook_deliveries DISABLE TRIGGER guard`)
	e.sql(statement, args...)
	e.sql(`ALTER TABLE webhook_deliveries ENABLE TRIGGER guard`)
}

// blocked waits until so many statements wait for a lock.
func (e *engine) blocked(statements int) {
	e.t.Helper()
	require.Eventually(e.t, func() bool {
		var waiting int
		err := e.store.DB().QueryRowContext(context.Background(), `SELECT count(DISTINCT pid) FROM pg_locks l JOIN pg_stat_activity a USING (pid)
			WHERE NOT l.granted AND a.datname = current_database()`).Scan(&waiting)
		return err == nil && waiting >= statements
	}, soon, 5*time.Millisecond)
}

// An automatic retry is due and a person asks for one: whichever is first, the
// delivery is sent once, under the next number.
func TestManualRetryAndTheAutomaticOneExcludeEachOther(t *testing.T) {
	t.Parallel()
	e := newEngine(t, ok)
	id := e.deliveryID(e.publish())
	claim := e.lane()
	e.unguarded(`UPDATE webhook_deliveries SET status = 'waiting', step = 3, attempt_count = 2, step_started_at = now() - interval '1 minute'`)

	var meanwhile []store.Claimed
	moved, err := e.retry(id, func() { meanwhile = claim() })
	require.NoError(t, err)
	require.True(t, moved)
	require.Empty(t, meanwhile, "a claim passes over what is being changed")
	claimed := claim()
	require.Len(t, claimed, 1)
	require.Equal(t, []any{3, 1, true}, []any{claimed[0].Number, claimed[0].Step, claimed[0].Manual})
	require.Less(t, claimed[0].SinceStepBegan, time.Second, "the step begins anew")
	require.Empty(t, claim(), "once")
	_, err = e.retry(id, nil)
	require.Equal(t, models.CodeDeliveryInFlight, code(err))
}

// The claim has the row when the person asks: the retry waits for its end and
// finds that a send runs.
func TestManualRetryFindsWhatWasClaimedMeanwhile(t *testing.T) {
	t.Parallel()
	e := newEngine(t, ok)
	id := e.deliveryID(e.publish())
	e.unguarded(`UPDATE webhook_deliveries SET status = 'waiting', attempt_count = 1`)
	claim, err := e.store.DB().BeginTx(t.Context(), nil)
	require.NoError(t, err)
	_, err = claim.ExecContext(t.Context(), `UPDATE webhook_deliveries SET status = 'in_flight', attempt_count = 2, next_attempt_at = NULL,
		claim_token = gen_random_uuid(), attempt_id = new_compact_id(), lease_expires_at = now() + interval '1 minute'`)
	require.NoError(t, err)
	retried := make(chan error, 1)
	go func() { _, err := e.retry(id, nil); retried <- err }()
	e.blocked(1)
	require.NoError(t, claim.Commit())
	require.Equal(t, models.CodeDeliveryInFlight, code(<-retried))
}

// A worker was lost in the middle of a send: a retry is refused until the sweeper
// took the claim back, then there is nothing to ask for; and neither order loses
// the lost send's number.
func TestManualRetryAndTheSweeperExcludeEachOther(t *testing.T) {
	t.Parallel()
	e := newEngine(t, ok)
	event := e.publish()
	id := e.deliveryID(event)
	claim := e.lane()
	require.Len(t, claim(), 1)
	e.sql(`UPDATE webhook_deliveries SET lease_expires_at = now() - interval '1 second'`)
	takeBack := func() int {
		count, err := e.store.TakeBack(context.Background(), time.Minute, nil, 5, 10)
		require.NoError(t, err)
		return count
	}
	meanwhile := -1
	_, err := e.retry(id, func() { meanwhile = takeBack() })
	require.Equal(t, models.CodeDeliveryInFlight, code(err))
	require.Zero(t, meanwhile, "the sweeper comes again")
	require.Equal(t, 1, takeBack())
	moved, err := e.retry(id, nil)
	require.NoError(t, err)
	require.False(t, moved, "it is due already")
	claimed := claim()
	require.Len(t, claimed, 1)
	require.Equal(t, 2, claimed[0].Number)
	require.Equal(t, []string{"worker_lost"}, e.delivery(event).Classes)
}

func TestOfTwoManualRetriesOneChangesSomething(t *testing.T) {
	t.Parallel()
	e := newEngine(t, ok)
	id := e.deliveryID(e.publish())
	e.sql(`UPDATE webhook_deliveries SET status = 'delivered', next_attempt_at = NULL, attempt_count = 1`)
	type result struct {
		moved bool
		err   error
	}
	second := make(chan result, 1)
	first, err := e.retry(id, func() {
		go func() { moved, err := e.retry(id, nil); second <- result{moved, err} }()
		e.blocked(1)
	})
	require.NoError(t, err)
	require.True(t, first)
	require.Equal(t, result{}, <-second, "the other finds it done")
}

// The statement itself moves nothing that is in no state to be retried, whoever
// calls it.
func TestRetryIsGuardedInTheStatement(t *testing.T) {
	t.Parallel()
	e := newEngine(t, ok)
	flying, cancelled := e.publish(), e.publish()
	e.sql(`UPDATE webhook_deliveries SET status = 'cancelled', next_attempt_at = NULL WHERE event_id = $1`, cancelled)
	require.Len(t, e.lane()(), 1)
	lanes, err := e.store.Write(t.Context(), e.project, func(tx *store.Tx) error {
		tx.RetryDeliveries([]string{e.deliveryID(flying), e.deliveryID(cancelled)})
		return nil
	})
	require.NoError(t, err)
	require.Empty(t, lanes)
	require.Equal(t, models.DeliveryInFlight, e.delivery(flying).Status)
	require.Equal(t, models.DeliveryCancelled, e.delivery(cancelled).Status)
}

// A late 2xx and a retry: whatever comes last holds, and the dead letter is gone
// either way.
func TestLateSuccessAndManualRetry(t *testing.T) {
	t.Parallel()
	for name, retryFirst := range map[string]bool{"retry first": true, "success first": false} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e := newEngine(t, ok)
			event := e.publish()
			id := e.deliveryID(event)
			claimed := e.lane()()
			require.Len(t, claimed, 1)
			e.sql(`UPDATE webhook_deliveries SET lease_expires_at = now() - interval '1 second'`)
			_, err := e.store.TakeBack(t.Context(), time.Minute, nil, 1, 10)
			require.NoError(t, err)
			require.Equal(t, "worker_lost", e.delivery(event).Cause)
			retry := func() {
				moved, err := e.retry(id, nil)
				require.NoError(t, err)
				require.True(t, moved)
			}
			want := models.DeliveryPending
			if retryFirst {
				retry()
				want = models.DeliveryDelivered
			}
			code := http.StatusOK
			require.NoError(t, e.store.RecordOutcomes(t.Context(), []store.Outcome{{
				Token: claimed[0].Token, Status: models.DeliveryDelivered, Step: 1,
				Attempt: models.WebhookAttempt{
					ProjectID: e.project, ID: claimed[0].AttemptID, DeliveryID: id, Number: 1, Step: 1, StatusCode: &code,
					StartedAt: time.Now(),
				},
			}}))
			if !retryFirst {
				retry()
			}
			d := e.delivery(event)
			require.Equal(t, []any{want, "", []int64{1}}, []any{d.Status, d.Cause, d.Numbers})
		})
	}
}

// While a receiver answers everything that there is and workers are lost, people
// ask for retries as fast as they can: every number is used once, on the wire
// and in the table, and everything comes to an end.
func TestNumbersHaveNoGapAndNoRepeatUnderManualRetries(t *testing.T) {
	t.Parallel()
	e := newEngine(t, func(n int, w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader([]int{http.StatusOK, http.StatusUnauthorized, http.StatusInternalServerError}[n%3])
	})
	e.worker()
	var events, ids []string
	for range 8 {
		event := e.publish()
		events, ids = append(events, event), append(ids, e.deliveryID(event))
	}
	var accepted atomic.Int32
	var people sync.WaitGroup
	for range 4 {
		people.Go(func() {
			for i := 0; accepted.Load() < 100; i++ {
				switch moved, err := e.retry(ids[i%len(ids)], nil); {
				case moved:
					accepted.Add(1)
				case err != nil && code(err) != models.CodeDeliveryInFlight:
					t.Error(err)
					return
				}
			}
		})
	}
	people.Wait()
	require.Eventually(t, func() bool {
		return !slices.ContainsFunc(events, func(event string) bool {
			status := e.delivery(event).Status
			return status != models.DeliveryDelivered && status != models.DeliveryDeadLetter
		})
	}, soon, 20*time.Millisecond)
	for _, event := range events {
		d := e.delivery(event)
		var table, wire []string
		for i, number := range d.Numbers {
			table, wire = append(table, strconv.FormatInt(number, 10)), append(wire, strconv.Itoa(i+1))
		}
		require.Equal(t, wire, table, "in the table")
		received := e.receiver.numbers()[event]
		require.ElementsMatch(t, wire, received, "on the wire")
		require.Len(t, wire, d.Count)
	}
}
