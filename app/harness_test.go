package app

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/getkin/kin-openapi/openapi3filter"
	"github.com/getkin/kin-openapi/routers"
	"github.com/getkin/kin-openapi/routers/legacy"
	"github.com/stretchr/testify/require"

	"github.com/botix-pro/platform/api"
	"github.com/botix-pro/platform/app/middleware"
	"github.com/botix-pro/platform/app/models"
	"github.com/botix-pro/platform/app/store"
	"github.com/botix-pro/platform/internal/clock"
	"github.com/botix-pro/platform/internal/config"
	"github.com/botix-pro/platform/internal/seal"
	"github.com/botix-pro/platform/internal/testenv"
)

func TestMain(m *testing.M) {
	// Where no logger is handed over, such as in GORM: failing is what many of
	// these tests do.
	slog.SetDefault(slog.New(slog.DiscardHandler))
	testenv.Main(m)
}

// harness is a server of its own on the package's database, with a project and
// a key. Every answer is held against api/openapi.yaml.
type harness struct {
	base    *base
	notes   *notes
	url     string
	project models.ProjectID
	key     string
	mu      sync.Mutex
	hinted  []store.Lane
}

func newHarness(t *testing.T, change ...func(*config.Config)) *harness {
	t.Helper()
	cfg := testConfig(t)
	for _, apply := range change {
		apply(&cfg)
	}
	b, err := newBase(t.Context(), cfg, slog.New(slog.DiscardHandler), "test")
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, b.close()) })
	h := &harness{base: b, notes: newNotes(b)}
	h.serve(t, apiRoutes(b))
	h.project, h.key = h.newProject(t, "business")
	return h
}

// serve answers from now on with these routes behind authentication.
func (h *harness) serve(t *testing.T, routes []middleware.Route) {
	t.Helper()
	server := httptest.NewServer(newEchoWith(h.base, h.notes, h.hint, routes))
	t.Cleanup(server.Close)
	h.url = server.URL
}

// alone gives a harness a database of its own: whoever runs jobs runs all that
// there are, and must not run those that another test is looking at.
func alone(t *testing.T) func(*config.Config) {
	t.Helper()
	url := testenv.FreshDatabaseURL(t)
	return func(c *config.Config) { c.DatabaseURL = url }
}

func testConfig(t *testing.T) config.Config {
	t.Helper()
	cfg, err := config.Load([]string{
		"DATABASE_URL=" + testenv.DatabaseURL(t), "REDIS_URL=" + testenv.RedisURL(t),
		"PUBLIC_URL=https://api.example.com", "ENCRYPTION_KEYS=" + seal.NewKey(), "DATABASE_MAX_CONNS=10",
		"UNAUTHENTICATED_RATE_PER_MINUTE=1000",
	})
	require.NoError(t, err)
	return cfg
}

func (h *harness) hint(lanes []store.Lane) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.hinted = append(h.hinted, lanes...)
}

// newProject makes a project on the plan, with a key that may do everything.
func (h *harness) newProject(t *testing.T, plan string, scopes ...models.Scope) (models.ProjectID, string) {
	t.Helper()
	if len(scopes) == 0 {
		scopes = []models.Scope{models.ScopeRead, models.ScopeWrite}
	}
	now := clock.System{}.Now()
	project := models.ProjectID(models.NewID(models.PrefixProject, now))
	secret, err := models.NewAPIKeySecret(models.ModeLive)
	require.NoError(t, err)
	_, err = h.base.store.Write(t.Context(), project, func(tx *store.Tx) error {
		tx.CreateProject(models.Project{Name: "Test", Mode: models.ModeLive, PlanID: plan, APIVersion: models.CurrentAPIVersion, CreatedAt: now})
		if err := tx.CreateAPIKey(t.Context(), models.APIKey{
			ID: models.NewID(models.PrefixKey, now), Name: "Test", Prefix: models.ShownPrefix(secret),
			Hash: models.HashAPIKey(secret), Scopes: scopes, CreatedAt: now,
		}); err != nil {
			return err
		}
		return tx.CreateEndpoint(&models.WebhookEndpoint{
			ID: models.NewID(models.PrefixEndpoint, now), URL: "https://example.com", EventTypes: []string{"*"},
			Status: models.EndpointActive, MaxInFlight: 10, CreatedAt: now,
		})
	})
	require.NoError(t, err)
	return project, secret
}

