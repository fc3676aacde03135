package app

import (
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/botix-pro/platform/app/models"
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
}

func (r routeCase) method() string { method, _, _ := strings.Cut(r.route, " "); return method }

func (r routeCase) reads() bool { return r.method() == http.MethodGet || r.method() == http.MethodHead }

// absent is the route's path, about something that does not exist.
func (r routeCase) absent() string {
	_, path, _ := strings.Cut(r.route, " ")
	prefix := map[string]string{
		"contacts": models.PrefixContact, "events": models.PrefixEvent,
		"webhook-endpoints": models.PrefixEndpoint, "webhook-deliveries": models.PrefixDelivery,
	}[strings.Split(path, "/")[1]]
	return strings.NewReplacer("{id}", prefix+"01ARZ3NDEKTSV4RRFFQ69G5FAV", "{external_id}", "absent", "{key}", "absent").Replace(path)
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
		models.CodePayloadTooLarge, models.CodeUnsupportedMediaType, models.CodeValidationFailed,
	})
}

// routeCases is the table: each route with everything it may answer.
func routeCases() []routeCase {
	const missing, changed, taken = models.CodeNotFound, models.CodePreconditionFailed, models.CodeContactExists
	contact, endpoint := made("/contacts", `{"name":"Ada"}`), made("/webhook-endpoints", endpointBody)
	return []routeCase{
		{"POST /contacts", `{"name":"Ada"}`, one(201, at("/contacts")), mutating(taken)},
		{"GET /contacts", "", one(200, at("/contacts")), scoped()},
		{"GET /contacts/{id}", "", one(200, contact), scoped(missing)},
		{"PATCH /contacts/{id}", `{"name":"Ada"}`, one(200, contact), mutating(missing, changed, taken)},
		{"DELETE /contacts/{id}", "", one(204, contact), mutating(missing, changed)},
		{"PUT /contacts/by-external-id/{external_id}", `{"name":"Ada"}`, []grant{
			{201, newExternalID}, {200, byExternalID},
		}, mutating(changed)},

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

		{"GET /webhook-deliveries", "", one(200, at("/webhook-deliveries")), scoped()},
		{"GET /webhook-deliveries/{id}", "", one(200, delivery), scoped(missing)},

		{"GET /idempotency-keys/{key}", "", one(200, usedKey), scoped(missing, models.CodeIdempotencyKeyInvalid)},
		{"GET /me", "", one(200, at("/me")), anywhere()},
	}
}

func one(status int, path func(*testing.T, *harness) string) []grant { return []grant{{status, path}} }

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

// delivery is one to the endpoint that every project of the harness has.
func delivery(t *testing.T, h *harness) string {
	t.Helper()
	made("/events", `{"type":"order.paid"}`)(t, h)
	rows := h.get(t, "/webhook-deliveries?limit=1").object(t)["data"].([]any)
	return "/webhook-deliveries/" + rows[0].(map[string]any)["id"].(string)
}

func usedKey(t *testing.T, h *harness) string {
	t.Helper()
	key := models.NewID("", h.base.clock.Now())
	require.Equal(t, http.StatusCreated, h.do(t, call{method: http.MethodPost, path: "/contacts", body: `{}`, idempotency: key}).status)
	return "/idempotency-keys/" + key
}
