package contacts

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

// Path is the list's address.
const Path = ui.Root + "/contacts"

// Queries is what these pages ask of the store.
type Queries interface {
	Contact(ctx context.Context, project models.ProjectID, id string) (*models.Contact, error)
	Contacts(ctx context.Context, project models.ProjectID, filter store.ContactFilter, page store.Page) ([]models.Contact, error)
	Messages(ctx context.Context, project models.ProjectID, filter store.MessageFilter, page store.Page) ([]models.Message, error)
	Runs(ctx context.Context, project models.ProjectID, filter store.RunFilter, page store.Page) ([]models.ScenarioRun, error)
	EventsAbout(ctx context.Context, project models.ProjectID, kind, subject string, times ...*time.Time) ([]models.Event, error)

	parts.Writer
}

// Section is the pages about contacts. It implements [ui.Section].
type Section struct {
	queries Queries
	views   *ui.Views
	desk    parts.Desk
}

// New parses the templates. hint announces lanes that got a delivery.
func New(queries Queries, hint func([]store.Lane)) (*Section, error) {
	views, err := ui.ParseViews(templateFiles)
	if err != nil {
		return nil, fmt.Errorf("contacts: %w", err)
	}
	return &Section{queries: queries, views: views, desk: parts.Desk{Store: queries, Hint: hint}}, nil
}

// Pages implements [ui.Section].
func (s *Section) Pages() map[string]ui.Page {
	return map[string]ui.Page{
		"GET " + Path:                   s.list,
		"GET " + Path + "/new":          s.newForm,
		"POST " + Path:                  s.create,
		"GET " + Path + "/{id}":         s.show,
		"GET " + Path + "/{id}/edit":    s.editForm,
		"POST " + Path + "/{id}":        s.update,
		"GET " + Path + "/{id}/delete":  s.askDelete,
		"POST " + Path + "/{id}/delete": s.delete,
	}
}
