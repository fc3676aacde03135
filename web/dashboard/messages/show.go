package messages

import (
	"context"
	"errors"
	"fmt"
	"net/http"

	"github.com/botix-pro/platform/app/actions"
	"github.com/botix-pro/platform/app/models"
	"github.com/botix-pro/platform/app/store"
	"github.com/botix-pro/platform/web/dashboard/parts"
	"github.com/botix-pro/platform/web/ui"
)

// messageView is the page of one message.
type messageView struct {
	ui.Shell

	Texts     *words
	Shared    *parts.Words
	Head      ui.Head
	Live      string // where the part that follows what happens comes from; empty: nothing will
	Advice    string // what happened, and what to do; empty: nothing needs to be done
	Error     string // in the channel's own words; may be empty
	Chain     []link
	Cancel    *ui.Confirm // nil: it cannot be called off
	Settle    *ui.FormView
	Decisions ui.Table
	Facts     []ui.Fact
	Text      ui.BodyView
	Template  *ui.BodyView
	Variables *ui.BodyView
	Events    ui.Table
}

// show is one message.
func (s *Section) show(v *ui.Visit) (ui.Reply, error) {
	view, err := s.page(v)
	if err != nil {
		return ui.Reply{}, err
	}
	return s.views.Page("message", view)
}

// live is the part of the page that changes while the message is on its way.
func (s *Section) live(v *ui.Visit) (ui.Reply, error) {
	view, err := s.page(v)
	if err != nil {
		return ui.Reply{}, err
	}
	return s.views.Fragment("message", "message", view)
}

// message reads the message that the path names.
func (s *Section) message(v *ui.Visit) (*models.Message, error) {
	id, err := parts.ID(v, models.PrefixMessage)
	if err != nil {
		return nil, err
	}
	message, err := s.queries.Message(v.Context(), v.Member.Project.ID, id)
	if err != nil {
		return nil, fmt.Errorf("read a message: %w", err)
	}
	return message, nil
}

func (s *Section) page(v *ui.Visit) (*messageView, error) {
	m, err := s.message(v)
	if err != nil {
		return nil, err
	}
	decisions, err := s.queries.Settlements(v.Context(), v.Member.Project.ID, m.ID)
	if err != nil {
		return nil, fmt.Errorf("read a message's decisions: %w", err)
	}
	events, err := s.queries.EventsAbout(v.Context(), v.Member.Project.ID, "message.", m.ID, &m.CreatedAt, m.SentAt, &m.UpdatedAt)
	if err != nil {
		return nil, fmt.Errorf("list a message's events: %w", err)
	}
	w := wordsIn(v)
	view := &messageView{
		Shell: v.Shell(w.One, ui.NavMessages), Texts: w, Shared: parts.WordsOf(v), Advice: advice(w, m), Chain: chain(v, m, decisions),
		Facts: facts(v, m), Decisions: trail(v, decisions), Events: parts.Events(v, events),
		Text: body(v, "text", w.Text, []byte(m.Text)),
	}
	view.Head = ui.Head{Crumb: &ui.Link{Name: w.Title, Address: Path}, Title: w.One, ID: m.ID}
	if m.ErrorDetail != nil {
		view.Error = ui.Visible(*m.ErrorDetail)
	}
	if m.Template != nil {
		template, variables := body(v, "template", w.Template, []byte(*m.Template)), body(v, "variables", w.Variables, m.Variables)
		view.Template, view.Variables = &template, &variables
	}
	view.deeds(v, m)
	return view, nil
}

// deeds are what can be done about the message now.
func (view *messageView) deeds(v *ui.Visit, m *models.Message) {
	if !m.Status.Settled() {
		view.Live = Path + "/" + m.ID + "/live"
	}
	if m.Status == models.MessageQueued && !m.MaybeSent {
		confirm := cancellation(v, m)
		view.Cancel = &confirm
	}
	if m.Status == models.MessageUnknown {
		form := settling(v, m, "", "")
		view.Settle = &form
	}
}

