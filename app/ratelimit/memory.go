package ratelimit

import (
	"sync"
	"time"
)

// maxSubjects bounds the memory an attacker with many addresses can take: what
// does not fit is admitted uncounted until the minute ends.
const maxSubjects = 100_000

// memory counts requests of one window; the next window starts empty.
type memory struct {
	mu     sync.Mutex
	starts time.Time
	counts map[string]int
}

func newMemory() *memory { return &memory{counts: map[string]int{}} }

// count counts a request unless limit is reached, and returns how many were
// counted in now's window.
func (m *memory) count(subject string, limit int, now time.Time) (count int, admitted bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if starts := now.Truncate(window); !starts.Equal(m.starts) {
		m.starts = starts
		clear(m.counts)
	}
	count, known := m.counts[subject]
	switch {
	case count >= limit:
		return count, false
	case !known && len(m.counts) >= maxSubjects:
		return 0, true
	default:
		m.counts[subject] = count + 1
		return count + 1, true
	}
}
