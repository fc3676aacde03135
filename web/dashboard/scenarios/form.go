package scenarios

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/botix-pro/platform/api"
	"github.com/botix-pro/platform/app/actions"
	"github.com/botix-pro/platform/app/models"
	"github.com/botix-pro/platform/app/store"
	"github.com/botix-pro/platform/web/dashboard/parts"
	"github.com/botix-pro/platform/web/ui"
)

// example is what the form for a new scenario begins with.
const example = `[
  {"id": "welcome", "type": "send_message", "channel": "sandbox", "template": "Hello {{name}}"},
  {"id": "pause", "type": "wait", "duration": "2h"},
  {
    "id": "is_vip", "type": "condition",
    "if": {"field": "contact.tags", "op": "contains", "value": "vip"},
    "then": "thank", "else": "end"
  },
  {"id": "thank", "type": "emit_event", "event_type": "vip.welcomed", "data": {}}
]`

// formView is the page of a form.
type formView struct {
	ui.Shell

	Head ui.Head
	Form ui.FormView
}

func (s *Section) newForm(v *ui.Visit) (ui.Reply, error) {
	return s.form(v, http.StatusOK, nil, writing(v, nil, url.Values{"steps": {example}}))
}

func (s *Section) editForm(v *ui.Visit) (ui.Reply, error) {
	scenario, err := s.scenario(v)
	if err != nil {
		return ui.Reply{}, err
	}
	values := url.Values{"name": {scenario.Name}, "steps": {indented(scenario.Steps)}, parts.VersionField: {actions.ScenarioTag(scenario)}}
	return s.form(v, http.StatusOK, scenario, writing(v, scenario, values))
}

func (s *Section) form(v *ui.Visit, status int, scenario *models.Scenario, form ui.FormView) (ui.Reply, error) {
	w := wordsIn(v)
	view := formView{Shell: v.Shell(w.New, ui.NavScenarios), Form: form}
	view.Head = ui.Head{Crumb: &ui.Link{Name: w.Title, Address: Path}, Title: w.New, Lead: w.NewLead}
	if scenario != nil {
		view.Title = w.EditTitle
		view.Head = ui.Head{
			Crumb: &ui.Link{Name: parts.Excerpt(scenario.Name), Address: Path + "/" + scenario.ID}, Title: w.EditTitle, ID: scenario.ID, Lead: w.EditLead,
		}
	}
	return s.views.Render("form", status, view)
}

// writing is the form that writes a scenario; nil is a new one.
func writing(v *ui.Visit, scenario *models.Scenario, values url.Values) ui.FormView {
	w := wordsIn(v)
	form := ui.FormView{
		Once:   v.Once(),
		Action: Path, Submit: w.Create, Back: &ui.Link{Name: ui.WordsIn(v.Locale.Language).Cancel, Address: Path},
		Fields: []ui.Field{
			{Name: "name", Label: w.Name, Kind: "text", Value: values.Get("name"), Needed: true},
			{Name: "steps", Label: w.Definition, Kind: ui.FieldCode, Rows: 24, Value: values.Get("steps"), Hint: w.StepsHint},
		},
	}
	if scenario != nil {
		form.Action, form.Submit, form.Back.Address = Path+"/"+scenario.ID, w.Save, Path+"/"+scenario.ID
		form.Fields = append(form.Fields, parts.Version(values.Get(parts.VersionField)))
	}
	return form
}

