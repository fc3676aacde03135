package scenarios_test

import (
	"context"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/botix-pro/platform/api"
	"github.com/botix-pro/platform/app/actions"
	"github.com/botix-pro/platform/app/models"
	"github.com/botix-pro/platform/app/store"
	"github.com/botix-pro/platform/internal/clock"
	"github.com/botix-pro/platform/internal/egress"
	"github.com/botix-pro/platform/internal/testenv"
	"github.com/botix-pro/platform/test/dashtest"
	"github.com/botix-pro/platform/web/dashboard/scenarios"
	"github.com/botix-pro/platform/web/ui"
)

func TestMain(m *testing.M) { testenv.Main(m) }

const (
	path  = scenarios.Path
	runs  = scenarios.PathRuns
	steps = `[
  {"id": "welcome", "type": "send_message", "channel": "sandbox", "template": "Hello {{name}}, <b>welcome</b>"},
  {"id": "pause", "type": "wait", "duration": "2h"},
  {"id": "is_vip", "type": "condition", "if": {"field": "contact.tags", "op": "contains", "value": "vip"}, "then": "thank", "else": "ask"},
  {"id": "thank", "type": "emit_event", "event_type": "vip.welcomed", "data": {}, "next": "mark"},
  {"id": "ask", "type": "http_request", "method": "POST", "url": "https://93.184.216.34/scores", "headers": {"Authorization": "Bearer very-secret"}, "body": {"n": 1.50}},
  {"id": "mark", "type": "update_contact", "add_tags": ["welcomed"]}
]`
)

func cause(project models.Project) actions.Cause {
	return actions.Cause{Project: project, APIVersion: project.APIVersion}
}

// newScenario makes an active scenario as the API does.
func newScenario(t testing.TB, s *dashtest.Site, project models.Project, name, definition string) *models.Scenario {
	t.Helper()
	draft := &actions.ScenarioDraft{Name: &name, Steps: []byte(definition)}
	require.NoError(t, draft.Check(s.Context(), egress.New(nil)))
	var scenario *models.Scenario
	s.Write(project.ID, func(tx *store.Tx) (err error) {
		scenario, err = actions.CreateScenario(tx, draft)
		return err
	})
	s.Write(project.ID, func(tx *store.Tx) (err error) {
		scenario, err = actions.MoveScenario(context.Background(), tx, cause(project), scenario.ID, models.ScenarioActive)
		return err
	})
	return scenario
}

func newContact(t testing.TB, s *dashtest.Site, project models.Project) *models.Contact {
	t.Helper()
	var contact *models.Contact
	s.Write(project.ID, func(tx *store.Tx) (err error) {
		contact, err = actions.CreateContact(tx, cause(project), api.ContactCreate{})
		return err
	})
	return contact
}

// newRun starts a run as the API does.
func newRun(t testing.TB, s *dashtest.Site, project models.Project, scenario *models.Scenario) *models.ScenarioRun {
	t.Helper()
	contact := newContact(t, s, project)
	var run *models.ScenarioRun
	s.Write(project.ID, func(tx *store.Tx) (err error) {
		run, _, err = actions.RunScenario(context.Background(), tx, cause(project), scenario.ID, contact.ID, []byte(`{"n":1.50}`))
		return err
	})
	return run
}

// reach brings a run to a step: those before it that are named are done.
func reach(s *dashtest.Site, run *models.ScenarioRun, position int, done ...string) {
	for _, step := range done {
		s.Exec(`INSERT INTO scenario_run_steps (project_id, run_id, step_id, status, attempts, started_at, finished_at)
			VALUES ($1, $2, $3, 'completed', 1, now() - interval '90 seconds', now() - interval '80 seconds')`, string(run.ProjectID), run.ID, step)
	}
	s.Exec(`UPDATE scenario_runs SET status = 'waiting', position = $3, started_at = now() - interval '2 minutes', due_at = now() + interval '1 hour'
		WHERE project_id = $1 AND id = $2`, string(run.ProjectID), run.ID, position)
}

func read(t testing.TB, s *dashtest.Site, id string) *models.Scenario {
	t.Helper()
	scenario, err := s.Store.Scenario(s.Context(), s.Project.ID, id)
	require.NoError(t, err)
	return scenario
}

