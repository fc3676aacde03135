package deliveries

import (
	"errors"
	"fmt"
	"net/url"
	"strconv"
	"time"

	"github.com/botix-pro/platform/app/models"
	"github.com/botix-pro/platform/app/store"
	"github.com/botix-pro/platform/web/dashboard/parts"
	"github.com/botix-pro/platform/web/ui"
)

// maxFresh is where counting what is new ends.
const maxFresh = 99

// listView is the page of attempts.
type listView struct {
	ui.ListView

	Texts   *words
	Days    []dayView
	Fresh   *freshView // nil: this is not the newest page
	Matches string     // where "retry all that match" leads; empty: nowhere
	Sparse  *ui.Sentence
	Past    bool // the page is past the end: what was on it is no longer kept
}

// dayView is the attempts of one day of the reader's.
type dayView struct {
	ID, Name string
	Rows     []rowView
}

// freshView says how many attempts are newer than the list: it follows what
// happens, and never moves the rows.
type freshView struct {
	Texts   *words
	Live    string // where it is fetched again
	Show    string // where the newest are
	Name    string // empty: there are none
	Say     string // to be read out; empty: it was already
	Stopped bool   // enough are counted
}

// rowView is one attempt in the list.
type rowView struct {
	Texts     *words
	ID        string
	Delivery  string
	Outcome   ui.Pill
	EventType string
	Endpoint  string
	Host      string
	Number    int
	Manual    bool
	Started   ui.Instant
	Took      string
	Name      string      // of the control that unfolds the row
	Select    string      // of the box that chooses it
	Toggle    string      // where that control leads without the script
	Fragment  string      // where the script gets the details
	Detail    *detailView // nil: the row is folded
}

// listAttempts is the page of attempts, newest first.
func (s *Section) listAttempts(v *ui.Visit) (ui.Reply, error) {
	endpoints, err := s.queries.EndpointNames(v.Context(), v.Member.Project.ID)
	if err != nil {
		return ui.Reply{}, fmt.Errorf("list the endpoints: %w", err)
	}
	at := s.search(v, endpoints)
	if at.Attempt != "" {
		return ui.Redirect(pathAttempts + at.Attempt), nil
	}
	found, err := s.find(v, at, store.Page{Before: at.Before, Limit: parts.RowsPerPage})
	if err != nil {
		return ui.Reply{}, err
	}
	view := s.listView(v, at, found)
	if view.Days, err = s.days(v, at, found.Rows, endpoints); err != nil {
		return ui.Reply{}, err
	}
	return s.views.Page("deliveries", view)
}

// find asks the store, unless there can be nothing.
func (s *Section) find(v *ui.Visit, at search, page store.Page) (store.AttemptList, error) {
	if at.Nothing || at.Faulty() {
		return store.AttemptList{}, nil
	}
	found, err := s.queries.WebhookAttempts(v.Context(), v.Member.Project.ID, at.Filter, page)
	if err != nil {
		return found, fmt.Errorf("list the attempts: %w", err)
	}
	return found, nil
}

func (s *Section) listView(v *ui.Visit, at search, found store.AttemptList) listView {
	w := wordsIn(v.Locale.Language)
	view := listView{Texts: w, ListView: ui.ListView{Shell: v.Shell(w.List.Title, ui.NavDeliveries)}}
	view.Head = ui.Head{
		Title: w.List.Title, Lead: w.List.Lead, Updated: view.Updated(),
		Refresh: &ui.Link{Name: view.Words.Refresh, Address: at.Newest()},
	}
	view.Empty = ui.Empty{Title: w.List.EmptyTitle, Text: w.List.EmptyLead, Hint: w.List.EmptyKey}.
		WithExample(view.Words, w.List.Example, s.exampleRequest(v.Member.Project.Mode, v.Now))
	at.Fill(&view.ListView, found.Next != "", found.Next)
	view.Tabs = tabs(w, at)
	view.Past = at.Before != "" && len(found.Rows) == 0 && found.SearchedTo == nil && len(view.Chips.Chips) == 0
	if found.SearchedTo != nil {
		view.Sparse = v.Locale.At(w.List.Sparse, *found.SearchedTo)
	}
	if at.Before == "" && !at.Nothing && !at.Faulty() {
		view.Fresh = freshOf(w, at, newestOf(found.Rows), 0)
	}
	if len(found.Rows) > 0 && !at.Filter.Delivered && !at.ByID() {
		view.Matches = at.under(pathRecover, nil)
	}
	return view
}

// under is an address with the list's filters and more parameters.
func (f *search) under(path string, more url.Values) string {
	query := url.Values{}
	for _, name := range []string{paramStatus, paramEndpoint, paramType, paramHTTP, paramClass, paramRange, paramFrom, paramTo, paramID} {
		if value := f.Value(name); value != nil {
			query.Set(name, *value)
		}
	}
	for name, values := range more {
		query[name] = values
	}
	if len(query) == 0 {
		return path
	}
	return path + "?" + query.Encode()
}

