// Package clock is the one place that reads the wall clock, so that whatever
// depends on time takes it from a value that tests can set.
package clock

import (
	"sync"
	"time"
)

// Clock tells the time in UTC, cut to milliseconds: the precision the API shows
// and the database keeps, so that a value read back equals the value written.
type Clock interface {
	Now() time.Time
}

// System is the machine's clock.
type System struct{}

// Now implements [Clock].
func (System) Now() time.Time {
	return time.Now().UTC().Truncate(time.Millisecond)
}

// Manual is a clock that moves only when told to. It is safe for concurrent use.
type Manual struct {
	mu  sync.Mutex
	now time.Time
}

// NewManual returns a clock standing at the given time.
func NewManual(at time.Time) *Manual { return &Manual{now: at.UTC().Truncate(time.Millisecond)} }

// Now implements [Clock].
func (m *Manual) Now() time.Time {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.now
}

// Advance moves the clock forward.
func (m *Manual) Advance(d time.Duration) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.now = m.now.Add(d)
}
