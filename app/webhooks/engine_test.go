package webhooks_test

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	"github.com/botix-pro/platform/app/models"
	"github.com/botix-pro/platform/app/store"
	"github.com/botix-pro/platform/app/webhooks"
	"github.com/botix-pro/platform/internal/clock"
	"github.com/botix-pro/platform/internal/egress"
	"github.com/botix-pro/platform/internal/seal"
	"github.com/botix-pro/platform/internal/testenv"
)

func TestMain(m *testing.M) { testenv.Main(m) }

const soon = 15 * time.Second

// engine is a database of its own with a project, a receiver and its endpoint.
// The database is not shared: a worker delivers whatever is due in it.
type engine struct {
	t        *testing.T
	store    *store.Store
	redisURL string
	project  models.ProjectID
	endpoint string
	receiver *receiver
	hinter   *webhooks.Hinter
}

// receiver answers with what answer says and keeps what it got.
type receiver struct {
	server *httptest.Server
	answer func(n int, w http.ResponseWriter, r *http.Request)

	mu  sync.Mutex
	got []*http.Request
}

func newReceiver(t *testing.T, answer func(n int, w http.ResponseWriter, r *http.Request)) *receiver {
	t.Helper()
	r := &receiver{answer: answer}
	r.server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, request *http.Request) {
		_, _ = io.Copy(io.Discard, request.Body)
		r.mu.Lock()
		r.got = append(r.got, request)
		n := len(r.got)
		r.mu.Unlock()
		r.answer(n, w, request)
	}))
	t.Cleanup(r.server.Close)
	return r
}

// numbers are the X-Delivery-Attempt of what was received, by event.
func (r *receiver) numbers() map[string][]string {
	r.mu.Lock()
	defer r.mu.Unlock()
	list := map[string][]string{}
	for _, request := range r.got {
		id := request.Header.Get("X-Event-Id")
		list[id] = append(list[id], request.Header.Get("X-Delivery-Attempt"))
	}
	return list
}

func ok(_ int, w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusNoContent) }

func status(code int) func(int, http.ResponseWriter, *http.Request) {
	return func(_ int, w http.ResponseWriter, _ *http.Request) { w.WriteHeader(code) }
}

func newEngine(t *testing.T, answer func(int, http.ResponseWriter, *http.Request)) *engine {
	t.Helper()
	box, err := seal.New([]string{seal.NewKey()})
	require.NoError(t, err)
	s, err := store.Open(t.Context(), store.Config{URL: testenv.FreshDatabaseURL(t), MaxConns: 8, Application: "botix-test"}, box)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, s.Close()) })
	e := &engine{t: t, store: s, redisURL: testenv.PrivateRedis(t).URL(), receiver: newReceiver(t, answer)}
	now := clock.System{}.Now()
	e.project = models.ProjectID(models.NewID(models.PrefixProject, now))
	e.endpoint = models.NewID(models.PrefixEndpoint, now)
	_, err = s.Write(t.Context(), e.project, func(tx *store.Tx) error {
		tx.CreateProject(models.Project{Name: "Test", Mode: models.ModeLive, PlanID: "business", APIVersion: models.CurrentAPIVersion, CreatedAt: now})
		return tx.CreateEndpoint(&models.WebhookEndpoint{
			ID: e.endpoint, URL: e.receiver.server.URL, EventTypes: []string{"*"}, Status: models.EndpointActive, MaxInFlight: 10,
			Secrets: []models.EndpointSecret{{Value: webhooks.NewSecret().Reveal()}}, CreatedAt: now,
		})
	})
	require.NoError(t, err)
	require.NoError(t, s.KeepPartitions(t.Context()))
	testenv.GuardTransitions(t, s.DB(), "webhook_deliveries", models.DeliveryStatuses())
	return e
}

func (e *engine) redis() redis.UniversalClient {
	options, err := redis.ParseURL(e.redisURL)
	require.NoError(e.t, err)
	client := redis.NewClient(options)
	e.t.Cleanup(func() { _ = client.Close() })
	return client
}