func body(v *ui.Visit, id, name string, raw []byte) ui.BodyView {
	shown := ui.ShowPayload(raw)
	return ui.BodyView{ID: id, Name: name, Text: shown.Text, Note: v.Locale.Size(int64(shown.Size))}
}

// advice says what a state means and what to do about it.
func advice(w *words, m *models.Message) string {
	code := ""
	if m.ErrorCode != nil {
		code = *m.ErrorCode
	}
	switch {
	case m.Status == models.MessageUnknown:
		return w.UnknownAdvice
	case m.Status == models.MessageQueued && m.MaybeSent:
		return w.MaybeSentAdvice
	case code != "":
		if text, ok := w.Advice[code]; ok {
			return text
		}
		return w.OtherAdvice
	}
	return w.States[m.Status]
}

func facts(v *ui.Visit, m *models.Message) []ui.Fact {
	w, shared := wordsIn(v), parts.WordsOf(v)
	run, provider, code := "", ui.Cell{}, ui.Cell{}
	if m.RunID != nil {
		run = *m.RunID
	}
	if m.ProviderMessageID != nil {
		provider = ui.Cell{Text: ui.Visible(*m.ProviderMessageID), Code: true}
	}
	if m.ErrorCode != nil {
		code = ui.Cell{Text: ui.Visible(*m.ErrorCode), Code: true}
	}
	list := []ui.Fact{
		{Name: shared.Contact, Cell: ui.IDCell(parts.PathContacts, m.ContactID)},
		{Name: shared.Channel, Cell: ui.Cell{Text: ui.Word(shared.Channels, m.Channel)}},
		{Name: w.Address, Cell: ui.Cell{Text: ui.Visible(m.Address), Code: true}}, {Name: w.Attempts, Cell: ui.Cell{Text: v.Locale.Number(int64(m.AttemptCount))}},
		{Name: w.ProviderID, Cell: provider}, {Name: w.ErrorCode, Cell: code},
		{Name: shared.Request, Cell: ui.IDCell(parts.PathRequests, m.RequestID)}, {Name: shared.Run, Cell: ui.IDCell(parts.PathRuns, run)},
		{Name: shared.Created, Cell: parts.Moment(v.Locale.Time(m.CreatedAt))}, {Name: shared.Updated, Cell: parts.Moment(v.Locale.Time(m.UpdatedAt))},
	}
	if m.SendAt != nil {
		list = append(list, ui.Fact{Name: w.SendAt, Cell: parts.Moment(v.Locale.Time(*m.SendAt))})
	}
	return list
}

// trail is who decided what about the message, and why.
func trail(v *ui.Visit, decisions []models.MessageSettlement) ui.Table {
	w := wordsIn(v)
	table := ui.Table{Caption: w.Decisions, Columns: ui.Columns(w.Who, w.Decision, w.Reason, w.When)}
	for _, d := range decisions {
		who := ui.Cell{}
		if d.UserEmail != nil {
			who = ui.Cell{Text: ui.Visible(*d.UserEmail)}
		} else if d.KeyID != nil {
			who = ui.Cell{Text: ui.Visible(*d.KeyID), Code: true, Note: w.ByKey}
		}
		table.Rows = append(table.Rows, []ui.Cell{
			who, {Pill: parts.MessageState(v, d.ToStatus)}, {Text: ui.Visible(d.Reason)}, parts.Moment(v.Locale.Time(d.CreatedAt)),
		})
	}
	return table
}

func cancellation(v *ui.Visit, m *models.Message) ui.Confirm {
	w := wordsIn(v)
	address := Path + "/" + m.ID + "/cancel"
	return ui.Confirm{
		ID: "cancel", Open: w.Cancel, Address: address, Title: w.CancelTitle, Text: w.CancelText,
		Form: ui.FormView{
			Action: address, Submit: w.Cancel, Danger: true, Back: &ui.Link{Name: w.Keep, Address: Path + "/" + m.ID},
		},
	}
}

// askView is a page that asks before something is done.
type askView struct {
	ui.Shell

	Head    ui.Head
	Confirm ui.Confirm
}

