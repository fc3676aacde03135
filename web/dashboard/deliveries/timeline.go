package deliveries

import (
	"fmt"
	"net/url"
	"time"

	"github.com/botix-pro/platform/app/models"
	"github.com/botix-pro/platform/web/dashboard/parts"
	"github.com/botix-pro/platform/web/ui"
)

// stateView is where a delivery stands, what a person can do about it, and all
// its attempts. It follows what happens while something is about to.
type stateView struct {
	Texts    *words
	ID       string // the element's
	Live     string // empty: nothing is about to happen
	Delivery string // the delivery's id
	Address  string // of its page
	State    ui.Pill
	Next     *ui.Sentence // may be nil
	Problem  string       // what was refused; may be empty
	Say      string       // to be read out; may be empty
	Retry    retryView
	Once     string // of the form that sends a copy to the inspector
	Steps    []stepView
	Older    bool // earlier attempts are no longer kept
}

// retryView is the button that sends a delivery again.
type retryView struct {
	ID      string // the element's
	Action  string
	Attempt string // whose page to come back to; may be empty
	Target  string // the element that the answer replaces
	Name    string
	Blocked string // why it cannot be pressed; empty: it can
}

// stepView is an attempt in its delivery's timeline.
type stepView struct {
	Address string
	Current bool // it is the one that is shown
	Number  string
	Outcome ui.Pill
	At      ui.Instant
	Took    string
	Waited  string // since the one before; may be empty
}

// state makes the part about a delivery. attempt is the one that is shown beside
// it, empty where none is.
func (m reader) state(d *models.WebhookDelivery, attempts []models.WebhookAttempt, attempt string, now time.Time) *stateView {
	view := &stateView{
		Texts: m.words, ID: stateID(d.ID, attempt), Delivery: d.ID, Address: Path + "/" + d.ID, State: m.deliveryPill(d.Status),
		Next: m.whatNext(d, now), Retry: m.retryOf(d, attempt),
		Older: len(attempts) > 0 && attempts[0].Number > 1 || len(attempts) == 0 && d.AttemptCount > 0,
	}
	if d.Status == models.DeliveryInFlight || d.Status.Due() && d.NextAttemptAt != nil && !d.NextAttemptAt.After(now.Add(soon)) {
		view.Live = stateAddress(d.ID, attempt)
	}
	for i, a := range attempts {
		step := stepView{
			Address: pathAttempts + a.ID, Current: a.ID == attempt, Outcome: m.outcome(a), At: m.Time(a.StartedAt), Took: m.milliseconds(a.Timing.DurationMs),
			Number: fmt.Sprintf(m.words.State.AutomaticF, a.Number),
		}
		if a.Manual {
			step.Number = fmt.Sprintf(m.words.State.ManualF, a.Number)
		}
		if i > 0 {
			step.Waited = fmt.Sprintf(m.words.State.WaitedF, m.Span(a.StartedAt.Sub(attempts[i-1].StartedAt)))
		}
		view.Steps = append(view.Steps, step)
	}
	return view
}

// soon is how near the next attempt must be for the page to wait for it.
const soon = time.Minute

const paramAttempt = "attempt"

func stateAddress(delivery, attempt string) string {
	address := Path + "/" + delivery + "/state"
	if attempt != "" {
		address += "?" + url.Values{paramAttempt: {attempt}}.Encode()
	}
	return address
}

// stateID is unique on a page that shows several attempts of one delivery.
func stateID(delivery, attempt string) string {
	if attempt == "" {
		return delivery + "-state"
	}
	return attempt + "-state"
}

func (m reader) retryOf(d *models.WebhookDelivery, attempt string) retryView {
	view := retryView{
		ID: stateID(d.ID, attempt) + "-retry", Action: Path + "/" + d.ID + "/retry", Attempt: attempt,
		Target: "#" + stateID(d.ID, attempt), Name: m.words.State.Retry,
	}
	switch d.Status {
	case models.DeliveryPending:
		view.Blocked = m.words.State.Queued
	case models.DeliveryInFlight:
		view.Blocked = m.words.State.InFlight
	case models.DeliveryCancelled:
		view.Blocked = m.words.State.Cancelled
	case models.DeliveryDelivered:
		view.Name = m.words.State.SendAgain
	case models.DeliveryWaiting:
		view.Name = m.words.State.RetryNow
	case models.DeliveryDeadLetter, models.DeliveryHeld:
	}
	return view
}

// whatNext says what happens to a delivery next, nil when nothing does.
func (m reader) whatNext(d *models.WebhookDelivery, now time.Time) *ui.Sentence {
	return m.next(models.WebhookAttempt{Number: d.AttemptCount}, *d, now)
}

func (m reader) deliveryPill(status models.DeliveryStatus) ui.Pill {
	return parts.DeliveryState(m.Locale, status)
}
