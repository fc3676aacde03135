//go:build bench

package load_test

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/botix-pro/platform/app/models"
	"github.com/botix-pro/platform/internal/clock"
	"github.com/botix-pro/platform/test/programs"
)

// latencyFor is how long a rate is kept up.
const latencyFor = 10 * time.Second

// From the moment at which a client sends POST /events to the arrival of its
// webhook, on a stack that does nothing else.
func TestPublishToReceive(t *testing.T) {
	f := newFleet(t, 1, instant)
	p := f.start(t)
	p.measure(t, 50, 0) // connections, caches, plans
	for _, rate := range []int{50, 200} {
		took := p.measure(t, rate, 0)
		t.Logf("publish to receive at %d/s: p50 %s, p99 %s", rate, percentile(took, 0.5), percentile(took, 0.99))
	}
}

// A healthy endpoint's latency alone, and beside one that gets as many events
// and answers none of them.
func TestIsolation(t *testing.T) {
	var f *fleet
	f = newFleet(t, 2, func(w http.ResponseWriter, r *http.Request) {
		if r.Host == strings.TrimSuffix(strings.TrimPrefix(f.hosts[1], "http://"), "/") {
			<-r.Context().Done() // until the sender gives up
			return
		}
		instant(w, r)
	})
	p := f.start(t)
	p.measure(t, 50, 0)
	alone := p.measure(t, 50, 0)
	p.measure(t, 50, 1) // fills the hung endpoint's slots
	beside := p.measure(t, 50, 1)
	t.Logf("healthy endpoint, p99 beside a hung one ÷ alone: %.2f (%s, %s); p50 %s, %s",
		float64(percentile(beside, 0.99))/float64(percentile(alone, 0.99)),
		percentile(beside, 0.99), percentile(alone, 0.99), percentile(beside, 0.5), percentile(alone, 0.5))
}

func percentile(took []time.Duration, share float64) time.Duration {
	slices.Sort(took)
	return took[int(share*float64(len(took)-1))].Round(10 * time.Microsecond)
}

// publisher sends events to a server and notes when their webhooks arrive.
type publisher struct {
	url    string
	fleet  *fleet
	client *http.Client

	mu   sync.Mutex
	sent map[string]time.Time // by the number in the event
	took []time.Duration
	left sync.WaitGroup
}

// start runs a server and a worker.
func (f *fleet) start(t *testing.T) *publisher {
	t.Helper()
	server := programs.StartServer(t, f.env)
	worker := programs.StartWorker(t, f.env)
	t.Cleanup(func() { worker.Kill(t) }) // it may wait for a hung receiver
	p := &publisher{url: server.URL, fleet: f, client: &http.Client{}, sent: map[string]time.Time{}}
	f.arrived = p.arrived
	return p
}

// measure publishes at a rate to the first endpoint, and beside it as many to
// each of the given number of others, and returns how long the first one's took.
func (p *publisher) measure(t *testing.T, rate, others int) []time.Duration {
	t.Helper()
	p.mu.Lock()
	p.took = nil
	p.mu.Unlock()
	ticker := time.NewTicker(time.Second / time.Duration(rate))
	defer ticker.Stop()
	for range int(latencyFor.Seconds()) * rate {
		<-ticker.C
		for endpoint := range others + 1 {
			p.left.Add(1)
			go p.publish(t, endpoint)
		}
	}
	p.left.Wait()
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.took
}

func (p *publisher) publish(t *testing.T, endpoint int) {
	id := models.NewID("", clock.System{}.Now())
	if endpoint == 0 {
		p.mu.Lock()
		p.sent[id] = clock.System{}.Now()
		p.mu.Unlock()
	} else {
		defer p.left.Done()
	}
	document := fmt.Sprintf(`{"type":%q,"data":{"id":%q}}`, eventType(endpoint), id)
	request, err := http.NewRequestWithContext(context.WithoutCancel(t.Context()), http.MethodPost, p.url+"/events", strings.NewReader(document))
	if err != nil {
		t.Error(err)
		return
	}
	request.Header.Set("Content-Type", "application/json")
	request.Header.Set("Authorization", "Bearer "+p.fleet.demo.APIKey)
	request.Header.Set("Idempotency-Key", id)
	response, err := p.client.Do(request)
	if err != nil {
		t.Error(err)
		return
	}
	if response.StatusCode != http.StatusCreated {
		t.Errorf("POST /events answered %d", response.StatusCode)
	}
	_ = response.Body.Close()
}

// arrived notes a webhook's arrival, by the number in its body.
func (p *publisher) arrived(r *http.Request) {
	now := clock.System{}.Now()
	raw := make([]byte, 4096)
	n, _ := r.Body.Read(raw)
	_, rest, found := strings.Cut(string(raw[:n]), `"data":{"id":"`)
	id, _, _ := strings.Cut(rest, `"`)
	p.mu.Lock()
	defer p.mu.Unlock()
	began, known := p.sent[id]
	if !found || !known {
		return
	}
	delete(p.sent, id)
	p.took = append(p.took, now.Sub(began))
	p.left.Done()
}