// call is one request; empty fields take what a well-behaved client sends.
type call struct {
	method, path, body string
	key                string            // API key; "-" for none
	idempotency        string            // "-" for none
	header             map[string]string // wins over the rest
}

// answer is a response read to its end.
type answer struct {
	status int
	header http.Header
	body   []byte
}

func (a answer) code(t *testing.T) models.Code { return models.Code(a.object(t)["code"].(string)) }

func (a answer) object(t *testing.T) map[string]any {
	t.Helper()
	var object map[string]any
	require.NoError(t, json.Unmarshal(a.body, &object), "%s", a.body)
	return object
}

func (h *harness) do(t *testing.T, c call) answer {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), c.method, h.url+c.path, strings.NewReader(c.body))
	require.NoError(t, err)
	if c.key != "-" {
		request.Header.Set("Authorization", "Bearer "+or(c.key, h.key))
	}
	if c.method != http.MethodGet && c.method != http.MethodHead && c.idempotency != "-" {
		request.Header.Set("Idempotency-Key", or(c.idempotency, models.NewID("", clock.System{}.Now())))
	}
	if c.body != "" {
		request.Header.Set("Content-Type", "application/json")
	}
	for name, value := range c.header {
		request.Header.Set(name, value)
	}
	// A transport of its own: no connection is shared, nothing is sent twice.
	response, err := (&http.Transport{DisableKeepAlives: true}).RoundTrip(request)
	require.NoError(t, err)
	defer func() { _ = response.Body.Close() }()
	body, err := io.ReadAll(response.Body)
	require.NoError(t, err)
	got := answer{status: response.StatusCode, header: response.Header, body: body}
	checkAgainstSpec(t, request, got)
	return got
}

func or(value, otherwise string) string {
	if value == "" {
		return otherwise
	}
	return value
}

// loadDocument reads the description once; nobody changes it.
var loadDocument = sync.OnceValues(func() (*openapi3.T, error) {
	document, err := openapi3.NewLoader().LoadFromData(api.Spec)
	if err == nil {
		document.Servers = nil
	}
	return document, err
})

func description(t *testing.T) *openapi3.T {
	t.Helper()
	document, err := loadDocument()
	require.NoError(t, err)
	return document
}

var loadSpec = sync.OnceValues(func() (routers.Router, error) {
	document, err := loadDocument()
	if err != nil {
		return nil, err
	}
	return legacy.NewRouter(document)
})

// checkAgainstSpec fails unless the description knows the route and the answer
// is what it describes. A path or method that the API does not have is not in it.
func checkAgainstSpec(t *testing.T, request *http.Request, got answer) {
	t.Helper()
	router, err := loadSpec()
	require.NoError(t, err)
	if got.status == http.StatusMethodNotAllowed || request.Method == http.MethodHead {
		return // neither has an operation in the description
	}
	request = request.Clone(context.Background())
	// The router takes an escaped slash for a real one; any other character will do.
	request.URL = &url.URL{Path: strings.ReplaceAll(request.URL.EscapedPath(), "%2F", "_"), RawQuery: request.URL.RawQuery}
	route, params, err := router.FindRoute(request)
	if err != nil {
		require.Contains(t, []int{http.StatusNotFound, http.StatusNoContent}, got.status, "%s %s is not in the description", request.Method, request.URL.Path)
		return
	}
	err = openapi3filter.ValidateResponse(context.Background(), &openapi3filter.ResponseValidationInput{
		RequestValidationInput: &openapi3filter.RequestValidationInput{
			Request: request, PathParams: params, Route: route,
			Options: &openapi3filter.Options{AuthenticationFunc: openapi3filter.NoopAuthenticationFunc},
		},
		Status: got.status, Header: got.header, Body: io.NopCloser(bytes.NewReader(got.body)),
		Options: &openapi3filter.Options{IncludeResponseStatus: true},
	})
	require.NoError(t, err, "%s %s answered %d, which is not what api/openapi.yaml describes", request.Method, request.URL.Path, got.status)
}
