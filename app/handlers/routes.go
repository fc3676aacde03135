package handlers

import (
	"net/http"

	"github.com/botix-pro/platform/app/actions"
	"github.com/botix-pro/platform/app/inspector"
	"github.com/botix-pro/platform/app/middleware"
	"github.com/botix-pro/platform/app/models"
	"github.com/botix-pro/platform/app/store"
)

// API is the handlers with what they need.
type API struct {
	store *store.Store
	urls  actions.URLChecker
	desk  *inspector.Desk
}

// New returns the API's handlers.
func New(s *store.Store, urls actions.URLChecker) *API { return &API{store: s, urls: urls} }

// Routes is the whole API behind authentication.
func (a *API) Routes() []middleware.Route {
	const read, write = models.ScopeRead, models.ScopeWrite
	return []middleware.Route{
		{Method: http.MethodPost, Path: "/contacts", Scope: write, Mutate: a.createContact, WriteOnly: true},
		{Method: http.MethodGet, Path: "/contacts", Scope: read, Read: a.listContacts},
		{Method: http.MethodGet, Path: "/contacts/:id", Scope: read, Read: a.readContact},
		{Method: http.MethodPatch, Path: "/contacts/:id", Scope: write, Mutate: a.updateContact},
		{Method: http.MethodDelete, Path: "/contacts/:id", Scope: write, Mutate: a.deleteContact},
		{Method: http.MethodPost, Path: "/contacts/bulk", Scope: write, Mutate: a.createBulk, MaxBody: models.MaxBulkBytes},
		{Method: http.MethodPut, Path: "/contacts/by-external-id/:external_id", Scope: write, Mutate: a.upsertContact},

		{Method: http.MethodPost, Path: "/messages", Scope: write, Mutate: a.createMessage},
		{Method: http.MethodGet, Path: "/messages", Scope: read, Read: a.listMessages},
		{Method: http.MethodGet, Path: "/messages/:id", Scope: read, Read: a.readMessage},
		{Method: http.MethodPost, Path: "/messages/:id/cancel", Scope: write, Mutate: a.cancelMessage},
		{Method: http.MethodPost, Path: "/messages/:id/settle", Scope: write, Mutate: a.settleMessage},

		{Method: http.MethodPost, Path: "/scenarios", Scope: write, Prepare: a.prepareScenario, Mutate: a.createScenario},
		{Method: http.MethodGet, Path: "/scenarios", Scope: read, Read: a.listScenarios},
		{Method: http.MethodGet, Path: "/scenarios/:id", Scope: read, Read: a.readScenario},
		{Method: http.MethodPatch, Path: "/scenarios/:id", Scope: write, Prepare: a.prepareScenarioPatch, Mutate: a.updateScenario},
		{Method: http.MethodPost, Path: "/scenarios/:id/activate", Scope: write, Mutate: a.activateScenario},
		{Method: http.MethodPost, Path: "/scenarios/:id/archive", Scope: write, Mutate: a.archiveScenario},
		{Method: http.MethodPost, Path: "/scenarios/:id/run", Scope: write, Mutate: a.runScenario},

		{Method: http.MethodGet, Path: "/runs", Scope: read, Read: a.listRuns},
		{Method: http.MethodGet, Path: "/runs/:id", Scope: read, Read: a.readRun},
		{Method: http.MethodPost, Path: "/runs/:id/cancel", Scope: write, Mutate: a.cancelRun},

		{Method: http.MethodPost, Path: "/events", Scope: write, Mutate: a.createEvent, WriteOnly: true},
		{Method: http.MethodGet, Path: "/events", Scope: read, Read: a.listEvents},
		{Method: http.MethodGet, Path: "/events/:id", Scope: read, Read: a.readEvent},

		{Method: http.MethodPost, Path: "/webhook-endpoints", Scope: write, Prepare: a.prepareEndpoint, Mutate: a.createEndpoint},
		{Method: http.MethodGet, Path: "/webhook-endpoints", Scope: read, Read: a.listEndpoints},
		{Method: http.MethodGet, Path: "/webhook-endpoints/:id", Scope: read, Read: a.readEndpoint},
		{Method: http.MethodPatch, Path: "/webhook-endpoints/:id", Scope: write, Prepare: a.prepareEndpointPatch, Mutate: a.updateEndpoint},
		{Method: http.MethodDelete, Path: "/webhook-endpoints/:id", Scope: write, Mutate: a.deleteEndpoint},
		{Method: http.MethodPost, Path: "/webhook-endpoints/:id/pause", Scope: write, Mutate: a.pauseEndpoint},
		{Method: http.MethodPost, Path: "/webhook-endpoints/:id/resume", Scope: write, Mutate: a.resumeEndpoint},
		{Method: http.MethodPost, Path: "/webhook-endpoints/:id/rotate-secret", Scope: write, Mutate: a.rotateSecret},
		{Method: http.MethodPost, Path: "/webhook-endpoints/:id/test", Scope: write, Mutate: a.testEndpoint},

		{Method: http.MethodGet, Path: "/webhook-deliveries", Scope: read, Read: a.listDeliveries},
		{Method: http.MethodGet, Path: "/webhook-deliveries/:id", Scope: read, Read: a.readDelivery},
		{Method: http.MethodPost, Path: "/webhook-deliveries/:id/retry", Scope: write, Mutate: a.retryDelivery},
		{Method: http.MethodPost, Path: "/webhook-deliveries/:id/redirect", Scope: write, Mutate: a.redirectDelivery},
		{Method: http.MethodGet, Path: "/inspector-requests/:id", Scope: read, Read: a.readCaptured},
		{Method: http.MethodGet, Path: "/dead-letters", Scope: read, Read: a.listDeadLetters},
		{Method: http.MethodGet, Path: "/dead-letters/groups", Scope: read, Read: a.listDeadLetterGroups},
		{Method: http.MethodGet, Path: "/dead-letters/:id", Scope: read, Read: a.readDeadLetter},
		{Method: http.MethodPost, Path: "/recoveries", Scope: write, Mutate: a.createRecovery},

		{Method: http.MethodGet, Path: "/jobs", Scope: read, Read: a.listJobs},
		{Method: http.MethodGet, Path: "/jobs/:id", Scope: read, Read: a.readJob},
		{Method: http.MethodGet, Path: "/jobs/:id/results", Scope: read, Read: a.listJobResults},
		{Method: http.MethodPost, Path: "/jobs/:id/cancel", Scope: write, Mutate: a.cancelJob},

		{Method: http.MethodGet, Path: "/idempotency-keys/:key", Scope: read, Read: a.readIdempotencyKey},
		{Method: http.MethodGet, Path: "/me", Read: a.readMe},
	}
}
