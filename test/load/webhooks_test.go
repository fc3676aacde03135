//go:build bench

package load_test

import (
	"bytes"
	"context"
	"fmt"
	"net"
	"net/http"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/botix-pro/platform/app/demo"
	"github.com/botix-pro/platform/app/models"
	"github.com/botix-pro/platform/app/store"
	"github.com/botix-pro/platform/internal/clock"
	"github.com/botix-pro/platform/internal/localstack"
	"github.com/botix-pro/platform/internal/seal"
	"github.com/botix-pro/platform/internal/testenv"
	"github.com/botix-pro/platform/test/programs"
)

const (
	deliveriesARound = 20_000
	sendersAtOnce    = 100
)

// Recorded deliveries a second, against a client that posts the same bodies and
// remembers nothing.
func TestDeliveries(t *testing.T) {
	for _, endpoints := range []int{1, 1000} {
		f := newFleet(t, endpoints, instant)
		var ours, bare []float64
		for range rounds {
			ours = append(ours, f.deliver(t, deliveriesARound))
			bare = append(bare, f.postBare(t, deliveriesARound))
		}
		t.Logf("recorded deliveries ÷ bare http.Client, %d endpoints: %.2f (%.0f/s, %.0f/s)",
			endpoints, median(ours)/median(bare), median(ours), median(bare))
		for i, program := range []string{"worker", "PostgreSQL", "Redis"} {
			t.Logf("  CPU time a delivery, %s: %s", program, (f.used[i] / (rounds * deliveriesARound)).Round(time.Microsecond))
		}
		f.reportSize(t)
	}
}

// What the worker needs while a thousand sends wait for their answers.
func TestMemoryWithAThousandInFlight(t *testing.T) {
	release := make(chan struct{})
	f := newFleet(t, 20, func(_ http.ResponseWriter, r *http.Request) {
		select {
		case <-release:
		case <-r.Context().Done():
		}
	})
	defer close(release)
	f.publish(t, 2000)
	worker := programs.StartWorker(t, f.env)
	require.Eventually(t, func() bool { return f.received.Load() >= 1000 }, programs.Patience, 10*time.Millisecond)
	t.Logf("resident memory of a worker with %d deliveries in flight: %d MiB", f.received.Load(), residentMiB(t, worker.Command.Process.Pid))
	worker.Kill(t)
}

func instant(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusOK) }

// fleet is a project whose endpoints are hosts of their own, each on its own
// loopback address, and wants one kind of event each.
type fleet struct {
	env      []string
	store    *store.Store
	demo     demo.Credentials
	hosts    []string
	answer   http.HandlerFunc
	received atomic.Int64
	arrived  func(*http.Request) // optional, at each receipt
	postgres *localstack.Postgres
	redis    *localstack.Redis
	used     []time.Duration // CPU time of worker, PostgreSQL and Redis while delivering
}

func newFleet(t *testing.T, endpoints int, answer http.HandlerFunc) *fleet {
	t.Helper()
	postgres, redis := durablePostgres(t), testenv.PrivateRedis(t)
	databaseURL := postgres.URL(localstack.DefaultDatabase)
	f := &fleet{env: programs.Environment(databaseURL, redis.URL()), answer: answer, postgres: postgres, redis: redis}
	f.hosts = f.listen(t, endpoints)
	f.demo = programs.Plant(t, databaseURL, f.hosts[0])
	unlimited(t, databaseURL)
	box, err := seal.New([]string{programs.EncryptionKey})
	require.NoError(t, err)
	f.store, err = store.Open(t.Context(), store.Config{URL: databaseURL, MaxConns: 4, Application: "botix-bench"}, box)
	require.NoError(t, err)
	t.Cleanup(func() { _ = f.store.Close() })
	f.plantEndpoints(t)
	return f
}

// listen opens one address for each endpoint: 127.0.0.2, 127.0.0.3, …
func (f *fleet) listen(t *testing.T, endpoints int) (urls []string) {
	t.Helper()
	server := &http.Server{Handler: http.HandlerFunc(f.receive), ReadHeaderTimeout: time.Minute}
	t.Cleanup(func() { _ = server.Close() })
	for i := range endpoints {
		addr := fmt.Sprintf("127.0.%d.%d:0", (i+2)/250, (i+2)%250+1)
		listener, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", addr)
		require.NoError(t, err)
		go func() { _ = server.Serve(listener) }()
		urls = append(urls, "http://"+listener.Addr().String()+"/")
	}
	return urls
}

func (f *fleet) receive(w http.ResponseWriter, r *http.Request) {
	f.received.Add(1)
	if f.arrived != nil {
		f.arrived(r)
	}
	f.answer(w, r)
}

func eventType(endpoint int) string { return fmt.Sprintf("bench.e%d", endpoint) }

