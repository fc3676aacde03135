package deliveries

import (
	"fmt"
	"net/url"
	"slices"
	"strings"

	"github.com/botix-pro/platform/app/models"
	"github.com/botix-pro/platform/app/store"
	"github.com/botix-pro/platform/web/dashboard/parts"
	"github.com/botix-pro/platform/web/ui"
)

// maxGroups is how many groups of dead letters one page shows.
const maxGroups = 100

// deadView is the page of dead letters: in groups, or those of one group.
type deadView struct {
	ui.Shell

	Texts *words
	Head  ui.Head
	Total string
	Cards []groupView
	More  bool // there are more groups
	Rows  []letterView
	Ways  ui.PagesView
	Chips ui.ChipsView
	Empty ui.Empty
}

// groupView is the dead letters of one endpoint with one cause.
type groupView struct {
	Texts        *words
	ID           string // the element's
	Cause        string
	Code         string
	Endpoint     string
	EndpointLink string
	Stopped      string // why the endpoint takes nothing now; may be empty
	Count        string
	First, Last  ui.Instant
	Advice       string
	Docs         string
	Days         []barView
	DaysName     string
	Example      *ui.Link // may be nil
	Test         *testView
	RetryAll     ui.Link
	List         string
}

// testView is the form that sends one of a group again.
type testView struct{ Endpoint, Cause string }

// barView is a bar of a picture of days, in its own units.
type barView struct{ X, Y, Height int }

// letterView is a dead letter in the list of a group.
type letterView struct {
	ID, Delivery string
	Address      string
	EventType    string
	Cause        string
	Endpoint     string
	At           ui.Instant
	Expires      ui.Instant
	Retry        string // where the form goes
	Name         string // of its button
}

// deadLetters is the page of dead letters.
func (s *Section) deadLetters(v *ui.Visit) (ui.Reply, error) {
	endpoints, err := s.queries.EndpointNames(v.Context(), v.Member.Project.ID)
	if err != nil {
		return ui.Reply{}, fmt.Errorf("list the endpoints: %w", err)
	}
	names := map[string]store.EndpointName{}
	for _, e := range endpoints {
		names[e.ID] = e
	}
	w := wordsIn(v.Locale.Language)
	view := deadView{Shell: v.Shell(w.Dead.Title, ui.NavDeadLetters), Texts: w}
	view.Head = ui.Head{Title: w.Dead.Title, Lead: w.Dead.Lead, Updated: view.Updated(), Refresh: &ui.Link{Name: view.Words.Refresh, Address: v.URL.RequestURI()}}
	view.Empty = ui.Empty{Title: w.Dead.EmptyTitle, Text: w.Dead.EmptyText, Actions: []ui.Link{{Name: w.List.Title, Address: Path}}}
	if v.URL.Query().Get(paramEndpoint) != "" || v.URL.Query().Get("list") != "" {
		err = s.lettersOf(v, &view, names)
	} else {
		err = s.groups(v, &view, names)
	}
	if err != nil {
		return ui.Reply{}, err
	}
	return s.views.Page("dead_letters", view)
}

// groups are the cards, the largest first.
func (s *Section) groups(v *ui.Visit, view *deadView, names map[string]store.EndpointName) error {
	groups, err := s.queries.DeadLetterGroups(v.Context(), v.Member.Project.ID, nil, models.DeadLetterGroup{}, maxGroups+1)
	if err != nil {
		return fmt.Errorf("group the dead letters: %w", err)
	}
	if len(groups) > maxGroups {
		groups, view.More = groups[:maxGroups], true
	}
	slices.SortStableFunc(groups, func(a, b models.DeadLetterGroup) int { return b.Count - a.Count })
	total := int64(0)
	for i, group := range groups {
		total += int64(group.Count)
		card, err := s.card(v, group, names[group.EndpointID], i < withDetails)
		if err != nil {
			return err
		}
		view.Cards = append(view.Cards, card)
	}
	view.Total = v.Locale.Count(total, view.Texts.Dead.TotalF)
	return nil
}

// withDetails is how many cards have a picture and an example: each takes a
// question of its own.
const withDetails = 12

func (s *Section) card(v *ui.Visit, g models.DeadLetterGroup, endpoint store.EndpointName, detailed bool) (groupView, error) {
	m := readerOf(v)
	w := m.words.Dead
	query := url.Values{paramEndpoint: {g.EndpointID}, paramCause: {string(g.Cause)}}.Encode()
	view := groupView{
		Texts: m.words, ID: g.EndpointID + "-" + string(g.Cause), Cause: m.cause(g.Cause), Code: ui.Visible(string(g.Cause)),
		Endpoint: endpointName(endpoint), EndpointLink: pathEndpoints + g.EndpointID, Count: m.Count(int64(g.Count), w.CountF),
		First: m.Time(g.First), Last: m.Time(g.Last), Advice: m.advice(g.Cause), Docs: pathDocs + "#" + url.PathEscape(string(g.Cause)),
		List: PathDeadLetters + "?" + query, RetryAll: ui.Link{Name: m.Count(int64(g.Count), w.RetryAllF), Address: pathRecover + "?" + query},
		Test: &testView{Endpoint: g.EndpointID, Cause: string(g.Cause)},
	}
	if endpoint.ID == "" {
		view.Endpoint = g.EndpointID
	}
	if endpoint.Status != models.EndpointActive {
		view.Stopped, view.Test = ui.Word(w.Stopped, endpoint.Status), nil
	}
	if !detailed {
		return view, nil
	}
	days, err := s.queries.DeadLetterDays(v.Context(), v.Member.Project.ID, g)
	if err != nil {
		return view, fmt.Errorf("count a group's days: %w", err)
	}
	view.Days, view.DaysName = bars(days), w.Days
	newest, err := s.newest(v, g.EndpointID, g.Cause)
	if err != nil || newest == nil {
		return view, err
	}
	view.Example = &ui.Link{Name: newest.DeliveryID, Address: Path + "/" + newest.DeliveryID}
	return view, nil
}

