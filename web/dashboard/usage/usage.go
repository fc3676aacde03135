// Package usage is the dashboard's page about limits: what the plan allows, how
// much of it is used, what happens beyond it, and what other plans allow.
package usage

import (
	"context"
	"embed"
	"fmt"
	"strconv"
	"time"

	"github.com/botix-pro/platform/app/models"
	"github.com/botix-pro/platform/app/store"
	"github.com/botix-pro/platform/web/dashboard/parts"
	"github.com/botix-pro/platform/web/ui"
)

//go:embed templates
var templateFiles embed.FS

// Path is the page's address.
const Path = ui.Root + "/" + ui.NavUsage

// Queries is what this page asks of the store.
type Queries interface {
	// Plans lists all plans, the smallest rate first.
	Plans(ctx context.Context) ([]models.Plan, error)
	// APIKeys lists all keys of a project.
	APIKeys(ctx context.Context, project models.ProjectID) ([]models.APIKey, error)
	// RequestMinutes are API requests by minute and key.
	RequestMinutes(ctx context.Context, project models.ProjectID, since, until time.Time) ([]models.RequestMinute, error)
	// RequestRollups are the hourly sums of API requests.
	RequestRollups(ctx context.Context, project models.ProjectID, since, until time.Time) ([]models.RequestRollup, error)
}

// Section is the page about usage. It implements [ui.Section].
type Section struct {
	queries Queries
	views   *ui.Views
}

// New parses the templates.
func New(queries Queries) (*Section, error) {
	views, err := ui.ParseViews(templateFiles)
	if err != nil {
		return nil, fmt.Errorf("usage: %w", err)
	}
	return &Section{queries: queries, views: views}, nil
}

// Pages implements [ui.Section].
func (s *Section) Pages() map[string]ui.Page {
	return map[string]ui.Page{"GET " + Path: s.show}
}

// known is all that the page is made of.
type known struct {
	at       parts.Range
	plans    []models.Plan
	plan     models.Plan
	keys     []models.APIKey
	minutes  []models.RequestMinute
	requests []models.RequestRollup
}

// usageView is the page.
type usageView struct {
	ui.Shell

	Texts   *words
	Head    ui.Head
	Plan    string
	Meters  []ui.Meter
	Limits  ui.Table
	Minutes ui.Chart
	Ranges  []ui.Tab
	Charts  []ui.Chart
	Headers ui.Table
	Seen    string // what the headers' values are of
	Plans   ui.Table
}

func (s *Section) show(v *ui.Visit) (ui.Reply, error) {
	k, err := s.read(v)
	if err != nil {
		return ui.Reply{}, err
	}
	texts := wordsIn(v.Locale.Language)
	view := usageView{
		Shell: v.Shell(texts.Title, ui.NavUsage), Texts: texts, Ranges: parts.RangeTabs(v, k.at),
		Meters: meters(v, k), Limits: limits(v, k), Plans: plans(v, k),
	}
	view.Shell.Charts = true
	view.Plan = fmt.Sprintf(texts.PlanF, view.PlanWord())
	view.Head = ui.Head{Title: texts.Title, Lead: texts.Lead, Updated: view.Updated(), Refresh: &ui.Link{Name: view.Words.Refresh, Address: Path}}
	view.Minutes = parts.Minutes(v, view.Shell, k.plan, k.keys, k.minutes)
	view.Charts = []ui.Chart{parts.Requests(v, view.Shell, k.at, k.requests), parts.Limited(v, view.Shell, k.at, k.requests)}
	view.Headers, view.Seen = headers(v, k)
	return s.views.Page("usage", view)
}

func (s *Section) read(v *ui.Visit) (k known, err error) {
	ctx, project := v.Context(), v.Member.Project.ID
	k.at = parts.RangeOf(v)
	for _, ask := range []func() error{
		func() error { k.plans, err = s.queries.Plans(ctx); return err },
		func() error { k.keys, err = s.queries.APIKeys(ctx, project); return err },
		func() error {
			k.minutes, err = s.queries.RequestMinutes(ctx, project, parts.LastHour(v), k.at.End())
			return err
		},
		func() error {
			k.requests, err = s.queries.RequestRollups(ctx, project, k.at.Since(), k.at.End())
			return err
		},
	} {
		if err := ask(); err != nil {
			return known{}, fmt.Errorf("read the usage: %w", err)
		}
	}
	k.plan = parts.PlanOf(v, k.plans)
	return k, nil
}

// meters are the limits that are used up.
func meters(v *ui.Visit, k known) []ui.Meter {
	texts := wordsIn(v.Locale.Language)
	peak, _ := parts.Peak(k.minutes)
	active := int64(0)
	for _, key := range k.keys {
		if key.Usable(v.Now) {
			active++
		}
	}
	return []ui.Meter{
		parts.LimitMeter(v, peak.Admitted, int64(k.plan.Limits.APIRatePerMinute)),
		ui.NewMeter(texts.KeysUsed, fmt.Sprintf(texts.UsedF, v.Locale.Number(active), v.Locale.Number(store.MaxActiveKeys)), active, store.MaxActiveKeys),
	}
}

