package requests

import (
	"context"
	"fmt"
	"net/http"
	"net/url"

	"github.com/botix-pro/platform/app/actions"
	"github.com/botix-pro/platform/app/models"
	"github.com/botix-pro/platform/app/store"
	"github.com/botix-pro/platform/web/dashboard/parts"
	"github.com/botix-pro/platform/web/ui"
)

// maxTrail is how many entries of the audit trail stand on an operation's page.
const maxTrail = 50

// subject names an operation in the audit trail. A key is the caller's text, so it
// is told from the ids of other subjects.
func subject(key string) string { return "idempotency_key:" + key }

// at is an address with the key in its query.
func at(path, key string) string { return path + "?" + url.Values{"key": {key}}.Encode() }

// trail is what people did about an operation.
func (s *Section) trail(v *ui.Visit, key string) (ui.Table, error) {
	w := wordsIn(v)
	list := ui.Table{Caption: w.Trail, None: w.NoTrail, Columns: ui.Columns(w.When, w.Who, w.Deed, w.Note)}
	entries, err := s.queries.AuditEntries(v.Context(), v.Member.Project.ID, subject(key), store.Page{Limit: maxTrail})
	if err != nil {
		return list, fmt.Errorf("read the audit trail: %w", err)
	}
	for _, e := range entries {
		list.Rows = append(list.Rows, []ui.Cell{
			parts.Moment(v.Locale.Time(e.CreatedAt)), {Text: ui.Visible(e.Actor)}, {Text: ui.Word(w.Deeds, e.Action)}, {Text: ui.Visible(e.Detail)},
		})
	}
	return list, nil
}

func noteForm(v *ui.Visit, key, note string) ui.FormView {
	w := wordsIn(v)
	return ui.FormView{
		Action: at(pathNote, key), Submit: w.Record, Once: v.Once(),
		Fields: []ui.Field{{Name: "note", Label: w.Note, Kind: ui.FieldArea, Rows: 2, Value: note, Hint: w.NoteHint, Needed: true}},
	}
}

// note records what a person found out about an operation.
func (s *Section) note(v *ui.Visit) (ui.Reply, error) {
	op, err := s.read(v)
	if err != nil {
		return ui.Reply{}, err
	}
	form, err := v.Form()
	if err != nil {
		return ui.Reply{}, err
	}
	note := form.Get("note")
	_, err = s.desk.Do(v, parts.Deed{Action: deedNoted, Detail: note}, func(context.Context, *store.Tx) (string, error) {
		return subject(op.Key), actions.NoteOperation(note)
	})
	if faults, ok := parts.Faults(err); ok {
		return s.noteAgain(v, op.Key, note, faults)
	}
	if err != nil {
		return ui.Reply{}, parts.Refused(v, err)
	}
	reply := ui.Redirect(parts.OperationAddress(op.Key))
	reply.Notice = wordsIn(v).Recorded
	return reply, nil
}

// noteAgain is the operation's page with what is wrong with the note.
func (s *Section) noteAgain(v *ui.Visit, key, note string, faults []models.FieldError) (ui.Reply, error) {
	view, err := s.page(v)
	if err != nil {
		return ui.Reply{}, err
	}
	view.Note = noteForm(v, key, note)
	view.Note.Blame(v.Locale, parts.WordsOf(v).NotValid, faults)
	return s.views.Render("operation", http.StatusUnprocessableEntity, view)
}

const (
	deedNoted   = "operation.noted"
	deedRetried = "operation.webhooks_retried"
)

func retrying(v *ui.Visit, key string, count int) ui.Confirm {
	w := wordsIn(v)
	return ui.Confirm{
		ID: "retry", Open: w.Retry, Address: at(pathRetry, key), Title: w.RetryTitle, Text: v.Locale.Count(int64(count), w.RetryTextF),
		Form: ui.FormView{
			Action: at(pathRetry, key), Submit: w.Retry, Once: v.Once(),
			Back: &ui.Link{Name: v.Shell("", "").Words.Cancel, Address: parts.OperationAddress(key)},
		},
	}
}

// askView is a page that asks before something is done.
type askView struct {
	ui.Shell

	Head    ui.Head
	Confirm ui.Confirm
}

// lost are the deliveries of an operation that did not arrive.
func (s *Section) lost(v *ui.Visit) (*actions.Operation, []string, error) {
	op, err := s.read(v)
	if err != nil || op.Record == nil {
		return op, nil, err
	}
	_, sent, err := s.ofOperation(v, op)
	return op, undelivered(sent), err
}

// askRetry is the question on a page of its own.
func (s *Section) askRetry(v *ui.Visit) (ui.Reply, error) {
	op, ids, err := s.lost(v)
	if err != nil {
		return ui.Reply{}, err
	}
	if len(ids) == 0 {
		return ui.Redirect(parts.OperationAddress(op.Key)), nil
	}
	confirm := retrying(v, op.Key, len(ids))
	return s.views.Page("confirm", askView{
		Shell: v.Shell(confirm.Title, ui.NavRequests), Confirm: confirm,
		Head: ui.Head{Crumb: &ui.Link{Name: wordsIn(v).OneOperation, Address: parts.OperationAddress(op.Key)}, Title: confirm.Title, ID: ui.Visible(op.Key)},
	})
}

// retry sends an operation's webhooks again that did not arrive, each as
// POST /webhook-deliveries/{id}/retry does.
func (s *Section) retry(v *ui.Visit) (ui.Reply, error) {
	if _, err := v.Form(); err != nil {
		return ui.Reply{}, err
	}
	op, ids, err := s.lost(v)
	if err != nil {
		return ui.Reply{}, err
	}
	reply := ui.Redirect(parts.OperationAddress(op.Key))
	if len(ids) == 0 {
		reply.Notice = wordsIn(v).NothingToRetry
		return reply, nil
	}
	retried := 0
	_, err = s.desk.Do(v, parts.Deed{Action: deedRetried}, func(ctx context.Context, tx *store.Tx) (string, error) {
		retried, err = actions.RetryUndelivered(ctx, tx, ids)
		return subject(op.Key), err
	})
	if err != nil {
		return ui.Reply{}, parts.Refused(v, err)
	}
	reply.Notice = v.Locale.Count(int64(retried), wordsIn(v).RetriedF)
	return reply, nil
}
