package webhooks_test

import (
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/botix-pro/platform/app/models"
	"github.com/botix-pro/platform/app/webhooks"
)

var noon = time.Date(2026, 1, 2, 12, 0, 0, 0, time.UTC)

func noJitter() float64 { return 0 }

// Guarantee: whatever the jitter, a step is never early and at most a tenth late.
func TestNextStaysInItsWindow(t *testing.T) {
	t.Parallel()
	schedule := webhooks.DefaultSchedule()
	values := []float64{0, 0.5, math.Nextafter(1, 0), 1, -3, 17, math.NaN(), math.Inf(1), math.Inf(-1)}
	for range 200 {
		values = append(values, rand.Float64())
	}
	for step, delay := range []time.Duration{time.Minute, 15 * time.Minute, time.Hour, 24 * time.Hour} {
		for _, value := range values {
			due, ok := schedule.Next(step+1, noon, func() float64 { return value })
			require.True(t, ok)
			require.GreaterOrEqual(t, due.Sub(noon), delay, "step %d jitter %v", step+1, value)
			require.LessOrEqual(t, due.Sub(noon), delay+delay/10, "step %d jitter %v", step+1, value)
		}
	}
	_, ok := schedule.Next(5, noon, noJitter)
	require.False(t, ok, "the fifth step is the last")
}

func TestNextUsesItsJitter(t *testing.T) {
	t.Parallel()
	early, _ := webhooks.DefaultSchedule().Next(1, noon, noJitter)
	late, _ := webhooks.DefaultSchedule().Next(1, noon, func() float64 { return 0.99 })
	require.Greater(t, late.Sub(early), 5*time.Second)
}

// Guarantee: a clock that cuts its time to milliseconds makes no step early.
func TestNextAllowsForTheClocksGrain(t *testing.T) {
	t.Parallel()
	end := noon.Add(time.Millisecond - 1)
	due, _ := webhooks.DefaultSchedule().Next(1, end.Truncate(time.Millisecond), noJitter)
	require.False(t, due.Before(end.Add(time.Minute)))
}

func TestPlan(t *testing.T) {
	t.Parallel()
	schedule := webhooks.DefaultSchedule()
	retry := webhooks.Verdict{Kind: webhooks.Retry}
	throttled := func(pause time.Duration) webhooks.Verdict {
		return webhooks.Verdict{Kind: webhooks.CloseLane, Pause: pause}
	}
	began := func(step int, ago time.Duration) webhooks.Place {
		return webhooks.Place{Step: step, BeganAt: noon.Add(-ago)}
	}
	after := func(d time.Duration) time.Time { return noon.Add(d + time.Millisecond) }
	for name, tt := range map[string]struct {
		verdict webhooks.Verdict
		at      webhooks.Place
		want    webhooks.Plan
	}{
		"delivered": {
			webhooks.Verdict{Kind: webhooks.Delivered}, began(3, 0),
			webhooks.Plan{Status: models.DeliveryDelivered, Place: began(3, 0)},
		},
		"first failure": {
			retry, began(1, 0),
			webhooks.Plan{Status: models.DeliveryWaiting, Place: webhooks.Place{Step: 2}, DueAt: after(time.Minute)},
		},
		"fourth failure": {
			retry, began(4, 0),
			webhooks.Plan{Status: models.DeliveryWaiting, Place: webhooks.Place{Step: 5}, DueAt: after(24 * time.Hour)},
		},
		"fifth failure": {
			retry, began(5, 0),
			webhooks.Plan{Status: models.DeliveryDeadLetter, Place: began(5, 0), Cause: models.CauseRetriesExhausted},
		},
		"dead at once": {
			webhooks.Verdict{Kind: webhooks.DeadLetter, Cause: "http_401"}, began(1, 0),
			webhooks.Plan{Status: models.DeliveryDeadLetter, Place: began(1, 0), Cause: "http_401"},
		},
		"gone": {
			webhooks.Verdict{Kind: webhooks.DeadLetterAndDisable, Cause: "http_410"}, began(1, 0),
			webhooks.Plan{Status: models.DeliveryDeadLetter, Place: began(1, 0), Cause: "http_410", DisableEndpoint: true},
		},
		"worker lost costs no step": {
			webhooks.Verdict{Kind: webhooks.Lost}, began(5, time.Hour),
			webhooks.Plan{Status: models.DeliveryPending, Place: began(5, time.Hour), DueAt: noon},
		},
		"throttled within the step": {
			throttled(30 * time.Second), began(1, 59*time.Second),
			webhooks.Plan{Status: models.DeliveryWaiting, Place: began(1, 59*time.Second),
				DueAt: after(30 * time.Second), LaneClosedUntil: after(30 * time.Second)},
		},
		"throttled past the step's delay": {
			throttled(30 * time.Second), began(1, time.Minute),
			webhooks.Plan{Status: models.DeliveryWaiting, Place: webhooks.Place{Step: 2},
				DueAt: after(30 * time.Second), LaneClosedUntil: after(30 * time.Second)},
		},
		"throttled on the first send of a step": {
			throttled(24 * time.Hour), webhooks.Place{Step: 2},
			webhooks.Plan{Status: models.DeliveryWaiting, Place: webhooks.Place{Step: 2, BeganAt: noon},
				DueAt: after(24 * time.Hour), LaneClosedUntil: after(24 * time.Hour)},
		},
		"throttled on the last step": {
			throttled(time.Minute), began(5, 23*time.Hour),
			webhooks.Plan{Status: models.DeliveryWaiting, Place: began(5, 23*time.Hour),
				DueAt: after(time.Minute), LaneClosedUntil: after(time.Minute)},
		},
		"throttled past the last step": {
			throttled(time.Minute), began(5, 24*time.Hour),
			webhooks.Plan{Status: models.DeliveryDeadLetter, Place: began(5, 24*time.Hour),
				Cause: models.CauseRetriesExhausted, LaneClosedUntil: after(time.Minute)},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			require.Equal(t, tt.want, schedule.Plan(tt.verdict, tt.at, noon, noJitter))
		})
	}
}

// Guarantee: a receiver that throttles for ever still ends as a dead letter, at
// the ladder's pace and not after five answers.
func TestThrottlingForEverEnds(t *testing.T) {
	t.Parallel()
	schedule := webhooks.Schedule{time.Minute, 15 * time.Minute}
	verdict := webhooks.Classify(429, 10*time.Second, "")
	place, now, sends := webhooks.Place{Step: 1}, noon, 0
	for {
		sends++
		if place.BeganAt.IsZero() {
			place.BeganAt = now
		}
		plan := schedule.Plan(verdict, place, now, noJitter)
		if plan.Status == models.DeliveryDeadLetter {
			break
		}
		require.Less(t, sends, 1000)
		place, now = plan.Place, plan.DueAt
	}
	require.InDelta(t, (31*time.Minute + 20*time.Second).Seconds(), now.Sub(noon).Seconds(), 30)
}