// draftOf reads and judges what was typed, as the API does. Its faults say on
// which line of the text they are.
func (s *Section) draftOf(v *ui.Visit, form url.Values) (*actions.ScenarioDraft, error) {
	text := form.Get("steps")
	if strings.TrimSpace(text) == "" {
		text = "[]"
	}
	if line, column, wrong := syntaxError(text); wrong {
		return nil, models.Invalid(models.FieldError{Pointer: "/steps", Detail: fmt.Sprintf(parts.WordsOf(v).NotJSONF, line, column)})
	}
	name, err := json.Marshal(form.Get("name"))
	if err != nil {
		return nil, models.Invalid(models.FieldError{Pointer: "/name", Code: models.FieldFormat, Detail: "This is no text."})
	}
	var input api.ScenarioCreate
	body := fmt.Appendf(nil, `{"name":%s,"steps":%s}`, name, text)
	if err = models.DecodeObject(body, &input); err == nil {
		draft := &actions.ScenarioDraft{Name: &input.Name, Steps: jsontext.Value(input.Steps)}
		if err = draft.Check(v.Context(), s.urls); err == nil {
			return draft, nil
		}
	}
	return nil, err
}

// located says of each fault about the steps on which line it is.
func located(v *ui.Visit, text string, faults []models.FieldError) []models.FieldError {
	for i, fault := range faults {
		pointer, about := strings.CutPrefix(fault.Pointer, "/steps")
		if !about || pointer == "" {
			continue
		}
		faults[i].Detail = fmt.Sprintf(parts.WordsOf(v).AtLineF, lineOf(text, pointer), pointer, ui.FaultText(v.Locale, fault))
		faults[i].Pointer, faults[i].Code = "/steps", ""
	}
	return faults
}

// wrong shows the form again, with what is wrong with it; what was typed stays.
func (s *Section) wrong(v *ui.Visit, scenario *models.Scenario, posted url.Values, err error) (ui.Reply, error) {
	form := writing(v, scenario, posted)
	if parts.Conflict(err) {
		form.Fields[len(form.Fields)-1] = parts.Version(actions.ScenarioTag(scenario))
		form.Problem = ui.Problem{Title: wordsIn(v).Conflict}
		return s.form(v, http.StatusConflict, scenario, form)
	}
	faults, ok := parts.Faults(err)
	if !ok {
		return ui.Reply{}, parts.Refused(v, err)
	}
	form.Blame(v.Locale, parts.WordsOf(v).NotValid, located(v, posted.Get("steps"), faults))
	return s.form(v, http.StatusUnprocessableEntity, scenario, form)
}

// create makes a draft, as POST /scenarios does.
func (s *Section) create(v *ui.Visit) (ui.Reply, error) {
	posted, err := v.Form()
	if err != nil {
		return ui.Reply{}, err
	}
	var made string
	draft, err := s.draftOf(v, posted)
	if err == nil {
		made, err = s.desk.Do(v, parts.Deed{Action: "scenario.created"}, func(_ context.Context, tx *store.Tx) (string, error) {
			scenario, err := actions.CreateScenario(tx, draft)
			if err != nil {
				return "", err
			}
			return scenario.ID, nil
		})
	}
	if err != nil {
		return s.wrong(v, nil, posted, err)
	}
	reply := ui.Redirect(Path + "/" + made)
	reply.Notice = wordsIn(v).Created
	return reply, nil
}

// update makes a new version, as PATCH /scenarios/{id} with If-Match does.
func (s *Section) update(v *ui.Visit) (ui.Reply, error) {
	scenario, err := s.scenario(v)
	if err != nil {
		return ui.Reply{}, err
	}
	posted, err := v.Form()
	if err != nil {
		return ui.Reply{}, err
	}
	draft, err := s.draftOf(v, posted)
	if err == nil {
		_, err = s.desk.Do(v, parts.Deed{Action: "scenario.updated"}, func(ctx context.Context, tx *store.Tx) (string, error) {
			_, err := actions.UpdateScenario(ctx, tx, parts.CauseOf(v, posted.Get(parts.VersionField)), scenario.ID, draft)
			return scenario.ID, err
		})
	}
	if err != nil {
		return s.wrong(v, scenario, posted, err)
	}
	reply := ui.Redirect(Path + "/" + scenario.ID)
	reply.Notice = wordsIn(v).Saved
	return reply, nil
}
