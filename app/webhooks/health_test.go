package webhooks_test

import (
	"encoding/json"
	"fmt"
	"log/slog"
	"net/http"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/botix-pro/platform/app/models"
	"github.com/botix-pro/platform/app/store"
	"github.com/botix-pro/platform/app/webhooks"
	"github.com/botix-pro/platform/internal/clock"
)

// keeper is a keeper on the engine's database.
func (e *engine) keeper() *webhooks.Keeper {
	return webhooks.NewKeeper(webhooks.KeeperConfig{Store: e.store, Log: slog.New(slog.NewTextHandler(testLog{e.t}, nil))})
}

// testLog fails the test with whatever is complained about.
type testLog struct{ t *testing.T }

func (l testLog) Write(line []byte) (int, error) {
	l.t.Errorf("complaint: %s", line)
	return len(line), nil
}

// both runs fn in two goroutines at once, as two workers would.
func both(fn func()) {
	var group sync.WaitGroup
	group.Go(fn)
	group.Go(fn)
	group.Wait()
}

func (e *engine) count(query string, args ...any) (n int) {
	e.t.Helper()
	require.NoError(e.t, e.store.DB().QueryRowContext(e.t.Context(), "SELECT count(*) FROM "+query, args...).Scan(&n))
	return n
}

func (e *engine) text(query string, args ...any) (text string) {
	e.t.Helper()
	require.NoError(e.t, e.store.DB().QueryRowContext(e.t.Context(), query, args...).Scan(&text))
	return text
}

func (e *engine) endpointStatus() string { return e.text(`SELECT status FROM webhook_endpoints`) }

// notices are what the owner was told, in order.
func (e *engine) notices() (list []string) {
	e.t.Helper()
	rows, err := e.store.Notices(e.t.Context(), e.project, 100)
	require.NoError(e.t, err)
	for i := range rows {
		n := rows[len(rows)-1-i]
		list = append(list, fmt.Sprintf("%s %d", n.Kind, n.Level))
	}
	return list
}

// ail makes the endpoint's health what it would be after so many failures.
func (e *engine) ail(since string, failures, days int) {
	e.t.Helper()
	e.sql(`
		INSERT INTO webhook_endpoint_health AS h (project_id, endpoint_id, failing_since, failures, failed_days, last_failed_on)
		VALUES ($1, $2, now() - $3::interval, $4, $5, now()::date)
		ON CONFLICT (project_id, endpoint_id) DO UPDATE SET failing_since = excluded.failing_since, failures = excluded.failures, failed_days = excluded.failed_days`,
		string(e.project), e.endpoint, since, failures, days)
}

// outcome records what came of the one due delivery.
func (e *engine) outcome(change func(*store.Outcome)) {
	e.t.Helper()
	claimed := e.claim()
	e.sql(`UPDATE webhook_lanes SET holder = NULL, lease_expires_at = NULL`)
	o := outcomeOf(claimed)
	change(&o)
	require.NoError(e.t, e.store.RecordOutcomes(e.t.Context(), []store.Outcome{o}))
}

// outcomeOf is a 500 that is tried again at once.
func outcomeOf(c store.Claimed) store.Outcome {
	code, class := 500, models.ErrorHTTP5xx
	return store.Outcome{
		Token: c.Token, Status: models.DeliveryWaiting, Step: 1,
		Attempt: models.WebhookAttempt{
			ProjectID: c.ProjectID, ID: c.AttemptID, DeliveryID: c.ID, EndpointID: c.EndpointID, EventID: c.EventID, Number: c.Number, Step: 1,
			StatusCode: &code, ErrorClass: &class, ResponseHeaders: []byte("{}"), StartedAt: clock.System{}.Now(),
		},
	}
}

