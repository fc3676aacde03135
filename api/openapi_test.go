package api_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/stretchr/testify/require"

	"github.com/botix-pro/platform/api"
)

// publicPaths need no key and are not counted by a rate limit.
var publicPaths = []string{"/healthz", "/readyz", "/openapi.yaml"}

func load(t *testing.T) *openapi3.T {
	t.Helper()
	doc, err := openapi3.NewLoader().LoadFromData(api.Spec)
	require.NoError(t, err)
	return doc
}

// operation is one route of the description.
type operation struct {
	*openapi3.Operation
	method, path string
}

func (o operation) String() string { return o.method + " " + o.path }

func (o operation) public() bool { return slices.Contains(publicPaths, o.path) }

func (o operation) mutating() bool { return o.method != http.MethodGet }

func operations(doc *openapi3.T) []operation {
	var all []operation
	for path, item := range doc.Paths.Map() {
		for method, op := range item.Operations() {
			op.Parameters = append(slices.Clone(item.Parameters), op.Parameters...)
			all = append(all, operation{Operation: op, method: method, path: path})
		}
	}
	return all
}

func (o operation) parameter(in, name string) *openapi3.Parameter {
	return o.Parameters.GetByInAndName(in, name)
}

// codes are the statuses the operation can answer with.
func (o operation) codes() []string { return slices.Sorted(maps.Keys(o.Responses.Map())) }

func TestTheDescriptionAndItsExamplesAreValid(t *testing.T) {
	t.Parallel()
	require.NoError(t, load(t).Validate(t.Context(), openapi3.EnableExamplesValidation(),
		openapi3.EnableSchemaPatternValidation(), openapi3.EnableSchemaFormatValidation(), openapi3.EnableSchemaDefaultsValidation()))
}

func TestAnExampleThatBreaksItsSchemaIsNoticed(t *testing.T) {
	t.Parallel()
	for name, change := range map[string][2]string{
		"type":             {"email: boris@example.com", "email: 5"},
		"pattern":          {"phone: '+4915112345678'", "phone: '015112345678'"},
		"closed body":      {"email: boris@example.com", "mail: boris@example.com"},
		"missing nullable": {"        phone: null\n        identities: {}\n", "        identities: {}\n"},
		"const":            {"object: event\n", "object: happening\n"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			require.Contains(t, string(api.Spec), change[0])
			broken := strings.ReplaceAll(string(api.Spec), change[0], change[1])
			doc, err := openapi3.NewLoader().LoadFromData([]byte(broken))
			require.NoError(t, err)
			require.Error(t, doc.Validate(t.Context(), openapi3.EnableExamplesValidation()))
		})
	}
}

func TestEveryRouteIsDescribed(t *testing.T) {
	t.Parallel()
	var routes []string
	for _, op := range operations(load(t)) {
		routes = append(routes, op.String())
	}
	require.ElementsMatch(t, routes, []string{
		"POST /contacts", "GET /contacts", "GET /contacts/{id}", "PATCH /contacts/{id}", "DELETE /contacts/{id}",
		"PUT /contacts/by-external-id/{external_id}", "POST /contacts/bulk",
		"POST /messages", "GET /messages", "GET /messages/{id}", "POST /messages/{id}/cancel", "POST /messages/{id}/settle",
		"POST /scenarios", "GET /scenarios", "GET /scenarios/{id}", "PATCH /scenarios/{id}",
		"POST /scenarios/{id}/activate", "POST /scenarios/{id}/archive", "POST /scenarios/{id}/run",
		"GET /runs", "GET /runs/{id}", "POST /runs/{id}/cancel",
		"POST /events", "GET /events", "GET /events/{id}",
		"POST /webhook-endpoints", "GET /webhook-endpoints", "GET /webhook-endpoints/{id}",
		"PATCH /webhook-endpoints/{id}", "DELETE /webhook-endpoints/{id}", "POST /webhook-endpoints/{id}/pause",
		"POST /webhook-endpoints/{id}/resume", "POST /webhook-endpoints/{id}/rotate-secret",
		"POST /webhook-endpoints/{id}/test",
		"GET /webhook-deliveries", "GET /webhook-deliveries/{id}", "POST /webhook-deliveries/{id}/retry",
		"POST /webhook-deliveries/{id}/redirect", "GET /inspector-requests/{id}",
		"GET /dead-letters", "GET /dead-letters/{id}", "GET /dead-letters/groups", "POST /recoveries",
		"GET /jobs", "GET /jobs/{id}", "POST /jobs/{id}/cancel", "GET /jobs/{id}/results",
		"GET /idempotency-keys/{key}", "GET /me", "GET /healthz", "GET /readyz", "GET /openapi.yaml",
	})
}