// plantEndpoints replaces the demo's endpoint, which wants everything.
func (f *fleet) plantEndpoints(t *testing.T) {
	t.Helper()
	_, err := f.store.DB().ExecContext(t.Context(), `UPDATE webhook_endpoints SET status = 'deleted' WHERE project_id = $1`, string(f.demo.ProjectID))
	require.NoError(t, err)
	_, err = f.store.Write(t.Context(), f.demo.ProjectID, func(tx *store.Tx) error {
		for i, url := range f.hosts {
			if err := tx.CreateEndpoint(&models.WebhookEndpoint{
				ID: models.NewID(models.PrefixEndpoint, tx.Now()), URL: url, EventTypes: []string{eventType(i)},
				Status: models.EndpointActive, MaxInFlight: sendersAtOnce, CreatedAt: tx.Now(),
				Secrets: []models.EndpointSecret{{Value: f.demo.WebhookSecret}},
			}); err != nil {
				return err
			}
		}
		return nil
	})
	require.NoError(t, err)
}

// publish commits events, spread over the endpoints.
func (f *fleet) publish(t *testing.T, count int) {
	t.Helper()
	const batch = 500
	for first := 0; first < count; first += batch {
		_, err := f.store.Write(t.Context(), f.demo.ProjectID, func(tx *store.Tx) error {
			for i := first; i < min(first+batch, count); i++ {
				event := &models.Event{
					ProjectID: f.demo.ProjectID, ID: models.NewID(models.PrefixEvent, clock.System{}.Now()), Type: eventType(i % len(f.hosts)),
					Source: models.SourceAPI, APIVersion: models.CurrentAPIVersion, CreatedAt: tx.Now(),
				}
				if err := event.SetData([]byte(body), models.Subject{}); err != nil {
					return err
				}
				tx.AppendEvent(event)
			}
			return nil
		})
		require.NoError(t, err)
	}
}

// deliver publishes, has a fresh worker deliver, and returns how many a second
// were received and recorded, from the first receipt on.
func (f *fleet) deliver(t *testing.T, count int) float64 {
	t.Helper()
	f.publish(t, count)
	before := f.received.Load()
	worker := programs.StartWorker(t, f.env)
	require.Eventually(t, func() bool { return f.received.Load() > before }, programs.Patience, time.Millisecond)
	parts := []process{{pid: worker.Command.Process.Pid}, {pid: f.postgres.PID()}, {pid: f.redis.PID()}}
	begin, idle := clock.System{}.Now(), costs(t, parts)
	// The table is asked only when everything has arrived: the question costs, too.
	require.Eventually(t, func() bool { return f.received.Load()-before >= int64(count) && f.open(t) == 0 },
		5*programs.Patience, 5*time.Millisecond)
	took := clock.System{}.Now().Sub(begin)
	f.used = spent(f.used, idle, costs(t, parts))
	require.GreaterOrEqual(t, f.received.Load()-before, int64(count))
	worker.Stop(t)
	return float64(count) / took.Seconds()
}

// open is how many deliveries are not at their end.
func (f *fleet) open(t *testing.T) (count int) {
	t.Helper()
	require.NoError(t, f.store.DB().QueryRowContext(t.Context(),
		`SELECT count(*) FROM webhook_deliveries WHERE status IN ('pending', 'waiting') OR status = 'in_flight'`).Scan(&count))
	return count
}

// postBare posts the same bodies to the same hosts, as many at once.
func (f *fleet) postBare(t *testing.T, count int) float64 {
	t.Helper()
	client := &http.Client{Transport: &http.Transport{MaxIdleConns: 2000, MaxIdleConnsPerHost: sendersAtOnce}}
	defer client.CloseIdleConnections()
	payload := bytes.Repeat([]byte("x"), 300)
	var next, failed atomic.Int64
	begin := clock.System{}.Now()
	var wg sync.WaitGroup
	for range sendersAtOnce {
		wg.Go(func() {
			for i := next.Add(1); i <= int64(count); i = next.Add(1) {
				if postOne(t.Context(), client, f.hosts[int(i)%len(f.hosts)], payload) != nil {
					failed.Add(1)
				}
			}
		})
	}
	wg.Wait()
	require.Zero(t, failed.Load())
	return float64(count) / clock.System{}.Now().Sub(begin).Seconds()
}

func postOne(ctx context.Context, client *http.Client, url string, payload []byte) error {
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, url, bytes.NewReader(payload))
	if err != nil {
		return err
	}
	request.Header.Set("Content-Type", "application/json")
	response, err := client.Do(request)
	if err != nil {
		return err
	}
	return response.Body.Close()
}

// reportSize prints what an attempt takes in PostgreSQL, with its indexes: without
// what is kept of the receiver's answer, and with it. These answers have headers
// and no body.
func (f *fleet) reportSize(t *testing.T) {
	t.Helper()
	var size, answers, rows float64
	require.NoError(t, f.store.DB().QueryRowContext(t.Context(), `
		SELECT (SELECT sum(pg_total_relation_size(inhrelid)) FROM pg_inherits WHERE inhparent = 'webhook_attempts'::regclass),
		       sum(coalesce(pg_column_size(response_headers), 0) + coalesce(pg_column_size(response_body), 0)), count(*)
		FROM webhook_attempts`).Scan(&size, &answers, &rows))
	t.Logf("bytes of PostgreSQL an attempt, indexes included: %.0f, with the captured answer %.0f", (size-answers)/rows, size/rows)
}
