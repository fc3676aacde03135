package app

import (
	"net/http"
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/stretchr/testify/require"

	"github.com/botix-pro/platform/app/demo"
	"github.com/botix-pro/platform/app/models"
	"github.com/botix-pro/platform/app/scenarios"
)

const (
	scenarioBody = `{"name":"Pause","steps":[{"id":"pause","type":"wait","duration":"1h"},{"id":"tell","type":"emit_event","event_type":"test.told"}]}`
	runBody      = `{"contact_id":"` + exampleContact + `"}`
)

// activeScenario is one that can be run, in a project that has the examples'
// contact. No worker runs here.
func activeScenario(t *testing.T, h *harness) string {
	t.Helper()
	someMessages(t, h)
	path := made("/scenarios", scenarioBody)(t, h)
	require.Equal(t, http.StatusOK, h.post(t, path+"/activate", "").status)
	return path
}

// queuedRun is one that was accepted.
func queuedRun(t *testing.T, h *harness) string {
	t.Helper()
	got := h.post(t, activeScenario(t, h)+"/run", runBody)
	require.Equal(t, http.StatusAccepted, got.status, "%s", got.body)
	return got.header.Get("Location")
}

// A scenario's life: each change is a new ETag, each change of name or steps a
// new version as well, and what changes nothing neither.
func TestScenarioLife(t *testing.T) {
	t.Parallel()
	h := newHarness(t, loopback)
	created := h.post(t, "/scenarios", scenarioBody)
	require.Equal(t, http.StatusCreated, created.status)
	path := created.header.Get("Location")
	step := func(method, further, body string) (status any, version any, tag string) {
		got := h.do(t, call{method: method, path: path + further, body: body})
		require.Equal(t, http.StatusOK, got.status, "%s", got.body)
		require.JSONEq(t, string(got.body), string(h.get(t, path).body), "it reads back as it was answered")
		return got.object(t)["status"], got.object(t)["version"], got.header.Get("ETag")
	}
	for i, c := range []struct {
		method, further, body, status string
		version                       float64
		tag                           string
	}{
		{"GET", "", "", "draft", 1, `"1"`},
		{"PATCH", "", `{}`, "draft", 1, `"1"`},
		{"PATCH", "", `{"name":"Pause"}`, "draft", 1, `"1"`},
		{"PATCH", "", `{"name":"Other"}`, "draft", 2, `"2"`},
		{"POST", "/activate", "", "active", 2, `"3"`},
		{"POST", "/activate", "", "active", 2, `"3"`},
		{"PATCH", "", `{"steps":[{"id":"a","type":"wait","duration":"1s"}]}`, "active", 3, `"4"`},
		{"POST", "/archive", "", "archived", 3, `"5"`},
		{"POST", "/activate", "", "active", 3, `"6"`},
	} {
		status, version, tag := step(c.method, c.further, c.body)
		require.Equal(t, []any{c.status, c.version, c.tag}, []any{status, version, tag}, "change %d", i)
	}
	stale := h.do(t, call{method: http.MethodPatch, path: path, body: `{"name":"x"}`, header: map[string]string{"If-Match": `"1"`}})
	require.Equal(t, models.CodePreconditionFailed, stale.code(t))
}

// A definition's faults point into the request's JSON, also those that only the
// outside knows of: where a URL leads.
func TestScenarioFaultsPointIntoTheBody(t *testing.T) {
	t.Parallel()
	h := newHarness(t)
	for steps, want := range map[string]string{
		`[{"id":"a","type":"wait","until":"2020-01-01T00:00:00Z"}]`:                                                                 "/steps/0/until OUT_OF_RANGE",
		`[{"id":"a","type":"condition","if":{"field":"contact.name","op":"?"},"then":"end"}]`:                                       "/steps/0/if/op INVALID_FORMAT",
		`[{"id":"a","type":"http_request","method":"GET","url":"http://127.0.0.1/x"}]`:                                              "/steps/0/url REFUSED",
		`[{"id":"a","type":"http_request","method":"GET","url":"http://user:pass@example.com/x"}]`:                                  "/steps/0/url REFUSED",
		`[{"id":"a","type":"http_request","method":"GET","url":"https://192.0.2.1/x","headers":{"idempotency-key":"1"}}]`:           "/steps/0/headers/idempotency-key RESERVED",
		`[{"id":"a","type":"http_request","method":"GET","url":"https://1.1.1.1/{{contact.id}}","headers":{"Host":"example.org"}}]`: "/steps/0/headers/Host INVALID_FORMAT",
	} {
		got := h.post(t, "/scenarios", `{"name":"x","steps":`+steps+`}`)
		require.Equal(t, models.CodeValidationFailed, got.code(t), "%s", got.body)
		faults := got.object(t)["errors"].([]any)
		last := faults[len(faults)-1].(map[string]any)
		require.Equal(t, want, last["pointer"].(string)+" "+last["code"].(string), "%s", got.body)
	}
	path := made("/scenarios", scenarioBody)(t, h)
	for body, pointer := range map[string]string{`{"steps":null}`: "/steps", `{"name":null}`: "/name", `{"steps":[]}`: "/steps", `{"status":"active"}`: "/status"} {
		got := h.do(t, call{method: http.MethodPatch, path: path, body: body})
		require.Equal(t, models.CodeValidationFailed, got.code(t), "%s", got.body)
		require.Equal(t, pointer, got.object(t)["errors"].([]any)[0].(map[string]any)["pointer"])
	}
}

