// Package overview is the dashboard's first page: what needs a person now, how the
// webhooks and the API did, and the first steps of a new project.
package overview

import (
	"context"
	"embed"
	"fmt"
	"time"

	"github.com/botix-pro/platform/app/models"
	"github.com/botix-pro/platform/app/store"
	"github.com/botix-pro/platform/web/dashboard/parts"
	"github.com/botix-pro/platform/web/ui"
)

//go:embed templates
var templateFiles embed.FS

// Path is the page's address.
const Path = ui.Root + "/" + ui.NavOverview

const pathNotices = ui.Root + "/notices/"

// maxEndpoints is how many endpoints are looked at, the newest first.
const maxEndpoints = 100

// Queries is what this page asks of the store.
type Queries interface {
	// Overview tells how a project does now.
	Overview(ctx context.Context, project models.ProjectID) (store.Overview, error)
	// Rollups are the hourly sums of attempts.
	Rollups(ctx context.Context, project models.ProjectID, since, until time.Time) ([]models.Rollup, error)
	// RollupTotals adds them up.
	RollupTotals(ctx context.Context, project models.ProjectID, since, until time.Time) (attempts, successes int64, err error)
	// RequestRollups are the hourly sums of API requests.
	RequestRollups(ctx context.Context, project models.ProjectID, since, until time.Time) ([]models.RequestRollup, error)
	// RequestMinutes are API requests by minute and key.
	RequestMinutes(ctx context.Context, project models.ProjectID, since, until time.Time) ([]models.RequestMinute, error)
	// Endpoints lists the project's endpoints, newest first.
	Endpoints(ctx context.Context, project models.ProjectID, page store.Page) ([]models.WebhookEndpoint, error)
	// EndpointsHealth is how endpoints do, by id.
	EndpointsHealth(ctx context.Context, project models.ProjectID, endpoints []string) (map[string]models.EndpointHealth, error)
	// APIKeys lists all keys of a project, newest first.
	APIKeys(ctx context.Context, project models.ProjectID) ([]models.APIKey, error)
	// Plans lists all plans.
	Plans(ctx context.Context) ([]models.Plan, error)
	// Notices lists what a project's members were told and nobody has dismissed,
	// newest first.
	Notices(ctx context.Context, project models.ProjectID, limit int) ([]models.Notice, error)
	// DismissNotice takes a notice away.
	DismissNotice(ctx context.Context, project models.ProjectID, id string) error
}

// Section is the first page. It implements [ui.Section].
type Section struct {
	queries   Queries
	views     *ui.Views
	publicURL string
}

// New parses the templates. publicURL is the API's base URL without a last slash.
func New(queries Queries, publicURL string) (*Section, error) {
	views, err := ui.ParseViews(templateFiles)
	if err != nil {
		return nil, fmt.Errorf("overview: %w", err)
	}
	return &Section{queries: queries, views: views, publicURL: publicURL}, nil
}

// Pages implements [ui.Section].
func (s *Section) Pages() map[string]ui.Page {
	return map[string]ui.Page{
		"GET " + Path:                          s.show,
		"POST " + pathNotices + "{id}/dismiss": s.dismiss,
	}
}

// known is all that the page is made of.
type known struct {
	now       store.Overview
	at        parts.Range
	rollups   []models.Rollup
	before    models.Rollup // of the range before: attempts and successes
	requests  []models.RequestRollup
	minutes   []models.RequestMinute
	endpoints []models.WebhookEndpoint
	health    map[string]models.EndpointHealth
	keys      []models.APIKey
	plan      models.Plan
	notices   []models.Notice
}

// overviewView is the page.
type overviewView struct {
	ui.Shell

	Texts     *words
	Head      ui.Head
	Ranges    []ui.Tab
	Attention []attentionItem
	Notices   ui.Notices
	Steps     []step // empty: all are taken
	StepsTo   string // how many are taken, in words
	Figures   []figure
	Charts    []ui.Chart
	Failing   ui.Table
	Causes    ui.Table
}