// limits are what each limit means, and what happens where it ends.
func limits(v *ui.Visit, k known) ui.Table {
	texts, l := wordsIn(v.Locale.Language), k.plan.Limits
	table := ui.Table{Caption: texts.Limits, Columns: ui.Columns(texts.Limit, texts.Allowed, texts.Means, texts.Then)}
	over := texts.DeadLettersThen
	if l.Archive {
		over = texts.ArchivedThen
	}
	for _, row := range [][4]string{
		{texts.Rate, v.Locale.Count(int64(l.APIRatePerMinute), texts.PerMinuteF), texts.RateMeans, texts.RateThen},
		{texts.Idempotency, v.Locale.Count(int64(l.IdempotencyTTLHours), texts.HoursF), texts.IdempotencyMeans, texts.IdempotencyThen},
		{texts.DeadLetters, v.Locale.Count(int64(l.DeadLetterRetentionDays), texts.DaysF), texts.DeadLettersMeans, over},
		{texts.Keys, v.Locale.Number(store.MaxActiveKeys), texts.KeysMeans, texts.KeysThen},
		{texts.Body, v.Locale.Size(models.MaxRequestBytes), texts.BodyMeans, texts.BodyThen},
		{texts.Attempts, v.Locale.Count(int64(store.AttemptRetention/(24*time.Hour)), texts.DaysF), texts.AttemptsMeans, texts.AttemptsThen},
		{texts.Endpoints, texts.NoLimit, texts.EndpointsMeans, texts.EndpointsThen},
	} {
		table.Rows = append(table.Rows, []ui.Cell{{Text: row[0]}, {Text: row[1]}, {Text: row[2]}, {Text: row[3]}})
	}
	return table
}

func yes(v *ui.Visit, on bool) string {
	if on {
		return ui.WordsIn(v.Locale.Language).Yes
	}
	return ui.WordsIn(v.Locale.Language).No
}

// headers explains the answers' headers by the last minute that had a request.
func headers(v *ui.Visit, k known) (table ui.Table, seen string) {
	texts := wordsIn(v.Locale.Language)
	table = ui.Table{Caption: texts.HeadersTitle, Columns: ui.Columns(texts.Header, texts.Value, texts.Means)}
	limit := int64(k.plan.Limits.APIRatePerMinute)
	values := []string{strconv.FormatInt(limit, 10), "", "", ""}
	seen = texts.NotSeen
	if n := len(k.minutes); n > 0 {
		last := k.minutes[n-1]
		values[1] = strconv.FormatInt(max(limit-last.Admitted, 0), 10)
		values[2] = strconv.FormatInt(last.Minute.Add(time.Minute).Unix(), 10)
		seen = fmt.Sprintf(texts.SeenF, parts.KeyName(k.keys, last.KeyID), v.Locale.Time(last.Minute).Text)
	}
	names := []string{"X-RateLimit-Limit", "X-RateLimit-Remaining", "X-RateLimit-Reset", "Retry-After"}
	for i, means := range []string{texts.LimitMeans, texts.RemainingMeans, texts.ResetMeans, texts.RetryMeans} {
		table.Rows = append(table.Rows, []ui.Cell{{Text: names[i], Code: true}, {Text: values[i], Code: true}, {Text: means}})
	}
	return table, seen
}

// plans are all plans side by side, the project's own marked.
func plans(v *ui.Visit, k known) ui.Table {
	texts := wordsIn(v.Locale.Language)
	table := ui.Table{Caption: texts.PlansTitle, Columns: ui.Columns(texts.Limit)}
	table.Rows = [][]ui.Cell{{{Text: texts.Rate}}, {{Text: texts.Idempotency}}, {{Text: texts.DeadLetters}}, {{Text: texts.Archive}}}
	for _, plan := range k.plans {
		column := ui.Column{Name: planName(v, plan)}
		if plan.ID == k.plan.ID {
			column.Own, column.Name = true, fmt.Sprintf(texts.YoursF, column.Name)
		}
		table.Columns = append(table.Columns, column)
		for i, value := range []string{
			v.Locale.Count(int64(plan.Limits.APIRatePerMinute), texts.PerMinuteF), v.Locale.Count(int64(plan.Limits.IdempotencyTTLHours), texts.HoursF),
			v.Locale.Count(int64(plan.Limits.DeadLetterRetentionDays), texts.DaysF), yes(v, plan.Limits.Archive),
		} {
			table.Rows[i] = append(table.Rows[i], ui.Cell{Text: value})
		}
	}
	return table
}

// planName is a plan's in the reader's language; that of a plan which we do not
// know is its own.
func planName(v *ui.Visit, plan models.Plan) string {
	if name, known := ui.WordsIn(v.Locale.Language).Plans[plan.ID]; known {
		return name
	}
	return ui.Visible(plan.Name)
}
