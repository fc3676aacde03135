package jobs

import (
	"fmt"

	"github.com/botix-pro/platform/app/models"
	"github.com/botix-pro/platform/app/store"
	"github.com/botix-pro/platform/web/dashboard/parts"
	"github.com/botix-pro/platform/web/ui"
)

// listView is the page of jobs.
type listView struct {
	ui.ListView

	Texts *words
	Now   underWayView
}

// underWayView is what has not ended, with its progress.
type underWayView struct {
	Texts *words
	Live  string // empty: nothing is under way
	Jobs  []progressView
}

// progressView is one job under way.
type progressView struct {
	Texts    *words
	ID, Name string
	Address  string
	State    ui.Pill
	Begun    ui.Instant
	Bar      ui.Progress
	Rate     string       // may be empty
	Ends     *ui.Sentence // nil: it is not known when
	Cancel   *ui.Confirm  // nil: it is being stopped already
}

func jobTypes() []models.JobType {
	return []models.JobType{models.JobContactsBulk, models.JobWebhookRecovery, models.JobWebhookRelease}
}

// list is the page of jobs: those under way first.
func (s *Section) list(v *ui.Visit) (ui.Reply, error) {
	w, shared := wordsIn(v), parts.WordsOf(v)
	at := parts.At(v, []parts.Filter{
		{Name: "type", Label: w.Type, Kind: ui.FieldSelect, Options: ui.Choices(jobTypes(), w.Types, "")},
		{Name: "status", Label: shared.Status, Kind: ui.FieldSelect, Options: ui.Choices(models.JobStatuses(), w.States, "")},
	}, func(id string) bool { return models.ValidID(models.PrefixJob, id) })
	view := listView{Texts: w, ListView: ui.ListView{Shell: v.Shell(w.Title, ui.NavJobs)}}
	view.Head = ui.Head{Title: w.Title, Lead: w.Lead, Updated: view.Updated(), Refresh: &ui.Link{Name: view.Words.Refresh, Address: at.Newest()}}
	view.Empty = ui.Empty{Title: w.EmptyTitle, Text: w.EmptyText}
	filter := store.JobFilter{Type: at.Chosen("type"), Status: at.Chosen("status")}
	var rows []models.Job
	var more bool
	if !at.Faulty() {
		found, err := s.queries.Jobs(v.Context(), v.Member.Project.ID, filter, store.Page{Before: at.Before, Limit: parts.RowsPerPage + 1})
		if err != nil {
			return ui.Reply{}, fmt.Errorf("list the jobs: %w", err)
		}
		rows, more = parts.Cut(found)
	}
	view.Table = table(v, rows)
	last := ""
	if more {
		last = rows[len(rows)-1].ID
	}
	at.Fill(&view.ListView, more, last)
	if at.Before == "" && len(view.Chips.Chips) == 0 {
		var err error
		if view.Now, err = s.underWayView(v); err != nil {
			return ui.Reply{}, err
		}
	}
	return s.views.Page("list", view)
}

// underWay is the part of the list that follows what happens.
func (s *Section) underWay(v *ui.Visit) (ui.Reply, error) {
	view, err := s.underWayView(v)
	if err != nil {
		return ui.Reply{}, err
	}
	return s.views.Fragment("list", "under-way", view)
}

func (s *Section) underWayView(v *ui.Visit) (underWayView, error) {
	view := underWayView{Texts: wordsIn(v)}
	jobs, err := s.queries.JobsUnderWay(v.Context(), v.Member.Project.ID, maxUnderWay)
	if err != nil {
		return view, fmt.Errorf("list the jobs under way: %w", err)
	}
	for _, job := range jobs {
		view.Jobs, view.Live = append(view.Jobs, progress(v, &job)), Path+"/under-way"
	}
	return view, nil
}

func table(v *ui.Visit, rows []models.Job) ui.Table {
	w, shared := wordsIn(v), parts.WordsOf(v)
	list := ui.Table{Caption: w.Title, Columns: ui.Columns(w.Job, w.Type, shared.Status)}
	for _, name := range []string{w.Total, w.Succeeded, w.Failed} {
		list.Columns = append(list.Columns, ui.Column{Name: name, Number: true})
	}
	list.Columns = append(list.Columns, ui.Columns(shared.Created, shared.Took)...)
	for _, j := range rows {
		pill := state(v, &j)
		list.Rows = append(list.Rows, []ui.Cell{
			ui.IDCell(parts.PathJobs, j.ID), {Text: ui.Word(w.Types, j.Type)}, {Pill: &pill},
			count(v, j.Total), count(v, j.Succeeded), count(v, j.Failed), parts.Moment(v.Locale.Time(j.CreatedAt)), {Text: took(v, &j)},
		})
	}
	return list
}

func count(v *ui.Visit, n int) ui.Cell { return ui.Cell{Text: v.Locale.Number(int64(n))} }

func took(v *ui.Visit, j *models.Job) string {
	if j.StartedAt == nil {
		return ""
	}
	end := v.Now
	if j.FinishedAt != nil {
		end = *j.FinishedAt
	}
	return v.Locale.Span(end.Sub(*j.StartedAt))
}
