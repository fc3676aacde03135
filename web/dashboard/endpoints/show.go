package endpoints

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/botix-pro/platform/app/actions"
	"github.com/botix-pro/platform/app/models"
	"github.com/botix-pro/platform/app/store"
	"github.com/botix-pro/platform/web/dashboard/deliveries"
	"github.com/botix-pro/platform/web/dashboard/parts"
	"github.com/botix-pro/platform/web/ui"
)

const (
	// maxHeld is where counting what is held ends.
	maxHeld = 10_000
	// maxTold is how many notices stand on an endpoint's page.
	maxTold = 5
	// paramTest is the parameter that names a test event's delivery.
	paramTest = "test"
)

// endpointView is one endpoint.
type endpointView struct {
	ui.Shell

	Texts    *words
	Head     ui.Head
	State    *ui.Pill
	Means    *ui.Sentence // what the state means, and what to do
	Held     string       // how many events are held; empty: none
	Active   bool
	Base     string // the endpoint's own address, for its forms
	Resume   ui.Confirm
	Drop     ui.Confirm
	Rotate   ui.Confirm
	Delete   ui.Confirm
	Attempts string // the address of its attempts
	Test     *testView
	Health   []ui.Fact
	Facts    []ui.Fact
	Ranges   []ui.Tab
	Charts   []ui.Chart
	Secrets  ui.Table
	Told     ui.Table
}

// show is one endpoint with its health, charts, settings and secrets.
func (s *Section) show(v *ui.Visit) (ui.Reply, error) {
	endpoint, err := s.endpoint(v)
	if err != nil {
		return ui.Reply{}, err
	}
	project := v.Member.Project.ID
	health, err := s.queries.EndpointHealth(v.Context(), project, endpoint.ID)
	if err != nil {
		return ui.Reply{}, fmt.Errorf("read the endpoint's health: %w", err)
	}
	told, err := s.queries.NoticesOf(v.Context(), project, endpoint.ID, maxTold)
	if err != nil {
		return ui.Reply{}, fmt.Errorf("read what was told about the endpoint: %w", err)
	}
	held, err := s.queries.CountHeld(v.Context(), project, endpoint.ID, maxHeld)
	if err != nil {
		return ui.Reply{}, fmt.Errorf("count what is held: %w", err)
	}
	view := settings(v, endpoint, health, held)
	view.Means, view.Told = means(v, endpoint, health, told), notices(v, told)
	if err := s.draw(v, &view, endpoint.ID, health); err != nil {
		return ui.Reply{}, err
	}
	if view.Test, err = s.testOf(v, endpoint.ID, v.URL.Query().Get(paramTest)); err != nil && !errors.Is(err, store.ErrNotFound) {
		return ui.Reply{}, err
	}
	return s.views.Page("endpoint", view)
}

// endpoint reads the endpoint that the path names.
func (s *Section) endpoint(v *ui.Visit) (*models.WebhookEndpoint, error) {
	id, err := parts.ID(v, models.PrefixEndpoint)
	if err != nil {
		return nil, err
	}
	endpoint, err := s.queries.Endpoint(v.Context(), v.Member.Project.ID, id)
	if err != nil {
		return nil, fmt.Errorf("read the endpoint: %w", err)
	}
	return endpoint, nil
}

func settings(v *ui.Visit, e *models.WebhookEndpoint, health models.EndpointHealth, held int64) endpointView {
	texts := wordsIn(v.Locale.Language)
	base := Path + "/" + e.ID
	view := endpointView{
		Shell: v.Shell(texts.One, ui.NavEndpoints), Texts: texts, Active: e.Status == models.EndpointActive, Base: base,
		Resume: resumption(v, e, held, false), Drop: resumption(v, e, held, true), Rotate: rotation(v, e), Delete: deletion(v, e),
		Attempts: deliveries.Path + "?endpoint=" + e.ID, Facts: facts(v, e), Secrets: secrets(v, e),
	}
	view.Head = ui.Head{
		Crumb: &ui.Link{Name: texts.Title, Address: Path}, Title: ui.HostOf(e.URL), ID: e.ID, Lead: ui.Visible(e.Description),
		Updated: view.Updated(), Refresh: &ui.Link{Name: view.Words.Refresh, Address: base},
	}
	view.State, _ = state(v, e, health)
	if held > 0 {
		view.Held = fmt.Sprintf(v.Locale.Plural(held, texts.HeldF), parts.Capped(v, held, maxHeld))
	}
	return view
}

