package requests

import (
	"fmt"
	"net/url"

	"github.com/botix-pro/platform/app/models"
	"github.com/botix-pro/platform/app/store"
	"github.com/botix-pro/platform/web/dashboard/parts"
	"github.com/botix-pro/platform/web/ui"
)

// maxGroups is how many groups of errors are shown.
const maxGroups = 100

// errorGroups is the page of errors by what they have in common.
func (s *Section) errorGroups(v *ui.Visit) (ui.Reply, error) {
	w := wordsIn(v)
	at := parts.At(v, []parts.Filter{{Name: filterSince, Label: w.Since, Kind: ui.FieldSelect, Options: spans(v)}}, func(string) bool { return false })
	from := since(v, at)
	var found store.ErrorGroups
	if !at.Faulty() {
		var err error
		if found, err = s.queries.RequestErrors(v.Context(), v.Member.Project.ID, from, maxGroups); err != nil {
			return ui.Reply{}, fmt.Errorf("group the errors: %w", err)
		}
	}
	view := listView{ListView: ui.ListView{Shell: v.Shell(w.Errors, ui.NavRequests), Tabs: tabs(w, true), Table: groupTable(v, found.Groups)}}
	view.Head = ui.Head{Title: w.Errors, Lead: w.ErrorsLead, Updated: view.Updated(), Refresh: &ui.Link{Name: view.Words.Refresh, Address: at.Newest()}}
	view.Empty = ui.Empty{Title: w.NoErrors, Text: w.NoErrorsText}
	at.Fill(&view.ListView, false, "")
	if reached, err := models.TimeOfID(models.PrefixRequest, found.CountedTo); err == nil {
		view.Reach = v.Locale.At(w.CountedTo, reached)
	}
	return s.views.Page("list", view)
}

func groupTable(v *ui.Visit, groups []store.ErrorGroup) ui.Table {
	w := wordsIn(v)
	list := ui.Table{Caption: w.Errors, Columns: append(ui.Columns(w.Code, w.Answer, w.Route, w.Meaning), ui.Column{Name: w.Count, Number: true}, ui.Column{Name: w.Latest})}
	for _, g := range groups {
		latest := ui.Cell{}
		if at, err := models.TimeOfID(models.PrefixRequest, g.Last); err == nil {
			latest = parts.Moment(v.Locale.Time(at))
		}
		list.Rows = append(list.Rows, []ui.Cell{
			{Text: ui.Visible(string(g.Code)), Code: true, Address: groupAddress(v, g)}, {Pill: statusPill(g.Status, g.Code)},
			{Text: ui.Visible(g.Method + " " + g.Route), Code: true}, {Text: w.Codes[g.Code].When},
			{Text: v.Locale.Number(g.Count)}, latest,
		})
	}
	return list
}

// groupAddress is the list of a group's requests, over the same time.
func groupAddress(v *ui.Visit, g store.ErrorGroup) string {
	query := url.Values{filterCode: {string(g.Code)}, filterMethod: {g.Method}, filterRoute: {g.Route}}
	if chosen := v.URL.Query().Get(filterSince); chosen != "" {
		query.Set(filterSince, chosen)
	}
	return Path + "?" + query.Encode()
}