// askCancel is the question on a page of its own.
func (s *Section) askCancel(v *ui.Visit) (ui.Reply, error) {
	m, err := s.message(v)
	if err != nil {
		return ui.Reply{}, err
	}
	confirm := cancellation(v, m)
	return s.views.Page("confirm", askView{
		Shell: v.Shell(confirm.Title, ui.NavMessages), Confirm: confirm,
		Head: ui.Head{Crumb: &ui.Link{Name: wordsIn(v).One, Address: Path + "/" + m.ID}, Title: confirm.Title, ID: m.ID},
	})
}

// cancel calls a message off, as POST /messages/{id}/cancel does.
func (s *Section) cancel(v *ui.Visit) (ui.Reply, error) {
	m, err := s.message(v)
	if err != nil {
		return ui.Reply{}, err
	}
	_, err = s.desk.Do(v, parts.Deed{Action: "message.cancelled"}, func(ctx context.Context, tx *store.Tx) (string, error) {
		_, err := actions.CancelMessage(ctx, tx, parts.CauseOf(v, ""), m.ID)
		return m.ID, err
	})
	if err != nil {
		return ui.Reply{}, parts.Refused(v, err)
	}
	reply := ui.Redirect(Path + "/" + m.ID)
	reply.Notice = wordsIn(v).Cancelled
	return reply, nil
}

// settling is the form that says what became of a message that nobody can tell
// about.
func settling(v *ui.Visit, m *models.Message, status, reason string) ui.FormView {
	w, shared := wordsIn(v), parts.WordsOf(v)
	ends := []models.MessageStatus{models.MessageSent, models.MessageDelivered, models.MessageFailed}
	return ui.FormView{
		Action: Path + "/" + m.ID + "/settle", Submit: w.Settle,
		Fields: []ui.Field{
			{Name: "status", Label: w.SettleAs, Kind: ui.FieldSelect, Options: append([]ui.Option{{Name: w.Choose}}, ui.Choices(ends, shared.MessageStates, status)...)},
			{Name: "reason", Label: w.Reason, Kind: ui.FieldArea, Rows: 3, Value: reason, Hint: w.ReasonHint},
			parts.Version(actions.MessageTag(m)),
		},
	}
}

// settle records a person's decision, as POST /messages/{id}/settle does.
func (s *Section) settle(v *ui.Visit) (ui.Reply, error) {
	m, err := s.message(v)
	if err != nil {
		return ui.Reply{}, err
	}
	form, err := v.Form()
	if err != nil {
		return ui.Reply{}, err
	}
	decision := models.MessageSettlement{
		UserID: &v.Member.UserID, UserEmail: &v.Member.Email, ToStatus: models.MessageStatus(form.Get("status")), Reason: form.Get("reason"),
	}
	deed := parts.Deed{Action: "message.settled", Detail: string(decision.ToStatus)}
	_, err = s.desk.Do(v, deed, func(ctx context.Context, tx *store.Tx) (string, error) {
		_, err := actions.SettleMessage(ctx, tx, parts.CauseOf(v, form.Get(parts.VersionField)), m.ID, &decision)
		return m.ID, err
	})
	if faults, ok := parts.Faults(err); ok {
		return s.settleAgain(v, m, form.Get("status"), form.Get("reason"), faults)
	}
	if err != nil {
		return ui.Reply{}, parts.Refused(v, err)
	}
	reply := ui.Redirect(Path + "/" + m.ID)
	reply.Notice = wordsIn(v).Settled
	return reply, nil
}

// settleAgain is the message's page with what is wrong with the decision.
func (s *Section) settleAgain(v *ui.Visit, m *models.Message, status, reason string, faults []models.FieldError) (ui.Reply, error) {
	view, err := s.page(v)
	if err != nil {
		return ui.Reply{}, err
	}
	if view.Settle == nil {
		return ui.Reply{}, parts.Refused(v, errors.Join(models.NewError(models.CodeMessageNotUnknown, "The message is %s.", m.Status)))
	}
	form := settling(v, m, status, reason)
	form.Blame(v.Locale, parts.WordsOf(v).NotValid, faults)
	view.Settle = &form
	return s.views.Render("message", http.StatusUnprocessableEntity, view)
}
