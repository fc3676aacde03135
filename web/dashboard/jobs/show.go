package jobs

import (
	"context"
	"encoding/json"
	"fmt"
	"strconv"

	"github.com/botix-pro/platform/app/actions"
	"github.com/botix-pro/platform/app/models"
	"github.com/botix-pro/platform/app/store"
	"github.com/botix-pro/platform/web/dashboard/parts"
	"github.com/botix-pro/platform/web/ui"
)

// jobView is the page of one job.
type jobView struct {
	ui.Shell

	Texts    *words
	Head     ui.Head
	Live     string // empty: it has ended
	Progress progressView
	Advice   string
	Error    string // why it failed; may be empty
	Facts    []ui.Fact
	Params   ui.BodyView
	Rows     bool // what became of each row is kept
	Filters  ui.ListView
}

// show is one job, with what became of its rows where that is kept.
func (s *Section) show(v *ui.Visit) (ui.Reply, error) {
	view, job, err := s.page(v)
	if err != nil {
		return ui.Reply{}, err
	}
	if view.Rows = job.Type == models.JobContactsBulk; view.Rows {
		if err := s.results(v, job, view); err != nil {
			return ui.Reply{}, err
		}
	}
	return s.views.Page("job", view)
}

// live is the part that follows what happens.
func (s *Section) live(v *ui.Visit) (ui.Reply, error) {
	view, _, err := s.page(v)
	if err != nil {
		return ui.Reply{}, err
	}
	return s.views.Fragment("job", "job", view)
}

func (s *Section) job(v *ui.Visit) (*models.Job, error) {
	id, err := parts.ID(v, models.PrefixJob)
	if err != nil {
		return nil, err
	}
	job, err := s.queries.Job(v.Context(), v.Member.Project.ID, id)
	if err != nil {
		return nil, fmt.Errorf("read a job: %w", err)
	}
	return job, nil
}

func (s *Section) page(v *ui.Visit) (*jobView, *models.Job, error) {
	job, err := s.job(v)
	if err != nil {
		return nil, nil, err
	}
	w := wordsIn(v)
	params := ui.ShowPayload(job.Params)
	view := &jobView{
		Shell: v.Shell(w.Job, ui.NavJobs), Texts: w, Progress: progress(v, job), Error: ui.Visible(job.Error), Facts: facts(v, job),
		Advice: w.Advice[job.Status], Params: ui.BodyView{ID: "params", Name: w.Params, Text: params.Text, Note: v.Locale.Size(int64(params.Size))},
	}
	switch {
	case stalled(job, v.Now):
		view.Advice = fmt.Sprintf(w.StalledF, v.Locale.Span(v.Now.Sub(job.UpdatedAt)))
	case job.CancelRequested && !job.Status.Ended():
		view.Advice = w.StoppingAdvice
	}
	if !job.Status.Ended() {
		view.Live = Path + "/" + job.ID + "/live"
	}
	view.Head = ui.Head{Crumb: &ui.Link{Name: w.Title, Address: Path}, Title: view.Progress.Name, ID: job.ID}
	return view, job, nil
}

func facts(v *ui.Visit, j *models.Job) []ui.Fact {
	w, shared := wordsIn(v), parts.WordsOf(v)
	list := []ui.Fact{
		{Name: w.Total, Cell: count(v, j.Total)}, {Name: w.Processed, Cell: count(v, j.Processed)},
		{Name: w.Succeeded, Cell: count(v, j.Succeeded)}, {Name: w.Failed, Cell: count(v, j.Failed)},
		{Name: shared.Created, Cell: parts.Moment(v.Locale.Time(j.CreatedAt))}, {Name: w.Moved, Cell: parts.Moment(v.Locale.Time(j.UpdatedAt))},
		{Name: shared.Finished, Cell: ui.Cell{At: v.Locale.When(j.FinishedAt)}}, {Name: shared.Took, Cell: ui.Cell{Text: took(v, j)}},
		{Name: shared.Request, Cell: ui.IDCell(parts.PathRequests, j.RequestID)},
	}
	var about models.Recovery
	if j.Type != models.JobContactsBulk && json.Unmarshal(j.Params, &about) == nil {
		list = append(list, ui.Fact{Name: w.Endpoint, Cell: ui.IDCell(parts.PathEndpoints, about.EndpointID)})
	}
	return list
}

