package app

import (
	"log/slog"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/botix-pro/platform/app/handlers"
	"github.com/botix-pro/platform/app/models"
)

// Every route that the server answers is in the description, and the other way
// round.
func TestRoutesAndDescriptionAreTheSame(t *testing.T) {
	t.Parallel()
	document := description(t)
	var described, served []string
	for path, item := range document.Paths.Map() {
		for method := range item.Operations() {
			described = append(described, method+" "+path)
		}
	}
	b, err := newBase(t.Context(), testConfig(t), slog.New(slog.DiscardHandler), "test")
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, b.close()) })
	parameter := regexp.MustCompile(`:([a-z_]+)`)
	for _, route := range handlers.New(b.store, nil).Routes() {
		served = append(served, route.Method+" "+parameter.ReplaceAllString(route.Path, "{$1}"))
	}
	served = append(served, "GET /healthz", "GET /readyz", "GET /openapi.yaml")
	slices.Sort(described)
	slices.Sort(served)
	require.Equal(t, described, served)
}

// Each route either reads or mutates, and only what mutates writes: there is no
// way to change something without an idempotency key.
func TestEveryMutatingRouteNeedsAKey(t *testing.T) {
	t.Parallel()
	h := newHarness(t)
	for _, route := range handlers.New(h.base.store, nil).Routes() {
		reading := route.Method == http.MethodGet
		require.Equal(t, reading, route.Read != nil, route.Path)
		require.Equal(t, !reading, route.Mutate != nil, route.Path)
		path := strings.NewReplacer(":id", "x", ":external_id", "x", ":key", "x").Replace(route.Path)
		if reading {
			continue
		}
		got := h.do(t, call{method: route.Method, path: path, body: `{}`, idempotency: "-"})
		require.Equal(t, models.CodeIdempotencyKeyRequired, got.code(t), "%s %s", route.Method, route.Path)
	}
}

// No route shows another project's object, or tells that it exists.
func TestOtherProjectsObjectsDoNotExist(t *testing.T) {
	t.Parallel()
	h := newHarness(t, loopback)
	_, stranger := h.newProject(t, "business")
	ids := map[string]string{
		"contacts":          h.post(t, "/contacts", `{"external_id":"x"}`).object(t)["id"].(string),
		"messages":          strings.TrimPrefix(unknownMessage(t, h), "/messages/"),
		"scenarios":         strings.TrimPrefix(activeScenario(t, h), "/scenarios/"),
		"runs":              strings.TrimPrefix(queuedRun(t, h), "/runs/"),
		"events":            h.post(t, "/events", `{"type":"a.b"}`).object(t)["id"].(string),
		"webhook-endpoints": h.post(t, "/webhook-endpoints", endpointBody).object(t)["id"].(string),
	}
	ids["webhook-deliveries"] = h.get(t, "/webhook-deliveries").object(t)["data"].([]any)[0].(map[string]any)["id"].(string)
	ids["dead-letters"] = h.bury(t, ids["webhook-deliveries"], "http_401")
	ids["inspector-requests"] = h.post(t, "/webhook-deliveries/"+ids["webhook-deliveries"]+"/redirect", "").object(t)["id"].(string)
	recovery := `{"endpoint_id":"` + ids["webhook-endpoints"] + `"}`
	ids["jobs"] = h.post(t, "/recoveries", recovery).object(t)["id"].(string)
	before := h.dump(t)
	for _, route := range handlers.New(h.base.store, nil).Routes() {
		resource, rest, one := strings.Cut(strings.TrimPrefix(route.Path, "/"), "/:id")
		if !one {
			continue
		}
		body := map[string]string{http.MethodPost: "", http.MethodPatch: `{}`}[route.Method]
		if special := map[string]string{"/settle": settleBody, "/run": runBody}[rest]; special != "" {
			body = special
		}
		got := h.do(t, call{method: route.Method, path: "/" + resource + "/" + ids[resource] + rest, body: body, key: stranger})
		require.Equal(t, models.CodeNotFound, got.code(t), "%s %s", route.Method, route.Path)
	}
	for _, body := range []string{recovery, `{"delivery_ids":["` + ids["webhook-deliveries"] + `"]}`} {
		got := h.do(t, call{method: http.MethodPost, path: "/recoveries", body: body, key: stranger})
		require.Equal(t, "NOT_FOUND", got.object(t)["errors"].([]any)[0].(map[string]any)["code"])
	}
	for _, list := range []string{"/contacts", "/messages", "/scenarios", "/runs", "/events", "/webhook-deliveries", "/dead-letters", "/dead-letters/groups", "/jobs"} {
		got := h.do(t, call{method: http.MethodGet, path: list, key: stranger})
		for _, row := range got.object(t)["data"].([]any) {
			require.NotContains(t, ids, row.(map[string]any)["id"], list)
		}
	}
	put := h.do(t, call{method: http.MethodPut, path: "/contacts/by-external-id/x", body: `{"name":"mine"}`, key: stranger})
	require.Equal(t, http.StatusCreated, put.status, "the same external_id is free in another project")
	require.Equal(t, models.CodeNotFound, h.do(t, call{method: http.MethodGet, path: "/idempotency-keys/k", key: stranger}).code(t))
	require.Equal(t, before, h.dump(t), "nothing of the project has changed")
}

// dump is everything of the project that another one could try to change.
func (h *harness) dump(t *testing.T) (text string) {
	t.Helper()
	err := h.base.store.DB().QueryRowContext(t.Context(), `
		SELECT concat((SELECT json_agg(c ORDER BY id) FROM contacts c WHERE project_id = $1),
		              (SELECT json_agg(m ORDER BY id) FROM messages m WHERE project_id = $1),
		              (SELECT json_agg(s ORDER BY id) FROM scenarios s WHERE project_id = $1),
		              (SELECT json_agg(r ORDER BY id) FROM scenario_runs r WHERE project_id = $1),
		              (SELECT json_agg(e ORDER BY id) FROM webhook_endpoints e WHERE project_id = $1),
		              (SELECT json_agg(d ORDER BY id) FROM webhook_deliveries d WHERE project_id = $1),
		              (SELECT json_agg(b ORDER BY id) FROM inspector_bins b WHERE project_id = $1),
		              (SELECT json_agg(q ORDER BY id) FROM inspector_requests q WHERE project_id = $1),
		              (SELECT json_agg(l ORDER BY id) FROM dead_letters l WHERE project_id = $1),
		              (SELECT json_agg(j ORDER BY id) FROM jobs j WHERE project_id = $1))`, string(h.project)).Scan(&text)
	require.NoError(t, err)
	return text
}