// draw adds how the endpoint did in the range that the address asks for.
func (s *Section) draw(v *ui.Visit, view *endpointView, id string, health models.EndpointHealth) error {
	at := parts.RangeOf(v)
	rollups, err := s.queries.EndpointRollups(v.Context(), v.Member.Project.ID, id, at.Since(), at.End())
	if err != nil {
		return fmt.Errorf("sum up the attempts: %w", err)
	}
	sums := at.Sum(rollups)
	view.Health = healthFacts(v, sums.Total, health)
	view.Shell.Charts, view.Ranges = true, parts.RangeTabs(v, at)
	view.Charts = []ui.Chart{parts.Deliveries(v, view.Shell, at, sums), parts.Latency(v, view.Shell, at, sums)}
	return nil
}

// means says why the endpoint is as it is and what to do.
func means(v *ui.Visit, e *models.WebhookEndpoint, health models.EndpointHealth, told []models.Notice) *ui.Sentence {
	texts := wordsIn(v.Locale.Language)
	switch {
	case e.Status == models.EndpointPaused:
		return v.Locale.At(texts.PausedMeans, e.StatusSince)
	case e.Status == models.EndpointDisabled:
		for _, n := range told {
			if n.Kind == models.NoticeDisabled && n.Params.Reason == models.DisabledGone {
				return v.Locale.At(texts.GoneMeans, e.StatusSince)
			}
		}
		return v.Locale.At(texts.DisabledMeans, e.StatusSince)
	case health.FailingSince != nil:
		return v.Locale.At(texts.FailingMeans, *health.FailingSince)
	}
	return ui.Plain(texts.ActiveMeans)
}

// notices are what members were told about the endpoint.
func notices(v *ui.Visit, told []models.Notice) ui.Table {
	texts := wordsIn(v.Locale.Language)
	table := ui.Table{Caption: texts.Told, Columns: ui.Columns(texts.When, texts.What), None: texts.NothingTold}
	for _, n := range told {
		table.Rows = append(table.Rows, []ui.Cell{parts.Moment(v.Locale.Time(n.CreatedAt)), {Text: parts.NoticeText(v, n)}})
	}
	return table
}

// healthFacts are the range's success and latency, and the last of each outcome.
func healthFacts(v *ui.Visit, total models.Rollup, health models.EndpointHealth) []ui.Fact {
	texts := wordsIn(v.Locale.Language)
	var p95 ui.Cell
	if total.Answered > 0 {
		p95.Text = v.Locale.Duration(int64(total.Quantile(0.95)))
	}
	return []ui.Fact{
		{Name: texts.Success, Cell: ui.Cell{Text: success(v, texts, total)}}, {Name: texts.P95, Cell: p95},
		{Name: texts.LastSuccess, Cell: ui.Cell{At: v.Locale.When(health.LastSuccessAt)}},
		{Name: texts.LastFailure, Cell: ui.Cell{At: v.Locale.When(health.LastFailureAt)}},
	}
}

func facts(v *ui.Visit, e *models.WebhookEndpoint) []ui.Fact {
	texts := wordsIn(v.Locale.Language)
	var headers []string
	for _, name := range slices.Sorted(maps.Keys(e.Headers)) {
		headers = append(headers, ui.Visible(name)+": ***")
	}
	rate := texts.NoRate
	if e.RatePerSecond != nil {
		rate = v.Locale.Number(int64(*e.RatePerSecond))
	}
	return []ui.Fact{
		{Name: texts.URL, Cell: ui.Cell{Text: ui.Visible(e.URL), Code: true}, Wide: true},
		{Name: texts.Types, Cell: ui.Cell{Text: ui.Visible(strings.Join(e.EventTypes, ", ")), Code: true}, Wide: true},
		{Name: texts.InFlight, Cell: ui.Cell{Text: v.Locale.Number(int64(e.MaxInFlight))}}, {Name: texts.Rate, Cell: ui.Cell{Text: rate}},
		{Name: texts.Headers, Cell: ui.Cell{Text: strings.Join(headers, ", "), Code: true}, Wide: true},
		{Name: texts.Created, Cell: parts.Moment(v.Locale.Time(e.CreatedAt))}, {Name: texts.Changed, Cell: parts.Moment(v.Locale.Time(e.UpdatedAt))},
	}
}

// secrets are the endpoint's, without their values.
func secrets(v *ui.Visit, e *models.WebhookEndpoint) ui.Table {
	texts := wordsIn(v.Locale.Language)
	table := ui.Table{Caption: texts.Secrets, Columns: ui.Columns(texts.SecretName, texts.SignsUntil)}
	for i, secret := range e.Secrets {
		switch {
		case i == 0:
			table.Rows = append(table.Rows, []ui.Cell{{Text: texts.Current}, {Text: texts.NoEnd}})
		case secret.ExpiresAt != nil && secret.ExpiresAt.After(v.Now):
			table.Rows = append(table.Rows, []ui.Cell{{Text: texts.Previous}, parts.Moment(v.Locale.Time(*secret.ExpiresAt))})
		}
	}
	return table
}

