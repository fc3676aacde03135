package messages

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/botix-pro/platform/app/actions"
	"github.com/botix-pro/platform/app/models"
	"github.com/botix-pro/platform/app/store"
	"github.com/botix-pro/platform/web/dashboard/parts"
	"github.com/botix-pro/platform/web/ui"
)

// formView is the page of a form.
type formView struct {
	ui.Shell

	Head ui.Head
	Form ui.FormView
}

// newForm is the form that sends a message. ?contact= fills the recipient in.
func (s *Section) newForm(v *ui.Visit) (ui.Reply, error) {
	return s.form(v, http.StatusOK, composing(v, url.Values{"contact_id": {v.URL.Query().Get("contact")}}))
}

func (s *Section) form(v *ui.Visit, status int, form ui.FormView) (ui.Reply, error) {
	w := wordsIn(v)
	view := formView{Shell: v.Shell(w.New, ui.NavMessages), Form: form}
	view.Head = ui.Head{Crumb: &ui.Link{Name: w.Title, Address: Path}, Title: w.New, Lead: w.NewLead}
	if v.Member.Project.Mode == models.ModeTest {
		view.Head.Lead = w.NewLeadTest
	}
	return s.views.Render("form", status, view)
}

func composing(v *ui.Visit, values url.Values) ui.FormView {
	w, shared := wordsIn(v), parts.WordsOf(v)
	return ui.FormView{
		Action: Path, Once: v.Once(), Submit: w.Send, Back: &ui.Link{Name: ui.WordsIn(v.Locale.Language).Cancel, Address: Path},
		Fields: []ui.Field{
			{Name: "contact_id", Label: shared.Contact, Kind: "text", Value: values.Get("contact_id"), Hint: w.ContactHint, Needed: true},
			{Name: "channel", Label: shared.Channel, Kind: ui.FieldSelect, Options: ui.Choices(models.Channels(), shared.Channels, values.Get("channel"))},
			{Name: "text", Label: w.Text, Kind: ui.FieldArea, Rows: 4, Value: values.Get("text"), Hint: w.TextHint},
			{Name: "template", Label: w.Template, Kind: ui.FieldArea, Rows: 4, Value: values.Get("template"), Hint: w.TemplateHint},
			{Name: "variables", Label: w.Variables, Kind: ui.FieldCode, Rows: 3, Value: values.Get("variables"), Hint: w.VariablesHint},
			{Name: "send_at", Label: w.SendAt, Kind: "datetime-local", Value: values.Get("send_at"), Hint: w.SendAtHint},
		},
	}
}

// create queues a message, as POST /messages does.
func (s *Section) create(v *ui.Visit) (ui.Reply, error) {
	posted, err := v.Form()
	if err != nil {
		return ui.Reply{}, err
	}
	draft, err := draftOf(v.Locale, posted)
	var made string
	if err == nil {
		made, err = s.desk.Do(v, parts.Deed{Action: "message.created"}, func(ctx context.Context, tx *store.Tx) (string, error) {
			message, err := actions.CreateMessage(ctx, tx, parts.CauseOf(v, ""), strings.TrimSpace(posted.Get("contact_id")), draft)
			if err != nil {
				return "", err
			}
			return message.ID, nil
		})
	}
	if faults, ok := parts.Faults(err); ok {
		form := composing(v, posted)
		form.Blame(v.Locale, wordsIn(v).NotSent, faults)
		return s.form(v, http.StatusUnprocessableEntity, form)
	}
	if err != nil {
		return ui.Reply{}, parts.Refused(v, err)
	}
	reply := ui.Redirect(Path + "/" + made)
	reply.Notice = wordsIn(v).Queued
	return reply, nil
}

// draftOf reads what was typed. A text keeps its line ends as the reader typed
// them, not as browsers send them.
func draftOf(l ui.Locale, form url.Values) (models.MessageDraft, error) {
	draft := models.MessageDraft{Channel: models.Channel(form.Get("channel")), Text: typed(form, "text"), Template: typed(form, "template")}
	var found models.Faults
	if at := strings.TrimSpace(form.Get("send_at")); at != "" {
		parsed, err := parts.ParseTime(l, at)
		if err != nil {
			found.Add("/send_at", models.FieldFormat, "This is not a time.")
		}
		draft.SendAt = &parsed
	}
	if text := strings.TrimSpace(form.Get("variables")); text != "" {
		var wrapped struct {
			Variables jsontext.Value `json:"variables"`
		}
		err := models.DecodeObject([]byte(`{"variables":`+text+`}`), &wrapped)
		if _, ok := parts.Faults(err); ok {
			found.Add("/variables", models.FieldSyntax, "Variables are a JSON object.")
		} else if err != nil {
			return draft, fmt.Errorf("read the variables: %w", err)
		}
		draft.Variables = wrapped.Variables
	}
	return draft, found.Err()
}

func typed(form url.Values, name string) *string {
	text := strings.ReplaceAll(form.Get(name), "\r\n", "\n")
	if strings.TrimSpace(text) == "" {
		return nil
	}
	return &text
}
