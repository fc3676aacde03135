package webhooks

import (
	"errors"
	"fmt"
	"math"
	"strings"
	"time"
)

// Schedule is the retry ladder: the delay after each failed step but the last.
// Four delays make five steps. Steps count from 1.
type Schedule []time.Duration

const (
	maxSteps = 20
	maxDelay = 30 * 24 * time.Hour
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

// ParseSchedule reads a ladder like "1m,15m,1h,24h" (Go durations). Each delay
// is more than zero and at most 30 days, and there are at most 19 of them.
func ParseSchedule(text string) (Schedule, error) {
	if strings.TrimSpace(text) == "" {
		return nil, errors.New(`a retry schedule is empty; write for example "1m,15m,1h,24h"`)
	}
	fields := strings.Split(text, ",")
	if len(fields) >= maxSteps {
		return nil, fmt.Errorf("a retry schedule has %d delays; at most %d are allowed", len(fields), maxSteps-1)
	}
	schedule := make(Schedule, len(fields))
	for i, field := range fields {
		delay, err := parseDelay(strings.TrimSpace(field))
		if err != nil {
			return nil, fmt.Errorf("delay %d of the retry schedule %q: %w", i+1, text, err)
		}
		schedule[i] = delay
	}
	return schedule, nil
}

func parseDelay(text string) (time.Duration, error) {
	delay, err := time.ParseDuration(text)
	switch {
	case err != nil:
		return 0, fmt.Errorf(`%q is not a duration like "90s", "15m" or "24h"`, text)
	case delay <= 0:
		return 0, fmt.Errorf("%q is not more than zero", text)
	case delay > maxDelay:
		return 0, fmt.Errorf("%q is more than %s", text, maxDelay)
	}
	return delay, nil
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