// The endpoint is disabled, its owner told and the event written in the
// transaction that records the 410: once, however many answers say it.
func TestGoneIsToldOnce(t *testing.T) {
	t.Parallel()
	e := newEngine(t, status(http.StatusGone))
	events := []string{e.publish(), e.publish(), e.publish()}
	e.worker()
	for _, event := range events {
		e.eventually(event, models.DeliveryDeadLetter)
	}
	require.Equal(t, "disabled", e.endpointStatus())
	require.Equal(t, 1, e.count(`events WHERE type = 'webhook_endpoint.disabled'`))
	require.Equal(t, []string{"endpoint_disabled 100"}, e.notices())

	event, err := e.store.Event(t.Context(), e.project, e.text(`SELECT id FROM events WHERE type = 'webhook_endpoint.disabled'`))
	require.NoError(t, err)
	var body struct{ Data models.DisabledEndpoint }
	require.NoError(t, json.Unmarshal(event.Body, &body))
	require.Equal(t, models.DisabledEndpoint{
		ID: e.endpoint, Object: "webhook_endpoint", URL: e.receiver.server.URL, Status: models.EndpointDisabled, Reason: models.DisabledGone,
		DisabledAt: body.Data.DisabledAt, FailingSince: body.Data.FailingSince, Failures: body.Data.Failures,
	}, body.Data)
	require.NotNil(t, body.Data.FailingSince)
	require.Equal(t, models.CurrentAPIVersion, event.APIVersion)
	e.eventually(event.ID, models.DeliveryHeld) // fanned out like any event, here to the endpoint itself
}

// A recording that fails takes the disabling and its event with it.
func TestGoneIsAllOrNothing(t *testing.T) {
	t.Parallel()
	e := newEngine(t, ok)
	e.publish()
	claimed := e.claim()
	e.sql(`CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION 'no'; END $$`)
	e.sql(`CREATE TRIGGER refuse BEFORE INSERT ON notices FOR EACH ROW EXECUTE FUNCTION refuse()`)
	o := outcomeOf(claimed)
	o.DisableEndpoint, o.Status, o.Cause = true, models.DeliveryDeadLetter, "http_410"
	require.Error(t, e.store.RecordOutcomes(t.Context(), []store.Outcome{o}))
	require.Equal(t, "active", e.endpointStatus())
	require.Zero(t, e.count(`webhook_attempts`)+e.count(`events WHERE type = 'webhook_endpoint.disabled'`))
	e.sql(`DROP TRIGGER refuse ON notices`)
	require.NoError(t, e.store.RecordOutcomes(t.Context(), []store.Outcome{o}))
	require.Equal(t, "disabled", e.endpointStatus())
	require.Equal(t, 1, e.count(`events WHERE type = 'webhook_endpoint.disabled'`))
}

// The rule of contract §5, part by part: the way is as long as its longest part.
func TestTheWayToBeingDisabled(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		since          string
		failures, days int
		want           []string
	}{
		{"59 hours", 100, 9, nil},
		{"60 hours", 5, 1, []string{"endpoint_failing 50"}},
		{"60 hours", 4, 1, nil},
		{"9 days", 100, 1, []string{"endpoint_failing 50"}},
		{"84 hours", 7, 2, []string{"endpoint_failing 70"}},
		{"9 days", 9, 9, []string{"endpoint_failing 90"}},
		{"119 hours 59 minutes", 100, 5, []string{"endpoint_failing 90"}},
		{"120 hours", 10, 2, []string{"endpoint_disabled 100"}},
	} {
		t.Run(fmt.Sprintf("%s %d %d", test.since, test.failures, test.days), func(t *testing.T) {
			t.Parallel()
			e := newEngine(t, ok)
			e.ail(test.since, test.failures, test.days)
			both(func() { e.keeper().Judge(t.Context()) })
			e.keeper().Judge(t.Context())
			require.Equal(t, test.want, e.notices(), "once each, though two judge at once")
			disabled := test.want != nil && test.want[0] == "endpoint_disabled 100"
			require.Equal(t, disabled, e.endpointStatus() == "disabled")
			require.Equal(t, disabled, e.count(`events WHERE type = 'webhook_endpoint.disabled'`) == 1)
		})
	}
}

