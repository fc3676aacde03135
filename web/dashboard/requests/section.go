package requests

import (
	"context"
	"embed"
	"fmt"
	"net/http"
	"strconv"
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
const Path = ui.Root + "/" + ui.NavRequests

const (
	pathErrors     = Path + "/errors"
	pathOperations = ui.Root + "/operations"
	pathRetry      = pathOperations + "/retry"
	pathNote       = pathOperations + "/note"
	pathDocs       = "/docs/error-codes"
)

// Queries is what these pages ask of the store.
type Queries interface {
	// Requests lists a project's API requests of the last 14 days, newest first.
	Requests(ctx context.Context, project models.ProjectID, filter store.RequestFilter, page store.Page) (store.RequestList, error)
	// Request returns one logged request.
	Request(ctx context.Context, project models.ProjectID, id string) (*models.RequestRecord, error)
	// RequestErrors groups the newest errors since a time.
	RequestErrors(ctx context.Context, project models.ProjectID, since *time.Time, limit int) (store.ErrorGroups, error)
	// EventsOfRequest returns the events that a request wrote between two times.
	EventsOfRequest(ctx context.Context, project models.ProjectID, request string, from, to time.Time, limit int) ([]models.Event, error)
	// DeliveriesOfEvents returns the deliveries of some events.
	DeliveriesOfEvents(ctx context.Context, project models.ProjectID, events []string, limit int) ([]models.WebhookDelivery, error)
	// WebhookAttempts finds the attempt whose own request an id may be.
	WebhookAttempts(ctx context.Context, project models.ProjectID, filter store.AttemptFilter, page store.Page) (store.AttemptList, error)
	// APIKeys lists all keys of a project, newest first.
	APIKeys(ctx context.Context, project models.ProjectID) ([]models.APIKey, error)
	// Message returns the message that an operation made.
	Message(ctx context.Context, project models.ProjectID, id string) (*models.Message, error)
	// AuditEntries lists what people did to a subject, newest first.
	AuditEntries(ctx context.Context, project models.ProjectID, subject string, page store.Page) ([]models.AuditEntry, error)

	actions.OperationReader
	parts.Writer
}

// Section is the pages about API requests. It implements [ui.Section].
type Section struct {
	queries Queries
	views   *ui.Views
	desk    parts.Desk
}

// New parses the templates. hint announces lanes that have something due.
func New(queries Queries, hint func([]store.Lane)) (*Section, error) {
	views, err := ui.ParseViews(templateFiles)
	if err != nil {
		return nil, fmt.Errorf("requests: %w", err)
	}
	return &Section{queries: queries, views: views, desk: parts.Desk{Store: queries, Hint: hint}}, nil
}

// Pages implements [ui.Section].
func (s *Section) Pages() map[string]ui.Page {
	return map[string]ui.Page{
		"GET " + Path:                     s.list,
		"GET " + pathErrors:               s.errorGroups,
		"GET " + Path + "/{id}":           s.show,
		"GET " + pathOperations:           s.operation,
		"GET " + pathOperations + "/live": s.live,
		"GET " + pathRetry:                s.askRetry,
		"POST " + pathRetry:               s.retry,
		"POST " + pathNote:                s.note,
	}
}

// keyNames are the names of the project's API keys, by their ids.
func (s *Section) keyNames(v *ui.Visit) (map[string]string, []models.APIKey, error) {
	keys, err := s.queries.APIKeys(v.Context(), v.Member.Project.ID)
	if err != nil {
		return nil, nil, fmt.Errorf("list the API keys: %w", err)
	}
	names := make(map[string]string, len(keys))
	for _, key := range keys {
		names[key.ID] = key.Name
	}
	return names, keys, nil
}

// keyCell is an API key by its name.
func keyCell(names map[string]string, id string) ui.Cell {
	if id == "" {
		return ui.Cell{}
	}
	name, known := names[id]
	if !known {
		return ui.Cell{Text: ui.Visible(id), Code: true}
	}
	return ui.Cell{Text: parts.Excerpt(name)}
}

// statusPill is how a request was answered: well, to be repeated, or refused.
func statusPill(status int, code models.Code) *ui.Pill {
	pill := ui.Pill{Kind: ui.PillFailed, Word: strconv.Itoa(status)}
	entry, known := entryOf(code)
	switch {
	case status < http.StatusBadRequest:
		pill.Kind = ui.PillDelivered
	case status < http.StatusInternalServerError && known && entry.Retryable:
		pill.Kind = ui.PillRetrying
	}
	return &pill
}

// answerCell is how a request was answered, with its error's code.
func answerCell(w *words, r models.RequestRecord) ui.Cell {
	cell := ui.Cell{Pill: statusPill(r.Status, r.Code), Fault: ui.Visible(string(r.Code))}
	if r.Replayed {
		cell.Pill.Note = w.Replay
	}
	return cell
}

// entryOf is what the catalogue says of a code.
func entryOf(code models.Code) (models.CatalogueEntry, bool) {
	for _, entry := range models.Catalogue() {
		if entry.Code == code {
			return entry, true
		}
	}
	return models.CatalogueEntry{}, false
}

// name is what was asked for.
func name(r models.RequestRecord) string { return ui.Visible(r.Method + " " + r.Route) }

// keyShown is how much of an Idempotency-Key stands in a table, in characters.
const keyShown = 24

// operationCell leads to the operation that a request belonged to.
func operationCell(r models.RequestRecord) ui.Cell {
	if r.IdempotencyKey == nil {
		return ui.Cell{}
	}
	return ui.Cell{Text: ui.Shorten(ui.Visible(*r.IdempotencyKey), keyShown), Code: true, Address: parts.OperationAddress(*r.IdempotencyKey)}
}
