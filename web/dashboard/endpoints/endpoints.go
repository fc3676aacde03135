// Package endpoints is the dashboard's pages about webhook endpoints: which there
// are, how they do, and what an owner may do to one. Each deed is the API's own.
package endpoints

import (
	"context"
	"embed"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/botix-pro/platform/app/actions"
	"github.com/botix-pro/platform/app/models"
	"github.com/botix-pro/platform/app/store"
	"github.com/botix-pro/platform/web/dashboard/parts"
	"github.com/botix-pro/platform/web/ui"
)

//go:embed templates
var templateFiles embed.FS

// Path is the list's address.
const Path = ui.Root + "/" + ui.NavEndpoints

const (
	// healthSpan is over how long an endpoint's success is told.
	healthSpan = 24 * time.Hour
	// overlap is how long the secret before a new one still signs.
	overlap = 24 * time.Hour
)

// Queries is what these pages ask of the store.
type Queries interface {
	// Endpoints lists the project's endpoints, newest first.
	Endpoints(ctx context.Context, project models.ProjectID, page store.Page) ([]models.WebhookEndpoint, error)
	Endpoint(ctx context.Context, project models.ProjectID, id string) (*models.WebhookEndpoint, error)
	EndpointHealth(ctx context.Context, project models.ProjectID, endpoint string) (models.EndpointHealth, error)
	// Rollups are the hourly sums of attempts.
	Rollups(ctx context.Context, project models.ProjectID, since, until time.Time) ([]models.Rollup, error)

	parts.Writer
}

// Section is the pages about endpoints. It implements [ui.Section].
type Section struct {
	queries Queries
	views   *ui.Views
	desk    parts.Desk
}

// New parses the templates. hint announces lanes that have something due.
func New(queries Queries, hint func([]store.Lane)) (*Section, error) {
	views, err := ui.ParseViews(templateFiles)
	if err != nil {
		return nil, fmt.Errorf("endpoints: %w", err)
	}
	return &Section{queries: queries, views: views, desk: parts.Desk{Store: queries, Hint: hint}}, nil
}

// Pages implements [ui.Section].
func (s *Section) Pages() map[string]ui.Page {
	return map[string]ui.Page{
		"GET " + Path:                          s.list,
		"GET " + Path + "/{id}":                s.show,
		"POST " + Path + "/{id}/pause":         s.pause,
		"POST " + Path + "/{id}/resume":        s.resume,
		"POST " + Path + "/{id}/test":          s.test,
		"POST " + Path + "/{id}/rotate-secret": s.rotate,
		"GET " + Path + "/{id}/delete":         s.askDelete,
		"POST " + Path + "/{id}/delete":        s.remove,
	}
}

// list is the page of endpoints, newest first.
func (s *Section) list(v *ui.Visit) (ui.Reply, error) {
	texts := wordsIn(v.Locale.Language)
	at := ui.PagerOf(v.URL, nil, func(id string) bool { return models.ValidID(models.PrefixEndpoint, id) })
	found, err := s.queries.Endpoints(v.Context(), v.Member.Project.ID, store.Page{Before: at.Before, Limit: parts.RowsPerPage + 1})
	if err != nil {
		return ui.Reply{}, fmt.Errorf("list the endpoints: %w", err)
	}
	sums, err := s.sums(v)
	if err != nil {
		return ui.Reply{}, err
	}
	rows, more := parts.Cut(found)
	view := ui.ListView{Shell: v.Shell(texts.Title, ui.NavEndpoints)}
	view.Head = ui.Head{Title: texts.Title, Lead: texts.Lead, Updated: view.Updated(), Refresh: &ui.Link{Name: view.Words.Refresh, Address: at.Newest()}}
	view.Empty = ui.Empty{Title: texts.EmptyTitle, Text: texts.EmptyText, Actions: []ui.Link{{Name: view.Words.Documentation, Address: "/docs"}}}
	view.Table = ui.Table{Caption: texts.Title, Columns: ui.Columns(texts.URL, texts.State, texts.Types, texts.Day)}
	for _, e := range rows {
		view.Table.Rows = append(view.Table.Rows, []ui.Cell{
			{Text: ui.HostOf(e.URL), Address: Path + "/" + e.ID, Note: ui.Visible(e.Description)}, {Pill: state(texts, e.Status)},
			{Text: parts.Excerpt(strings.Join(e.EventTypes, ", ")), Code: true}, {Text: success(v, texts, sums[e.ID])},
		})
	}
	view.Ways = ui.PagesView{Words: view.Words, Newer: at.Newer()}
	if more {
		view.Ways.Older = at.Older(rows[len(rows)-1].ID)
	}
	return s.views.Page("list", view)
}