func TestOwnersAreToldOnTheWayAndOfTheRecovery(t *testing.T) {
	t.Parallel()
	e := newEngine(t, ok)
	e.worker()
	for _, part := range []struct {
		since    string
		failures int
	}{{"3 days", 5}, {"3 days", 6}, {"4 days", 8}, {"116 hours", 9}} {
		e.ail(part.since, part.failures, 3)
		e.keeper().Judge(t.Context())
	}
	require.Equal(t, []string{"endpoint_failing 50", "endpoint_failing 70", "endpoint_failing 90"}, e.notices())
	e.eventually(e.publish(), models.DeliveryDelivered)
	both(func() { e.keeper().Judge(t.Context()) })
	require.Equal(t, "endpoint_recovered 0", e.notices()[3])
	require.Len(t, e.notices(), 4)
	e.ail("3 days", 5, 1)
	e.keeper().Judge(t.Context())
	require.Equal(t, "endpoint_failing 50", e.notices()[4], "a new way begins from the start")
}

// Whoever wakes a disabled endpoint gets the whole five days again, and a pause
// is not held against anybody.
func TestResumedEndpointsBeginAnew(t *testing.T) {
	t.Parallel()
	for _, before := range []models.EndpointStatus{models.EndpointDisabled, models.EndpointPaused} {
		t.Run(string(before), func(t *testing.T) {
			t.Parallel()
			e := newEngine(t, ok)
			e.ail("6 days", 50, 6)
			if before == models.EndpointDisabled {
				e.keeper().Judge(t.Context())
			} else {
				e.setStatus(models.EndpointPaused)
			}
			require.Equal(t, string(before), e.endpointStatus())
			e.keeper().Judge(t.Context()) // what is not active is not judged
			told := len(e.notices())
			e.setStatus(models.EndpointActive)
			e.keeper().Judge(t.Context())
			require.Equal(t, "active", e.endpointStatus())
			require.Len(t, e.notices(), told)
		})
	}
}

// setStatus changes the endpoint's state as the API does.
func (e *engine) setStatus(status models.EndpointStatus) {
	e.t.Helper()
	_, err := e.store.Write(e.t.Context(), e.project, func(tx *store.Tx) error {
		endpoint, err := tx.LockEndpoint(e.t.Context(), e.endpoint)
		if err != nil {
			return err
		}
		endpoint.Status, endpoint.Version, endpoint.UpdatedAt = status, endpoint.Version+1, tx.Now()
		return tx.UpdateEndpoint(endpoint)
	})
	require.NoError(e.t, err)
}

// What counts against an endpoint, kept up in the recording transaction.
func TestRecordingKeepsTheTally(t *testing.T) {
	t.Parallel()
	e := newEngine(t, ok)
	e.publish()
	tally := func() [2]int {
		h, err := e.store.EndpointHealth(t.Context(), e.project, e.endpoint)
		require.NoError(t, err)
		require.Equal(t, h.Failures > 0, h.FailingSince != nil)
		return [2]int{h.Failures, h.FailedDays}
	}
	failed := func(*store.Outcome) {}
	classed := func(class models.ErrorClass) func(*store.Outcome) {
		return func(o *store.Outcome) { o.Attempt.ErrorClass, o.Attempt.StatusCode = &class, nil }
	}
	e.outcome(failed)
	e.outcome(classed(models.ErrorDNS))
	require.Equal(t, [2]int{2, 1}, tally())
	e.outcome(classed(models.ErrorInternal))
	e.outcome(classed(models.ErrorWorkerLost))
	e.outcome(func(o *store.Outcome) { o.Attempt.Manual = true })
	require.Equal(t, [2]int{2, 1}, tally(), "faults of ours and retries by hand do not count")
	e.sql(`UPDATE webhook_endpoint_health SET last_failed_on = last_failed_on - 1, failing_since = now() - interval '1 day'`)
	e.outcome(failed)
	e.outcome(failed)
	require.Equal(t, [2]int{4, 2}, tally(), "another day counts once")
	e.outcome(func(o *store.Outcome) { o.Status, o.Attempt.ErrorClass = models.DeliveryDelivered, nil })
	require.Equal(t, [2]int{0, 0}, tally(), "a success is a new beginning")
	e.publish()
	e.outcome(failed)
	require.Equal(t, [2]int{1, 1}, tally())
}