func TestEveryOperationTellsAPersonWhatItDoes(t *testing.T) {
	t.Parallel()
	for _, op := range operations(load(t)) {
		require.NotEmpty(t, op.OperationID, op)
		require.NotEmpty(t, op.Summary, op)
		require.NotEmpty(t, op.Description, op)
		require.Len(t, op.Tags, 1, op)
	}
}

// Contract §3: every mutating request must carry an Idempotency-Key, and §1 gives
// the refusals that come before and after its look-up.
func TestMutatingOperationsAskForAnIdempotencyKey(t *testing.T) {
	t.Parallel()
	for _, op := range operations(load(t)) {
		key := op.parameter("header", "Idempotency-Key")
		if !op.mutating() {
			require.Nil(t, key, op)
			continue
		}
		require.NotNil(t, key, op)
		require.True(t, key.Required, op)
		require.Subset(t, op.codes(), []string{"400", "401", "403", "409", "413", "415", "422", "429", "500", "503"}, op)
	}
}

// Contract §1: objects carry an ETag and If-Match is honoured.
func TestChangesToAnObjectHonourIfMatch(t *testing.T) {
	t.Parallel()
	for _, op := range operations(load(t)) {
		// A redirect makes a copy and leaves the delivery as it is.
		creates := op.method == http.MethodPost && (!strings.Contains(op.path, "{id}") || op.OperationID == "redirectWebhookDelivery")
		changes := op.mutating() && !creates
		require.Equal(t, changes, op.parameter("header", "If-Match") != nil, op)
		require.Equal(t, changes, slices.Contains(op.codes(), "412"), op)
	}
}

func TestOnlyProbesAndTheDescriptionArePublic(t *testing.T) {
	t.Parallel()
	doc := load(t)
	require.Equal(t, openapi3.SecurityRequirements{{"apiKey": []string{}}}, doc.Security)
	for _, op := range operations(doc) {
		if op.public() {
			require.NotNil(t, op.Security, op)
			require.Empty(t, *op.Security, op)
			continue
		}
		require.Nil(t, op.Security, op)
		require.Subset(t, op.codes(), []string{"401", "429", "500", "503"}, op)
		require.NotNil(t, op.parameter("header", "X-BOTIX-Version"), op)
	}
}

// Contract §1, §3 and §4: the headers that come with every response.
func TestEveryResponseAnnouncesItsHeaders(t *testing.T) {
	t.Parallel()
	limits := []string{"X-RateLimit-Limit", "X-RateLimit-Remaining", "X-RateLimit-Reset", "RateLimit-Policy", "RateLimit"}
	for _, op := range operations(load(t)) {
		for status, response := range op.Responses.Map() {
			name := fmt.Sprintf("%s %s", op, status)
			headers := response.Value.Headers
			requireHeaders(t, name, headers, "X-Request-Id")
			if !op.public() {
				requireHeaders(t, name, headers, limits...)
			}
			switch status {
			case "429", "503":
				requireHeaders(t, name, headers, "Retry-After")
			case "201":
				requireHeaders(t, name, headers, "Location", "ETag")
			case "409":
				require.Contains(t, headers, "Retry-After", name)
			}
			if op.mutating() && (status[0] == '2' || slices.Contains([]string{"404", "409", "412"}, status)) {
				require.Contains(t, headers, "Idempotent-Replayed", name)
				require.Contains(t, headers, "X-Original-Request-Id", name)
			}
		}
	}
}

func requireHeaders(t *testing.T, response string, headers openapi3.Headers, names ...string) {
	t.Helper()
	for _, name := range names {
		require.Contains(t, headers, name, response)
		require.True(t, headers[name].Value.Required, "%s: %s is always there", response, name)
	}
}

// Contract §2: every error is a problem, and every code has its place.
func TestErrorsAreProblems(t *testing.T) {
	t.Parallel()
	for _, op := range operations(load(t)) {
		for status, response := range op.Responses.Map() {
			if status[0] == '2' {
				continue
			}
			require.Len(t, response.Value.Content, 1, "%s %s", op, status)
			media := response.Value.Content["application/problem+json"]
			require.NotNil(t, media, "%s %s", op, status)
			require.Equal(t, "#/components/schemas/Problem", media.Schema.Ref, "%s %s", op, status)
		}
	}
}

