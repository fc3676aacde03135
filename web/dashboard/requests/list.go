package requests

import (
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/botix-pro/platform/app/models"
	"github.com/botix-pro/platform/app/store"
	"github.com/botix-pro/platform/web/dashboard/parts"
	"github.com/botix-pro/platform/web/ui"
)

// The list's filters, as they stand in its address.
const (
	filterMethod = "method"
	filterRoute  = "route"
	filterStatus = "status"
	filterCode   = "code"
	filterReplay = "replayed"
	filterKey    = "key"
	filterSince  = "since"
	filterID     = "id"
)

// listView is the page of requests.
type listView struct {
	ui.ListView

	Reach *ui.Sentence // how far was searched, where that is not everything; may be nil
}

// list is the page of requests, newest first.
func (s *Section) list(v *ui.Visit) (ui.Reply, error) {
	names, keys, err := s.keyNames(v)
	if err != nil {
		return ui.Reply{}, err
	}
	w := wordsIn(v)
	at := parts.At(v, filters(v, keys), func(id string) bool { return models.ValidID(models.PrefixRequest, id) })
	filter := filterOf(v, at)
	var found store.RequestList
	if !at.Faulty() {
		page := store.Page{Before: at.Before, Limit: parts.RowsPerPage}
		if found, err = s.queries.Requests(v.Context(), v.Member.Project.ID, filter, page); err != nil {
			return ui.Reply{}, fmt.Errorf("list the requests: %w", err)
		}
	}
	view := listView{ListView: ui.ListView{Shell: v.Shell(w.Title, ui.NavRequests), Tabs: tabs(w, false), Table: table(v, found.Rows, names)}}
	view.Head = ui.Head{Title: w.Title, Lead: w.Lead, Updated: view.Updated(), Refresh: &ui.Link{Name: view.Words.Refresh, Address: at.Newest()}}
	view.Empty = ui.Empty{Title: w.EmptyTitle, Text: w.EmptyText, Actions: []ui.Link{{Name: w.Quickstart, Address: "/docs"}}}
	at.Fill(&view.ListView, found.Next != "", found.Next)
	if found.SearchedTo != nil {
		view.Reach = v.Locale.At(w.Reach, *found.SearchedTo)
	}
	return s.views.Page("list", view)
}

func tabs(w *words, errors bool) []ui.Tab {
	return []ui.Tab{
		{Link: ui.Link{Name: w.All, Address: Path}, Current: !errors},
		{Link: ui.Link{Name: w.Errors, Address: pathErrors}, Current: errors},
	}
}

func filters(v *ui.Visit, keys []models.APIKey) []parts.Filter {
	w, shared := wordsIn(v), parts.WordsOf(v)
	var methods, codes, names []ui.Option
	for _, method := range []string{http.MethodGet, http.MethodPost, http.MethodPut, http.MethodPatch, http.MethodDelete} {
		methods = append(methods, ui.Option{Value: method, Name: method})
	}
	for _, entry := range models.Catalogue() {
		codes = append(codes, ui.Option{Value: string(entry.Code), Name: fmt.Sprintf("%d %s", entry.Status, entry.Code)})
	}
	for _, key := range keys {
		names = append(names, ui.Option{Value: key.ID, Name: parts.Excerpt(key.Name)})
	}
	return []parts.Filter{
		{Name: filterID, Label: w.ByID, Kind: "search"},
		{Name: filterMethod, Label: w.Method, Kind: ui.FieldSelect, Options: methods},
		{Name: filterRoute, Label: w.Route, Kind: "search"},
		{Name: filterStatus, Label: shared.Status, Kind: ui.FieldSelect, Options: []ui.Option{
			{Value: "2", Name: w.Succeeded}, {Value: "4", Name: w.Refused}, {Value: "5", Name: w.Failed},
		}},
		{Name: filterCode, Label: w.Code, Kind: ui.FieldSelect, Options: codes},
		{Name: filterReplay, Label: w.Replayed, Kind: ui.FieldSelect, Options: []ui.Option{
			{Value: "true", Name: w.OnlyReplays}, {Value: "false", Name: w.NoReplays},
		}},
		{Name: filterKey, Label: w.Key, Kind: ui.FieldSelect, Options: names},
		{Name: filterSince, Label: w.Since, Kind: ui.FieldSelect, Options: spans(v)},
	}
}

func spans(v *ui.Visit) []ui.Option {
	var options []ui.Option
	for _, span := range []time.Duration{time.Hour, 24 * time.Hour, 3 * 24 * time.Hour, 7 * 24 * time.Hour} {
		options = append(options, ui.Option{Value: span.String(), Name: v.Locale.Span(span)})
	}
	return options
}

// filterOf reads the filters. A select takes only what it offers.
func filterOf(v *ui.Visit, at parts.Place) store.RequestFilter {
	filter := store.RequestFilter{
		Method: at.Chosen(filterMethod), Code: at.Chosen(filterCode), KeyID: at.Chosen(filterKey), ID: at.Value(filterID), Since: since(v, at),
	}
	if route := at.Value(filterRoute); route != nil {
		method, template := routeOf(*route)
		filter.Route = &template
		if method != "" && filter.Method == nil {
			filter.Method = &method
		}
	}
	if class := at.Chosen(filterStatus); class != nil {
		if n, err := strconv.Atoi(*class); err == nil {
			failed := n >= 4
			filter.StatusClass, filter.Failed = &n, &failed
		}
	}
	if replayed := at.Chosen(filterReplay); replayed != nil {
		yes := *replayed == "true"
		filter.Replayed = &yes
	}
	return filter
}

// since is when the chosen time begins, nil for all that is kept.
func since(v *ui.Visit, at parts.Place) *time.Time {
	chosen := at.Chosen(filterSince)
	if chosen == nil {
		return nil
	}
	span, err := time.ParseDuration(*chosen)
	if err != nil {
		return nil
	}
	from := v.Now.Add(-span)
	return &from
}

// routeOf reads a route as people write it: with a method before it, with an id in
// it, or with {id} in place of one.
func routeOf(text string) (method, route string) {
	if before, path, ok := strings.Cut(text, " "); ok {
		method, text = strings.ToUpper(before), strings.TrimSpace(path)
	}
	text, _, _ = strings.Cut(text, "?")
	steps := strings.Split(text, "/")
	for i, step := range steps {
		switch {
		case strings.HasPrefix(step, "{") && strings.HasSuffix(step, "}"):
			steps[i] = ":" + strings.Trim(step, "{}")
		case parts.PageOf(step) != "" || strings.HasPrefix(step, models.PrefixDeadLetter):
			steps[i] = ":id"
		}
	}
	return method, strings.Join(steps, "/")
}

// table is requests as rows.
func table(v *ui.Visit, rows []models.RequestRecord, names map[string]string) ui.Table {
	w, shared := wordsIn(v), parts.WordsOf(v)
	list := ui.Table{Caption: w.Title, Columns: append(ui.Columns(w.Request, w.Answer, w.Operation, w.Key, w.Came), ui.Column{Name: shared.Took, Number: true})}
	for _, r := range rows {
		list.Rows = append(list.Rows, []ui.Cell{
			{Text: name(r), Code: true, Address: ui.Root + parts.PathRequests + r.RequestID}, answerCell(w, r),
			operationCell(r), keyCell(names, r.KeyID), parts.Moment(v.Locale.Time(r.At)), {Text: v.Locale.Duration(int64(r.DurationMs))},
		})
	}
	return list
}
