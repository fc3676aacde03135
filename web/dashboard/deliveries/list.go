package deliveries

import (
	"context"
	"embed"
	"errors"
	"fmt"
	"time"

	"github.com/botix-pro/platform/app/models"
	"github.com/botix-pro/platform/app/store"
	"github.com/botix-pro/platform/web/dashboard/parts"
	"github.com/botix-pro/platform/web/ui"
)

//go:embed templates
var templateFiles embed.FS

// Path is the list's address.
const Path = ui.Root + "/" + ui.NavDeliveries

// PathDeadLetters is where what was given up is.
const PathDeadLetters = ui.Root + "/" + ui.NavDeadLetters

const (
	pathAttempts = ui.Root + "/attempts/"
	pathNotices  = ui.Root + "/notices/"

	rowsPerPage = parts.RowsPerPage
)

// Queries is what these pages ask of the store.
type Queries interface {
	// WebhookAttempts lists a project's attempts of the last 14 days, newest first.
	WebhookAttempts(ctx context.Context, project models.ProjectID, filter store.AttemptFilter, page store.Page) (store.AttemptPage, error)
	// Delivery returns one delivery with its attempts, in the order they were sent.
	Delivery(ctx context.Context, project models.ProjectID, id string) (*models.WebhookDelivery, []models.WebhookAttempt, error)
	// Endpoints lists the project's endpoints, newest first.
	Endpoints(ctx context.Context, project models.ProjectID, page store.Page) ([]models.WebhookEndpoint, error)
	// DeadLetters lists dead letters, newest first.
	DeadLetters(ctx context.Context, project models.ProjectID, filter store.DeadLetterFilter, page store.Page) ([]models.DeadLetter, error)
	// DeadLetterGroups counts them by endpoint and cause.
	DeadLetterGroups(ctx context.Context, project models.ProjectID, endpoint *string, after models.DeadLetterGroup, limit int) (
		[]models.DeadLetterGroup, error)
	// WebhookAttempt returns one attempt with its delivery and event.
	WebhookAttempt(ctx context.Context, project models.ProjectID, id string) (
		*models.WebhookAttempt, *models.WebhookDelivery, *models.Event, error)
	// Notices lists what a project's members were told and nobody has dismissed,
	// newest first.
	Notices(ctx context.Context, project models.ProjectID, limit int) ([]models.Notice, error)
	// DismissNotice takes a notice away.
	DismissNotice(ctx context.Context, project models.ProjectID, id string) error

	parts.Writer
}

// Section is the pages about webhook deliveries. It implements [ui.Section].
type Section struct {
	queries   Queries
	views     *ui.Views
	publicURL string
	desk      parts.Desk
}

// New parses the templates. publicURL is the API's base URL without a last
// slash, for the example request; hint announces lanes that have something due.
func New(queries Queries, publicURL string, hint func([]store.Lane)) (*Section, error) {
	views, err := ui.ParseViews(templateFiles)
	if err != nil {
		return nil, fmt.Errorf("deliveries: %w", err)
	}
	return &Section{queries: queries, views: views, publicURL: publicURL, desk: parts.Desk{Store: queries, Hint: hint}}, nil
}

// Pages implements [ui.Section].
func (s *Section) Pages() map[string]ui.Page {
	return map[string]ui.Page{
		"GET " + Path:                          s.listAttempts,
		"GET " + pathAttempts + "{id}":         s.showAttempt,
		"GET " + pathAttempts + "{id}/detail":  s.attemptFragment,
		"POST " + pathNotices + "{id}/dismiss": s.dismissNotice,
		"GET " + Path + "/{id}":                s.showDelivery,
		"POST " + Path + "/{id}/retry":         s.retry,
		"GET " + PathDeadLetters:               s.deadLetters,
		"GET " + PathDeadLetters + "/list":     s.deadLettersOf,
		"GET " + PathDeadLetters + "/retry":    s.askRecovery,
		"POST " + PathDeadLetters + "/retry":   s.recover,
	}
}