func TestEveryErrorCodeHasAnExampleWithItsStatus(t *testing.T) {
	t.Parallel()
	doc := load(t)
	seen := map[string]int{}
	for name, response := range doc.Components.Responses {
		media := response.Value.Content["application/problem+json"]
		if media == nil {
			continue
		}
		for _, example := range media.Examples {
			problem := decodeExample[api.Problem](t, example.Value)
			seen[problem.Code] = problem.Status
			require.True(t, strings.HasSuffix(problem.Type, "/docs/error-codes#"+problem.Code), name)
		}
	}
	for _, code := range doc.Components.Schemas["ErrorCode"].Value.Enum {
		require.Contains(t, seen, code)
	}
	for _, op := range operations(doc) {
		for status, response := range op.Responses.Map() {
			if media := response.Value.Content["application/problem+json"]; media != nil {
				requireStatus(t, status, media)
			}
		}
	}
}

func requireStatus(t *testing.T, status string, media *openapi3.MediaType) {
	t.Helper()
	for _, example := range media.Examples {
		problem := decodeExample[api.Problem](t, example.Value)
		require.Equal(t, status, strconv.Itoa(problem.Status), problem.Code)
	}
}

func decodeExample[T any](t *testing.T, example *openapi3.Example) T {
	t.Helper()
	raw, err := json.Marshal(example.Value)
	require.NoError(t, err)
	var value T
	require.NoError(t, json.Unmarshal(raw, &value))
	return value
}

// Contract §1: an unknown field is an error, never silently dropped.
func TestRequestBodiesAreClosedAndHaveExamples(t *testing.T) {
	t.Parallel()
	mayBeLeftOut := []string{"resumeWebhookEndpoint", "rotateWebhookEndpointSecret", "redirectWebhookDelivery"}
	for _, op := range operations(load(t)) {
		if op.RequestBody == nil {
			continue
		}
		require.NotEqual(t, slices.Contains(mayBeLeftOut, op.OperationID), op.RequestBody.Value.Required, op)
		media := op.RequestBody.Value.Content["application/json"]
		require.NotNil(t, media, op)
		require.NotEmpty(t, media.Examples, op)
		schema := media.Schema.Value
		if schema.Type.Is("array") {
			schema = schema.Items.Value
		}
		closed := schema.AdditionalProperties.Has
		require.NotNil(t, closed, op)
		require.False(t, *closed, op)
	}
}

// Fields of answers are always there, empty ones as null, except for these two.
func TestFieldsOfAnswersAreAlwaysThere(t *testing.T) {
	t.Parallel()
	optional := []string{"WebhookEndpoint.warnings", "Problem.errors"}
	for name, ref := range load(t).Components.Schemas {
		schema := ref.Value
		if !schema.Type.Is("object") || (schema.AdditionalProperties.Has != nil && !*schema.AdditionalProperties.Has) {
			continue
		}
		for field := range schema.Properties {
			if slices.Contains(optional, name+"."+field) {
				continue
			}
			require.Contains(t, schema.Required, field, name)
		}
	}
}

// Contract §8: every object has id, object and created_at, in the open or by
// extending one that has.
func TestObjectsNameThemselves(t *testing.T) {
	t.Parallel()
	schemas := load(t).Components.Schemas
	for name, object := range map[string]string{
		"Contact": "contact", "Event": "event", "WebhookEndpoint": "webhook_endpoint",
		"WebhookDelivery": "webhook_delivery", "IdempotencyKey": "idempotency_key", "Me": "me",
		"DeadLetter": "dead_letter", "InspectorRequest": "inspector_request", "Job": "job",
	} {
		require.Contains(t, schemas, name)
		properties := schemas[name].Value.Properties
		require.Contains(t, properties, "id", name)
		require.Contains(t, properties, "created_at", name)
		require.Equal(t, object, properties["object"].Value.Const, name)
	}
}

// Contract §1: limit 1–100, default 25; {data, next_cursor}.
func TestListsArePaged(t *testing.T) {
	t.Parallel()
	for _, op := range operations(load(t)) {
		if !strings.HasPrefix(op.OperationID, "list") {
			require.Nil(t, op.parameter("query", "limit"), op)
			continue
		}
		limit := op.parameter("query", "limit").Schema.Value
		require.Equal(t, []float64{1, 100, 25}, []float64{*limit.Min, *limit.Max, limit.Default.(float64)}, op)
		require.NotNil(t, op.parameter("query", "cursor"), op)
		page := op.Responses.Value("200").Value.Content["application/json"].Schema.Value
		require.ElementsMatch(t, []string{"data", "next_cursor"}, slices.Collect(maps.Keys(page.Properties)), op)
	}
}
