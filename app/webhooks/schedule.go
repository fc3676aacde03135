package webhooks

import (
	"math"
	"time"
)

// Schedule is the retry ladder: the delay after each failed step but the last.
// Four delays make five steps. Steps count from 1.
type Schedule []time.Duration

const (
	// jitterShare is the part of a delay that jitter may add (contract §5).
	jitterShare = 10
	// clockGrain is added to every delay because the platform's clock cuts its
	// time to milliseconds: "one minute after 12:00:00.000" would otherwise be
	// early by up to a millisecond.
	clockGrain = time.Millisecond
)

// DefaultSchedule returns the contract's ladder: 1m, 15m, 1h, 24h.
func DefaultSchedule() Schedule {
	return Schedule{time.Minute, 15 * time.Minute, time.Hour, 24 * time.Hour}
}

// Steps returns how many steps the ladder has.
func (s Schedule) Steps() int { return len(s) + 1 }

// Next returns when the step after a failed one is due: never earlier than the
// step's delay after at and at most a tenth of it later. After the last step
// ok is false: the delivery becomes a dead letter. jitter returns a number in
// [0, 1); anything else is pulled into it.
func (s Schedule) Next(step int, at time.Time, jitter func() float64) (due time.Time, ok bool) {
	if step >= s.Steps() {
		return time.Time{}, false
	}
	delay := s.Delay(step)
	span := delay / jitterShare
	grain := min(clockGrain, span)
	spread := time.Duration(fraction(jitter) * float64(span-grain))
	return at.Add(delay + grain + spread), true
}

// Delay returns the delay that belongs to a step. The last step has none of its
// own and answers with the one before it: that is how long a throttling
// receiver may keep a delivery on the last step.
func (s Schedule) Delay(step int) time.Duration {
	if len(s) == 0 {
		return 0
	}
	return s[min(max(step, 1), len(s))-1]
}

func fraction(jitter func() float64) float64 {
	f := jitter()
	if math.IsNaN(f) {
		return 0
	}
	return min(max(f, 0), 1)
}
