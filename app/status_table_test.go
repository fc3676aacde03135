package app

import (
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/botix-pro/platform/app/models"
	"github.com/botix-pro/platform/app/store"
)

// routeCase is one route: a request that it grants, and every code with which it
// can refuse one.
type routeCase struct {
	route   string // as api/openapi.yaml writes it
	body    string
	grants  []grant
	refuses []models.Code
}

// grant is a request that succeeds.
type grant struct {
	status int
	path   func(*testing.T, *harness) string // of what it is about, made anew
	body   string                            // instead of the route's, where that decides the status
}

// onlyCounts says that a body asks for a count and for nothing to be done, which
// is answered with another status.
func onlyCounts(body string) bool { return strings.Contains(body, `"dry_run":true`) }

func (r routeCase) method() string { method, _, _ := strings.Cut(r.route, " "); return method }

func (r routeCase) reads() bool { return r.method() == http.MethodGet || r.method() == http.MethodHead }

// absent is the route's path, about something that does not exist.
func (r routeCase) absent() string {
	_, path, _ := strings.Cut(r.route, " ")
	prefix := map[string]string{
		"contacts": models.PrefixContact, "events": models.PrefixEvent, "messages": models.PrefixMessage,
		"scenarios": models.PrefixScenario, "runs": models.PrefixRun,
		"webhook-endpoints": models.PrefixEndpoint, "webhook-deliveries": models.PrefixDelivery,
		"inspector-requests": models.PrefixCaptured, "dead-letters": models.PrefixDeadLetter, "jobs": models.PrefixJob,
	}[strings.Split(path, "/")[1]]
	return strings.NewReplacer("{id}", prefix+"01ARZ3NDEKTSV4RRFFQ69G5FAV", "{external_id}", "absent", "{key}", "absent").Replace(path)
}

// request is one that the grant is for.
func (r routeCase) request(t *testing.T, h *harness, g grant) call {
	t.Helper()
	c := r.call(g.path(t, h))
	c.body = or(g.body, c.body)
	return c
}

// call is the request about path.
func (r routeCase) call(path string) call {
	return call{method: r.method(), path: path, body: r.body}
}

// What can happen to every request, to those that need a scope, and to those
// that change something (contract §1, the order of checks).
func anywhere() []models.Code {
	return []models.Code{
		models.CodeAPIKeyMissing, models.CodeAPIKeyInvalid, models.CodeRateLimitExceeded, models.CodeInvalidRequest,
		models.CodeInternalError, models.CodeServiceUnavailable,
	}
}

func scoped(further ...models.Code) []models.Code {
	return slices.Concat(anywhere(), []models.Code{models.CodeScopeInsufficient}, further)
}

func mutating(further ...models.Code) []models.Code {
	return slices.Concat(scoped(further...), []models.Code{
		models.CodeIdempotencyKeyRequired, models.CodeIdempotencyKeyInvalid, models.CodeIdempotencyKeyReuse,
		models.CodeIdempotencyKeyRunning, models.CodeIdempotencyKeyExpired, models.CodeMalformedJSON,
		models.CodePayloadTooLarge, models.CodeRequestTimeout, models.CodeUnsupportedMediaType, models.CodeValidationFailed,
	})
}