// sums adds up a day of attempts by endpoint, from the hourly sums.
func (s *Section) sums(v *ui.Visit) (map[string]models.Rollup, error) {
	rollups, err := s.queries.Rollups(v.Context(), v.Member.Project.ID, v.Now.Add(-healthSpan), v.Now)
	if err != nil {
		return nil, fmt.Errorf("sum up the attempts: %w", err)
	}
	sums := map[string]models.Rollup{}
	for _, hour := range rollups {
		sum := sums[hour.EndpointID]
		sum.Attempts += hour.Attempts
		sum.Successes += hour.Successes
		sums[hour.EndpointID] = sum
	}
	return sums, nil
}

func success(v *ui.Visit, texts *words, sum models.Rollup) string {
	if sum.Attempts == 0 {
		return texts.Nothing
	}
	return fmt.Sprintf(texts.SuccessF, v.Locale.Percent(sum.Successes, sum.Attempts), v.Locale.Number(sum.Attempts))
}

func state(texts *words, status models.EndpointStatus) *ui.Pill {
	kind := map[models.EndpointStatus]string{
		models.EndpointActive: ui.PillDelivered, models.EndpointPaused: ui.PillPending, models.EndpointDisabled: ui.PillFailed,
	}[status]
	return &ui.Pill{Kind: kind, Word: ui.Word(texts.States, status)}
}

// endpointView is one endpoint.
type endpointView struct {
	ui.Shell

	Texts    *words
	Head     ui.Head
	State    *ui.Pill
	Means    string // what the state means
	Facts    []ui.Fact
	Active   bool
	Base     string // the endpoint's own address, for its forms
	Delete   ui.Confirm
	Attempts string // the address of its attempts
	Secret   string // a fresh one, shown once; may be empty
	Until    *ui.Sentence
}

func (s *Section) show(v *ui.Visit) (ui.Reply, error) {
	id, err := parts.ID(v, models.PrefixEndpoint)
	if err != nil {
		return ui.Reply{}, err
	}
	return s.page(v, id, "", nil)
}

// page shows an endpoint, with a new secret when there is one.
func (s *Section) page(v *ui.Visit, id, secret string, until *ui.Sentence) (ui.Reply, error) {
	endpoint, err := s.queries.Endpoint(v.Context(), v.Member.Project.ID, id)
	if err != nil {
		return ui.Reply{}, fmt.Errorf("read the endpoint: %w", err)
	}
	health, err := s.queries.EndpointHealth(v.Context(), v.Member.Project.ID, id)
	if err != nil {
		return ui.Reply{}, fmt.Errorf("read the endpoint's health: %w", err)
	}
	sums, err := s.sums(v)
	if err != nil {
		return ui.Reply{}, err
	}
	texts := wordsIn(v.Locale.Language)
	view := endpointView{
		Shell: v.Shell(texts.One, ui.NavEndpoints), Texts: texts, State: state(texts, endpoint.Status), Means: texts.Means[endpoint.Status],
		Head:  ui.Head{Crumb: &ui.Link{Name: texts.Title, Address: Path}, Title: ui.HostOf(endpoint.URL), ID: endpoint.ID, Lead: ui.Visible(endpoint.Description)},
		Facts: facts(v, endpoint, health, success(v, texts, sums[id])), Active: endpoint.Status == models.EndpointActive,
		Base: Path + "/" + id, Delete: deletion(v, endpoint), Attempts: ui.Root + "/deliveries?endpoint=" + id, Secret: secret, Until: until,
	}
	view.Here = Path + "/" + id
	return s.views.Page("endpoint", view)
}

