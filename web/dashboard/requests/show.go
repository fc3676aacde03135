package requests

import (
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/botix-pro/platform/app/models"
	"github.com/botix-pro/platform/app/store"
	"github.com/botix-pro/platform/web/dashboard/parts"
	"github.com/botix-pro/platform/web/ui"
)

const (
	// slack is more than the clocks of servers and of the database are apart.
	slack = 30 * time.Second
	// maxOperation is how long an operation can take (contract §3).
	maxOperation = 30 * time.Second

	maxEvents     = 50
	maxDeliveries = 100
)

// requestView is the page of one request.
type requestView struct {
	ui.Shell

	Texts   *words
	Head    ui.Head
	Answer  *ui.Pill
	What    string // what happened
	Applied string // what became of it in the data
	Advice  string // what to do; may be empty
	Docs    *ui.Link
	Facts   []ui.Fact
	Caused  causedView
}

// causedView is what was written and sent because of a request.
type causedView struct {
	Texts    *words
	Webhooks ui.Table
	More     bool // there is more than is shown
}

// show is one request.
func (s *Section) show(v *ui.Visit) (ui.Reply, error) {
	id, err := parts.ID(v, models.PrefixRequest)
	if err != nil {
		return ui.Reply{}, err
	}
	r, err := s.queries.Request(v.Context(), v.Member.Project.ID, id)
	if errors.Is(err, store.ErrNotFound) {
		return s.elsewhere(v, id)
	}
	if err != nil {
		return ui.Reply{}, fmt.Errorf("read a request: %w", err)
	}
	names, _, err := s.keyNames(v)
	if err != nil {
		return ui.Reply{}, err
	}
	caused, _, err := s.caused(v, id, r.At.Add(-slack), r.At.Add(time.Duration(r.DurationMs)*time.Millisecond+slack))
	if err != nil {
		return ui.Reply{}, err
	}
	w := wordsIn(v)
	view := requestView{
		Shell: v.Shell(w.One, ui.NavRequests), Texts: w, Answer: statusPill(r.Status, r.Code), Facts: facts(v, r, names), Caused: caused,
		Head: ui.Head{Crumb: &ui.Link{Name: w.Title, Address: Path}, Title: name(*r), ID: id},
	}
	view.explain(r)
	return s.views.Page("request", view)
}

// elsewhere leads to what else a request's id can be: an attempt's own request to
// an endpoint. Otherwise it says why there is nothing to see, in the same words for
// an id of another project.
func (s *Section) elsewhere(v *ui.Visit, id string) (ui.Reply, error) {
	found, err := s.queries.WebhookAttempts(v.Context(), v.Member.Project.ID, store.AttemptFilter{RequestID: id}, store.Page{Limit: 1})
	if err != nil {
		return ui.Reply{}, fmt.Errorf("find a request's attempt: %w", err)
	}
	if len(found.Rows) > 0 && found.Rows[0].RequestID == id {
		return ui.Redirect(parts.PageOf(found.Rows[0].ID)), nil
	}
	w := wordsIn(v)
	return ui.Reply{}, ui.Refusal{Status: http.StatusNotFound, Title: w.NotLogged, Text: w.NotLoggedText}
}

// explain says what happened in words.
func (view *requestView) explain(r *models.RequestRecord) {
	w := view.Texts
	view.What, view.Applied = w.Steps[stepOf(*r, "")], w.Outcomes[outcomeOf(r)]
	if r.Code == "" {
		return
	}
	view.Answer.Note = ui.Visible(string(r.Code))
	if known, ok := w.Codes[r.Code]; ok {
		view.What, view.Advice = known.When, known.Do
	}
	view.Docs = &ui.Link{Name: fmt.Sprintf(w.DocsF, ui.Visible(string(r.Code))), Address: pathDocs + "#" + string(r.Code)}
}

// outcome is what became of a request in the data.
type outcome string

const (
	outcomeRead       outcome = "read"
	outcomeApplied    outcome = "applied"
	outcomeReplayed   outcome = "replayed" // by an earlier request
	outcomeNotApplied outcome = "not_applied"
	outcomeUnknown    outcome = "unknown"
	outcomeEarlier    outcome = "earlier" // an earlier request was completed
)