func TestPagesInBothLanguages(t *testing.T) {
	t.Parallel()
	s := dashtest.New(t)
	dashtest.Languages(t, func(t *testing.T, _ ui.Language, header [2]string) {
		for _, at := range []string{path, path + "/new", runs} {
			got := s.Get(at, header)
			require.Equal(t, http.StatusOK, got.StatusCode, at)
			dashtest.RequireStrict(t, got)
		}
	})
	scenario := newScenario(t, s, s.Project, "Приветствие <b>", steps)
	run := newRun(t, s, s.Project, scenario)
	reach(s, run, 4, "welcome", "pause", "is_vip")
	dashtest.Languages(t, func(t *testing.T, _ ui.Language, header [2]string) {
		for _, at := range []string{
			path, path + "/" + scenario.ID, path + "/" + scenario.ID + "/edit", path + "/" + scenario.ID + "/archive", runs, runs + "/" + run.ID,
			runs + "/" + run.ID + "/live", runs + "/" + run.ID + "/cancel", runs + "?scenario=" + scenario.ID + "&status=waiting",
		} {
			got := s.Get(at, header)
			require.Equal(t, http.StatusOK, got.StatusCode, at)
			dashtest.RequireStrict(t, got)
			require.NotContains(t, got.Body, "<b>", at)
		}
	})
	require.NotContains(t, s.Get(path+"/"+scenario.ID).Body, "very-secret", "headers are not shown")
}

func TestEachStepIsDrawnAndListed(t *testing.T) {
	t.Parallel()
	s := dashtest.New(t)
	scenario := newScenario(t, s, s.Project, "Welcome", steps)
	body := s.Get(path + "/" + scenario.ID).Body
	require.Equal(t, 6, strings.Count(body, `<a class="flow-node`))
	require.Equal(t, 6, strings.Count(body, `<li class="panel step"`))
	for _, id := range []string{"welcome", "pause", "is_vip", "thank", "ask", "mark"} {
		require.Contains(t, body, `href="#step-`+id+`"`)
		require.Contains(t, body, `id="step-`+id+`"`)
	}
	require.Equal(t, 7, strings.Count(body, `class="flow-line"`), "two of them are the condition's")
	require.Contains(t, body, `>yes</text>`)
}

func TestARunsWayIsThickAndTheOtherDashed(t *testing.T) {
	t.Parallel()
	s := dashtest.New(t)
	run := newRun(t, s, s.Project, newScenario(t, s, s.Project, "Welcome", steps))
	reach(s, run, 4, "welcome", "pause", "is_vip")
	body := s.Get(runs + "/" + run.ID).Body
	require.Equal(t, 3, strings.Count(body, "flow-way flow-taken"), "to pause, to is_vip, and to ask, where it waits")
	require.Equal(t, 4, strings.Count(body, "flow-way flow-left"))
	require.Equal(t, 3, strings.Count(body, "flow-node flow-delivered"))
	require.Contains(t, body, "thank vip.welcomed Passed over, step 4: Publish an event")
	require.Contains(t, body, "data-live")
	require.Contains(t, body, "1 request")
}

func TestCancelEndsARun(t *testing.T) {
	t.Parallel()
	s := dashtest.New(t)
	run := newRun(t, s, s.Project, newScenario(t, s, s.Project, "Welcome", steps))
	require.Equal(t, http.StatusSeeOther, s.Post(runs+"/"+run.ID+"/cancel", nil).StatusCode)
	ended, _, _, err := s.Store.Run(s.Context(), s.Project.ID, run.ID)
	require.NoError(t, err)
	require.Equal(t, models.RunCancelled, ended.Status)
	body := s.Get(runs + "/" + run.ID).Body
	require.NotContains(t, body, "data-live")
	require.Contains(t, body, "scenario.run.cancelled")
	require.Equal(t, http.StatusConflict, s.Post(runs+"/"+run.ID+"/cancel", nil).StatusCode)
	require.Equal(t, http.StatusConflict, s.Get(runs+"/"+run.ID+"/cancel").StatusCode)
}

