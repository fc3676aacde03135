package deliveries

import (
	"context"
	"errors"
	"fmt"
	"net/http"

	"github.com/botix-pro/platform/app/models"
	"github.com/botix-pro/platform/app/store"
	"github.com/botix-pro/platform/web/dashboard/parts"
	"github.com/botix-pro/platform/web/ui"
)

// deliveryView is one delivery on a page of its own.
type deliveryView struct {
	ui.Shell

	Texts   *words
	Head    ui.Head
	State   *stateView
	URL     string
	Payload *ui.BodyView // nil: the event is no longer kept
	IDs     []ui.IDLine
}

// showDelivery is one delivery's own page.
func (s *Section) showDelivery(v *ui.Visit) (ui.Reply, error) {
	view, err := s.deliveryView(v, "")
	if err != nil {
		return ui.Reply{}, err
	}
	return s.views.Page("delivery", view)
}

func (s *Section) deliveryView(v *ui.Visit, problem string) (*deliveryView, error) {
	state, d, err := s.stateOf(v, "")
	if err != nil {
		return nil, err
	}
	state.Problem = problem
	reader := readerOf(v)
	w := reader.words
	view := &deliveryView{
		Shell: v.Shell(w.State.Title, ui.NavDeliveries), Texts: w, State: state,
		Head: ui.Head{Crumb: &ui.Link{Name: w.Attempt.Back, Address: Path}, Title: w.State.Title, ID: d.ID, Lead: ui.Visible(d.EventType)},
	}
	event, err := s.queries.Event(v.Context(), d.ProjectID, d.EventID)
	switch {
	case errors.Is(err, store.ErrNotFound):
		event = &models.Event{}
	case err != nil:
		return nil, fmt.Errorf("read the event: %w", err)
	default:
		payload := reader.content(d.ID+"-payload", w.Attempt.Payload, ui.ShowPayload(event.Body))
		view.Payload = &payload
	}
	view.IDs = ui.IDLines(reader.shared,
		ui.IDLine{Name: w.Attempt.EventID, Value: d.EventID, Address: Path + "?" + paramID + "=" + d.EventID}, ui.IDLine{Name: w.Attempt.DeliveryID, Value: d.ID},
		ui.IDLine{Name: w.Attempt.EndpointID, Value: d.EndpointID, Address: pathEndpoints + d.EndpointID}, reader.causing(event))
	return view, nil
}

// causing is the API request that caused an event.
func (m reader) causing(e *models.Event) ui.IDLine {
	return ui.IDLine{Name: m.words.Attempt.CausingID, Value: e.RequestID, Address: requestAddress(e.RequestID)}
}

// deliveryState is the part of a page that follows a delivery.
func (s *Section) deliveryState(v *ui.Visit) (ui.Reply, error) {
	view, _, err := s.stateOf(v, v.URL.Query().Get(paramAttempt))
	if err != nil {
		return ui.Reply{}, err
	}
	return s.views.Fragment("delivery", "state", view)
}

// stateOf reads the delivery of the visit's path with its attempts.
func (s *Section) stateOf(v *ui.Visit, attempt string) (*stateView, *models.WebhookDelivery, error) {
	id, err := parts.ID(v, models.PrefixDelivery)
	if err != nil {
		return nil, nil, err //nolint:wrapcheck // it is the store's
	}
	if attempt != "" && !models.ValidID(models.PrefixAttempt, attempt) {
		return nil, nil, store.ErrNotFound
	}
	d, err := s.queries.DeliveryRow(v.Context(), v.Member.Project.ID, id)
	if err != nil {
		return nil, nil, fmt.Errorf("read the delivery: %w", err)
	}
	view, err := s.stateBeside(v, d, attempt)
	return view, d, err
}

// stateBeside is the part about a delivery that was read already.
func (s *Section) stateBeside(v *ui.Visit, d *models.WebhookDelivery, attempt string) (*stateView, error) {
	attempts, err := s.queries.AttemptsOfDelivery(v.Context(), v.Member.Project.ID, d.ID)
	if err != nil {
		return nil, fmt.Errorf("list the delivery's attempts: %w", err)
	}
	view := readerOf(v).state(d, attempts, attempt, v.Now)
	view.Once = v.Once()
	return view, nil
}

// retry sends a delivery again: the same event under a new request id. The
// script gets the part that shows it, a browser without it the page.
func (s *Section) retry(v *ui.Visit) (ui.Reply, error) {
	id, err := parts.ID(v, models.PrefixDelivery)
	if err != nil {
		return ui.Reply{}, err //nolint:wrapcheck // it is the store's
	}
	form, err := v.Form()
	if err != nil {
		return ui.Reply{}, fmt.Errorf("retry: %w", err)
	}
	attempt := form.Get(paramAttempt)
	if attempt != "" && !models.ValidID(models.PrefixAttempt, attempt) {
		return ui.Reply{}, store.ErrNotFound
	}
	said, refused, err := s.sendAgain(v, id)
	if err != nil {
		return ui.Reply{}, err
	}
	if v.Partial() {
		view, _, err := s.stateOf(v, attempt)
		if err != nil {
			return ui.Reply{}, err
		}
		view.Say, view.Problem = said+refused, refused
		return s.views.Fragment("delivery", "state", view)
	}
	if refused != "" {
		view, err := s.deliveryView(v, refused)
		if err != nil {
			return ui.Reply{}, err
		}
		return s.views.Render("delivery", http.StatusConflict, view)
	}
	reply := ui.Redirect(Path + "/" + id)
	if attempt != "" {
		reply = ui.Redirect(pathAttempts + attempt)
	}
	reply.Notice = said
	return reply, nil
}

// sendAgain queues the retry of a delivery. It returns what was done, or why it
// was refused.
func (s *Section) sendAgain(v *ui.Visit, id string) (said, refused string, err error) {
	reader := readerOf(v)
	var delivery *models.WebhookDelivery
	_, err = s.desk.Do(v, parts.Deed{Action: "webhook_delivery.retried"}, func(ctx context.Context, tx *store.Tx) (string, error) {
		locked, err := tx.LockDelivery(ctx, id)
		if err != nil {
			return id, err //nolint:wrapcheck // the desk says what was done
		}
		delivery, err = tx.RetryDelivery(locked)
		return id, err //nolint:wrapcheck // as above
	})
	var known *models.Error
	switch {
	case err == nil:
		return fmt.Sprintf(reader.words.State.RetriedF, delivery.AttemptCount+1), "", nil
	case errors.As(err, &known) && known.Code != models.CodeNotFound:
		return "", reader.refusal(known), nil
	default:
		return "", "", err
	}
}

func (m reader) refusal(err *models.Error) string {
	if text, ok := m.words.State.Refusals[err.Code]; ok {
		return text
	}
	return ui.Visible(err.Detail)
}