// testView is a test event as it goes.
type testView struct {
	Texts    *words
	Live     string // where the script gets it anew; empty: it is over
	Said     string // said aloud when it is over
	State    ui.Pill
	Text     string
	Took     string
	Delivery string // the address of its page
}

// tested is the part of the page that follows a test event.
func (s *Section) tested(v *ui.Visit) (ui.Reply, error) {
	id, err := parts.ID(v, models.PrefixEndpoint)
	if err != nil {
		return ui.Reply{}, err
	}
	view, err := s.testOf(v, id, v.PathValue("delivery"))
	if err != nil {
		return ui.Reply{}, err
	}
	return s.views.Fragment("endpoint", "test", view)
}

// testOf is how a test event went: that of this endpoint, or none.
func (s *Section) testOf(v *ui.Visit, endpoint, id string) (*testView, error) {
	if !models.ValidID(models.PrefixDelivery, id) {
		return nil, store.ErrNotFound
	}
	delivery, attempts, err := s.queries.Delivery(v.Context(), v.Member.Project.ID, id)
	if err != nil {
		return nil, fmt.Errorf("read the test's delivery: %w", err)
	}
	if delivery.EndpointID != endpoint || delivery.EventType != models.EventEndpointTest {
		return nil, store.ErrNotFound
	}
	texts := wordsIn(v.Locale.Language)
	view := &testView{Texts: texts, Delivery: deliveries.Path + "/" + id, State: ui.Pill{Kind: ui.PillRunning, Word: texts.TestRunning}}
	if len(attempts) == 0 {
		view.Live = Path + "/" + endpoint + "/test/" + id
		return view, nil
	}
	last := attempts[len(attempts)-1]
	view.Took = v.Locale.Duration(int64(last.Timing.DurationMs))
	view.State, view.Text = ui.Pill{Kind: ui.PillDelivered, Word: texts.TestDelivered}, texts.TestDeliveredText
	if last.ErrorClass != nil {
		view.State = ui.Pill{Kind: ui.PillFailed, Word: deliveries.ClassName(v.Locale.Language, *last.ErrorClass)}
		view.Text = ui.Visible(last.Error)
	}
	if last.StatusCode != nil {
		view.State.Note = fmt.Sprint(*last.StatusCode)
	}
	view.Said = texts.TestOver
	return view, nil
}

// rotation asks whether to make a new secret.
func rotation(v *ui.Visit, e *models.WebhookEndpoint) ui.Confirm {
	texts := wordsIn(v.Locale.Language)
	address := Path + "/" + e.ID + "/rotate-secret"
	return ui.Confirm{
		ID: "rotate-secret", Open: texts.Rotate, Address: address, Title: texts.RotateTitle, Text: texts.RotateText,
		Form: ui.FormView{Action: address, Once: v.Once(), Submit: texts.Rotate, Fields: []ui.Field{parts.Version(actions.EndpointTag(e))}, Back: back(v, e)},
	}
}

// resumption asks whether to send to the endpoint again, and to send or to drop
// what is held.
func resumption(v *ui.Visit, e *models.WebhookEndpoint, held int64, drop bool) ui.Confirm {
	texts := wordsIn(v.Locale.Language)
	number := parts.Capped(v, held, maxHeld)
	address := Path + "/" + e.ID + "/resume"
	confirm := ui.Confirm{ID: "resume", Open: texts.Resume, Address: address, Title: texts.ResumeTitle, Text: texts.ResumeText}
	choice := ui.Field{Name: "held", Kind: ui.FieldHidden, Value: "deliver"}
	if held > 0 {
		confirm.Text = fmt.Sprintf(v.Locale.Plural(held, texts.ResumeHeldF), number)
		choice = ui.Field{Name: "held", Kind: ui.FieldSelect, Label: texts.HeldLabel, Options: []ui.Option{
			{Value: "deliver", Name: fmt.Sprintf(texts.DeliverF, number), Chosen: true}, {Value: "keep", Name: texts.Keep},
		}}
	}
	confirm.Form = ui.FormView{Action: address, Submit: texts.Resume, Fields: []ui.Field{choice}, Back: back(v, e)}
	if drop {
		confirm.ID, confirm.Open, confirm.Address = "drop", texts.ResumeDrop, address+"?held=discard"
		confirm.Title, confirm.Text = fmt.Sprintf(v.Locale.Plural(held, texts.DropTitleF), number), texts.DropText
		confirm.Form.Fields = []ui.Field{{Name: "held", Kind: ui.FieldHidden, Value: "discard"}}
		confirm.Form.Danger, confirm.Form.Submit = true, texts.ResumeDrop
	}
	return confirm
}

func back(v *ui.Visit, e *models.WebhookEndpoint) *ui.Link {
	return &ui.Link{Name: ui.WordsIn(v.Locale.Language).Cancel, Address: Path + "/" + e.ID}
}