// newest is the latest dead letter of a group, nil without one.
func (s *Section) newest(v *ui.Visit, endpoint string, cause models.DeadLetterCause) (*models.DeadLetter, error) {
	code := string(cause)
	letters, err := s.queries.DeadLetters(v.Context(), v.Member.Project.ID, store.DeadLetterFilter{EndpointID: &endpoint, Cause: &code}, store.Page{Limit: 1})
	if err != nil {
		return nil, fmt.Errorf("find a dead letter: %w", err)
	}
	if len(letters) == 0 {
		return nil, nil //nolint:nilnil // none is no error
	}
	return &letters[0], nil
}

// The picture's measures.
const (
	barHeight = 24
	barStep   = 8
)

// bars draws days; one that has something is never without a bar.
func bars(days []store.DayCount) []barView {
	most := int64(1)
	for _, day := range days {
		most = max(most, day.Count)
	}
	list := make([]barView, len(days))
	for i, day := range days {
		height := int(day.Count * barHeight / most)
		if day.Count > 0 {
			height = max(height, 2)
		}
		list[i] = barView{X: i * barStep, Y: barHeight - height, Height: height}
	}
	return list
}

// lettersOf are the dead letters of one group.
func (s *Section) lettersOf(v *ui.Visit, view *deadView, names map[string]store.EndpointName) error {
	at := ui.PagerOf(v.URL, []string{paramEndpoint, paramCause, "list"}, func(id string) bool { return models.ValidID(models.PrefixDeadLetter, id) })
	m := readerOf(v)
	filter := store.DeadLetterFilter{}
	view.Chips = ui.ChipsView{Words: view.Words, ClearAll: PathDeadLetters}
	if endpoint := v.URL.Query().Get(paramEndpoint); endpoint != "" {
		if names[endpoint].ID == "" {
			return store.ErrNotFound
		}
		filter.EndpointID = &endpoint
		view.Chips.Add(fmt.Sprintf(parts.WordsOf(v).FilterF, m.words.Filters.Endpoint, endpointName(names[endpoint])), at.With(paramEndpoint, ""))
	}
	if cause := v.URL.Query().Get(paramCause); v.URL.Query().Has(paramCause) {
		if !parts.Asked(cause) {
			return store.ErrNotFound
		}
		filter.Cause = &cause
		view.Chips.Add(fmt.Sprintf(parts.WordsOf(v).FilterF, m.words.Dead.Cause, m.cause(models.DeadLetterCause(cause))), at.With(paramCause, ""))
	}
	letters, err := s.queries.DeadLetters(v.Context(), v.Member.Project.ID, filter, store.Page{Before: at.Before, Limit: parts.RowsPerPage + 1})
	if err != nil {
		return fmt.Errorf("list the dead letters: %w", err)
	}
	letters, more := parts.Cut(letters)
	view.Head.Crumb = &ui.Link{Name: m.words.Dead.Title, Address: PathDeadLetters}
	view.Ways = ui.PagesView{Words: view.Words, Newer: at.Newer()}
	if more {
		view.Ways.Older = at.Older(letters[len(letters)-1].ID)
	}
	for _, l := range letters {
		view.Rows = append(view.Rows, letterView{
			ID: l.ID, Delivery: l.DeliveryID, Address: Path + "/" + l.DeliveryID, EventType: ui.Visible(l.EventType), Cause: m.cause(l.Cause),
			Endpoint: endpointName(names[l.EndpointID]), At: m.Time(l.CreatedAt), Expires: m.Time(l.ExpiresAt),
			Retry: Path + "/" + l.DeliveryID + "/retry", Name: fmt.Sprintf(m.words.Dead.RetryF, l.DeliveryID),
		})
	}
	return nil
}

// testGroup sends one of a group again, to see whether it is accepted now.
func (s *Section) testGroup(v *ui.Visit) (ui.Reply, error) {
	form, err := v.Form()
	if err != nil {
		return ui.Reply{}, fmt.Errorf("test a group: %w", err)
	}
	endpoint, cause := form.Get(paramEndpoint), form.Get(paramCause)
	if !models.ValidID(models.PrefixEndpoint, endpoint) || !parts.Asked(cause) {
		return ui.Reply{}, store.ErrNotFound
	}
	newest, err := s.newest(v, endpoint, models.DeadLetterCause(cause))
	if err != nil {
		return ui.Reply{}, err
	}
	if newest == nil {
		return ui.Reply{}, store.ErrNotFound
	}
	said, refused, err := s.sendAgain(v, newest.DeliveryID)
	if err != nil {
		return ui.Reply{}, err
	}
	reply := ui.Redirect(Path + "/" + newest.DeliveryID)
	reply.Notice = said + refused
	return reply, nil
}

// cause is a dead letter's cause in words.
func (m reader) cause(cause models.DeadLetterCause) string {
	if status, ok := strings.CutPrefix(string(cause), "http_"); ok {
		return fmt.Sprintf(m.words.Dead.AnsweredF, ui.Visible(status))
	}
	return ui.Word(m.words.Dead.Causes, cause)
}

// advice says what to do about a cause.
func (m reader) advice(cause models.DeadLetterCause) string {
	if text, ok := m.words.Dead.Advice[cause]; ok {
		return text
	}
	if strings.HasPrefix(string(cause), "http_") {
		return m.words.Dead.Rejected
	}
	return m.words.Dead.Unknown
}
