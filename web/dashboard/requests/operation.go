package requests

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/botix-pro/platform/app/actions"
	"github.com/botix-pro/platform/app/models"
	"github.com/botix-pro/platform/app/store"
	"github.com/botix-pro/platform/web/dashboard/parts"
	"github.com/botix-pro/platform/web/ui"
)

// operationView is the page of one Idempotency-Key.
type operationView struct {
	ui.Shell

	Texts    *words
	Shared   *parts.Words
	Head     ui.Head
	Live     string // where the part that follows what happens comes from; empty: nothing will
	State    ui.Pill
	Verdict  string       // what it means
	Advice   string       // what to do
	Until    *ui.Sentence // until when; may be nil
	Lost     string       // how many webhooks did not arrive; empty: none
	Facts    []ui.Fact
	Object   *objectView // nil: the operation made none
	Timeline ui.Table
	Cut      bool // earlier requests are not shown
	Answer   *answerView
	Caused   causedView
	Retry    *ui.Confirm // nil: no webhook needs it
	Note     ui.FormView
	Trail    ui.Table
}

// objectView is what the operation made.
type objectView struct {
	Link   ui.Link
	State  *ui.Pill // of a message; may be nil
	Settle *ui.Link // where a person says what became of it; may be nil
}

// answerView is the stored answer.
type answerView struct {
	Status  *ui.Pill
	Headers []ui.HeaderLine
	Body    *ui.BodyView // nil: it has none
	Masked  bool         // it held a secret
}

// maxKey is the longest Idempotency-Key, in bytes (contract §3).
const maxKey = 255

// keyOf is the Idempotency-Key that the address names, or [store.ErrNotFound].
func keyOf(v *ui.Visit) (string, error) {
	key := v.URL.Query().Get("key")
	if !parts.Asked(key) || len(key) > maxKey {
		return "", store.ErrNotFound
	}
	return key, nil
}

// operation is the page of one operation.
func (s *Section) operation(v *ui.Visit) (ui.Reply, error) {
	view, err := s.page(v)
	if err != nil {
		return ui.Reply{}, err
	}
	return s.views.Page("operation", view)
}

// live is the part of the page that changes while the operation is executed.
func (s *Section) live(v *ui.Visit) (ui.Reply, error) {
	view, err := s.page(v)
	if err != nil {
		return ui.Reply{}, err
	}
	return s.views.Fragment("operation", "operation", view)
}

// read is what is known of the key that the address names. One that nobody used
// in this project says so.
func (s *Section) read(v *ui.Visit) (*actions.Operation, error) {
	key, err := keyOf(v)
	if err != nil {
		return nil, err
	}
	op, err := actions.ReadOperation(v.Context(), s.queries, v.Member.Project.ID, key)
	if err != nil {
		return nil, fmt.Errorf("read the operation: %w", err)
	}
	if op.State == actions.OperationUnknown && len(op.Requests) == 0 {
		w := wordsIn(v)
		return nil, ui.Refusal{Status: http.StatusNotFound, Title: w.NoKey, Text: w.NoKeyText}
	}
	return op, nil
}

func (s *Section) page(v *ui.Visit) (*operationView, error) {
	op, err := s.read(v)
	if err != nil {
		return nil, err
	}
	names, _, err := s.keyNames(v)
	if err != nil {
		return nil, err
	}
	w := wordsIn(v)
	view := &operationView{
		Shell: v.Shell(w.OneOperation, ui.NavRequests), Texts: w, Shared: parts.WordsOf(v), Timeline: timeline(v, op, names),
		Cut: len(op.Requests) >= store.MaxRequestsShown, Note: noteForm(v, op.Key, ""),
	}
	view.Head = ui.Head{Crumb: &ui.Link{Name: w.Title, Address: Path}, Title: w.OneOperation, ID: ui.Visible(op.Key)}
	view.judge(v, op)
	if op.State == actions.OperationInProgress {
		view.Live = pathOperations + "/live?" + v.URL.RawQuery
	}
	if op.Record != nil {
		if err := s.completed(v, view, op); err != nil {
			return nil, err
		}
	}
	view.Trail, err = s.trail(v, op.Key)
	return view, err
}

// judge says what the state means, until when, and what to do.
func (view *operationView) judge(v *ui.Visit, op *actions.Operation) {
	w := view.Texts
	state, kind := stateOf(op), map[state]string{
		stateRunning: ui.PillRunning, stateDone: ui.PillDelivered, stateRefused: ui.PillFailed, stateExpired: ui.PillDead, stateFree: ui.PillPending,
	}
	view.State = ui.Pill{Kind: kind[state], Word: w.States[state].Name}
	view.Verdict, view.Advice = w.States[state].Means, w.States[state].Do
	switch {
	case op.State == actions.OperationInProgress:
		view.Until = v.Locale.At(w.RunningSince, op.Began)
	case op.State == actions.OperationCompleted:
		view.Until = v.Locale.At(w.AnsweredUntil, op.Record.ExpiresAt)
	case op.State == actions.OperationExpired:
		view.Until = v.Locale.At(w.RememberedUntil, op.Record.ExpiresAt.Add(models.TombstoneRetention))
	}
	if r := op.Record; r != nil {
		view.Facts = []ui.Fact{
			{Name: w.Request, Cell: ui.Cell{Text: ui.Visible(r.Method + " " + r.Path), Code: true}, Wide: true},
			{Name: w.Began, Cell: parts.Moment(v.Locale.Time(op.Began))}, {Name: w.Completed, Cell: parts.Moment(v.Locale.Time(r.CompletedAt))},
			{Name: w.Expires, Cell: parts.Moment(v.Locale.Time(r.ExpiresAt))}, {Name: w.Executing, Cell: ui.IDCell(parts.PathRequests, r.RequestID)},
		}
	}
}

