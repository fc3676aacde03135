//go:build fault

package fault_test

import (
	"context"
	"io"
	"net"
	"net/http"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// answerAfter is how long the receiver takes: long enough for a kill to find
// requests on the wire.
const answerAfter = 30 * time.Millisecond

// receiver counts webhooks where they arrive. It can die and come back at the
// same address.
type receiver struct {
	addr   string
	server *http.Server

	mu       sync.Mutex
	receipts map[string]map[int]receipt // by event and attempt number
}

// receipt is an attempt that arrived.
type receipt struct {
	requestID string
	times     int
}

func newReceiver(t *testing.T) *receiver {
	t.Helper()
	r := &receiver{addr: "127.0.0.1:0", receipts: map[string]map[int]receipt{}}
	r.live(t)
	t.Cleanup(func() { r.die(t) })
	return r
}

func (r *receiver) url() string { return "http://" + r.addr + "/hook" }

// live starts it.
func (r *receiver) live(t *testing.T) {
	t.Helper()
	listener, err := (&net.ListenConfig{}).Listen(context.WithoutCancel(t.Context()), "tcp", r.addr)
	require.NoError(t, err)
	r.addr = listener.Addr().String()
	server := &http.Server{Handler: http.HandlerFunc(r.receive), ReadHeaderTimeout: time.Minute}
	r.server = server
	go func() { _ = server.Serve(listener) }()
}

// die cuts every connection, answered or not, and refuses new ones.
func (r *receiver) die(t *testing.T) {
	t.Helper()
	require.NoError(t, r.server.Close())
}

func (r *receiver) receive(w http.ResponseWriter, request *http.Request) {
	if _, err := io.Copy(io.Discard, request.Body); err != nil {
		return // it did not arrive
	}
	number, _ := strconv.Atoi(request.Header.Get("X-Delivery-Attempt"))
	r.count(request.Header.Get("X-Event-Id"), number, request.Header.Get("X-Request-Id"))
	pause(answerAfter)
	w.WriteHeader(http.StatusOK)
}

func (r *receiver) count(event string, number int, requestID string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.receipts[event] == nil {
		r.receipts[event] = map[int]receipt{}
	}
	r.receipts[event][number] = receipt{requestID: requestID, times: r.receipts[event][number].times + 1}
}

// all is what arrived.
func (r *receiver) all() map[string]map[int]receipt {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.receipts
}