func facts(v *ui.Visit, e *models.WebhookEndpoint, health models.EndpointHealth, day string) []ui.Fact {
	texts := wordsIn(v.Locale.Language)
	names := make([]string, 0, len(e.Headers))
	for name := range e.Headers {
		names = append(names, ui.Visible(name))
	}
	rate := texts.NoRate
	if e.RatePerSecond != nil {
		rate = v.Locale.Number(int64(*e.RatePerSecond))
	}
	return []ui.Fact{
		{Name: texts.URL, Cell: ui.Cell{Text: ui.Visible(e.URL), Code: true}, Wide: true},
		{Name: texts.Types, Cell: ui.Cell{Text: ui.Visible(strings.Join(e.EventTypes, ", ")), Code: true}, Wide: true},
		{Name: texts.Day, Cell: ui.Cell{Text: day}}, {Name: texts.LastSuccess, Cell: ui.Cell{At: v.Locale.When(health.LastSuccessAt)}},
		{Name: texts.FailingSince, Cell: ui.Cell{At: v.Locale.When(health.FailingSince)}},
		{Name: texts.InFlight, Cell: ui.Cell{Text: v.Locale.Number(int64(e.MaxInFlight))}}, {Name: texts.Rate, Cell: ui.Cell{Text: rate}},
		{Name: texts.Headers, Cell: ui.Cell{Text: strings.Join(names, ", "), Code: true}},
	}
}

// do does a deed to the endpoint of the path and leads back to it.
func (s *Section) do(v *ui.Visit, action, notice string, deed func(ctx context.Context, tx *store.Tx, id string) error) (ui.Reply, error) {
	id, err := parts.ID(v, models.PrefixEndpoint)
	if err != nil {
		return ui.Reply{}, err
	}
	_, err = s.desk.Do(v, parts.Deed{Action: action}, func(ctx context.Context, tx *store.Tx) (string, error) { return id, deed(ctx, tx, id) })
	if err != nil {
		return ui.Reply{}, parts.Refused(v, err)
	}
	answer := ui.Redirect(Path + "/" + id)
	answer.Notice = notice
	return answer, nil
}

func (s *Section) pause(v *ui.Visit) (ui.Reply, error) {
	return s.do(v, "webhook_endpoint.paused", wordsIn(v.Locale.Language).Paused, func(ctx context.Context, tx *store.Tx, id string) error {
		_, err := actions.PauseEndpoint(ctx, tx, parts.CauseOf(v, ""), id)
		return err
	})
}

// resume asks what becomes of what was held: sent, or dropped.
func (s *Section) resume(v *ui.Visit) (ui.Reply, error) {
	form, err := v.Form()
	if err != nil {
		return ui.Reply{}, err
	}
	held := models.DeliveryPending
	if form.Get("held") == "discard" {
		held = models.DeliveryCancelled
	}
	return s.do(v, "webhook_endpoint.resumed", wordsIn(v.Locale.Language).Resumed, func(ctx context.Context, tx *store.Tx, id string) error {
		_, err := actions.ResumeEndpoint(ctx, tx, parts.CauseOf(v, ""), id, held)
		return err
	})
}

// test sends a test event and leads to its delivery, where it can be watched.
func (s *Section) test(v *ui.Visit) (ui.Reply, error) {
	id, err := posted(v)
	if err != nil {
		return ui.Reply{}, err
	}
	delivery, err := s.desk.Do(v, parts.Deed{Action: "webhook_endpoint.tested", Detail: id}, func(ctx context.Context, tx *store.Tx) (string, error) {
		sent, err := actions.TestEndpoint(ctx, tx, parts.CauseOf(v, ""), id)
		if err != nil {
			return "", err
		}
		return sent.ID, nil
	})
	if err != nil {
		return ui.Reply{}, parts.Refused(v, err)
	}
	answer := ui.Redirect(ui.Root + "/deliveries/" + delivery)
	answer.Notice = wordsIn(v.Locale.Language).Tested
	return answer, nil
}