// worker starts a worker that retries within milliseconds; it stops with the test.
func (e *engine) worker(change ...func(*webhooks.WorkerConfig)) *webhooks.Worker {
	e.t.Helper()
	guard := egress.New([]netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")})
	cfg := webhooks.WorkerConfig{
		Store: e.store, Redis: e.redis(), Transport: guard.Transport(egress.TransportConfig{}),
		Schedule:    webhooks.Schedule{10 * time.Millisecond, 20 * time.Millisecond, 30 * time.Millisecond, 40 * time.Millisecond},
		Concurrency: 8, UserAgent: "BOTIX-Webhooks/test", Clock: clock.System{}, Log: slog.New(slog.DiscardHandler),
	}
	for _, apply := range change {
		apply(&cfg)
	}
	w := webhooks.NewWorker(cfg)
	require.NoError(e.t, w.Start(e.t.Context()))
	e.t.Cleanup(func() { require.NoError(e.t, w.Stop(context.Background())) })
	return w
}

// hints starts a hinter; it stops with the test.
func (e *engine) hints() {
	e.t.Helper()
	e.hinter = webhooks.NewHinter(e.redis(), slog.New(slog.DiscardHandler))
	require.NoError(e.t, e.hinter.Start(e.t.Context()))
	e.t.Cleanup(func() { require.NoError(e.t, e.hinter.Stop(context.Background())) })
}

// publish commits an event and hints like a server does.
func (e *engine) publish() string {
	e.t.Helper()
	now := clock.System{}.Now()
	event := &models.Event{
		ProjectID: e.project, ID: models.NewID(models.PrefixEvent, now), Type: "order.paid", Source: models.SourceAPI,
		APIVersion: models.CurrentAPIVersion, CreatedAt: now,
	}
	require.NoError(e.t, event.SetData([]byte(`{"n":1}`), models.Subject{}))
	lanes, err := e.store.Write(e.t.Context(), e.project, func(tx *store.Tx) error { tx.AppendEvent(event); return nil })
	require.NoError(e.t, err)
	require.Len(e.t, lanes, 1)
	if e.hinter != nil {
		e.hinter.Hint(lanes)
	}
	return event.ID
}

// delivery is a delivery's row with what its attempts and dead letter say.
type delivery struct {
	Status  models.DeliveryStatus
	Step    int
	Count   int
	Numbers []int64
	Classes []string
	Cause   string
}

func (e *engine) delivery(event string) delivery {
	e.t.Helper()
	var d delivery
	err := e.store.DB().QueryRowContext(e.t.Context(), `
		SELECT d.status, d.step, d.attempt_count, coalesce((SELECT cause FROM dead_letters l WHERE l.delivery_id = d.id), '')
		FROM webhook_deliveries d WHERE event_id = $1`, event).Scan(&d.Status, &d.Step, &d.Count, &d.Cause)
	require.NoError(e.t, err)
	rows, err := e.store.DB().QueryContext(e.t.Context(),
		`SELECT number, coalesce(error_class, '') FROM webhook_attempts
		 WHERE delivery_id IN (SELECT compact_id(id) FROM webhook_deliveries WHERE event_id = $1) ORDER BY number`, event)
	require.NoError(e.t, err)
	defer func() { _ = rows.Close() }()
	for rows.Next() {
		var number int64
		var class string
		require.NoError(e.t, rows.Scan(&number, &class))
		d.Numbers, d.Classes = append(d.Numbers, number), append(d.Classes, class)
	}
	require.NoError(e.t, rows.Err())
	return d
}

func (e *engine) eventually(event string, want models.DeliveryStatus) delivery {
	e.t.Helper()
	require.Eventually(e.t, func() bool { return e.delivery(event).Status == want }, soon, 10*time.Millisecond, "%s", want)
	return e.delivery(event)
}

func (e *engine) sql(statement string, args ...any) {
	e.t.Helper()
	_, err := e.store.DB().ExecContext(e.t.Context(), statement, args...)
	require.NoError(e.t, err)
}

func TestHintedEventIsDeliveredAndRecorded(t *testing.T) {
	t.Parallel()
	e := newEngine(t, ok)
	e.worker()
	e.hints()
	event := e.publish()
	d := e.eventually(event, models.DeliveryDelivered)
	require.Equal(t, delivery{Status: models.DeliveryDelivered, Step: 1, Count: 1, Numbers: []int64{1}, Classes: []string{""}}, d)
	attempts, err := e.store.WebhookAttempts(t.Context(), e.project, store.AttemptFilter{}, store.Page{Limit: 10})
	require.NoError(t, err)
	require.Len(t, attempts.Rows, 1)
	attempt, row, body, err := e.store.WebhookAttempt(t.Context(), e.project, attempts.Rows[0].ID)
	require.NoError(t, err)
	require.Equal(t, http.StatusNoContent, *attempt.StatusCode)
	require.Contains(t, string(attempt.RequestHeaders), `"X-Delivery-Attempt":["1"]`)
	require.Equal(t, models.DeliveryDelivered, row.Status)
	require.Contains(t, string(body.Body), event)
}

func TestFailuresWalkTheLadderToADeadLetter(t *testing.T) {
	t.Parallel()
	e := newEngine(t, status(http.StatusInternalServerError))
	e.worker()
	event := e.publish()
	d := e.eventually(event, models.DeliveryDeadLetter)
	require.Equal(t, delivery{
		Status: models.DeliveryDeadLetter, Step: 5, Count: 5, Numbers: []int64{1, 2, 3, 4, 5},
		Classes: []string{"http_5xx", "http_5xx", "http_5xx", "http_5xx", "http_5xx"}, Cause: "retries_exhausted",
	}, d)
	require.Equal(t, []string{"1", "2", "3", "4", "5"}, e.receiver.numbers()[event])
}

func TestPassingFailureIsRetriedUntilDelivered(t *testing.T) {
	t.Parallel()
	e := newEngine(t, func(n int, w http.ResponseWriter, r *http.Request) {
		if n < 3 {
			http.Redirect(w, r, "http://127.0.0.1:1/", http.StatusFound)
		}
	})
	e.worker()
	d := e.eventually(e.publish(), models.DeliveryDelivered)
	require.Equal(t, []string{"redirect", "redirect", ""}, d.Classes)
	require.Equal(t, 3, d.Step)
}

func TestPermanentRefusalIsADeadLetterAtOnce(t *testing.T) {
	t.Parallel()
	e := newEngine(t, status(http.StatusUnauthorized))
	e.worker()
	d := e.eventually(e.publish(), models.DeliveryDeadLetter)
	require.Equal(t, "http_401", d.Cause)
	require.Equal(t, 1, d.Count)
}

func TestGoneDisablesTheEndpointAndHoldsTheRest(t *testing.T) {
	t.Parallel()
	e := newEngine(t, status(http.StatusGone))
	e.worker()
	require.Equal(t, "http_410", e.eventually(e.publish(), models.DeliveryDeadLetter).Cause)
	d := e.eventually(e.publish(), models.DeliveryHeld)
	require.Zero(t, d.Count, "what is held was not sent")
}

func TestEndpointsStateDecidesAtTheClaim(t *testing.T) {
	t.Parallel()
	for status, want := range map[models.EndpointStatus]models.DeliveryStatus{
		models.EndpointPaused: models.DeliveryHeld, models.EndpointDeleted: models.DeliveryCancelled,
	} {
		t.Run(string(status), func(t *testing.T) {
			t.Parallel()
			e := newEngine(t, ok)
			event := e.publish() // due before the change
			e.sql(`UPDATE webhook_endpoints SET status = $1`, string(status))
			e.worker()
			require.Zero(t, e.eventually(event, want).Count)
			require.Empty(t, e.receiver.numbers())
		})
	}
}

// A receiver that names its pause gets it, for everything that waits for it,
// and nothing is used up.
func TestRetryAfterClosesTheLane(t *testing.T) {
	t.Parallel()
	e := newEngine(t, func(n int, w http.ResponseWriter, _ *http.Request) {
		if n == 1 {
			w.Header().Set("Retry-After", "2")
			w.WriteHeader(http.StatusTooManyRequests)
		}
	})
	e.worker()
	first := e.publish()
	require.Eventually(t, func() bool { return len(e.receiver.numbers()) == 1 }, soon, 10*time.Millisecond)
	closed := time.Now()
	e.eventually(first, models.DeliveryWaiting)
	second := e.publish()
	e.eventually(second, models.DeliveryDelivered)
	require.GreaterOrEqual(t, time.Since(closed), 1900*time.Millisecond, "the lane was closed")
	require.Equal(t, 1, e.delivery(second).Count)
	e.eventually(first, models.DeliveryDelivered)
}

// A worker dies while it sends: the send is recorded as lost, costs no step, and
// the delivery is sent again. When the lost worker was only frozen, its late
// answer takes the place of the loss.
func TestLostWorkerCostsNoStepAndItsLateAnswerCounts(t *testing.T) {
	t.Parallel()
	e := newEngine(t, status(http.StatusInternalServerError))
	event := e.publish()
	claimed := e.claim()
	e.sql(`UPDATE webhook_deliveries SET lease_expires_at = now() - interval '1 second'`)
	count, err := e.store.TakeBack(t.Context(), time.Minute, nil, 5, 10)
	require.NoError(t, err)
	require.Equal(t, 1, count)
	require.Equal(t, delivery{Status: models.DeliveryPending, Step: 1, Count: 1, Numbers: []int64{1}, Classes: []string{"worker_lost"}}, e.delivery(event))

	e.sql(`UPDATE webhook_lanes SET holder = NULL, lease_expires_at = NULL`)
	e.worker()
	e.eventually(event, models.DeliveryDeadLetter)

	ok := 200
	require.NoError(t, e.store.RecordOutcomes(t.Context(), []store.Outcome{{
		Token: claimed.Token, Status: models.DeliveryDelivered, Step: 1,
		Attempt: models.WebhookAttempt{
			ProjectID: e.project, ID: claimed.AttemptID, DeliveryID: claimed.ID, Number: claimed.Number, Step: 1, StatusCode: &ok,
			ResponseHeaders: []byte("{}"), StartedAt: clock.System{}.Now(),
		},
	}}))
	d := e.delivery(event)
	require.Equal(t, models.DeliveryDelivered, d.Status, "a late 2xx delivers from any state")
	require.Empty(t, d.Cause, "and takes the dead letter back")
	require.Equal(t, "", d.Classes[0])
	require.Equal(t, []int64{1, 2, 3, 4, 5, 6}, d.Numbers, "no number twice, none missing")
}

// A claim whose day is no longer kept is taken back all the same, and holds up no
// other.
func TestAncientClaimIsTakenBack(t *testing.T) {
	t.Parallel()
	e := newEngine(t, ok)
	event := e.publish()
	e.claim()
	e.sql(`UPDATE webhook_deliveries SET lease_expires_at = now() - interval '20 days'`)
	count, err := e.store.TakeBack(t.Context(), time.Minute, nil, 5, 10)
	require.NoError(t, err)
	require.Equal(t, 1, count)
	require.Equal(t, models.DeliveryPending, e.delivery(event).Status)
}

// A worker dies while it drains: its lane is free within seconds, not only when
// its claims are.
func TestLaneOfADeadWorkerIsFreeSoon(t *testing.T) {
	t.Parallel()
	e := newEngine(t, ok)
	lane := store.Lane{ProjectID: e.project, EndpointID: e.endpoint}
	mine, err := e.store.AcquireLane(t.Context(), lane, uuid.NewString(), 500*time.Millisecond)
	require.NoError(t, err)
	require.True(t, mine) // and then the holder is gone
	event := e.publish()
	e.worker()
	e.eventually(event, models.DeliveryDelivered)
}

func TestDeliveryThatKeepsLosingWorkersIsGivenUp(t *testing.T) {
	t.Parallel()
	e := newEngine(t, ok)
	event := e.publish()
	for range 5 {
		e.claim()
		e.sql(`UPDATE webhook_deliveries SET lease_expires_at = now() - interval '1 second'`)
		e.sql(`UPDATE webhook_lanes SET holder = NULL, lease_expires_at = NULL`)
		_, err := e.store.TakeBack(t.Context(), time.Minute, nil, 5, 10)
		require.NoError(t, err)
	}
	d := e.delivery(event)
	require.Equal(t, models.DeliveryDeadLetter, d.Status)
	require.Equal(t, "worker_lost", d.Cause)
	require.Equal(t, 1, d.Step)
}

// claim claims the one due delivery as a worker would.
func (e *engine) claim() store.Claimed {
	e.t.Helper()
	lane := store.Lane{ProjectID: e.project, EndpointID: e.endpoint}
	holder := uuid.NewString()
	mine, err := e.store.AcquireLane(e.t.Context(), lane, holder, time.Minute)
	require.NoError(e.t, err)
	require.True(e.t, mine)
	list, _, err := e.store.ClaimDue(e.t.Context(), store.ClaimRequest{Lane: lane, Holder: holder, Token: uuid.NewString(), Max: 10, Lease: time.Minute, LaneLease: time.Minute})
	require.NoError(e.t, err)
	require.Len(e.t, list, 1)
	return list[0]
}

// Somebody knocks between a holder's last look and its release: the holder
// keeps the lane and looks again.
func TestKnockOnAHeldLaneIsNeverLost(t *testing.T) {
	t.Parallel()
	e := newEngine(t, ok)
	lane := store.Lane{ProjectID: e.project, EndpointID: e.endpoint}
	first, second := uuid.NewString(), uuid.NewString()
	acquire := func(holder string) bool {
		mine, err := e.store.AcquireLane(t.Context(), lane, holder, time.Minute)
		require.NoError(t, err)
		return mine
	}
	release := func(holder string) bool {
		kept, err := e.store.ReleaseLane(t.Context(), lane, holder)
		require.NoError(t, err)
		return kept
	}
	require.True(t, acquire(first))
	require.False(t, acquire(second), "one holder at a time")
	require.True(t, release(first), "somebody knocked: still the holder's")
	require.False(t, release(first), "nobody knocked since")
	require.True(t, acquire(second))
	require.False(t, release(first), "not the holder any more")
	list, seen, err := e.store.ClaimDue(t.Context(), store.ClaimRequest{Lane: lane, Holder: first, Token: uuid.NewString(), Max: 1, Lease: time.Minute, LaneLease: time.Minute})
	require.NoError(t, err)
	require.Zero(t, seen, "nothing is claimed without the lane")
	require.Empty(t, list)
}

func TestWithoutRedisTheSweeperDelivers(t *testing.T) {
	t.Parallel()
	e := newEngine(t, ok)
	redis := testenv.PrivateRedis(t)
	e.redisURL = redis.URL()
	require.NoError(t, redis.Kill())
	e.worker()
	e.hints()
	started := time.Now()
	e.eventually(e.publish(), models.DeliveryDelivered)
	require.Less(t, time.Since(started), 5*time.Second, "within 5 s of being due (contract §5)")
}

func TestTwoWorkersSendEachEventOnce(t *testing.T) {
	t.Parallel()
	e := newEngine(t, ok)
	e.worker()
	e.worker()
	e.hints()
	const events = 200
	ids := make([]string, events)
	for i := range ids {
		ids[i] = e.publish()
	}
	for _, id := range ids {
		e.eventually(id, models.DeliveryDelivered)
	}
	numbers := e.receiver.numbers()
	require.Len(t, numbers, events)
	for id, list := range numbers {
		require.Equal(t, []string{"1"}, list, id)
	}
}

// At most max_in_flight requests are on their way to one endpoint.
func TestCapOnRequestsInFlightHolds(t *testing.T) {
	t.Parallel()
	var mu sync.Mutex
	now, most := 0, 0
	release := make(chan struct{})
	e := newEngine(t, func(int, http.ResponseWriter, *http.Request) {
		mu.Lock()
		now++
		most = max(most, now)
		mu.Unlock()
		<-release
		mu.Lock()
		now--
		mu.Unlock()
	})
	e.sql(`UPDATE webhook_endpoints SET max_in_flight = 3`)
	ids := make([]string, 10)
	for i := range ids {
		ids[i] = e.publish()
	}
	e.worker()
	require.Eventually(t, func() bool { mu.Lock(); defer mu.Unlock(); return now == 3 }, soon, 5*time.Millisecond)
	close(release)
	for _, id := range ids {
		require.Equal(t, 1, e.eventually(id, models.DeliveryDelivered).Count)
	}
	require.Equal(t, 3, most)
}

// An endpoint's rate holds over turns, and waiting for it uses nothing up.
func TestRateHolds(t *testing.T) {
	t.Parallel()
	e := newEngine(t, ok)
	e.sql(`UPDATE webhook_endpoints SET rate_per_second = 5`)
	ids := make([]string, 12)
	for i := range ids {
		ids[i] = e.publish()
	}
	began := time.Now()
	e.worker()
	for _, id := range ids {
		require.Equal(t, 1, e.eventually(id, models.DeliveryDelivered).Count)
	}
	require.GreaterOrEqual(t, time.Since(began), 1400*time.Millisecond, "12 at 5 a second, the first second's worth at once")
}

// A worker that cannot decrypt an endpoint's secret says so, sends nothing, and
// costs the delivery no step.
func TestUnreadableSecretIsAFaultOfOurs(t *testing.T) {
	t.Parallel()
	e := newEngine(t, ok)
	e.sql(`UPDATE webhook_endpoints SET secrets = '\x00'`)
	event := e.publish()
	e.worker()
	d := e.eventually(event, models.DeliveryWaiting)
	require.Equal(t, []string{"internal"}, d.Classes)
	require.Equal(t, 1, d.Step)
	require.Empty(t, e.receiver.numbers())
}

func TestWhatAReceiverAnswersBreaksNothing(t *testing.T) {
	t.Parallel()
	e := newEngine(t, func(_ int, w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("X-Odd", "caf\xe9")
		w.WriteHeader(http.StatusTeapot)
		_, _ = w.Write([]byte("\x00\xff\xfe<script>"))
	})
	e.worker()
	e.eventually(e.publish(), models.DeliveryDeadLetter)
	attempts, err := e.store.WebhookAttempts(t.Context(), e.project, store.AttemptFilter{}, store.Page{Limit: 1})
	require.NoError(t, err)
	last, _, _, err := e.store.WebhookAttempt(t.Context(), e.project, attempts.Rows[0].ID)
	require.NoError(t, err)
	require.Equal(t, []byte("\x00\xff\xfe<script>"), last.ResponseBody, "kept as bytes")
}

// A graceful stop finishes and records what is in flight.
func TestStopFinishesWhatIsInFlight(t *testing.T) {
	t.Parallel()
	entered, release := make(chan struct{}), make(chan struct{})
	e := newEngine(t, func(int, http.ResponseWriter, *http.Request) {
		close(entered)
		<-release
	})
	event := e.publish()
	w := e.worker()
	<-entered
	stopped := make(chan error, 1)
	go func() { stopped <- w.Stop(context.Background()) }()
	require.Never(t, func() bool { return len(stopped) > 0 }, 100*time.Millisecond, 10*time.Millisecond)
	close(release)
	require.NoError(t, <-stopped)
	require.Equal(t, models.DeliveryDelivered, e.delivery(event).Status)
}

func TestPartitionsAreMadeAheadAndDroppedWhenOld(t *testing.T) {
	t.Parallel()
	e := newEngine(t, ok)
	old := time.Now().UTC().AddDate(0, 0, -16)
	kept := time.Now().UTC().AddDate(0, 0, -14)
	for _, day := range []time.Time{old, kept} {
		e.sql(fmt.Sprintf(`CREATE TABLE webhook_attempts_%s PARTITION OF webhook_attempts FOR VALUES FROM ('%s+00') TO ('%s+00')`,
			day.Format("20060102"), day.Format(time.DateOnly), day.AddDate(0, 0, 1).Format(time.DateOnly)))
	}
	var wg sync.WaitGroup
	for range 4 { // several workers start at once
		wg.Go(func() { require.NoError(t, e.store.KeepPartitions(context.Background())) })
	}
	wg.Wait()
	var names string
	require.NoError(t, e.store.DB().QueryRowContext(t.Context(), `
		SELECT string_agg(inhrelid::regclass::text, ' ') FROM pg_inherits WHERE inhparent = 'webhook_attempts'::regclass`).Scan(&names))
	require.NotContains(t, names, old.Format("20060102"))
	require.Contains(t, names, kept.Format("20060102"))
	require.Contains(t, names, time.Now().UTC().AddDate(0, 0, 3).Format("20060102"))
}
