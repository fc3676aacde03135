package scenarios

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/botix-pro/platform/app/actions"
	"github.com/botix-pro/platform/app/models"
	"github.com/botix-pro/platform/app/scenarios"
	"github.com/botix-pro/platform/app/store"
	"github.com/botix-pro/platform/web/dashboard/parts"
	"github.com/botix-pro/platform/web/ui"
)

const shownVersions = 20

// scenarioView is the page of one scenario, at one of its versions.
type scenarioView struct {
	ui.Shell

	Texts    *words
	Shared   *parts.Words
	Head     ui.Head
	Facts    []ui.Fact
	Old      string  // says that this is not the present version; empty: it is
	Edit     ui.Link //
	Activate string  // where the form goes; empty: it is active
	Tag      string  // the version that the reader saw
	Archive  *ui.Confirm
	Flow     *flowView // nil: the definition cannot be read
	Steps    []stepView
	JSON     ui.BodyView
	Versions ui.Table
	Run      *ui.FormView // nil: it cannot be run
	Runs     ui.Table
	AllRuns  ui.Link
}

// stepView is a step in the list of them.
type stepView struct {
	ID, Type, Brief string
	Ways            []wayLine
	// Of a run:
	State    *ui.Pill // nil: this is the definition alone
	Entered  *ui.Instant
	Left     *ui.Instant
	Took     string
	Attempts string
	Error    string
}

// wayLine says where a step leads.
type wayLine struct{ Label, Address, Name string }

// scenario reads the scenario that the path names.
func (s *Section) scenario(v *ui.Visit) (*models.Scenario, error) {
	id, err := parts.ID(v, models.PrefixScenario)
	if err != nil {
		return nil, err
	}
	scenario, err := s.queries.Scenario(v.Context(), v.Member.Project.ID, id)
	if err != nil {
		return nil, fmt.Errorf("read a scenario: %w", err)
	}
	return scenario, nil
}

// show is one scenario; ?version= shows an older one of its definitions.
func (s *Section) show(v *ui.Visit) (ui.Reply, error) {
	scenario, err := s.scenario(v)
	if err != nil {
		return ui.Reply{}, err
	}
	view, err := s.page(v, scenario, running(v, scenario, url.Values{}))
	if err != nil {
		return ui.Reply{}, err
	}
	return s.views.Page("scenario", view)
}

func (s *Section) page(v *ui.Visit, scenario *models.Scenario, form ui.FormView) (*scenarioView, error) {
	w, shared := wordsIn(v), parts.WordsOf(v)
	version, steps, err := s.version(v, scenario)
	if err != nil {
		return nil, err
	}
	versions, err := s.queries.ScenarioVersions(v.Context(), v.Member.Project.ID, scenario.ID, shownVersions)
	if err != nil {
		return nil, fmt.Errorf("list a scenario's versions: %w", err)
	}
	runs, err := s.queries.Runs(v.Context(), v.Member.Project.ID, store.RunFilter{ScenarioID: &scenario.ID}, store.Page{Limit: parts.RowsBeside})
	if err != nil {
		return nil, fmt.Errorf("list a scenario's runs: %w", err)
	}
	view := &scenarioView{
		Shell: v.Shell(w.One, ui.NavScenarios), Texts: w, Shared: shared, Tag: actions.ScenarioTag(scenario), Facts: facts(v, scenario),
		Edit: ui.Link{Name: w.Edit, Address: Path + "/" + scenario.ID + "/edit"}, Runs: parts.Runs(v, runs), Versions: versionTable(v, scenario, versions, version),
		AllRuns: ui.Link{Name: w.AllRuns, Address: PathRuns + "?" + url.Values{"scenario": {scenario.ID}}.Encode()},
		JSON:    ui.BodyView{ID: "definition", Name: w.Definition, Text: ui.Visible(shown(steps)), Note: w.Masked},
	}
	view.Head = ui.Head{Crumb: &ui.Link{Name: w.Title, Address: Path}, Title: parts.Excerpt(scenario.Name), ID: scenario.ID}
	if version != scenario.Version {
		view.Old = fmt.Sprintf(w.OldF, version, scenario.Version)
	}
	if scenario.Status.CanBecome(models.ScenarioActive) {
		view.Activate = Path + "/" + scenario.ID + "/activate"
	} else {
		view.Run = &form
	}
	if scenario.Status.CanBecome(models.ScenarioArchived) {
		confirm := archiving(v, scenario)
		view.Archive = &confirm
	}
	if definition, faults := scenarios.Parse("/steps", steps); definition != nil && len(faults) == 0 {
		flow := draw(v, definition, nil)
		view.Flow, view.Steps = &flow, stepList(v, definition)
	}
	return view, nil
}

