package scenarios

import (
	"context"
	"fmt"
	"time"

	"github.com/botix-pro/platform/app/actions"
	"github.com/botix-pro/platform/app/models"
	"github.com/botix-pro/platform/app/scenarios"
	"github.com/botix-pro/platform/app/store"
	"github.com/botix-pro/platform/web/dashboard/parts"
	"github.com/botix-pro/platform/web/ui"
)

// runView is the page of one run.
type runView struct {
	ui.Shell

	Texts     *words
	Shared    *parts.Words
	Head      ui.Head
	Live      string // empty: it is over
	State     *ui.Pill
	Advice    string
	Error     string
	Cancel    *ui.Confirm // nil: it is over
	Facts     []ui.Fact
	Flow      *flowView
	Steps     []stepView
	Variables ui.BodyView
	Messages  ui.Table
	Events    ui.Table
}

// longStep is from where a step's duration is better read in minutes.
const longStep = time.Minute

var stepPills = map[models.RunStepStatus]string{
	models.StepPending: ui.PillPending, models.StepRunning: ui.PillRunning, models.StepWaiting: ui.PillRetrying,
	models.StepCompleted: ui.PillDelivered, models.StepFailed: ui.PillFailed, models.StepCancelled: ui.PillDead, models.StepSkipped: ui.PillPending,
}

// showRun is one run, with its way through the scenario.
func (s *Section) showRun(v *ui.Visit) (ui.Reply, error) {
	view, err := s.runPage(v)
	if err != nil {
		return ui.Reply{}, err
	}
	return s.views.Page("run", view)
}

// liveRun is the part of the page that changes while the run is not over.
func (s *Section) liveRun(v *ui.Visit) (ui.Reply, error) {
	view, err := s.runPage(v)
	if err != nil {
		return ui.Reply{}, err
	}
	return s.views.Fragment("run", "run", view)
}

func (s *Section) runPage(v *ui.Visit) (*runView, error) {
	id, err := parts.ID(v, models.PrefixRun)
	if err != nil {
		return nil, err
	}
	project := v.Member.Project.ID
	run, records, steps, err := s.queries.Run(v.Context(), project, id)
	if err != nil {
		return nil, fmt.Errorf("read a run: %w", err)
	}
	messages, err := s.queries.Messages(v.Context(), project, store.MessageFilter{RunID: &run.ID}, store.Page{Limit: scenarios.MaxSteps})
	if err != nil {
		return nil, fmt.Errorf("list a run's messages: %w", err)
	}
	events, err := s.queries.EventsAbout(v.Context(), project, "scenario.run.", run.ID, run.StartedAt, run.FinishedAt)
	if err != nil {
		return nil, fmt.Errorf("list a run's events: %w", err)
	}
	w, shared := wordsIn(v), parts.WordsOf(v)
	variables := ui.ShowPayload(run.Variables)
	view := &runView{
		Shell: v.Shell(shared.Run, ui.NavRuns), Texts: w, Shared: shared, State: parts.RunState(v, run.Status), Facts: runFacts(v, run),
		Advice: runAdvice(v, run), Messages: parts.Messages(v, messages), Events: parts.Events(v, events),
		Variables: ui.BodyView{ID: "variables", Name: w.Variables, Text: variables.Text, Note: v.Locale.Size(int64(variables.Size))},
	}
	view.Head = ui.Head{Crumb: &ui.Link{Name: shared.Runs, Address: PathRuns}, Title: shared.Run, ID: run.ID}
	if run.ErrorDetail != nil {
		view.Error = ui.Visible(*run.ErrorCode + ": " + *run.ErrorDetail)
	}
	if !run.Status.Over() {
		view.Live = PathRuns + "/" + run.ID + "/live"
		confirm := cancelling(v, run)
		view.Cancel = &confirm
	}
	if definition, _ := scenarios.Parse("/steps", steps); definition != nil {
		flow := draw(v, definition, progressOf(definition, run, records))
		view.Flow, view.Steps = &flow, timeline(v, definition, run, records)
	}
	return view, nil
}

// byStep are a run's records by their steps.
func byStep(records []models.ScenarioRunStep) map[string]*models.ScenarioRunStep {
	begun := make(map[string]*models.ScenarioRunStep, len(records))
	for i := range records {
		begun[records[i].StepID] = &records[i]
	}
	return begun
}

func progressOf(d *scenarios.Definition, run *models.ScenarioRun, records []models.ScenarioRunStep) *progress {
	p := &progress{states: map[string]models.RunStepStatus{}, over: run.Status == models.RunCompleted}
	for _, step := range run.ViewWith(d.Names(), records).Steps {
		p.states[step.ID] = step.Status
	}
	p.next = path(d, run, byStep(records))
	return p
}

