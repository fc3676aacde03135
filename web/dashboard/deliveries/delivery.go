package deliveries

import (
	"context"
	"fmt"

	"github.com/botix-pro/platform/app/models"
	"github.com/botix-pro/platform/app/store"
	"github.com/botix-pro/platform/web/dashboard/parts"
	"github.com/botix-pro/platform/web/ui"
)

// deliveryView is one delivery with its attempts.
type deliveryView struct {
	ui.Shell

	Texts    *words
	Head     ui.Head
	State    ui.Pill
	Facts    []ui.Fact
	Retry    retryView
	Attempts ui.Table
}

// retryView is the button that sends the event again. It is there in every
// state; where it cannot act, it says why.
type retryView struct {
	Action  string // where the form goes
	Name    string
	Refused string // why it cannot; empty: it can
}

// deliveryKinds are the icons and colours of a delivery's states.
var deliveryKinds = map[models.DeliveryStatus]string{ //nolint:gochecknoglobals // a constant table
	models.DeliveryPending: ui.PillPending, models.DeliveryInFlight: ui.PillRunning, models.DeliveryWaiting: ui.PillRetrying,
	models.DeliveryDelivered: ui.PillDelivered, models.DeliveryDeadLetter: ui.PillDead, models.DeliveryHeld: ui.PillPending,
	models.DeliveryCancelled: ui.PillDead,
}

func (m reader) state(status models.DeliveryStatus) ui.Pill {
	return ui.Pill{Kind: deliveryKinds[status], Word: ui.Word(m.words.Attempt.Deliveries, status)}
}

// retryOf is the button of a delivery.
func (m reader) retryOf(d *models.WebhookDelivery) retryView {
	view := retryView{Action: Path + "/" + d.ID + "/retry", Name: m.words.Retry.Button}
	switch d.Status {
	case models.DeliveryPending:
		view.Refused = m.words.Retry.Queued
	case models.DeliveryInFlight:
		view.Refused = m.words.Retry.InFlight
	case models.DeliveryCancelled:
		view.Refused = m.words.Retry.Cancelled
	case models.DeliveryWaiting, models.DeliveryDelivered, models.DeliveryDeadLetter, models.DeliveryHeld:
	}
	return view
}

// showDelivery is one delivery's own page.
func (s *Section) showDelivery(v *ui.Visit) (ui.Reply, error) {
	id, err := parts.ID(v, models.PrefixDelivery)
	if err != nil {
		return ui.Reply{}, err
	}
	delivery, attempts, err := s.queries.Delivery(v.Context(), v.Member.Project.ID, id)
	if err != nil {
		return ui.Reply{}, fmt.Errorf("read the delivery: %w", err)
	}
	reader := readerOf(v)
	texts := reader.words
	return s.views.Page("delivery", deliveryView{
		Shell: v.Shell(texts.Delivery.Title, ui.NavDeliveries), Texts: texts,
		Head: ui.Head{
			Crumb: &ui.Link{Name: texts.Attempt.Back, Address: Path}, Title: texts.Delivery.Title, ID: delivery.ID,
			Lead: ui.Visible(delivery.EventType),
		},
		State: reader.state(delivery.Status), Facts: reader.facts(delivery), Retry: reader.retryOf(delivery), Attempts: reader.attempts(attempts),
	})
}

func (m reader) facts(d *models.WebhookDelivery) []ui.Fact {
	facts := []ui.Fact{
		{Name: m.words.Delivery.Attempts, Cell: ui.Cell{Text: m.Number(int64(d.AttemptCount))}},
		{Name: m.words.Attempt.EventID, Cell: ui.Cell{Text: d.EventID, Code: true, Address: Path + "?id=" + d.EventID}},
		{Name: m.words.Attempt.EndpointID, Cell: ui.Cell{Text: d.EndpointID, Code: true, Address: Path + "?endpoint=" + d.EndpointID}},
		{Name: m.words.Delivery.Created, Cell: parts.Moment(m.Time(d.CreatedAt))},
	}
	if d.Status.Due() && d.NextAttemptAt != nil {
		facts = append(facts, ui.Fact{Name: m.words.Attempt.NextTry, Cell: parts.Moment(m.Time(*d.NextAttemptAt))})
	}
	return facts
}

// attempts are a delivery's, the newest first.
func (m reader) attempts(list []models.WebhookAttempt) ui.Table {
	table := ui.Table{Caption: m.words.List.Caption, None: m.words.Delivery.None, Columns: append(
		[]ui.Column{{Name: m.words.List.Try}}, ui.Columns(m.words.List.Outcome, m.words.List.Started, m.words.List.Took, m.words.Attempt.RequestID)...)}
	for i := len(list) - 1; i >= 0; i-- {
		a := list[i]
		outcome := m.outcome(a)
		number := ui.Cell{Text: fmt.Sprintf("%d", a.Number), Address: pathAttempts + a.ID}
		if a.Manual {
			number.Note = m.words.List.Manual
		}
		table.Rows = append(table.Rows, []ui.Cell{
			number, {Pill: &outcome}, parts.Moment(m.Time(a.StartedAt)), {Text: m.milliseconds(a.Timing.DurationMs)}, {Text: a.RequestID, Code: true},
		})
	}
	return table
}

// retry sends a delivery's event again, as POST /webhook-deliveries/{id}/retry
// does, and leads back to where the button was.
func (s *Section) retry(v *ui.Visit) (ui.Reply, error) {
	id, err := parts.ID(v, models.PrefixDelivery)
	if err != nil {
		return ui.Reply{}, err
	}
	_, err = s.desk.Do(v, parts.Deed{Action: "webhook_delivery.retried"}, func(ctx context.Context, tx *store.Tx) (string, error) {
		locked, err := tx.LockDelivery(ctx, id)
		if err != nil {
			return "", err
		}
		_, err = tx.RetryDelivery(locked)
		return id, err
	})
	if err != nil {
		return ui.Reply{}, parts.Refused(v, err)
	}
	answer := ui.Redirect(Path + "/" + id)
	answer.Notice = wordsIn(v.Locale.Language).Retry.Done
	return answer, nil
}