// posted is the endpoint of the path of a form, which is read.
func posted(v *ui.Visit) (id string, err error) {
	if _, err = v.Form(); err != nil {
		return "", err
	}
	return parts.ID(v, models.PrefixEndpoint)
}

// rotate gives the endpoint a new secret, which is on this page only. The form
// sent twice gives one: the one before would be lost otherwise, and with it every
// delivery until the receiver is changed.
func (s *Section) rotate(v *ui.Visit) (ui.Reply, error) {
	if v.Member.Role != models.RoleOwner {
		texts := wordsIn(v.Locale.Language)
		return ui.Reply{}, ui.Refusal{Status: http.StatusForbidden, Title: texts.OwnersTitle, Text: texts.OwnersText}
	}
	id, err := posted(v)
	if err != nil {
		return ui.Reply{}, err
	}
	_, err = s.desk.Do(v, parts.Deed{Action: "webhook_endpoint.secret_rotated"}, func(ctx context.Context, tx *store.Tx) (string, error) {
		_, _, _, err := actions.RotateSecret(ctx, tx, parts.CauseOf(v, ""), id, overlap)
		return id, err
	})
	if err != nil {
		return ui.Reply{}, parts.Refused(v, err)
	}
	endpoint, err := s.queries.Endpoint(v.Context(), v.Member.Project.ID, id)
	if err != nil {
		return ui.Reply{}, fmt.Errorf("read the endpoint: %w", err)
	}
	until := v.Now
	if len(endpoint.Secrets) > 1 && endpoint.Secrets[1].ExpiresAt != nil {
		until = *endpoint.Secrets[1].ExpiresAt
	}
	return s.page(v, id, endpoint.Secrets[0].Value, v.Locale.At(wordsIn(v.Locale.Language).SecretUntil, until))
}

func deletion(v *ui.Visit, e *models.WebhookEndpoint) ui.Confirm {
	texts := wordsIn(v.Locale.Language)
	base := Path + "/" + e.ID
	return ui.Confirm{
		ID: "delete", Open: texts.Delete, Address: base + "/delete", Title: texts.DeleteTitle, Text: texts.DeleteText,
		Form: ui.FormView{Action: base + "/delete", Submit: texts.Delete, Danger: true, Back: &ui.Link{Name: ui.WordsIn(v.Locale.Language).Cancel, Address: base}},
	}
}

// askView is the question on a page of its own.
type askView struct {
	ui.Shell

	Head    ui.Head
	Confirm ui.Confirm
}

func (s *Section) askDelete(v *ui.Visit) (ui.Reply, error) {
	id, err := parts.ID(v, models.PrefixEndpoint)
	if err != nil {
		return ui.Reply{}, err
	}
	endpoint, err := s.queries.Endpoint(v.Context(), v.Member.Project.ID, id)
	if err != nil {
		return ui.Reply{}, fmt.Errorf("read the endpoint: %w", err)
	}
	confirm := deletion(v, endpoint)
	return s.views.Page("confirm", askView{
		Shell: v.Shell(confirm.Title, ui.NavEndpoints), Confirm: confirm,
		Head: ui.Head{Crumb: &ui.Link{Name: wordsIn(v.Locale.Language).Title, Address: Path}, Title: confirm.Title, ID: id},
	})
}

// remove deletes the endpoint and leads to the list.
func (s *Section) remove(v *ui.Visit) (ui.Reply, error) {
	answer, err := s.do(v, "webhook_endpoint.deleted", wordsIn(v.Locale.Language).Deleted, func(ctx context.Context, tx *store.Tx, id string) error {
		return actions.DeleteEndpoint(ctx, tx, parts.CauseOf(v, ""), id)
	})
	if err == nil {
		answer.Header = http.Header{"Location": {Path}}
	}
	return answer, err
}
