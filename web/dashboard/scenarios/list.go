package scenarios

import (
	"fmt"

	"github.com/go-json-experiment/json"

	"github.com/botix-pro/platform/app/models"
	"github.com/botix-pro/platform/app/store"
	"github.com/botix-pro/platform/web/dashboard/parts"
	"github.com/botix-pro/platform/web/ui"
)

// list is the page of scenarios, newest first.
func (s *Section) list(v *ui.Visit) (ui.Reply, error) {
	w, shared := wordsIn(v), parts.WordsOf(v)
	at := parts.At(v, []parts.Filter{
		{Name: "status", Label: shared.Status, Kind: ui.FieldSelect, Options: ui.Choices(models.ScenarioStatuses(), w.States, "")},
	}, func(id string) bool { return models.ValidID(models.PrefixScenario, id) })
	view := ui.ListView{Shell: v.Shell(w.Title, ui.NavScenarios), Actions: []ui.Link{{Name: w.New, Address: Path + "/new"}}}
	view.Head = ui.Head{Title: w.Title, Lead: w.Lead, Updated: view.Updated(), Refresh: &ui.Link{Name: view.Words.Refresh, Address: at.Newest()}}
	view.Empty = ui.Empty{Title: w.EmptyTitle, Text: w.EmptyText, Actions: []ui.Link{{Name: w.New, Address: Path + "/new"}}}
	status := at.Chosen("status")
	var rows []models.Scenario
	var more bool
	if !at.Faulty() {
		found, err := s.queries.Scenarios(v.Context(), v.Member.Project.ID, status, store.Page{Before: at.Before, Limit: parts.RowsPerPage + 1})
		if err != nil {
			return ui.Reply{}, fmt.Errorf("list the scenarios: %w", err)
		}
		rows, more = parts.Cut(found)
	}
	view.Table = table(v, rows)
	last := ""
	if more {
		last = rows[len(rows)-1].ID
	}
	at.Fill(&view, more, last)
	return s.views.Page("list", view)
}

var pills = map[models.ScenarioStatus]string{
	models.ScenarioDraft: ui.PillPending, models.ScenarioActive: ui.PillDelivered, models.ScenarioArchived: ui.PillDead,
}

func state(v *ui.Visit, status models.ScenarioStatus) *ui.Pill {
	return &ui.Pill{Kind: pills[status], Word: ui.Word(wordsIn(v).States, status)}
}

func table(v *ui.Visit, rows []models.Scenario) ui.Table {
	w, shared := wordsIn(v), parts.WordsOf(v)
	list := ui.Table{Caption: w.Title, Columns: ui.Columns(shared.Scenario, w.Name, shared.Status)}
	list.Columns = append(list.Columns, ui.Column{Name: shared.Version, Number: true}, ui.Column{Name: w.Steps, Number: true}, ui.Column{Name: shared.Updated})
	for _, one := range rows {
		var steps []models.StepName
		_ = json.Unmarshal(one.Steps, &steps) // what cannot be read has no steps to count
		list.Rows = append(list.Rows, []ui.Cell{
			ui.IDCell(parts.PathScenarios, one.ID), {Text: parts.Excerpt(one.Name)}, {Pill: state(v, one.Status)},
			{Text: v.Locale.Number(int64(one.Version))}, {Text: v.Locale.Number(int64(len(steps)))}, parts.Moment(v.Locale.Time(one.UpdatedAt)),
		})
	}
	return list
}

// listRuns is the page of runs, newest first.
func (s *Section) listRuns(v *ui.Visit) (ui.Reply, error) {
	w, shared := wordsIn(v), parts.WordsOf(v)
	at := parts.At(v, []parts.Filter{
		{Name: "status", Label: shared.Status, Kind: ui.FieldSelect, Options: ui.Choices(models.RunStatuses(), shared.RunStates, "")},
		{Name: "scenario", Label: shared.Scenario, Kind: "search"}, {Name: "contact", Label: shared.Contact, Kind: "search"},
	}, func(id string) bool { return models.ValidID(models.PrefixRun, id) })
	filter := store.RunFilter{Status: at.Chosen("status"), ScenarioID: at.Value("scenario"), ContactID: at.Value("contact")}
	view := ui.ListView{Shell: v.Shell(shared.Runs, ui.NavRuns)}
	view.Head = ui.Head{Title: shared.Runs, Lead: w.RunsLead, Updated: view.Updated(), Refresh: &ui.Link{Name: view.Words.Refresh, Address: at.Newest()}}
	view.Empty = ui.Empty{Title: w.RunsEmptyTitle, Text: w.RunsEmptyText, Actions: []ui.Link{{Name: w.Title, Address: Path}}}
	var rows []models.ScenarioRun
	var more bool
	if !at.Faulty() {
		found, err := s.queries.Runs(v.Context(), v.Member.Project.ID, filter, store.Page{Before: at.Before, Limit: parts.RowsPerPage + 1})
		if err != nil {
			return ui.Reply{}, fmt.Errorf("list the runs: %w", err)
		}
		rows, more = parts.Cut(found)
	}
	view.Table = parts.Runs(v, rows)
	last := ""
	if more {
		last = rows[len(rows)-1].ID
	}
	at.Fill(&view, more, last)
	return s.views.Page("list", view)
}
