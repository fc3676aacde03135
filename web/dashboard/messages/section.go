package messages

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
const Path = ui.Root + "/messages"

const pathOutbox = Path + "/outbox"

// Queries is what these pages ask of the store.
type Queries interface {
	Message(ctx context.Context, project models.ProjectID, id string) (*models.Message, error)
	Messages(ctx context.Context, project models.ProjectID, filter store.MessageFilter, page store.Page) ([]models.Message, error)
	Settlements(ctx context.Context, project models.ProjectID, message string) ([]models.MessageSettlement, error)
	EventsAbout(ctx context.Context, project models.ProjectID, kind, subject string, times ...*time.Time) ([]models.Event, error)
	Outbox(ctx context.Context, project models.ProjectID, page store.Page) ([]store.SandboxMessage, error)
	Channels(ctx context.Context, project models.ProjectID) ([]store.Channel, error)

	parts.Writer
}

// Section is the pages about messages. It implements [ui.Section].
type Section struct {
	queries Queries
	views   *ui.Views
	desk    parts.Desk
}

// New parses the templates. hint announces lanes that got a delivery.
func New(queries Queries, hint func([]store.Lane)) (*Section, error) {
	views, err := ui.ParseViews(templateFiles)
	if err != nil {
		return nil, fmt.Errorf("messages: %w", err)
	}
	return &Section{queries: queries, views: views, desk: parts.Desk{Store: queries, Hint: hint}}, nil
}

// Pages implements [ui.Section].
func (s *Section) Pages() map[string]ui.Page {
	return map[string]ui.Page{
		"GET " + Path:                   s.list,
		"GET " + Path + "/new":          s.newForm,
		"POST " + Path:                  s.create,
		"GET " + pathOutbox:             s.outbox,
		"POST " + pathOutbox:            s.setSandbox,
		"GET " + Path + "/{id}":         s.show,
		"GET " + Path + "/{id}/live":    s.live,
		"GET " + Path + "/{id}/cancel":  s.askCancel,
		"POST " + Path + "/{id}/cancel": s.cancel,
		"POST " + Path + "/{id}/settle": s.settle,
	}
}

// tabs are the list and the sandbox, side by side.
func tabs(v *ui.Visit, sandbox bool) []ui.Tab {
	w := wordsIn(v)
	return []ui.Tab{
		{Link: ui.Link{Name: w.Title, Address: Path}, Current: !sandbox},
		{Link: ui.Link{Name: w.Outbox, Address: pathOutbox}, Current: sandbox},
	}
}
