package endpoints

import (
	"fmt"
	"strings"

	"github.com/botix-pro/platform/app/models"
	"github.com/botix-pro/platform/app/store"
	"github.com/botix-pro/platform/web/dashboard/parts"
	"github.com/botix-pro/platform/web/ui"
)

// list is the page of endpoints, newest first.
func (s *Section) list(v *ui.Visit) (ui.Reply, error) {
	at := ui.PagerOf(v.URL, nil, func(id string) bool { return models.ValidID(models.PrefixEndpoint, id) })
	found, err := s.queries.Endpoints(v.Context(), v.Member.Project.ID, store.Page{Before: at.Before, Limit: parts.RowsPerPage + 1})
	if err != nil {
		return ui.Reply{}, fmt.Errorf("list the endpoints: %w", err)
	}
	rows, more := parts.Cut(found)
	table, err := s.table(v, rows)
	if err != nil {
		return ui.Reply{}, err
	}
	view := listView(v, at)
	view.Table = table
	view.Ways = ui.PagesView{Words: view.Words, Newer: at.Newer()}
	if more {
		view.Ways.Older = at.Older(rows[len(rows)-1].ID)
	}
	return s.views.Page("list", view)
}

func listView(v *ui.Visit, at ui.Pager) ui.ListView {
	texts := wordsIn(v.Locale.Language)
	view := ui.ListView{Shell: v.Shell(texts.Title, ui.NavEndpoints)}
	view.Head = ui.Head{Title: texts.Title, Lead: texts.Lead, Updated: view.Updated(), Refresh: &ui.Link{Name: view.Words.Refresh, Address: at.Newest()}}
	view.Actions = []ui.Link{{Name: texts.New, Address: Path + "/new"}}
	view.Empty = ui.Empty{Title: texts.EmptyTitle, Text: texts.EmptyText, Actions: []ui.Link{{Name: view.Words.Documentation, Address: "/docs"}}}
	return view
}

// table is endpoints with how the last 24 hours went.
func (s *Section) table(v *ui.Visit, rows []models.WebhookEndpoint) (ui.Table, error) {
	texts := wordsIn(v.Locale.Language)
	table := ui.Table{
		Caption: texts.Title, Columns: append(ui.Columns(texts.URL, texts.State, texts.Types, texts.Day), ui.Column{Name: texts.P95, Number: true}),
	}
	table.Columns = append(table.Columns, ui.Columns(texts.LastSuccess, texts.LastFailure)...)
	ids := make([]string, len(rows))
	for i, e := range rows {
		ids[i] = e.ID
	}
	health, err := s.queries.EndpointsHealth(v.Context(), v.Member.Project.ID, ids)
	if err != nil {
		return table, fmt.Errorf("read the endpoints' health: %w", err)
	}
	day := parts.Day(v)
	rollups, err := s.queries.Rollups(v.Context(), v.Member.Project.ID, day.Since(), day.End())
	if err != nil {
		return table, fmt.Errorf("sum up the attempts: %w", err)
	}
	sums := day.ByEndpoint(rollups)
	for _, e := range rows {
		table.Rows = append(table.Rows, row(v, e, health[e.ID], sums[e.ID]))
	}
	return table, nil
}

func row(v *ui.Visit, e models.WebhookEndpoint, health models.EndpointHealth, day parts.Sums) []ui.Cell {
	texts := wordsIn(v.Locale.Language)
	latency := ui.Cell{}
	if day.Total.Answered > 0 {
		latency.Text = v.Locale.Duration(int64(day.Total.Quantile(0.95)))
	}
	success := ui.Cell{Text: success(v, texts, day.Total)}
	if day.Total.Attempts > 0 {
		success.Spark = parts.Spark(v, day)
	}
	pill, since := state(v, &e, health)
	return []ui.Cell{
		{Text: ui.Shorten(ui.Visible(e.URL), 70), Address: Path + "/" + e.ID, Note: parts.Excerpt(e.Description)}, {Pill: pill, Note: since},
		{Text: parts.Excerpt(strings.Join(e.EventTypes, ", ")), Code: true}, success, latency,
		{At: v.Locale.When(health.LastSuccessAt)}, {At: v.Locale.When(health.LastFailureAt)},
	}
}

func success(v *ui.Visit, texts *words, sum models.Rollup) string {
	if sum.Attempts == 0 {
		return texts.Nothing
	}
	return fmt.Sprintf(texts.SuccessF, v.Locale.Percent(sum.Successes, sum.Attempts), v.Locale.Number(sum.Attempts))
}

// state is an endpoint's in words, and since when it is so where that matters.
func state(v *ui.Visit, e *models.WebhookEndpoint, health models.EndpointHealth) (pill *ui.Pill, since string) {
	texts := wordsIn(v.Locale.Language)
	pill = &ui.Pill{Word: ui.Word(texts.States, e.Status)}
	switch {
	case e.Status == models.EndpointActive && health.FailingSince == nil:
		pill.Kind = ui.PillDelivered
		return pill, ""
	case e.Status == models.EndpointActive:
		pill.Kind, pill.Word = ui.PillFailed, texts.Failing
		return pill, fmt.Sprintf(texts.SinceF, v.Locale.Time(*health.FailingSince).Text)
	case e.Status == models.EndpointPaused:
		pill.Kind = ui.PillPending
	default:
		pill.Kind = ui.PillDead
	}
	return pill, fmt.Sprintf(texts.SinceF, v.Locale.Time(e.StatusSince).Text)
}
