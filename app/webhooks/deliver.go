package webhooks

import (
	"context"
	"errors"
	"log/slog"
	"math/rand/v2"
	"time"

	"github.com/botix-pro/platform/app/models"
	"github.com/botix-pro/platform/app/store"
)

// unsendablePause is how long a delivery waits after a fault of ours.
const unsendablePause = time.Minute

// deliver makes one attempt and hands its outcome over to be recorded; done is
// called when it is.
func (d *Drainer) deliver(ctx context.Context, c store.Claimed, made claimMade, done func()) {
	started := d.clock.Now()
	if started.Sub(made.at) > latestSend || !d.presence.maySend(made.by) {
		// Frozen since the claim: the lease may end during the send. Or cut off: it
		// may have been taken back. If not, the sweeper does it.
		d.log.WarnContext(ctx, "a claim was too old to send", "delivery", c.ID)
		done()
		return
	}
	secrets, err := ActiveSecrets(c.Secrets, started)
	if err := errors.Join(c.Unsealed, err); err != nil {
		d.log.ErrorContext(ctx, "a signing secret cannot be used", "endpoint", c.EndpointID, "error", err)
		d.recorder.record(unsendable(c, started), done)
		return
	}
	outcome := d.sender.Send(ctx, Attempt{
		URL: c.URL, Body: c.Body, EventID: c.EventID, EventType: c.EventType, Number: c.Number,
		RequestID: models.RequestIDOf(c.AttemptID), Headers: c.Headers, Secrets: secrets, StartedAt: started,
	})
	d.logAttempt(ctx, c, outcome)
	d.recorder.record(d.outcomeOf(c, outcome, started), done)
}

// unsendable puts a delivery off that a fault of ours kept from being sent: it
// costs no step, and another worker may have the right key.
func unsendable(c store.Claimed, started time.Time) store.Outcome {
	outcome := Outcome{ErrorClass: models.ErrorInternal, Error: "A fault of ours: the signing secret could not be read. Nothing was sent."}
	return store.Outcome{
		Token: c.Token, Attempt: attemptRow(c, outcome, started),
		Status: models.DeliveryWaiting, Step: c.Step, KeepStep: true, DueIn: unsendablePause,
	}
}

// outcomeOf is what to record: the attempt, and the delivery's next state.
func (d *Drainer) outcomeOf(c store.Claimed, o Outcome, started time.Time) store.Outcome {
	now := d.clock.Now()
	at := Place{Step: c.Step, BeganAt: now.Add(-c.SinceStepBegan - now.Sub(started))}
	plan := d.schedule.Plan(o.Verdict(), at, now, rand.Float64)
	return store.Outcome{
		Token: c.Token, Attempt: attemptRow(c, o, started), Sent: o.Sent,
		Status: plan.Status, Step: plan.Place.Step, KeepStep: plan.Place.Step == c.Step, Cause: plan.Cause,
		DueIn: until(plan.DueAt, now), CloseLaneFor: until(plan.LaneClosedUntil, now), DisableEndpoint: plan.DisableEndpoint,
	}
}

// until is the time from now to at; 0 when at is not set.
func until(at, now time.Time) time.Duration {
	if at.IsZero() {
		return 0
	}
	return max(at.Sub(now), 0)
}

// logAttempt writes the one line about an attempt.
func (d *Drainer) logAttempt(ctx context.Context, c store.Claimed, o Outcome) {
	if !d.log.Enabled(ctx, slog.LevelInfo) {
		return
	}
	d.log.InfoContext(ctx, "attempt", "project", c.ProjectID, "endpoint", c.EndpointID, "delivery", c.ID, "event", c.EventID,
		"number", c.Number, "status", o.StatusCode, "error_class", o.ErrorClass, "took", o.Timing.Total,
		"remote", o.RemoteAddr, "resent", o.Resent, "body_error", o.BodyError)
}
