//go:build fault

package fault_test

import (
	"encoding/json"
	"fmt"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	"github.com/botix-pro/platform/test/programs"
)

const (
	stormEvents  = 20_000
	stormLanes   = 40
	stormPublish = 110 * time.Second // as long as the faults, so that each meets work
	stormClients = 8
	frozenFor    = 65 * time.Second // longer than a claim's lease of 60 s
	redisOff     = 30 * time.Second
	// missedAfter is how long a worker must have been absent for its sends to be
	// taken back before their lease is over: one that was frozen while PostgreSQL
	// restarted.
	missedAfter = 5 * time.Second
)

// 20,000 events go out through two workers while, by turns, a worker is killed
// every second, Redis is flushed, a worker is frozen until its leases have run
// out, and meanwhile Redis is stopped for 30 seconds, PostgreSQL restarts and the
// receiver dies and comes back. Every event reaches the receiver at least once;
// each duplicate has a reason in the table; no delivery is left behind; attempt
// numbers have no gap and no repeat, on the wire as in the table.
func TestWebhooksSurviveEverything(t *testing.T) {
	w := newStorm(t)
	published := w.publish(t)
	pause(2 * time.Second)
	w.killEverySecond(t, 15)
	w.flushRedis(t, 20)
	thaw := w.freezeMidSend(t)
	frozen := time.Now()
	w.stopRedis(t)
	for range 3 {
		require.NoError(t, w.postgres.Restart(t.Context()))
		pause(3 * time.Second)
	}
	for range 2 {
		w.receiver.die(t)
		pause(5 * time.Second)
		w.receiver.live(t)
		pause(3 * time.Second)
	}
	pause(frozenFor - time.Since(frozen))
	thaw()
	w.killEverySecond(t, 5)
	events := published()
	t.Logf("published; %d not delivered yet", w.undelivered(t))
	w.requireDelivered(t)
	w.judge(t, events)
}

// storm is a site with endpoints whose receiver is real, and two workers.
type storm struct {
	*site

	receiver *receiver
	server   *programs.Server
	workers  [2]*programs.Process
}

func newStorm(t *testing.T) *storm {
	t.Helper()
	w := &storm{site: newSite(t), receiver: newReceiver(t)}
	w.unlimited(t)
	// The seeded endpoint takes everything; here each event has one of its own.
	_, err := w.db.ExecContext(t.Context(), `UPDATE webhook_endpoints SET event_types = '["nothing.at_all"]'`)
	require.NoError(t, err)
	// Steps so short that a retry is seen, so many that five seconds use up none.
	w.env = append(w.env, "WEBHOOK_RETRY_SCHEDULE=2s,4s,8s,16s")
	w.server = programs.StartServer(t, w.env)
	for i := range w.workers {
		w.workers[i] = programs.StartWorker(t, w.env)
	}
	for lane := range stormLanes {
		body := fmt.Sprintf(`{"url":%q,"event_types":["storm.lane%d"]}`, w.receiver.url(), lane)
		w.insistAt(t, "/webhook-endpoints", fmt.Sprintf("lane-%d", lane), body, w.server.URL)
	}
	return w
}

// publish publishes all events at an even pace. What it returns waits until they
// are, and returns their ids.
func (w *storm) publish(t *testing.T) (wait func() map[string]bool) {
	t.Helper()
	ids := make([]string, stormEvents)
	var next atomic.Int64
	var wg sync.WaitGroup
	begin := time.Now()
	for range stormClients {
		wg.Go(func() {
			for i := int(next.Add(1)) - 1; i < stormEvents; i = int(next.Add(1)) - 1 {
				pause(time.Until(begin.Add(time.Duration(i) * stormPublish / stormEvents)))
				body := fmt.Sprintf(`{"type":"storm.lane%d","data":{"n":%d}}`, i%stormLanes, i)
				ids[i] = idOf(w.insistAt(t, "/events", fmt.Sprintf("event-%d", i), body, w.server.URL))
			}
		})
	}
	return func() map[string]bool {
		wg.Wait()
		events := map[string]bool{}
		for _, id := range ids {
			events[id] = true
		}
		return events
	}
}

func idOf(answer programs.Answer) string {
	var object struct {
		ID string `json:"id"`
	}
	_ = json.Unmarshal([]byte(answer.Body), &object) // "" is missed by whoever looks for it
	return object.ID
}

// killEverySecond kills the workers in turn, and starts them again.
func (w *storm) killEverySecond(t *testing.T, times int) {
	t.Helper()
	for i := range times {
		pause(time.Second)
		w.workers[i%2].Kill(t)
		w.workers[i%2] = programs.StartWorker(t, w.env)
	}
}

func (w *storm) flushRedis(t *testing.T, times int) {
	t.Helper()
	options, err := redis.ParseURL(w.redis.URL())
	require.NoError(t, err)
	client := redis.NewClient(options)
	defer func() { _ = client.Close() }()
	for range times {
		require.NoError(t, client.FlushAll(t.Context()).Err())
		pause(100 * time.Millisecond)
	}
}

func (w *storm) stopRedis(t *testing.T) {
	t.Helper()
	require.NoError(t, w.redis.Kill())
	pause(redisOff)
	require.NoError(t, w.redis.Start(t.Context()))
}

