package deliveries

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

// The pages' addresses.
const (
	// Path is the list's.
	Path = ui.Root + "/deliveries"
	// PathDeadLetters is the dead letters'.
	PathDeadLetters = ui.Root + "/dead-letters"

	pathAttempts  = ui.Root + "/attempts/"
	pathRecover   = Path + "/recover"
	pathEndpoints = ui.Root + "/endpoints/"
	pathJobs      = ui.Root + "/jobs/"
	pathDocs      = "/docs/webhooks"
)

// Queries is what these pages ask of the store.
type Queries interface {
	// WebhookAttempts lists a project's attempts of the last 14 days, newest first.
	WebhookAttempts(ctx context.Context, project models.ProjectID, filter store.AttemptFilter, page store.Page) (store.AttemptList, error)
	// WebhookAttempt returns one attempt with its delivery and event.
	WebhookAttempt(ctx context.Context, project models.ProjectID, id string) (
		*models.WebhookAttempt, *models.WebhookDelivery, *models.Event, error)
	// AttemptsOfDelivery lists a delivery's attempts that are kept, in their order.
	AttemptsOfDelivery(ctx context.Context, project models.ProjectID, delivery string) ([]models.WebhookAttempt, error)
	// DeliveryRow is one delivery.
	DeliveryRow(ctx context.Context, project models.ProjectID, id string) (*models.WebhookDelivery, error)
	// Event is one event.
	Event(ctx context.Context, project models.ProjectID, id string) (*models.Event, error)
	// OperationOfRequest is an API request's idempotency key, empty without one.
	OperationOfRequest(ctx context.Context, project models.ProjectID, request string) (string, error)
	// EndpointNames lists the project's endpoints, deleted ones too.
	EndpointNames(ctx context.Context, project models.ProjectID) ([]store.EndpointName, error)
	// PlanRecovery counts what a recovery would do now.
	PlanRecovery(ctx context.Context, project models.ProjectID, r models.Recovery) (store.RecoveryPlan, error)
	// PlanSelection counts what the retry of deliveries would do now.
	PlanSelection(ctx context.Context, project models.ProjectID, ids []string) (store.RecoveryPlan, error)
	// DeadLetterGroups counts dead letters by endpoint and cause.
	DeadLetterGroups(ctx context.Context, project models.ProjectID, endpoint *string, after models.DeadLetterGroup, limit int) ([]models.DeadLetterGroup, error)
	// DeadLetters lists dead letters, newest first.
	DeadLetters(ctx context.Context, project models.ProjectID, filter store.DeadLetterFilter, page store.Page) ([]models.DeadLetter, error)
	// DeadLetterDays counts a group's dead letters by their day.
	DeadLetterDays(ctx context.Context, project models.ProjectID, group models.DeadLetterGroup) ([]store.DayCount, error)

	parts.Writer
}

// Section is the pages about webhook deliveries. It implements [ui.Section].
type Section struct {
	queries   Queries
	views     *ui.Views
	publicURL string
	desk      parts.Desk
}

// New parses the templates. publicURL is the API's base URL without a last
// slash, for the example request; hint announces lanes that have something due.
func New(queries Queries, publicURL string, hint func([]store.Lane)) (*Section, error) {
	views, err := ui.ParseViews(templateFiles)
	if err != nil {
		return nil, fmt.Errorf("deliveries: %w", err)
	}
	return &Section{queries: queries, views: views, publicURL: publicURL, desk: parts.Desk{Store: queries, Hint: hint}}, nil
}

// Pages implements [ui.Section].
func (s *Section) Pages() map[string]ui.Page {
	return map[string]ui.Page{
		"GET " + Path:                          s.listAttempts,
		"GET " + Path + "/new":                 s.fresh,
		"GET " + pathRecover:                   s.askRecover,
		"POST " + pathRecover:                  s.recoverMatching,
		"GET " + Path + "/{id}":                s.showDelivery,
		"GET " + Path + "/{id}/state":          s.deliveryState,
		"POST " + Path + "/{id}/retry":         s.retry,
		"GET " + pathAttempts + "{id}":         s.showAttempt,
		"GET " + pathAttempts + "{id}/detail":  s.attemptFragment,
		"GET " + pathAttempts + "{id}/payload": s.payload,
		"GET " + pathAttempts + "{id}/answer":  s.answerBody,
		"GET " + PathDeadLetters:               s.deadLetters,
		"POST " + PathDeadLetters + "/test":    s.testGroup,
	}
}