// Two recorders whose batches close the same lanes, or disable the same endpoints,
// and meet them in opposite order do not wait for each other in a circle: both
// are kept between their first delivery and their second until the other is there.
func TestRecordersOfTheSameEndpointsNeverDeadlock(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(*store.Outcome){
		"lanes": func(o *store.Outcome) { o.CloseLaneFor = time.Minute },
		"endpoints": func(o *store.Outcome) {
			o.DisableEndpoint, o.Status, o.Cause = true, models.DeliveryDeadLetter, "http_410"
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e := newEngine(t, ok)
			second := e.addEndpoint()
			batches := [2][]store.Outcome{
				{e.inFlight(nth(1), e.endpoint), e.inFlight(nth(2), second)},
				{e.inFlight(nth(3), second), e.inFlight(nth(4), e.endpoint)},
			}
			e.sql(`UPDATE webhook_endpoints SET status = 'paused'`) // then a recording locks them, too
			gate, err := e.store.DB().BeginTx(t.Context(), nil)
			require.NoError(t, err)
			_, err = gate.ExecContext(t.Context(), `SELECT 1 FROM webhook_deliveries WHERE id IN ($1, $2) FOR UPDATE`, nth(2), nth(4))
			require.NoError(t, err)
			failures := make(chan error, len(batches))
			for _, batch := range batches {
				for i := range batch {
					change(&batch[i])
				}
				go func() { failures <- e.store.RecordOutcomes(t.Context(), batch) }()
			}
			e.eventuallyWaiting(2)
			require.NoError(t, gate.Rollback())
			require.NoError(t, <-failures)
			require.NoError(t, <-failures)
			require.Equal(t, 4, e.count(`webhook_attempts`))
		})
	}
}

// nth is an identifier of a delivery; the order of the numbers is theirs.
func nth(n int) string { return fmt.Sprintf("whd_%026d", n) }

// A recorder asks for an endpoint that is not active before it locks a delivery,
// like whoever resumes the endpoint or sends again what it missed: they do not
// wait for each other in a circle.
func TestRecordersLockEndpointsBeforeDeliveries(t *testing.T) {
	t.Parallel()
	e := newEngine(t, ok)
	outcome := e.inFlight(nth(1), e.endpoint)
	e.sql(`UPDATE webhook_endpoints SET status = 'paused'`)
	resume, err := e.store.DB().BeginTx(t.Context(), nil)
	require.NoError(t, err)
	_, err = resume.ExecContext(t.Context(), `SELECT 1 FROM webhook_endpoints FOR UPDATE`)
	require.NoError(t, err)
	recorded := make(chan error, 1)
	go func() { recorded <- e.store.RecordOutcomes(t.Context(), []store.Outcome{outcome}) }()
	e.eventuallyWaiting(1)
	_, err = resume.ExecContext(t.Context(), `SELECT 1 FROM webhook_deliveries FOR UPDATE NOWAIT`)
	require.NoError(t, err)
	require.NoError(t, resume.Rollback())
	require.NoError(t, <-recorded)
	require.Equal(t, "held", e.text(`SELECT status FROM webhook_deliveries WHERE id = $1`, nth(1)))
}

// eventuallyWaiting returns when so many statements wait for a lock.
func (e *engine) eventuallyWaiting(n int) {
	e.t.Helper()
	require.Eventually(e.t, func() bool {
		return e.count(`pg_stat_activity WHERE wait_event_type = 'Lock' AND datname = current_database()`) == n
	}, soon, time.Millisecond)
}

// addEndpoint adds an endpoint that subscribes to nothing that is published.
func (e *engine) addEndpoint() string {
	e.t.Helper()
	now := clock.System{}.Now()
	id := models.NewID(models.PrefixEndpoint, now)
	_, err := e.store.Write(e.t.Context(), e.project, func(tx *store.Tx) error {
		return tx.CreateEndpoint(&models.WebhookEndpoint{
			ID: id, URL: e.receiver.server.URL, EventTypes: []string{"other.type"}, Status: models.EndpointActive, MaxInFlight: 10,
			Secrets: []models.EndpointSecret{{Value: webhooks.NewSecret().Reveal()}}, CreatedAt: now,
		})
	})
	require.NoError(e.t, err)
	return id
}