func outcomeOf(r *models.RequestRecord) outcome {
	switch {
	case r.Replayed:
		return outcomeReplayed
	case r.Code == "" && r.Method == http.MethodGet:
		return outcomeRead
	case r.Code == "":
		return outcomeApplied
	case r.Code == models.CodeServiceUnavailable && r.IdempotencyKey != nil:
		return outcomeUnknown // the answer said which; the log does not
	}
	entry, known := entryOf(r.Code)
	if !known {
		return outcomeUnknown
	}
	return map[models.Outcome]outcome{
		models.NotApplied: outcomeNotApplied, models.Applied: outcomeEarlier, models.OutcomeUnknown: outcomeUnknown,
	}[entry.Outcome]
}

func facts(v *ui.Visit, r *models.RequestRecord, names map[string]string) []ui.Fact {
	w, shared := wordsIn(v), parts.WordsOf(v)
	operation := ui.Cell{Text: w.NoOperation}
	if r.IdempotencyKey != nil {
		operation = ui.Cell{Text: ui.Visible(*r.IdempotencyKey), Code: true, Address: parts.OperationAddress(*r.IdempotencyKey)}
	}
	replayed := v.Shell("", "").Words.No
	if r.Replayed {
		replayed = v.Shell("", "").Words.Yes
	}
	return []ui.Fact{
		{Name: w.Operation, Cell: operation, Wide: true},
		{Name: w.Key, Cell: keyCell(names, r.KeyID)}, {Name: w.Came, Cell: parts.Moment(v.Locale.Time(r.At))},
		{Name: shared.Took, Cell: ui.Cell{Text: v.Locale.Duration(int64(r.DurationMs))}}, {Name: w.Replayed, Cell: ui.Cell{Text: replayed}},
	}
}

// caused is what a request wrote between two times, and the deliveries of it.
func (s *Section) caused(v *ui.Visit, request string, from, to time.Time) (causedView, []models.WebhookDelivery, error) {
	view := causedView{Texts: wordsIn(v)}
	events, err := s.queries.EventsOfRequest(v.Context(), v.Member.Project.ID, request, from, to, maxEvents+1)
	if err != nil {
		return view, nil, fmt.Errorf("list a request's events: %w", err)
	}
	if len(events) > maxEvents {
		events, view.More = events[:maxEvents], true
	}
	ids := make([]string, len(events))
	for i, e := range events {
		ids[i] = e.ID
	}
	sent, err := s.queries.DeliveriesOfEvents(v.Context(), v.Member.Project.ID, ids, maxDeliveries+1)
	if err != nil {
		return view, nil, fmt.Errorf("list a request's deliveries: %w", err)
	}
	if len(sent) > maxDeliveries {
		sent, view.More = sent[:maxDeliveries], true
	}
	view.Webhooks = webhooks(v, events, sent)
	return view, sent, nil
}

// webhooks are events with the outcome of each delivery.
func webhooks(v *ui.Visit, events []models.Event, sent []models.WebhookDelivery) ui.Table {
	w, shared := wordsIn(v), parts.WordsOf(v)
	list := ui.Table{Caption: w.Caused, None: w.NothingCaused, Columns: append(ui.Columns(shared.Event, w.Delivery, shared.Status), ui.Column{Name: w.Attempts, Number: true}, ui.Column{Name: shared.Updated})}
	for _, e := range events {
		event := ui.Cell{Text: ui.Visible(e.Type), Code: true, Address: parts.PageOf(e.ID)}
		some := false
		for _, d := range sent {
			if d.EventID != e.ID {
				continue
			}
			some = true
			state := parts.DeliveryState(v.Locale, d.Status)
			if d.LastStatusCode != nil {
				state.Note = fmt.Sprintf("%d", *d.LastStatusCode)
			}
			list.Rows = append(list.Rows, []ui.Cell{
				event, {Text: d.ID, Code: true, Address: parts.PageOf(d.ID)}, {Pill: &state}, {Text: v.Locale.Number(int64(d.AttemptCount))},
				parts.Moment(v.Locale.Time(d.UpdatedAt)),
			})
		}
		if !some {
			list.Rows = append(list.Rows, []ui.Cell{event, {Text: w.NoDelivery}, {}, {}, parts.Moment(v.Locale.Time(e.CreatedAt))})
		}
	}
	return list
}
