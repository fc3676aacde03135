package scenarios

import (
	"context"
	"embed"
	"fmt"
	"time"

	"github.com/botix-pro/platform/app/actions"
	"github.com/botix-pro/platform/app/models"
	"github.com/botix-pro/platform/app/store"
	"github.com/botix-pro/platform/web/dashboard/parts"
	"github.com/botix-pro/platform/web/ui"
)

//go:embed templates
var templateFiles embed.FS

// The lists' addresses.
const (
	Path     = ui.Root + "/scenarios"
	PathRuns = ui.Root + "/runs"
)

// Queries is what these pages ask of the store.
type Queries interface {
	Scenario(ctx context.Context, project models.ProjectID, id string) (*models.Scenario, error)
	Scenarios(ctx context.Context, project models.ProjectID, status *string, page store.Page) ([]models.Scenario, error)
	ScenarioVersions(ctx context.Context, project models.ProjectID, scenario string, limit int) ([]store.ScenarioVersion, error)
	ScenarioSteps(ctx context.Context, project models.ProjectID, scenario string, version int) ([]byte, error)
	Run(ctx context.Context, project models.ProjectID, id string) (*models.ScenarioRun, []models.ScenarioRunStep, []byte, error)
	Runs(ctx context.Context, project models.ProjectID, filter store.RunFilter, page store.Page) ([]models.ScenarioRun, error)
	Messages(ctx context.Context, project models.ProjectID, filter store.MessageFilter, page store.Page) ([]models.Message, error)
	EventsAbout(ctx context.Context, project models.ProjectID, kind, subject string, times ...*time.Time) ([]models.Event, error)

	parts.Writer
}

// Section is the pages about scenarios and runs. It implements [ui.Section].
type Section struct {
	queries Queries
	views   *ui.Views
	desk    parts.Desk
	urls    actions.URLChecker
}

// New parses the templates. urls judges where steps may send requests; hint
// announces lanes that got a delivery.
func New(queries Queries, urls actions.URLChecker, hint func([]store.Lane)) (*Section, error) {
	views, err := ui.ParseViews(templateFiles)
	if err != nil {
		return nil, fmt.Errorf("scenarios: %w", err)
	}
	return &Section{queries: queries, views: views, desk: parts.Desk{Store: queries, Hint: hint}, urls: urls}, nil
}

// Pages implements [ui.Section].
func (s *Section) Pages() map[string]ui.Page {
	return map[string]ui.Page{
		"GET " + Path:                       s.list,
		"GET " + Path + "/new":              s.newForm,
		"POST " + Path:                      s.create,
		"GET " + Path + "/{id}":             s.show,
		"GET " + Path + "/{id}/edit":        s.editForm,
		"POST " + Path + "/{id}":            s.update,
		"POST " + Path + "/{id}/activate":   s.activate,
		"GET " + Path + "/{id}/archive":     s.askArchive,
		"POST " + Path + "/{id}/archive":    s.archive,
		"POST " + Path + "/{id}/run":        s.run,
		"GET " + PathRuns:                   s.listRuns,
		"GET " + PathRuns + "/{id}":         s.showRun,
		"GET " + PathRuns + "/{id}/live":    s.liveRun,
		"GET " + PathRuns + "/{id}/cancel":  s.askCancel,
		"POST " + PathRuns + "/{id}/cancel": s.cancel,
	}
}