// state is an operation's, with what was stored.
type state string

const (
	stateFree    state = "free"
	stateRunning state = "running"
	stateDone    state = "done"
	stateRefused state = "refused"
	stateExpired state = "expired"
)

func stateOf(op *actions.Operation) state {
	switch op.State {
	case actions.OperationInProgress:
		return stateRunning
	case actions.OperationExpired:
		return stateExpired
	case actions.OperationCompleted:
		if op.Record.Answer.Status >= 400 {
			return stateRefused
		}
		return stateDone
	case actions.OperationUnknown:
	}
	return stateFree
}

// completed adds what a completed operation left: its answer, its object, and its
// webhooks.
func (s *Section) completed(v *ui.Visit, view *operationView, op *actions.Operation) (err error) {
	if op.State == actions.OperationCompleted {
		if view.Answer, err = answer(v, op.Record); err != nil {
			return err
		}
	}
	if view.Object, err = s.object(v, op); err != nil {
		return err
	}
	caused, sent, err := s.ofOperation(v, op)
	view.Caused = caused
	if lost := undelivered(sent); len(lost) > 0 {
		confirm := retrying(v, op.Key, len(lost))
		view.Retry, view.Lost = &confirm, v.Locale.Count(int64(len(lost)), view.Texts.LostF)
	}
	return err
}

// ofOperation is what the executing request wrote: in one transaction, which ended
// when the operation was completed.
func (s *Section) ofOperation(v *ui.Visit, op *actions.Operation) (causedView, []models.WebhookDelivery, error) {
	end := op.Record.CompletedAt
	return s.caused(v, op.Record.RequestID, end.Add(-maxOperation-slack), end.Add(time.Second))
}

func undelivered(sent []models.WebhookDelivery) (ids []string) {
	for _, d := range sent {
		if actions.Undelivered(d.Status) {
			ids = append(ids, d.ID)
		}
	}
	return ids
}

// answer is the stored answer, with its secrets masked as the API does.
func answer(v *ui.Visit, record *models.IdempotencyRecord) (*answerView, error) {
	w := wordsIn(v)
	headers, err := json.Marshal(record.Answer.Header)
	if err != nil {
		return nil, fmt.Errorf("show the stored headers: %w", err)
	}
	view := &answerView{Status: statusPill(record.Answer.Status, ""), Headers: ui.ShowHeaders(headers), Masked: record.Answer.Secret}
	if len(record.Answer.Body) == 0 {
		return view, nil
	}
	body, err := actions.MaskedBody(record.Answer)
	if err != nil {
		return nil, fmt.Errorf("show the stored answer: %w", err)
	}
	shown := ui.ShowPayload(body)
	view.Body = &ui.BodyView{ID: "answer", Name: w.StoredAnswer, Text: shown.Text, Note: v.Locale.Size(int64(shown.Size))}
	return view, nil
}

// object is the page of what an operation made or changed: what its answer names,
// or else its path. A message is shown with its state.
func (s *Section) object(v *ui.Visit, op *actions.Operation) (*objectView, error) {
	id := objectID(op)
	if id == "" {
		return nil, nil //nolint:nilnil // it is about no object that has a page
	}
	view := &objectView{Link: ui.Link{Name: id, Address: parts.PageOf(id)}}
	if !models.ValidID(models.PrefixMessage, id) {
		return view, nil
	}
	message, err := s.queries.Message(v.Context(), v.Member.Project.ID, id)
	switch {
	case errors.Is(err, store.ErrNotFound):
		return view, nil
	case err != nil:
		return nil, fmt.Errorf("read the message: %w", err)
	}
	view.State = parts.MessageState(v, message.Status)
	if message.Status == models.MessageUnknown {
		view.Settle = &ui.Link{Name: wordsIn(v).SettleMessage, Address: view.Link.Address}
	}
	return view, nil
}

func objectID(op *actions.Operation) string {
	for _, path := range []string{op.Resource(), op.Record.Path} {
		path, _, _ = strings.Cut(path, "?")
		steps := strings.Split(path, "/")
		for i := len(steps) - 1; i >= 0; i-- {
			if parts.PageOf(steps[i]) != "" {
				return steps[i]
			}
		}
	}
	return ""
}