// version is the version that the address asks for, and its steps.
func (s *Section) version(v *ui.Visit, scenario *models.Scenario) (int, []byte, error) {
	asked := v.URL.Query().Get("version")
	version, err := strconv.Atoi(asked)
	if asked == "" || version == scenario.Version {
		return scenario.Version, scenario.Steps, nil
	}
	if err != nil || version < 1 || version > scenario.Version {
		return 0, nil, store.ErrNotFound
	}
	steps, err := s.queries.ScenarioSteps(v.Context(), v.Member.Project.ID, scenario.ID, version)
	if err != nil {
		return 0, nil, fmt.Errorf("read a scenario's version: %w", err)
	}
	return version, steps, nil
}

func facts(v *ui.Visit, scenario *models.Scenario) []ui.Fact {
	shared := parts.WordsOf(v)
	return []ui.Fact{
		{Name: shared.Status, Cell: ui.Cell{Pill: state(v, scenario.Status)}}, {Name: shared.Version, Cell: ui.Cell{Text: v.Locale.Number(int64(scenario.Version))}},
		{Name: shared.Created, Cell: parts.Moment(v.Locale.Time(scenario.CreatedAt))}, {Name: shared.Updated, Cell: parts.Moment(v.Locale.Time(scenario.UpdatedAt))},
	}
}

func versionTable(v *ui.Visit, scenario *models.Scenario, versions []store.ScenarioVersion, current int) ui.Table {
	w, shared := wordsIn(v), parts.WordsOf(v)
	table := ui.Table{Caption: w.Versions, Columns: ui.Columns(shared.Version, shared.Created)}
	for _, one := range versions {
		cell := ui.Cell{
			Text:    v.Locale.Number(int64(one.Version)),
			Address: Path + "/" + scenario.ID + "?" + url.Values{"version": {strconv.Itoa(one.Version)}}.Encode(),
		}
		if one.Version == current {
			cell.Address, cell.Note = "", w.Shown
		}
		table.Rows = append(table.Rows, []ui.Cell{cell, parts.Moment(v.Locale.Time(one.CreatedAt))})
	}
	return table
}

// stepList is the definition as a list: what the drawing shows, to be read.
func stepList(v *ui.Visit, d *scenarios.Definition) []stepView {
	w := wordsIn(v)
	views := make([]stepView, len(d.Steps))
	for i, step := range d.Steps {
		views[i] = stepView{ID: step.ID, Type: ui.Word(w.Types, step.Type), Brief: ui.Visible(brief(v, step))}
	}
	for _, e := range edgesOf(w, d) {
		line := wayLine{Label: e.label, Name: w.End}
		if line.Label == "" {
			line.Label = w.Then
		}
		if e.to < len(d.Steps) {
			line.Name, line.Address = d.Steps[e.to].ID, "#step-"+d.Steps[e.to].ID
		}
		views[e.from].Ways = append(views[e.from].Ways, line)
	}
	return views
}

// activate makes a scenario one that can be run, as the API does.
func (s *Section) activate(v *ui.Visit) (ui.Reply, error) {
	return s.move(v, models.ScenarioActive, "scenario.activated", wordsIn(v).Activated)
}

// archive makes it start no more runs, as the API does.
func (s *Section) archive(v *ui.Visit) (ui.Reply, error) {
	return s.move(v, models.ScenarioArchived, "scenario.archived", wordsIn(v).Archived)
}

func (s *Section) move(v *ui.Visit, to models.ScenarioStatus, action, notice string) (ui.Reply, error) {
	scenario, err := s.scenario(v)
	if err != nil {
		return ui.Reply{}, err
	}
	form, err := v.Form()
	if err != nil {
		return ui.Reply{}, err
	}
	_, err = s.desk.Do(v, parts.Deed{Action: action}, func(ctx context.Context, tx *store.Tx) (string, error) {
		_, err := actions.MoveScenario(ctx, tx, parts.CauseOf(v, form.Get(parts.VersionField)), scenario.ID, to)
		return scenario.ID, err
	})
	if err != nil {
		return ui.Reply{}, parts.Refused(v, err)
	}
	reply := ui.Redirect(Path + "/" + scenario.ID)
	reply.Notice = notice
	return reply, nil
}