// routeCases is the table: each route with everything it may answer.
func routeCases() []routeCase {
	const missing, changed, taken = models.CodeNotFound, models.CodePreconditionFailed, models.CodeContactExists
	const inactive = models.CodeEndpointNotActive
	contact, endpoint := made("/contacts", `{"name":"Ada"}`), made("/webhook-endpoints", endpointBody)
	return []routeCase{
		{"POST /contacts", `{"name":"Ada"}`, one(201, at("/contacts")), mutating(taken)},
		{"GET /contacts", "", one(200, at("/contacts")), scoped()},
		{"GET /contacts/{id}", "", one(200, contact), scoped(missing)},
		{"PATCH /contacts/{id}", `{"name":"Ada"}`, one(200, contact), mutating(missing, changed, taken)},
		{"DELETE /contacts/{id}", "", one(204, contact), mutating(missing, changed)},
		{"PUT /contacts/by-external-id/{external_id}", `{"name":"Ada"}`, []grant{
			{201, newExternalID, ""}, {200, byExternalID, ""},
		}, mutating(changed)},
		{"POST /contacts/bulk", `[{"name":"Ada"}]`, one(202, at("/contacts/bulk")), mutating()},

		{"POST /messages", messageBody, one(202, someMessages), mutating(models.CodeChannelNotConfigured)},
		{"GET /messages", "", one(200, at("/messages")), scoped()},
		{"GET /messages/{id}", "", one(200, message), scoped(missing)},
		{"POST /messages/{id}/cancel", "", one(200, under(message, "/cancel")), mutating(missing, changed, models.CodeNotCancellable)},
		{"POST /messages/{id}/settle", settleBody, one(200, under(unknownMessage, "/settle")), mutating(missing, changed, models.CodeMessageNotUnknown)},

		{"POST /scenarios", scenarioBody, one(201, at("/scenarios")), mutating()},
		{"GET /scenarios", "", one(200, at("/scenarios")), scoped()},
		{"GET /scenarios/{id}", "", one(200, activeScenario), scoped(missing)},
		{"PATCH /scenarios/{id}", `{"name":"Other"}`, one(200, activeScenario), mutating(missing, changed)},
		{"POST /scenarios/{id}/activate", "", one(200, under(activeScenario, "/activate")), mutating(missing, changed)},
		{"POST /scenarios/{id}/archive", "", one(200, under(activeScenario, "/archive")), mutating(missing, changed)},
		{"POST /scenarios/{id}/run", runBody, one(202, under(activeScenario, "/run")), mutating(missing, changed, models.CodeScenarioNotActive)},

		{"GET /runs", "", one(200, at("/runs")), scoped()},
		{"GET /runs/{id}", "", one(200, queuedRun), scoped(missing)},
		{"POST /runs/{id}/cancel", "", one(200, under(queuedRun, "/cancel")), mutating(missing, changed, models.CodeNotCancellable)},

		{"POST /events", `{"type":"order.paid"}`, one(201, at("/events")), mutating()},
		{"GET /events", "", one(200, at("/events")), scoped()},
		{"GET /events/{id}", "", one(200, made("/events", `{"type":"order.paid"}`)), scoped(missing)},

		{"POST /webhook-endpoints", endpointBody, one(201, at("/webhook-endpoints")), mutating()},
		{"GET /webhook-endpoints", "", one(200, at("/webhook-endpoints")), scoped()},
		{"GET /webhook-endpoints/{id}", "", one(200, endpoint), scoped(missing)},
		{"PATCH /webhook-endpoints/{id}", `{"max_in_flight":3}`, one(200, endpoint), mutating(missing, changed)},
		{"DELETE /webhook-endpoints/{id}", "", one(204, endpoint), mutating(missing, changed)},
		{"POST /webhook-endpoints/{id}/pause", "", one(200, under(endpoint, "/pause")), mutating(missing, changed)},
		{"POST /webhook-endpoints/{id}/resume", "", one(200, under(endpoint, "/resume")), mutating(missing, changed)},
		{"POST /webhook-endpoints/{id}/rotate-secret", "", one(200, under(endpoint, "/rotate-secret")), mutating(missing, changed)},
		{"POST /webhook-endpoints/{id}/test", "", one(202, under(endpoint, "/test")), mutating(missing, changed, inactive)},

		{"GET /webhook-deliveries", "", one(200, at("/webhook-deliveries")), scoped()},
		{"GET /webhook-deliveries/{id}", "", one(200, delivery), scoped(missing)},
		{
			"POST /webhook-deliveries/{id}/retry", "", one(202, under(delivery, "/retry")),
			mutating(missing, changed, models.CodeDeliveryInFlight, models.CodeEndpointDeleted, models.CodeEventExpired),
		},
		{
			"POST /webhook-deliveries/{id}/redirect", `{}`, one(201, under(delivery, "/redirect")),
			mutating(missing, models.CodeEventExpired, models.CodeInspectorFull),
		},
		{"GET /inspector-requests/{id}", "", one(200, capturedCopy), scoped(missing)},
		{"GET /dead-letters", "", one(200, at("/dead-letters")), scoped()},
		{"GET /dead-letters/groups", "", one(200, at("/dead-letters/groups")), scoped()},
		{"GET /dead-letters/{id}", "", one(200, deadLetter), scoped(missing)},
		{"POST /recoveries", recoveryBody, []grant{
			{202, recoverable, ""}, {200, recoverable, `{"endpoint_id":"` + exampleEndpoint + `","dry_run":true}`},
		}, mutating(inactive)},

		{"GET /jobs", "", one(200, at("/jobs")), scoped()},
		{"GET /jobs/{id}", "", one(200, job), scoped(missing)},
		{"GET /jobs/{id}/results", "", one(200, under(job, "/results")), scoped(missing)},
		{"POST /jobs/{id}/cancel", "", one(202, under(job, "/cancel")), mutating(missing, changed, models.CodeNotCancellable)},

		{"GET /idempotency-keys/{key}", "", one(200, usedKey), scoped(missing, models.CodeIdempotencyKeyInvalid)},
		{"GET /me", "", one(200, at("/me")), anywhere()},
	}
}

