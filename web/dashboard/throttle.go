package dashboard

import (
	"container/list"
	"sync"
	"time"

	"golang.org/x/time/rate"

	"github.com/botix-pro/platform/internal/clock"
)

// maxThrottled bounds what a throttle remembers: some 2 MB.
const maxThrottled = 10_000

// throttle allows each key a burst of tries and then one per interval. It
// remembers a bounded number of keys; the one unused for longest, which has
// regained the most, is forgotten first. It is safe for concurrent use.
type throttle struct {
	clock    clock.Clock
	interval time.Duration
	burst    int

	mu    sync.Mutex
	kept  map[string]*list.Element // of *throttled
	order *list.List               // most recently used first
}

type throttled struct {
	key     string
	limiter *rate.Limiter
}

func newThrottle(clk clock.Clock, burst int, interval time.Duration) *throttle {
	return &throttle{clock: clk, interval: interval, burst: burst, kept: map[string]*list.Element{}, order: list.New()}
}

// take uses up one try and returns 0, or, using up nothing, returns how long to
// wait for the next one.
func (t *throttle) take(key string) time.Duration {
	t.mu.Lock()
	defer t.mu.Unlock()
	now := t.clock.Now()
	reservation := t.limiterOf(key).ReserveN(now, 1)
	wait := reservation.DelayFrom(now)
	if wait > 0 {
		reservation.CancelAt(now)
	}
	return wait
}

// forget gives a key its whole burst back.
func (t *throttle) forget(key string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if element, ok := t.kept[key]; ok {
		t.drop(element)
	}
}

func (t *throttle) limiterOf(key string) *rate.Limiter {
	if element, ok := t.kept[key]; ok {
		t.order.MoveToFront(element)
		return element.Value.(*throttled).limiter //nolint:forcetypeassert // the list holds nothing else
	}
	if len(t.kept) >= maxThrottled {
		t.drop(t.order.Back())
	}
	fresh := &throttled{key: key, limiter: rate.NewLimiter(rate.Every(t.interval), t.burst)}
	t.kept[key] = t.order.PushFront(fresh)
	return fresh.limiter
}

func (t *throttle) drop(element *list.Element) {
	delete(t.kept, element.Value.(*throttled).key) //nolint:forcetypeassert // the list holds nothing else
	t.order.Remove(element)
}