func archiving(v *ui.Visit, scenario *models.Scenario) ui.Confirm {
	w := wordsIn(v)
	address := Path + "/" + scenario.ID + "/archive"
	return ui.Confirm{
		ID: "archive", Open: w.Archive, Address: address, Title: w.ArchiveTitle, Text: w.ArchiveText,
		Form: ui.FormView{
			Action: address, Submit: w.Archive, Danger: true, Fields: []ui.Field{parts.Version(actions.ScenarioTag(scenario))},
			Back: &ui.Link{Name: ui.WordsIn(v.Locale.Language).Cancel, Address: Path + "/" + scenario.ID},
		},
	}
}

// askView is a page that asks before something is done.
type askView struct {
	ui.Shell

	Head    ui.Head
	Confirm ui.Confirm
}

// askArchive is the question on a page of its own.
func (s *Section) askArchive(v *ui.Visit) (ui.Reply, error) {
	scenario, err := s.scenario(v)
	if err != nil {
		return ui.Reply{}, err
	}
	confirm := archiving(v, scenario)
	return s.views.Page("confirm", askView{
		Shell: v.Shell(confirm.Title, ui.NavScenarios), Confirm: confirm,
		Head: ui.Head{Crumb: &ui.Link{Name: parts.Excerpt(scenario.Name), Address: Path + "/" + scenario.ID}, Title: confirm.Title, ID: scenario.ID},
	})
}

// running is the form that takes a contact through the scenario.
func running(v *ui.Visit, scenario *models.Scenario, values url.Values) ui.FormView {
	w, shared := wordsIn(v), parts.WordsOf(v)
	return ui.FormView{
		Once:   v.Once(),
		Action: Path + "/" + scenario.ID + "/run", Submit: w.Run,
		Fields: []ui.Field{
			{Name: "contact_id", Label: shared.Contact, Kind: "text", Value: values.Get("contact_id"), Hint: w.ContactHint, Needed: true},
			{Name: "variables", Label: w.Variables, Kind: ui.FieldCode, Rows: 3, Value: values.Get("variables"), Hint: w.VariablesHint},
		},
	}
}

// run starts a run, as POST /scenarios/{id}/run does.
func (s *Section) run(v *ui.Visit) (ui.Reply, error) {
	scenario, err := s.scenario(v)
	if err != nil {
		return ui.Reply{}, err
	}
	posted, err := v.Form()
	if err != nil {
		return ui.Reply{}, err
	}
	var wrapped struct {
		Variables jsontext.Value `json:"variables"`
	}
	var made string
	if text := strings.TrimSpace(posted.Get("variables")); text != "" {
		if err = models.DecodeObject([]byte(`{"variables":`+text+`}`), &wrapped); err != nil {
			err = models.Invalid(models.FieldError{Pointer: "/variables", Code: models.FieldType, Detail: wordsIn(v).VariablesHint})
		}
	}
	if err == nil {
		made, err = s.desk.Do(v, parts.Deed{Action: "scenario.run", Detail: scenario.ID}, func(ctx context.Context, tx *store.Tx) (string, error) {
			run, _, err := actions.RunScenario(ctx, tx, parts.CauseOf(v, ""), scenario.ID, strings.TrimSpace(posted.Get("contact_id")), wrapped.Variables)
			if err != nil {
				return "", err
			}
			return run.ID, nil
		})
	}
	if faults, ok := parts.Faults(err); ok {
		form := running(v, scenario, posted)
		form.Blame(v.Locale, wordsIn(v).NotRun, faults)
		view, err := s.page(v, scenario, form)
		if err != nil {
			return ui.Reply{}, err
		}
		return s.views.Render("scenario", http.StatusUnprocessableEntity, view)
	}
	if err != nil {
		return ui.Reply{}, parts.Refused(v, err)
	}
	reply := ui.Redirect(PathRuns + "/" + made)
	reply.Notice = wordsIn(v).Started
	return reply, nil
}
