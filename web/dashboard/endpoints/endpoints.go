// Package endpoints is the dashboard's pages about webhook endpoints: which there
// are, how they do, and what an owner may do to one. Each deed is the API's own.
package endpoints

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

// Path is the list's address.
const Path = ui.Root + "/" + ui.NavEndpoints

// overlap is how long the secret before a new one still signs.
const overlap = 24 * time.Hour

// Queries is what these pages ask of the store.
type Queries interface {
	// Endpoints lists the project's endpoints, newest first.
	Endpoints(ctx context.Context, project models.ProjectID, page store.Page) ([]models.WebhookEndpoint, error)
	Endpoint(ctx context.Context, project models.ProjectID, id string) (*models.WebhookEndpoint, error)
	EndpointHealth(ctx context.Context, project models.ProjectID, endpoint string) (models.EndpointHealth, error)
	// EndpointsHealth is how endpoints do, by id.
	EndpointsHealth(ctx context.Context, project models.ProjectID, endpoints []string) (map[string]models.EndpointHealth, error)
	// Rollups are the hourly sums of attempts, and EndpointRollups those of one
	// endpoint.
	Rollups(ctx context.Context, project models.ProjectID, since, until time.Time) ([]models.Rollup, error)
	EndpointRollups(ctx context.Context, project models.ProjectID, endpoint string, since, until time.Time) ([]models.Rollup, error)
	// CountHeld counts what is held for an endpoint, up to limit.
	CountHeld(ctx context.Context, project models.ProjectID, endpoint string, limit int) (int64, error)
	// NoticesOf is what members were told about an endpoint, newest first.
	NoticesOf(ctx context.Context, project models.ProjectID, endpoint string, limit int) ([]models.Notice, error)
	// Delivery returns one delivery with its attempts, in the order they were sent.
	Delivery(ctx context.Context, project models.ProjectID, id string) (*models.WebhookDelivery, []models.WebhookAttempt, error)

	parts.Writer
}

// Section is the pages about endpoints. It implements [ui.Section].
type Section struct {
	queries Queries
	views   *ui.Views
	desk    parts.Desk
	urls    actions.URLChecker
}

// New parses the templates. urls judges where an endpoint may be; hint announces
// lanes that have something due.
func New(queries Queries, urls actions.URLChecker, hint func([]store.Lane)) (*Section, error) {
	views, err := ui.ParseViews(templateFiles)
	if err != nil {
		return nil, fmt.Errorf("endpoints: %w", err)
	}
	return &Section{queries: queries, views: views, urls: urls, desk: parts.Desk{Store: queries, Hint: hint}}, nil
}

// Pages implements [ui.Section].
func (s *Section) Pages() map[string]ui.Page {
	return map[string]ui.Page{
		"GET " + Path:                           s.list,
		"GET " + Path + "/new":                  s.newForm,
		"POST " + Path:                          s.create,
		"GET " + Path + "/{id}/edit":            s.editForm,
		"POST " + Path + "/{id}":                s.update,
		"GET " + Path + "/{id}/test/{delivery}": s.tested,
		"GET " + Path + "/{id}/resume":          s.askResume,
		"GET " + Path + "/{id}/rotate-secret":   s.askRotate,
		"GET " + Path + "/{id}":                 s.show,
		"POST " + Path + "/{id}/pause":          s.pause,
		"POST " + Path + "/{id}/resume":         s.resume,
		"POST " + Path + "/{id}/test":           s.test,
		"POST " + Path + "/{id}/rotate-secret":  s.rotate,
		"GET " + Path + "/{id}/delete":          s.askDelete,
		"POST " + Path + "/{id}/delete":         s.remove,
	}
}
