//go:build fault

package fault_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/botix-pro/platform/test/programs"
)

const (
	backlog      = 60
	backlogCap   = 10               // the endpoint's, on requests in flight
	backAgain    = 15 * time.Second // after a worker was killed; 6 s on a quiet machine
	keptWhile    = 12 * time.Second // far longer than it takes to miss a worker that is gone
	backlogTotal = 60 * time.Second
)

// backedUp is a site whose one endpoint hangs with all the requests that it may
// have in flight, of a worker that is about to meet its fate.
type backedUp struct {
	*site

	worker   *programs.Process
	hang     chan struct{} // closed: the receiver answers at once
	arrived  atomic.Int64
	mu       sync.Mutex
	receipts map[string]int
}

func newBackedUp(t *testing.T) *backedUp {
	t.Helper()
	b := &backedUp{site: newSite(t), hang: make(chan struct{}), receipts: map[string]int{}}
	receiver := httptest.NewServer(http.HandlerFunc(b.receive))
	t.Cleanup(receiver.Close)
	t.Cleanup(b.answer)
	_, err := b.db.ExecContext(t.Context(), `UPDATE webhook_endpoints SET url = $1, max_in_flight = $2`, receiver.URL, backlogCap)
	require.NoError(t, err)
	server := programs.StartServer(t, b.env)
	for i := range backlog {
		b.insistAt(t, "/events", fmt.Sprintf("event-%d", i), `{"type":"order.paid","data":{}}`, server.URL)
	}
	b.worker = programs.StartWorker(t, b.env)
	require.Eventually(t, func() bool { return b.arrived.Load() == backlogCap }, programs.Patience, 10*time.Millisecond)
	return b
}

func (b *backedUp) receive(w http.ResponseWriter, r *http.Request) {
	b.arrived.Add(1)
	b.mu.Lock()
	b.receipts[r.Header.Get("X-Event-Id")]++
	b.mu.Unlock()
	select {
	case <-b.hang:
	case <-r.Context().Done():
	}
	w.WriteHeader(http.StatusOK)
}

// answer lets the receiver answer from now on.
func (b *backedUp) answer() {
	select {
	case <-b.hang:
	default:
		close(b.hang)
	}
}

// count is how many deliveries have the status.
func (b *backedUp) count(t *testing.T, status string) (count int) {
	t.Helper()
	require.NoError(t, b.db.QueryRowContext(t.Context(), `SELECT count(*) FROM webhook_deliveries WHERE status = $1`, status).Scan(&count))
	return count
}

// A killed worker's sends fill its endpoint's cap. They are known to be lost
// within seconds, not when their lease of a minute is over, and the backlog goes on.
func TestKilledWorkerHoldsUpItsEndpointForSecondsOnly(t *testing.T) {
	b := newBackedUp(t)
	second := programs.StartWorker(t, b.env)
	b.worker.Kill(t)
	killed := time.Now()
	b.answer()
	require.Eventually(t, func() bool { return b.count(t, "delivered") > 0 }, backAgain, 20*time.Millisecond, "%s", second.Log)
	t.Logf("the backlog went on %s after the kill", time.Since(killed).Round(100*time.Millisecond))
	require.Eventually(t, func() bool { return b.count(t, "delivered") == backlog }, backlogTotal, 50*time.Millisecond)
	var lost int
	require.NoError(t, b.db.QueryRowContext(t.Context(), `SELECT count(*) FROM webhook_attempts WHERE error_class = 'worker_lost'`).Scan(&lost))
	require.Equal(t, backlogCap, lost)
}

// A frozen worker is not a dead one: what it holds is nobody else's, and once it
// goes on each event has arrived exactly once.
func TestFrozenWorkerKeepsWhatItHolds(t *testing.T) {
	b := newBackedUp(t)
	programs.StartWorker(t, b.env)
	b.worker.Signal(t, syscall.SIGSTOP)
	t.Cleanup(func() { b.worker.Signal(t, syscall.SIGCONT) })
	pause(keptWhile)
	require.Equal(t, backlogCap, b.count(t, "in_flight"))
	require.EqualValues(t, backlogCap, b.arrived.Load())
	b.answer()
	b.worker.Signal(t, syscall.SIGCONT)
	require.Eventually(t, func() bool { return b.count(t, "delivered") == backlog }, backlogTotal, 50*time.Millisecond)
	b.mu.Lock()
	defer b.mu.Unlock()
	for event, times := range b.receipts {
		require.Equal(t, 1, times, event)
	}
}