func TestAScenariosLife(t *testing.T) {
	t.Parallel()
	s := dashtest.New(t)
	made := s.Post(path, url.Values{"name": {"Welcome"}, "steps": {steps}})
	require.Equal(t, http.StatusSeeOther, made.StatusCode, made.Body)
	at := made.Header.Get("Location")
	id := strings.TrimPrefix(at, path+"/")
	require.Equal(t, models.ScenarioDraft, read(t, s, id).Status)
	require.Contains(t, s.Get(at).Body, "Only an active scenario can be run.")

	require.Equal(t, http.StatusSeeOther, s.Post(at+"/activate", url.Values{"version": {`"1"`}}).StatusCode)
	require.Equal(t, models.ScenarioActive, read(t, s, id).Status)
	contact := newContact(t, s, s.Project)
	started := s.Post(at+"/run", url.Values{"contact_id": {contact.ID}, "variables": {`{"n": 1.50}`}})
	require.Equal(t, http.StatusSeeOther, started.StatusCode, started.Body)
	run, _, _, err := s.Store.Run(s.Context(), s.Project.ID, strings.TrimPrefix(started.Header.Get("Location"), runs+"/"))
	require.NoError(t, err)
	require.JSONEq(t, `{"n":1.50}`, string(run.Variables))
	for field, form := range map[string]url.Values{"contact_id": {"contact_id": {"ctc_1"}}, "variables": {"contact_id": {contact.ID}, "variables": {"[1]"}}} {
		got := s.Post(at+"/run", form)
		require.Equal(t, http.StatusUnprocessableEntity, got.StatusCode)
		require.Contains(t, got.Body, `id="`+field+`-error"`)
	}

	edited := strings.Replace(steps, `"2h"`, `"3h"`, 1)
	stale := s.Post(at, url.Values{"name": {"Welcome"}, "steps": {edited}, "version": {`"1"`}})
	require.Equal(t, http.StatusConflict, stale.StatusCode)
	require.Contains(t, stale.Body, "&#34;3h&#34;", "what was typed is kept")
	require.Equal(t, http.StatusSeeOther, s.Post(at, url.Values{"name": {"Welcome"}, "steps": {edited}, "version": {`"2"`}}).StatusCode)
	require.Equal(t, 2, read(t, s, id).Version)
	require.Contains(t, s.Get(at+"?version=1").Body, "This is version 1. The present one is 2.")
	require.Equal(t, http.StatusNotFound, s.Get(at+"?version=3").StatusCode)

	require.Equal(t, http.StatusSeeOther, s.Post(at+"/archive", url.Values{}).StatusCode)
	require.Equal(t, models.ScenarioArchived, read(t, s, id).Status)
	require.Equal(t, http.StatusConflict, s.Post(at+"/run", url.Values{"contact_id": {contact.ID}}).StatusCode)
}

func TestFaultsPointIntoTheText(t *testing.T) {
	t.Parallel()
	s := dashtest.New(t)
	for definition, want := range map[string]string{
		"[\n  {\"id\": \"a\",\n   \"type\": \"wait\",\n   \"duration\": \"soon\"}\n]":           "Line 4, /0/duration: ",
		"[\n  {\"id\": \"a\", \"type\": \"wait\", \"duration\": \"2h\"},\n  {\"id\": \"b\"}\n]": "Line 3, /1/type: ",
		"[\n  {\"id\": \"a\"\n":  "This is not JSON: line 3, column 1.",
		"[\n  {\"id\" \"a\"}\n]": "This is not JSON: line 2, column 9.",
		"[{\"id\":\"a\",\"type\":\"http_request\",\"method\":\"GET\",\"url\":\"http://127.0.0.1/\"}]": "Line 1, /0/url: ",
	} {
		got := s.Post(path, url.Values{"name": {"typed-before"}, "steps": {definition}})
		require.Equal(t, http.StatusUnprocessableEntity, got.StatusCode, definition)
		dashtest.RequireStrict(t, got)
		require.Contains(t, got.Body, want)
		require.Contains(t, got.Body, "typed-before")
		require.Contains(t, got.Body, "&#34;id&#34;", "nothing typed is lost")
	}
	list, err := s.Store.Scenarios(s.Context(), s.Project.ID, nil, store.Page{Limit: 5})
	require.NoError(t, err)
	require.Empty(t, list)
}

func TestOthersScenariosDoNotExist(t *testing.T) {
	t.Parallel()
	s := dashtest.New(t)
	project, _ := s.NewProject("Other")
	scenario := newScenario(t, s, project, "Secret", steps)
	run := newRun(t, s, project, scenario)
	now := clock.System{}.Now()
	for _, id := range []string{scenario.ID, models.NewID(models.PrefixScenario, now), "scn_1"} {
		for _, below := range []string{"", "/edit", "/archive"} {
			require.Equal(t, http.StatusNotFound, s.Get(path+"/"+id+below).StatusCode, below)
		}
		for _, below := range []string{"", "/activate", "/archive", "/run"} {
			require.Equal(t, http.StatusNotFound, s.Post(path+"/"+id+below, url.Values{"name": {"x"}, "steps": {steps}}).StatusCode, below)
		}
	}
	for _, id := range []string{run.ID, models.NewID(models.PrefixRun, now), "run_1"} {
		for _, below := range []string{"", "/live", "/cancel"} {
			require.Equal(t, http.StatusNotFound, s.Get(runs+"/"+id+below).StatusCode, below)
		}
		require.Equal(t, http.StatusNotFound, s.Post(runs+"/"+id+"/cancel", nil).StatusCode)
	}
	require.NotContains(t, s.Get(path).Body+s.Get(runs).Body+s.Get(runs+"?scenario="+scenario.ID).Body, run.ID)
	for _, at := range []string{path, path + "/" + scenario.ID, path + "/" + scenario.ID + "/run", runs + "/" + run.ID + "/cancel"} {
		require.Equal(t, http.StatusForbidden, s.Post(at, url.Values{}, [2]string{"Sec-Fetch-Site", "cross-site"}).StatusCode, at)
	}
}