// freezeMidSend freezes the first worker while it has requests on the wire.
func (w *storm) freezeMidSend(t *testing.T) (thaw func()) {
	t.Helper()
	worker := w.workers[0]
	thaw = func() { worker.Signal(t, syscall.SIGCONT) }
	t.Cleanup(thaw)
	for range 50 {
		before := time.Now()
		worker.Signal(t, syscall.SIGSTOP)
		pause(2 * time.Second)
		// The other worker's sends take milliseconds: whatever was claimed around
		// the freeze and is still in flight is the frozen one's.
		var held int
		require.NoError(t, w.db.QueryRowContext(t.Context(), `
			SELECT count(*) FROM webhook_deliveries WHERE status = 'in_flight'
			AND lease_expires_at BETWEEN now() + interval '60 seconds' - make_interval(secs => $1)
			                         AND now() + interval '58500 milliseconds'`,
			time.Since(before).Seconds()+0.5).Scan(&held))
		if held > 0 {
			t.Logf("a worker was frozen with %d deliveries in flight", held)
			return thaw
		}
		thaw()
		pause(300 * time.Millisecond) // time to start, if it had not, and to claim
	}
	require.Fail(t, "the worker was never frozen in the middle of a send")
	return nil
}

func (w *storm) undelivered(t *testing.T) (count int) {
	t.Helper()
	require.NoError(t, w.db.QueryRowContext(t.Context(),
		`SELECT count(*) FROM webhook_deliveries WHERE status <> 'delivered'`).Scan(&count))
	return count
}

// requireDelivered waits until every delivery has ended well: what a killed
// worker held comes back after its lease of a minute.
func (w *storm) requireDelivered(t *testing.T) {
	t.Helper()
	require.Eventually(t, func() bool { return w.undelivered(t) == 0 }, 2*programs.Patience, 500*time.Millisecond)
	var letters int
	require.NoError(t, w.db.QueryRowContext(t.Context(), `SELECT count(*) FROM dead_letters`).Scan(&letters))
	require.Zero(t, letters)
}

// judge holds what the receiver got against what was published and what the
// table says.
func (w *storm) judge(t *testing.T, published map[string]bool) {
	t.Helper()
	require.Len(t, published, stormEvents)
	receipts := w.receiver.all()
	for id := range published {
		require.NotEmpty(t, receipts[id], "event %s never arrived", id)
	}
	require.Len(t, receipts, stormEvents, "and nothing else did")
	attempts := w.attempts(t)
	require.Len(t, attempts, stormEvents)
	reasons := map[string]int{}
	duplicates := 0
	for event, got := range receipts {
		duplicates += len(got) - 1
		for number, receipt := range got {
			row, recorded := attempts[event][number]
			require.True(t, recorded, "attempt %d of %s is on the wire and not in the table", number, event)
			require.Equal(t, row.requestID, receipt.requestID)
			require.Equal(t, 1, receipt.times, "attempt %d of %s was on the wire twice", number, event)
			if last := len(attempts[event]); number < last {
				reasons[reasonFor(t, row, attempts[event][number+1])]++
			}
		}
		for number, row := range attempts[event] {
			if row.status == 200 {
				require.Contains(t, got, number, "attempt %d of %s is said to be answered and never arrived", number, event)
			}
		}
	}
	t.Logf("%d events, %d duplicates; receipts that were not the last: %v", len(receipts), duplicates, reasons)
	require.LessOrEqual(t, duplicates, sum(reasons), "each duplicate has its reason")
	require.NotZero(t, reasons["lost with its worker"]+reasons["recorded after it was taken back"], "some sends were caught on the wire")
}

func sum(counts map[string]int) (total int) {
	for _, count := range counts {
		total += count
	}
	return total
}

// reasonFor says why another attempt followed one that the receiver had got.
func reasonFor(t *testing.T, row, next attempt) string {
	t.Helper()
	switch {
	case row.class == "worker_lost":
		return "lost with its worker"
	case row.class != "":
		return "its answer was lost: " + row.class
	case next.startedAt.Sub(row.startedAt) >= missedAfter:
		return "recorded after it was taken back"
	default:
		require.Fail(t, "a duplicate without a reason", "%+v, then %+v", row, next)
		return ""
	}
}

// attempt is a row of webhook_attempts.
type attempt struct {
	requestID string
	status    int
	class     string
	startedAt time.Time
}

// attempts returns every recorded attempt by event and number, having checked
// that the numbers of a delivery are 1, 2, 3… with no gap and no repeat.
func (w *storm) attempts(t *testing.T) map[string]map[int]attempt {
	t.Helper()
	var wrong int
	require.NoError(t, w.db.QueryRowContext(t.Context(), `
		SELECT count(*) FROM webhook_deliveries d LEFT JOIN LATERAL (
			SELECT count(*) AS rows, count(DISTINCT number) AS numbers, max(number) AS last
			FROM webhook_attempts a WHERE a.project_id = d.project_id AND a.delivery_id = compact_id(d.id)) a ON true
		WHERE NOT (a.rows = d.attempt_count AND a.numbers = d.attempt_count AND a.last = d.attempt_count)`).Scan(&wrong))
	require.Zero(t, wrong, "deliveries whose attempts have a gap or a repeat")
	rows, err := w.db.QueryContext(t.Context(), `
		SELECT d.event_id, a.number, 'req_' || ulid_of(a.id), coalesce(a.status_code, 0), coalesce(a.error_class, ''), a.started_at
		FROM webhook_attempts a JOIN webhook_deliveries d ON d.project_id = a.project_id AND d.id = 'whd_' || ulid_of(a.delivery_id)`)
	require.NoError(t, err)
	defer func() { _ = rows.Close() }()
	attempts := map[string]map[int]attempt{}
	for rows.Next() {
		var event string
		var number int
		var row attempt
		require.NoError(t, rows.Scan(&event, &number, &row.requestID, &row.status, &row.class, &row.startedAt))
		if attempts[event] == nil {
			attempts[event] = map[int]attempt{}
		}
		attempts[event][number] = row
	}
	require.NoError(t, rows.Err())
	return attempts
}