// inFlight plants a claimed delivery and returns a failed outcome of it.
func (e *engine) inFlight(id, endpoint string) store.Outcome {
	e.t.Helper()
	now := clock.System{}.Now()
	c := store.Claimed{
		ProjectID: e.project, ID: id, EventID: models.NewID(models.PrefixEvent, now), EndpointID: endpoint,
		AttemptID: models.NewID(models.PrefixAttempt, now), Number: 1, Token: uuid.NewString(),
	}
	e.sql(`
		INSERT INTO webhook_deliveries (project_id, id, event_id, event_type, endpoint_id, status, attempt_count, claim_token, attempt_id, lease_expires_at)
		VALUES ($1, $2, $3, 'a.b', $4, 'in_flight', 1, $5, compact_id($6), now() + interval '1 minute')`,
		string(e.project), id, c.EventID, endpoint, c.Token, c.AttemptID)
	return outcomeOf(c)
}

// What a send that is under way leaves behind when its endpoint has changed.
func TestEndpointsStateDecidesAtTheRecording(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		endpoint     models.EndpointStatus
		answer, want models.DeliveryStatus
	}{
		{models.EndpointDeleted, models.DeliveryWaiting, models.DeliveryCancelled},
		{models.EndpointDeleted, models.DeliveryDeadLetter, models.DeliveryCancelled},
		{models.EndpointDeleted, models.DeliveryDelivered, models.DeliveryDelivered},
		{models.EndpointPaused, models.DeliveryWaiting, models.DeliveryHeld},
		{models.EndpointDisabled, models.DeliveryPending, models.DeliveryHeld},
		{models.EndpointPaused, models.DeliveryDeadLetter, models.DeliveryDeadLetter},
		{models.EndpointActive, models.DeliveryWaiting, models.DeliveryWaiting},
	} {
		t.Run(fmt.Sprint(test.endpoint, " ", test.answer), func(t *testing.T) {
			t.Parallel()
			e := newEngine(t, ok)
			event := e.publish()
			claimed := e.claim()
			e.setStatus(test.endpoint)
			o := outcomeOf(claimed)
			o.Status, o.DueIn = test.answer, time.Hour
			require.NoError(t, e.store.RecordOutcomes(t.Context(), []store.Outcome{o}))
			require.Equal(t, test.want, e.delivery(event).Status)
			require.Equal(t, test.want == models.DeliveryDeadLetter, e.count(`dead_letters`) == 1)
			require.Equal(t, 1, e.count(`webhook_attempts`), "the attempt is recorded whatever becomes of it")
		})
	}
}

// A recorder that saw the endpoint before it was deleted leaves what no claim
// would look at before its next step; the sweeper does.
func TestSweeperCancelsWhatWaitsForADeletedEndpoint(t *testing.T) {
	t.Parallel()
	e := newEngine(t, ok)
	event := e.publish()
	e.sql(`UPDATE webhook_deliveries SET next_attempt_at = now() + interval '1 day'`)
	e.sql(`UPDATE webhook_endpoints SET status = 'deleted', updated_at = now()`)
	both(func() { e.keeper().Expire(t.Context()) })
	require.Equal(t, models.DeliveryCancelled, e.delivery(event).Status)
}

// What a recording holds is there when a resume looks for it: the two exclude
// each other.
func TestHoldingAndResumingExcludeEachOther(t *testing.T) {
	t.Parallel()
	e := newEngine(t, ok)
	event := e.publish()
	claimed := e.claim()
	e.setStatus(models.EndpointPaused)
	resume, err := e.store.DB().BeginTx(t.Context(), nil)
	require.NoError(t, err)
	run := func(statement string) {
		_, err := resume.ExecContext(t.Context(), statement)
		require.NoError(t, err)
	}
	run(`SELECT 1 FROM webhook_endpoints FOR UPDATE`)
	recorded := make(chan error, 1)
	go func() { recorded <- e.store.RecordOutcomes(t.Context(), []store.Outcome{outcomeOf(claimed)}) }()
	e.eventuallyWaiting(1)
	run(`UPDATE webhook_deliveries SET status = 'pending', next_attempt_at = now() WHERE status = 'held'`)
	run(`UPDATE webhook_endpoints SET status = 'active'`)
	require.NoError(t, resume.Commit())
	require.NoError(t, <-recorded)
	require.Equal(t, models.DeliveryWaiting, e.delivery(event).Status, "not held by an endpoint that is active")
}