// A run is accepted at the scenario's present version, with all its steps to
// come; one that cannot be is refused with the reason.
func TestRunIsAcceptedOrRefused(t *testing.T) {
	t.Parallel()
	h := newHarness(t, loopback)
	path := activeScenario(t, h)
	got := h.post(t, path+"/run", `{"contact_id":"`+exampleContact+`","variables":{"n":1}}`)
	require.Equal(t, http.StatusAccepted, got.status, "%s", got.body)
	require.JSONEq(t, string(got.body), string(h.get(t, got.header.Get("Location")).body), "it reads back as it was answered")
	run := got.object(t)
	require.Equal(t, "queued", run["status"])
	require.EqualValues(t, 1, run["scenario_version"])
	require.Len(t, run["steps"], 2)
	for body, want := range map[string]string{
		`{"contact_id":"ctc_01ARZ3NDEKTSV4RRFFQ69G5FAV"}`:        "/contact_id NOT_FOUND",
		`{"contact_id":"x"}`:                                     "/contact_id NOT_FOUND",
		`{"contact_id":"` + exampleContact + `","variables":[]}`: "/variables INVALID_TYPE",
		`{"contact_id":"` + exampleContact + `","variables":{"x":"` + strings.Repeat("x", 16<<10) + `"}}`: "/variables TOO_LONG",
	} {
		refused := h.post(t, path+"/run", body)
		require.Equal(t, models.CodeValidationFailed, refused.code(t))
		fault := refused.object(t)["errors"].([]any)[0].(map[string]any)
		require.Equal(t, want, fault["pointer"].(string)+" "+fault["code"].(string))
	}
	draft := made("/scenarios", scenarioBody)(t, h)
	require.Equal(t, models.CodeScenarioNotActive, h.post(t, draft+"/run", runBody).code(t))
}

func TestRunsAreFiltered(t *testing.T) {
	t.Parallel()
	h := newHarness(t, loopback)
	first, second := queuedRun(t, h), queuedRun(t, h)
	require.Equal(t, http.StatusOK, h.post(t, first+"/cancel", "").status)
	scenario := h.get(t, second).object(t)["scenario_id"].(string)
	for query, want := range map[string]int{
		"": 2, "status=queued": 1, "status=cancelled": 1, "scenario_id=" + scenario: 1, "contact_id=" + exampleContact: 2, "contact_id=x": 0,
		"scenario_id=" + scenario + "&status=cancelled": 0,
	} {
		require.Len(t, h.get(t, "/runs?"+query).object(t)["data"], want, query)
	}
	require.Equal(t, http.StatusBadRequest, h.get(t, "/runs?status=lost").status)
	page := h.get(t, "/runs?limit=1").object(t)
	require.Len(t, h.get(t, "/runs?limit=1&cursor="+page["next_cursor"].(string)).object(t)["data"], 1)
	require.Len(t, h.get(t, "/scenarios?status=active").object(t)["data"], 2)
	require.Empty(t, h.get(t, "/scenarios?status=draft").object(t)["data"])
	require.Equal(t, http.StatusBadRequest, h.get(t, "/scenarios?status=lost").status)
}

// A scenario's headers are kept like secrets, with the answers that show them.
func TestScenarioHeadersAreNotInTheClear(t *testing.T) {
	t.Parallel()
	h := newHarness(t, loopback)
	c := call{method: http.MethodPost, path: "/scenarios", idempotency: "k", body: `{"name":"x","steps":[
		{"id":"a","type":"http_request","method":"GET","url":"http://127.0.0.1/","headers":{"X-Token":"hunter2"}}]}`}
	first, again := h.do(t, c), h.do(t, c)
	require.Equal(t, http.StatusCreated, first.status, "%s", first.body)
	require.Equal(t, first.body, again.body)
	require.Contains(t, string(h.get(t, first.header.Get("Location")).body), "hunter2")
	require.NotContains(t, h.get(t, "/idempotency-keys/k").object(t)["response"].(map[string]any)["body"], "secret")
	for _, table := range []string{"scenario_versions", "idempotency_keys"} {
		var found bool
		require.NoError(t, h.base.store.DB().QueryRowContext(t.Context(), `
			SELECT bool_or(position(convert_to('hunter2', 'UTF8') IN convert_to(r::text, 'UTF8')) > 0
			               OR position(encode('hunter2', 'hex') IN r::text) > 0) FROM `+table+` r WHERE project_id = $1`, string(h.project)).Scan(&found))
		require.False(t, found, table)
	}
}

// What a developer finds after the first start is a scenario like any other.
func TestDemoScenarioIsValid(t *testing.T) {
	t.Parallel()
	_, faults := scenarios.Parse("/steps", jsontext.Value(demo.ScenarioSteps))
	require.Empty(t, faults)
}

// A cancelled run reads back as it was answered and is told; it cannot be
// cancelled twice.
func TestCancelledRunIsTold(t *testing.T) {
	t.Parallel()
	h := newHarness(t, loopback)
	path := queuedRun(t, h)
	got := h.post(t, path+"/cancel", "")
	require.Equal(t, http.StatusOK, got.status, "%s", got.body)
	require.JSONEq(t, string(got.body), string(h.get(t, path).body))
	require.Equal(t, "cancelled", got.object(t)["status"])
	event := h.get(t, "/events?type=scenario.run.cancelled").object(t)["data"].([]any)[0].(map[string]any)
	require.Equal(t, strings.TrimPrefix(path, "/runs/"), event["data"].(map[string]any)["id"])
	require.Equal(t, models.CodeNotCancellable, h.post(t, path+"/cancel", "").code(t))
}