// timeline is the list of steps with what became of each.
func timeline(v *ui.Visit, d *scenarios.Definition, run *models.ScenarioRun, records []models.ScenarioRunStep) []stepView {
	w := wordsIn(v)
	views, begun := stepList(v, d), byStep(records)
	for i, step := range run.ViewWith(d.Names(), records).Steps {
		view := &views[i]
		view.State = &ui.Pill{Kind: stepPills[step.Status], Word: ui.Word(w.StepStates, step.Status)}
		record := begun[step.ID]
		if record == nil {
			continue
		}
		entered := v.Locale.Time(record.StartedAt)
		view.Entered, view.Left = &entered, v.Locale.When(record.FinishedAt)
		end := v.Now
		if record.FinishedAt != nil {
			end = *record.FinishedAt
		}
		view.Took = v.Locale.Duration(max(end.Sub(record.StartedAt).Milliseconds(), 0))
		if long := end.Sub(record.StartedAt); long > longStep {
			view.Took = v.Locale.Span(long)
		}
		if record.Attempts > 0 {
			view.Attempts = v.Locale.Count(int64(record.Attempts), w.RequestsF)
		}
		if record.ErrorDetail != nil {
			view.Error = ui.Visible(*record.ErrorDetail)
		}
	}
	return views
}

func runFacts(v *ui.Visit, run *models.ScenarioRun) []ui.Fact {
	w, shared := wordsIn(v), parts.WordsOf(v)
	list := []ui.Fact{
		{Name: shared.Scenario, Cell: ui.IDCell(parts.PathScenarios, run.ScenarioID)},
		{Name: shared.Version, Cell: ui.Cell{Text: v.Locale.Number(int64(run.ScenarioVersion)), Address: fmt.Sprintf("%s/%s?version=%d", Path, run.ScenarioID, run.ScenarioVersion)}},
		{Name: shared.Contact, Cell: ui.IDCell(parts.PathContacts, run.ContactID)}, {Name: shared.Request, Cell: ui.IDCell(parts.PathRequests, run.RequestID)},
		{Name: shared.Created, Cell: parts.Moment(v.Locale.Time(run.CreatedAt))}, {Name: w.Began, Cell: ui.Cell{At: v.Locale.When(run.StartedAt)}},
		{Name: shared.Finished, Cell: ui.Cell{At: v.Locale.When(run.FinishedAt)}}, {Name: shared.Took, Cell: ui.Cell{Text: parts.RunTook(v, run)}},
	}
	if run.Status == models.RunWaiting && run.DueAt != nil {
		list = append(list, ui.Fact{Name: w.WaitsUntil, Cell: ui.Cell{At: v.Locale.When(run.DueAt)}})
	}
	if run.MessageID != nil {
		list = append(list, ui.Fact{Name: w.WaitsFor, Cell: ui.IDCell(parts.PathMessages, *run.MessageID)})
	}
	return list
}

func runAdvice(v *ui.Visit, run *models.ScenarioRun) string {
	w := wordsIn(v)
	if run.Status == models.RunFailed && run.ErrorCode != nil {
		if text, ok := w.RunErrors[*run.ErrorCode]; ok {
			return text
		}
	}
	return w.RunAdvice[run.Status]
}

func cancelling(v *ui.Visit, run *models.ScenarioRun) ui.Confirm {
	w := wordsIn(v)
	address := PathRuns + "/" + run.ID + "/cancel"
	return ui.Confirm{
		ID: "cancel", Open: w.CancelRun, Address: address, Title: w.CancelTitle, Text: w.CancelText,
		Form: ui.FormView{Action: address, Submit: w.CancelRun, Danger: true, Back: &ui.Link{Name: w.GoOn, Address: PathRuns + "/" + run.ID}},
	}
}

// askCancel is the question on a page of its own.
func (s *Section) askCancel(v *ui.Visit) (ui.Reply, error) {
	view, err := s.runPage(v)
	if err != nil {
		return ui.Reply{}, err
	}
	if view.Cancel == nil {
		return ui.Reply{}, parts.Refused(v, models.NewError(models.CodeNotCancellable, "The run is over."))
	}
	return s.views.Page("confirm", askView{
		Shell: view.Shell, Confirm: *view.Cancel,
		Head: ui.Head{Crumb: &ui.Link{Name: view.Shared.Run, Address: PathRuns + "/" + view.Head.ID}, Title: view.Cancel.Title, ID: view.Head.ID},
	})
}

// cancel calls a run off, as POST /runs/{id}/cancel does.
func (s *Section) cancel(v *ui.Visit) (ui.Reply, error) {
	id, err := parts.ID(v, models.PrefixRun)
	if err != nil {
		return ui.Reply{}, err
	}
	_, err = s.desk.Do(v, parts.Deed{Action: "run.cancelled"}, func(ctx context.Context, tx *store.Tx) (string, error) {
		_, err := actions.CancelRun(ctx, tx, parts.CauseOf(v, ""), id)
		return id, err
	})
	if err != nil {
		return ui.Reply{}, parts.Refused(v, err)
	}
	reply := ui.Redirect(PathRuns + "/" + id)
	reply.Notice = wordsIn(v).RunCancelled
	return reply, nil
}