// listView is the page of attempts.
type listView struct {
	ui.ListView

	Texts   *words
	Notices []noticeView
	Rows    []rowView
	Reach   *ui.Sentence // how far was searched, where that is not everything; may be nil
}

// rowView is one attempt in the list.
type rowView struct {
	Texts     *words
	ID        string
	Outcome   ui.Pill
	EventType string
	Host      string
	Number    int
	Manual    bool
	Started   ui.Instant
	Took      string
	Name      string      // of the control that unfolds the row
	Toggle    string      // where that control leads without the script
	Fragment  string      // where the script gets the details
	Detail    *detailView // nil: the row is folded
}

// listAttempts is the page of attempts, newest first.
func (s *Section) listAttempts(v *ui.Visit) (ui.Reply, error) {
	endpoints, err := s.endpoints(v)
	if err != nil {
		return ui.Reply{}, err
	}
	at := parts.At(v, filters(v, endpoints), func(id string) bool { return models.ValidID(models.PrefixAttempt, id) })
	filter := filterOf(v, at)
	var found store.AttemptPage
	if !at.Faulty() {
		page := store.Page{Before: at.Before, Limit: rowsPerPage + 1}
		if found, err = s.queries.WebhookAttempts(v.Context(), v.Member.Project.ID, filter, page); err != nil {
			return ui.Reply{}, fmt.Errorf("list the attempts: %w", err)
		}
	}
	view := s.listView(v, at)
	if view.Notices, err = s.notices(v); err != nil {
		return ui.Reply{}, err
	}
	rows, more := parts.Cut(found.Attempts)
	for _, a := range rows {
		row, err := s.row(v, a, at)
		if err != nil {
			return ui.Reply{}, err
		}
		view.Rows = append(view.Rows, row)
	}
	at.Fill(&view.ListView, more, lastID(rows))
	view.reach(v, at, found.SearchedTo)
	return s.views.Page("deliveries", view)
}

func lastID(rows []models.WebhookAttempt) string {
	if len(rows) == 0 {
		return ""
	}
	return rows[len(rows)-1].ID
}

// reach says how far back a rare filter was searched for, and leads on from
// there.
func (l *listView) reach(v *ui.Visit, at parts.Place, searchedTo string) {
	made, err := models.TimeOfID(models.PrefixAttempt, searchedTo)
	if searchedTo == "" || err != nil {
		return
	}
	l.Reach, l.Ways.Older = v.Locale.At(l.Texts.List.Reach, made), at.Older(searchedTo)
}

func (s *Section) listView(v *ui.Visit, at parts.Place) listView {
	texts := wordsIn(v.Locale.Language)
	view := listView{ListView: ui.ListView{Shell: v.Shell(texts.List.Title, ui.NavDeliveries)}, Texts: texts}
	view.Head = ui.Head{
		Title: texts.List.Title, Lead: texts.List.Lead, Updated: view.Updated(),
		Refresh: &ui.Link{Name: view.Words.Refresh, Address: at.Newest()},
	}
	view.Empty = ui.Empty{Title: texts.List.EmptyTitle, Text: texts.List.EmptyLead, Hint: texts.List.EmptyKey}.
		WithExample(view.Words, texts.List.Example, s.exampleRequest(v.Member.Project.Mode, v.Now))
	return view
}

// row makes one row, unfolded if the address asks for it.
func (s *Section) row(v *ui.Visit, a models.WebhookAttempt, at parts.Place) (rowView, error) {
	reader := readerOf(v)
	row := rowView{
		Texts: reader.words, ID: a.ID, Outcome: reader.outcome(a), EventType: ui.Visible(a.EventType), Host: ui.HostOf(a.URL),
		Number: a.Number, Manual: a.Manual, Started: reader.Time(a.StartedAt), Took: reader.milliseconds(a.Timing.DurationMs),
		Name: fmt.Sprintf(reader.words.List.DetailsOfF, a.ID), Toggle: pathAttempts + a.ID, Fragment: pathAttempts + a.ID + "/detail",
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
