package webhooks

import (
	"time"

	"github.com/botix-pro/platform/app/models"
)

// Place is where a delivery stands on the ladder.
type Place struct {
	Step    int       // from 1
	BeganAt time.Time // start of the step's first send; zero before it
}

// Plan is what becomes of a delivery after an attempt.
type Plan struct {
	Status          models.DeliveryStatus // delivered, waiting, pending or dead_letter
	Place           Place                 // where it stands from now on
	DueAt           time.Time             // of waiting and pending; else zero
	LaneClosedUntil time.Time             // zero: the lane stays open
	Cause           models.DeadLetterCause
	DisableEndpoint bool
}

// Plan turns a verdict into the delivery's next state. at is where the attempt
// stood, with its step's first start; now is the attempt's end; jitter is that
// of [Schedule.Next].
func (s Schedule) Plan(v Verdict, at Place, now time.Time, jitter func() float64) Plan {
	switch v.Kind {
	case Delivered:
		return Plan{Status: models.DeliveryDelivered, Place: at}
	case DeadLetter, DeadLetterAndDisable:
		return Plan{
			Status: models.DeliveryDeadLetter, Place: at, Cause: v.Cause,
			DisableEndpoint: v.Kind == DeadLetterAndDisable,
		}
	case CloseLane:
		return s.planThrottled(v.Pause, at, now)
	case Lost:
		return Plan{Status: models.DeliveryPending, Place: at, DueAt: now}
	default:
		return s.planRetry(at, now, jitter)
	}
}

func (s Schedule) planRetry(at Place, now time.Time, jitter func() float64) Plan {
	due, ok := s.Next(at.Step, now, jitter)
	if !ok {
		return exhausted(at)
	}
	return Plan{Status: models.DeliveryWaiting, Place: Place{Step: at.Step + 1}, DueAt: due}
}

// planThrottled obeys a receiver that names its own pause. The pause replaces
// the step's delay instead of adding to it: the step is used once that delay
// has gone by since the step began, so a receiver that throttles for ever walks
// down the ladder at the ladder's own pace.
func (s Schedule) planThrottled(pause time.Duration, at Place, now time.Time) Plan {
	if at.BeganAt.IsZero() {
		at.BeganAt = now
	}
	until := now.Add(pause + clockGrain)
	usesStep := now.Sub(at.BeganAt) >= s.Delay(at.Step)
	if usesStep && at.Step >= s.Steps() {
		gone := exhausted(at)
		gone.LaneClosedUntil = until
		return gone
	}
	if usesStep {
		at = Place{Step: at.Step + 1}
	}
	return Plan{Status: models.DeliveryWaiting, Place: at, DueAt: until, LaneClosedUntil: until}
}

func exhausted(at Place) Plan {
	return Plan{Status: models.DeliveryDeadLetter, Place: at, Cause: models.CauseRetriesExhausted}
}