// tabs are the outcomes as links.
func tabs(w *words, at search) []ui.Tab {
	chosen := text(at.Value(paramStatus))
	list := []ui.Tab{{Link: ui.Link{Name: w.Filters.AllOutcomes, Address: at.With(paramStatus, "")}, Current: chosen == ""}}
	for _, outcome := range []string{outcomeDelivered, outcomeFailed, outcomeLost} {
		list = append(list, ui.Tab{Link: ui.Link{Name: w.Filters.Outcomes[outcome], Address: at.With(paramStatus, outcome)}, Current: chosen == outcome})
	}
	return append(list, ui.Tab{Link: ui.Link{Name: w.Filters.DeadLetters, Address: PathDeadLetters}})
}

// newestOf is the newest attempt's id, empty without one.
func newestOf(rows []models.WebhookAttempt) string {
	if len(rows) == 0 {
		return ""
	}
	return rows[0].ID
}

const (
	paramAfter = "after" // the newest attempt that is shown
	paramSeen  = "seen"  // how many newer ones were told of
)

// fresh is the part of the list that says how many attempts are newer.
func (s *Section) fresh(v *ui.Visit) (ui.Reply, error) {
	endpoints, err := s.queries.EndpointNames(v.Context(), v.Member.Project.ID)
	if err != nil {
		return ui.Reply{}, fmt.Errorf("list the endpoints: %w", err)
	}
	at, after := s.search(v, endpoints), v.URL.Query().Get(paramAfter)
	if after != "" && !models.ValidID(models.PrefixAttempt, after) {
		return ui.Reply{}, store.ErrNotFound
	}
	at.Filter.After = after
	found, err := s.find(v, at, store.Page{Limit: maxFresh + 1})
	if err != nil {
		return ui.Reply{}, err
	}
	view := freshOf(wordsIn(v.Locale.Language), at, after, len(found.Rows))
	view.count(v, len(found.Rows))
	return s.views.Fragment("deliveries", "fresh", view)
}

func freshOf(w *words, at search, after string, seen int) *freshView {
	return &freshView{
		Texts: w, Show: at.under(Path, nil),
		Live: at.under(Path+"/new", url.Values{paramAfter: {after}, paramSeen: {strconv.Itoa(seen)}}),
	}
}

func (f *freshView) count(v *ui.Visit, count int) {
	if count == 0 {
		return
	}
	f.Stopped = count > maxFresh
	f.Name = v.Locale.Count(int64(count), f.Texts.List.NewF)
	if f.Stopped {
		f.Name = fmt.Sprintf(f.Texts.List.ManyNewF, maxFresh)
	}
	if v.URL.Query().Get(paramSeen) != strconv.Itoa(count) {
		f.Say = f.Name
	}
}

// days groups rows by the reader's days.
func (s *Section) days(v *ui.Visit, at search, attempts []models.WebhookAttempt, endpoints []store.EndpointName) ([]dayView, error) {
	names := map[string]string{}
	for _, e := range endpoints {
		if e.Description != "" {
			names[e.ID] = endpointName(e)
		}
	}
	var list []dayView
	for _, a := range attempts {
		row, err := s.row(v, a, at)
		if err != nil {
			return nil, err
		}
		row.Endpoint = names[a.EndpointID]
		if name := v.Locale.Day(a.StartedAt); len(list) == 0 || list[len(list)-1].Name != name {
			list = append(list, dayView{ID: "day-" + a.ID, Name: name})
		}
		last := &list[len(list)-1]
		last.Rows = append(last.Rows, row)
	}
	return list, nil
}

// row makes one row, unfolded if the address asks for it.
func (s *Section) row(v *ui.Visit, a models.WebhookAttempt, at search) (rowView, error) {
	reader := readerOf(v)
	row := rowView{
		Texts: reader.words, ID: a.ID, Delivery: a.DeliveryID, Outcome: reader.outcome(a), EventType: ui.Visible(a.EventType), Host: ui.HostOf(a.URL),
		Number: a.Number, Manual: a.Manual, Started: reader.Time(a.StartedAt), Took: reader.milliseconds(a.Timing.DurationMs),
		Name: fmt.Sprintf(reader.words.List.DetailsOfF, a.ID), Select: fmt.Sprintf(reader.words.List.SelectF, a.DeliveryID),
		Toggle: pathAttempts + a.ID, Fragment: pathAttempts + a.ID + "/detail",
	}
	if v.URL.Query().Get(ui.ParamOpen) != a.ID {
		return row, nil
	}
	detail, err := s.detail(v, a.ID)
	switch {
	case errors.Is(err, store.ErrNotFound): // dropped a moment ago: the row stays folded
		return row, nil
	case err != nil:
		return rowView{}, err
	}
	row.Toggle, row.Detail = at.Here(), detail
	return row, nil
}

// exampleRequest is a line that works when pasted into a shell with the
// project's key. Its idempotency key is new each time the page is shown.
func (s *Section) exampleRequest(mode models.Mode, now time.Time) string {
	return fmt.Sprintf(`BOTIX_API_KEY='btx_%s_…'
curl -X POST '%s/contacts' \
  -H "Authorization: Bearer $BOTIX_API_KEY" \
  -H 'Idempotency-Key: %s' \
  -H 'Content-Type: application/json' \
  -d '{"name": "Ada Lovelace", "email": "ada@example.com"}'`, mode, s.publicURL, models.NewID("", now))
}