func one(status int, path func(*testing.T, *harness) string) []grant {
	return []grant{{status, path, ""}}
}

func at(path string) func(*testing.T, *harness) string {
	return func(*testing.T, *harness) string { return path }
}

// made creates an object and returns its path.
func made(path, body string) func(*testing.T, *harness) string {
	return func(t *testing.T, h *harness) string {
		t.Helper()
		got := h.post(t, path, body)
		require.Equal(t, http.StatusCreated, got.status, "%s", got.body)
		return got.header.Get("Location")
	}
}

func under(path func(*testing.T, *harness) string, rest string) func(*testing.T, *harness) string {
	return func(t *testing.T, h *harness) string { t.Helper(); return path(t, h) + rest }
}

func newExternalID(_ *testing.T, h *harness) string {
	return "/contacts/by-external-id/" + models.NewID("", h.base.clock.Now())
}

func byExternalID(t *testing.T, h *harness) string {
	t.Helper()
	path := newExternalID(t, h)
	got := h.do(t, call{method: http.MethodPut, path: path, body: `{}`})
	require.Equal(t, http.StatusCreated, got.status, "%s", got.body)
	return path
}

// delivery is one to the endpoint that every project of the harness has, nobody
// else's: the tests beside this one make their own.
func delivery(t *testing.T, h *harness) string {
	t.Helper()
	event := strings.TrimPrefix(made("/events", `{"type":"order.paid"}`)(t, h), "/events/")
	rows := h.get(t, "/webhook-deliveries?limit=1&event_id="+event).object(t)["data"].([]any)
	return "/webhook-deliveries/" + rows[0].(map[string]any)["id"].(string)
}

func capturedCopy(t *testing.T, h *harness) string {
	t.Helper()
	return made(delivery(t, h)+"/redirect", `{}`)(t, h)
}

func deadLetter(t *testing.T, h *harness) string {
	t.Helper()
	return "/dead-letters/" + h.bury(t, strings.TrimPrefix(delivery(t, h), "/webhook-deliveries/"), "http_401")
}

// What the examples of the description recover.
const (
	exampleEndpoint = "whe_01KBC4A1N7Q5D8F2J4M6S9V3XZ"
	exampleDelivery = "whd_01KBC4E8XW5C7G9K1P3S6V8Y0Z"
	recoveryBody    = `{"endpoint_id":"` + exampleEndpoint + `"}`
)

// recoverable makes what the examples recover, unless the project has it.
func recoverable(t *testing.T, h *harness) string {
	t.Helper()
	_, _ = h.base.store.Write(t.Context(), h.project, func(tx *store.Tx) error { // fails where it is there already
		return tx.CreateEndpoint(&models.WebhookEndpoint{
			ID: exampleEndpoint, URL: "http://127.0.0.1:9/", EventTypes: []string{"none.such"}, Status: models.EndpointActive,
			MaxInFlight: 1, CreatedAt: tx.Now(),
		})
	})
	h.exec(t, `INSERT INTO webhook_deliveries (project_id, id, event_id, event_type, endpoint_id, status)
		SELECT project_id, $2, id, type, $3, 'held' FROM events WHERE project_id = $1 AND id = $4 ON CONFLICT DO NOTHING`,
		string(h.project), exampleDelivery, exampleEndpoint, strings.TrimPrefix(made("/events", `{"type":"order.paid"}`)(t, h), "/events/"))
	return "/recoveries"
}

func job(t *testing.T, h *harness) string {
	t.Helper()
	got := h.post(t, recoverable(t, h), recoveryBody)
	require.Equal(t, http.StatusAccepted, got.status, "%s", got.body)
	return got.header.Get("Location")
}

func usedKey(t *testing.T, h *harness) string {
	t.Helper()
	key := models.NewID("", h.base.clock.Now())
	require.Equal(t, http.StatusCreated, h.do(t, call{method: http.MethodPost, path: "/contacts", body: `{}`, idempotency: key}).status)
	return "/idempotency-keys/" + key
}
