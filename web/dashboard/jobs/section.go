package jobs

import (
	"context"
	"embed"
	"fmt"

	"github.com/botix-pro/platform/app/models"
	"github.com/botix-pro/platform/app/store"
	"github.com/botix-pro/platform/web/dashboard/parts"
	"github.com/botix-pro/platform/web/ui"
)

//go:embed templates
var templateFiles embed.FS

// Path is the list's address.
const Path = ui.Root + "/jobs"

// maxUnderWay is how many jobs are shown with their progress.
const maxUnderWay = 20

// Queries is what these pages ask of the store.
type Queries interface {
	Job(ctx context.Context, project models.ProjectID, id string) (*models.Job, error)
	Jobs(ctx context.Context, project models.ProjectID, filter store.JobFilter, page store.Page) ([]models.Job, error)
	JobsUnderWay(ctx context.Context, project models.ProjectID, limit int) ([]models.Job, error)
	JobResults(ctx context.Context, project models.ProjectID, job string, status *string, after, limit int) ([]models.NumberedResult, error)

	parts.Writer
}

// Section is the pages about jobs. It implements [ui.Section].
type Section struct {
	queries Queries
	views   *ui.Views
	desk    parts.Desk
}

// New parses the templates. hint announces lanes that got a delivery.
func New(queries Queries, hint func([]store.Lane)) (*Section, error) {
	views, err := ui.ParseViews(templateFiles)
	if err != nil {
		return nil, fmt.Errorf("jobs: %w", err)
	}
	return &Section{queries: queries, views: views, desk: parts.Desk{Store: queries, Hint: hint}}, nil
}

// Pages implements [ui.Section].
func (s *Section) Pages() map[string]ui.Page {
	return map[string]ui.Page{
		"GET " + Path:                   s.list,
		"GET " + Path + "/under-way":    s.underWay,
		"GET " + Path + "/{id}":         s.show,
		"GET " + Path + "/{id}/live":    s.live,
		"GET " + Path + "/{id}/cancel":  s.askCancel,
		"POST " + Path + "/{id}/cancel": s.cancel,
	}
}