// results puts what became of the job's rows into the page.
func (s *Section) results(v *ui.Visit, job *models.Job, view *jobView) error {
	w := wordsIn(v)
	at := parts.At(v, []parts.Filter{
		{Name: "status", Label: w.Outcome, Kind: ui.FieldSelect, Options: ui.Choices(models.RowStatuses(), w.Rows, "")},
	}, validIndex)
	view.Filters.Shell = view.Shell
	status := at.Chosen("status")
	after := -1
	if at.Before != "" {
		after, _ = strconv.Atoi(at.Before) // validIndex
	}
	var rows []models.NumberedResult
	var more bool
	if !at.Faulty() {
		found, err := s.queries.JobResults(v.Context(), v.Member.Project.ID, job.ID, status, after, parts.RowsPerPage+1)
		if err != nil {
			return fmt.Errorf("list a job's results: %w", err)
		}
		rows, more = parts.Cut(found)
	}
	last := ""
	if more {
		last = strconv.Itoa(rows[len(rows)-1].Index)
	}
	table, err := resultTable(v, rows)
	if err != nil {
		return err
	}
	at.Fill(&view.Filters, more, last)
	view.Filters.Table = table
	ways := *view.Words // rows have an order of their own, not an age
	ways.Newer, ways.Older = w.RowsBefore, w.RowsAfter
	view.Filters.Ways.Words = &ways
	return nil
}

func validIndex(mark string) bool {
	index, err := strconv.Atoi(mark)
	return err == nil && index >= 0 && index < models.MaxBulkRows
}

var rowPills = map[models.RowStatus]string{
	models.RowCreated: ui.PillDelivered, models.RowUpdated: ui.PillDelivered, models.RowUnchanged: ui.PillPending, models.RowFailed: ui.PillFailed,
}

func resultTable(v *ui.Visit, rows []models.NumberedResult) (ui.Table, error) {
	w, shared := wordsIn(v), parts.WordsOf(v)
	table := ui.Table{Caption: w.Results, Columns: ui.Columns(w.Row, w.Outcome, shared.Contact, w.Why), None: w.NoResults}
	for _, numbered := range rows {
		var result models.RowResult
		if err := json.Unmarshal(numbered.Result, &result); err != nil {
			return table, fmt.Errorf("decode the result of row %d: %w", numbered.Index, err)
		}
		table.Rows = append(table.Rows, []ui.Cell{
			{Text: v.Locale.Number(int64(numbered.Index) + 1)}, {Pill: &ui.Pill{Kind: rowPills[result.Status], Word: ui.Word(w.Rows, result.Status)}},
			ui.IDCell(parts.PathContacts, result.ID), {Text: why(v, result.Error)},
		})
	}
	return table, nil
}

// why says what was wrong with a row.
func why(v *ui.Visit, problem *models.RowError) string {
	if problem == nil {
		return ""
	}
	if len(problem.Errors) == 0 {
		return ui.Visible(string(problem.Code) + ": " + problem.Detail)
	}
	text := ""
	for i, fault := range problem.Errors {
		if i > 0 {
			text += " "
		}
		text += fault.Pointer + ": " + ui.FaultText(v.Locale, fault)
	}
	return ui.Visible(text)
}

// askView is a page that asks before something is done.
type askView struct {
	ui.Shell

	Head    ui.Head
	Confirm ui.Confirm
}

// askCancel is the question on a page of its own.
func (s *Section) askCancel(v *ui.Visit) (ui.Reply, error) {
	job, err := s.job(v)
	if err != nil {
		return ui.Reply{}, err
	}
	confirm := cancellation(v, job)
	return s.views.Page("confirm", askView{
		Shell: v.Shell(confirm.Title, ui.NavJobs), Confirm: confirm,
		Head: ui.Head{Crumb: &ui.Link{Name: wordsIn(v).Job, Address: Path + "/" + job.ID}, Title: confirm.Title, ID: job.ID},
	})
}

// cancel stops a job, as POST /jobs/{id}/cancel does.
func (s *Section) cancel(v *ui.Visit) (ui.Reply, error) {
	job, err := s.job(v)
	if err != nil {
		return ui.Reply{}, err
	}
	_, err = s.desk.Do(v, parts.Deed{Action: "job.cancelled", Detail: string(job.Type)}, func(ctx context.Context, tx *store.Tx) (string, error) {
		_, err := actions.CancelJob(ctx, tx, parts.CauseOf(v, ""), job.ID)
		return job.ID, err
	})
	if err != nil {
		return ui.Reply{}, parts.Refused(v, err)
	}
	reply := ui.Redirect(Path + "/" + job.ID)
	reply.Notice = wordsIn(v).Stopped
	return reply, nil
}