func (s *Section) show(v *ui.Visit) (ui.Reply, error) {
	k, err := s.read(v)
	if err != nil {
		return ui.Reply{}, err
	}
	texts := wordsIn(v.Locale.Language)
	view := overviewView{
		Shell: v.Shell(texts.Title, ui.NavOverview), Texts: texts, Ranges: parts.RangeTabs(v, k.at),
		Attention: attention(v, k), Notices: parts.Notices(v, k.notices), Figures: figures(v, k),
		Failing: failing(v, k), Causes: causes(v, k),
	}
	view.Shell.Charts = true
	view.Head = ui.Head{
		Title: texts.Title, Lead: texts.Lead, Updated: view.Updated(),
		Refresh: &ui.Link{Name: view.Words.Refresh, Address: Path + "?" + parts.ParamRange + "=" + k.at.Name},
	}
	view.Steps, view.StepsTo = s.steps(v, k.now)
	sums := k.at.Sum(k.rollups)
	view.Charts = []ui.Chart{
		parts.Deliveries(v, view.Shell, k.at, sums), parts.Requests(v, view.Shell, k.at, k.requests), parts.Latency(v, view.Shell, k.at, sums),
		parts.Minutes(v, view.Shell, k.plan, k.keys, k.minutes),
	}
	return s.views.Page("overview", view)
}

// read asks for everything, each from sums or along an index.
func (s *Section) read(v *ui.Visit) (k known, err error) {
	ctx, project := v.Context(), v.Member.Project.ID
	k.at = parts.RangeOf(v)
	var plans []models.Plan
	for _, ask := range []func() error{
		func() error { k.now, err = s.queries.Overview(ctx, project); return err },
		func() error { k.rollups, err = s.queries.Rollups(ctx, project, k.at.Since(), k.at.End()); return err },
		func() error {
			k.before.Attempts, k.before.Successes, err = s.queries.RollupTotals(ctx, project, k.at.Before(), k.at.Since())
			return err
		},
		func() error {
			k.requests, err = s.queries.RequestRollups(ctx, project, k.at.Before(), k.at.End())
			return err
		},
		func() error {
			k.minutes, err = s.queries.RequestMinutes(ctx, project, parts.LastHour(v), k.at.End())
			return err
		},
		func() error {
			k.endpoints, err = s.queries.Endpoints(ctx, project, store.Page{Limit: maxEndpoints})
			return err
		},
		func() error { k.health, err = s.queries.EndpointsHealth(ctx, project, ids(k.endpoints)); return err },
		func() error { k.keys, err = s.queries.APIKeys(ctx, project); return err },
		func() error { k.notices, err = s.queries.Notices(ctx, project, parts.MaxNotices); return err },
		func() error { plans, err = s.queries.Plans(ctx); return err },
	} {
		if err := ask(); err != nil {
			return known{}, fmt.Errorf("read the overview: %w", err)
		}
	}
	k.plan = parts.PlanOf(v, plans)
	return k, nil
}

func ids(endpoints []models.WebhookEndpoint) []string {
	list := make([]string, len(endpoints))
	for i, e := range endpoints {
		list[i] = e.ID
	}
	return list
}

// dismiss takes a notice away, for all of the project's members.
func (s *Section) dismiss(v *ui.Visit) (ui.Reply, error) {
	id, err := parts.ID(v, models.PrefixNotice)
	if err != nil {
		return ui.Reply{}, err
	}
	if err := s.queries.DismissNotice(v.Context(), v.Member.Project.ID, id); err != nil {
		return ui.Reply{}, fmt.Errorf("dismiss a notice: %w", err)
	}
	return ui.Redirect(Path), nil
}

// step is one of a new project's first steps.
type step struct {
	Name string
	Text string
	Done bool
	Word string // done, or to do
	Link ui.Link
}

// steps are none when all are taken; taken says how many are.
func (s *Section) steps(v *ui.Visit, now store.Overview) (list []step, taken string) {
	w := wordsIn(v.Locale.Language)
	list = []step{
		{Name: w.StepKey, Text: w.StepKeyText, Done: now.HasKey, Link: ui.Link{Name: w.StepKeyLink, Address: ui.Root + "/" + ui.NavKeys}},
		{Name: w.StepRequest, Text: fmt.Sprintf(w.StepRequestF, s.publicURL), Done: now.HasRequest, Link: ui.Link{Name: w.StepRequestLink, Address: "/docs"}},
		{Name: w.StepEndpoint, Text: w.StepEndpointText, Done: now.HasEndpoint, Link: ui.Link{Name: w.StepEndpointLink, Address: ui.Root + "/" + ui.NavEndpoints + "/new"}},
		{Name: w.StepDelivery, Text: w.StepDeliveryText, Done: now.HasDelivery, Link: ui.Link{Name: w.StepDeliveryLink, Address: ui.Root + "/" + ui.NavEndpoints}},
	}
	done := 0
	for i := range list {
		list[i].Word = w.ToDo
		if list[i].Done {
			list[i].Word = w.Done
			done++
		}
	}
	if done == len(list) {
		return nil, ""
	}
	return list, fmt.Sprintf(w.StepsF, done, len(list))
}
