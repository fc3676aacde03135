package scenarios_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/botix-pro/platform/app/models"
	"github.com/botix-pro/platform/internal/testenv/browser"
	"github.com/botix-pro/platform/test/dashtest"
	"github.com/botix-pro/platform/web/ui"
)

// TestBrowser shares one browser between its parts: starting one is dear.
func TestBrowser(t *testing.T) {
	t.Parallel()
	running := browser.Start(t)
	//nolint:paralleltest // the parts take turns with one browser
	for name, part := range map[string]func(*testing.T, *browser.Browser){
		"looks well": looksWell, "writes, runs and cancels by keyboard, and follows": worksByKeyboard,
	} {
		t.Run(name, func(t *testing.T) { part(t, running) })
	}
}

// many is a definition of a hundred steps with jumps across it.
func many() string {
	list := make([]string, 100)
	for i := range list {
		list[i] = fmt.Sprintf(`{"id":"wait_%d","type":"wait","duration":"%dm"}`, i, i+1)
		if i%9 == 4 && i < 90 {
			list[i] = fmt.Sprintf(`{"id":"wait_%d","type":"condition","if":{"field":"variables.n","op":"gt","value":%d},"then":"wait_%d","else":"wait_%d"}`, i, i, i+1, i+8)
		}
	}
	return "[" + strings.Join(list, ",") + "]"
}

func looksWell(t *testing.T, running *browser.Browser) {
	s := dashtest.New(t)
	scenario := newScenario(t, s, s.Project, "Приветствие новых клиентов", steps)
	large := newScenario(t, s, s.Project, "A hundred steps", many())
	waiting, failed := newRun(t, s, s.Project, scenario), newRun(t, s, s.Project, scenario)
	reach(s, waiting, 4, "welcome", "pause", "is_vip")
	s.Exec(`INSERT INTO scenario_run_steps (project_id, run_id, step_id, status, started_at) VALUES ($1, $2, 'ask', 'waiting', now() - interval '20 seconds')`,
		string(s.Project.ID), waiting.ID)
	reach(s, failed, 3, "welcome", "pause", "is_vip")
	s.Exec(`INSERT INTO scenario_run_steps (project_id, run_id, step_id, status, error_code, error_detail, started_at, finished_at)
		VALUES ($1, $2, 'thank', 'failed', 'VARIABLE_MISSING', 'The template names "n", which is neither a variable nor a field.', now(), now())`,
		string(s.Project.ID), failed.ID)
	s.Exec(`UPDATE scenario_runs SET status = 'failed', due_at = NULL, finished_at = now(), error_code = 'VARIABLE_MISSING',
		error_detail = 'The template names "n", which is neither a variable nor a field.' WHERE project_id = $1 AND id = $2`, string(s.Project.ID), failed.ID)
	for _, language := range ui.Languages() {
		tab := s.Tab(t, running, language, path)
		name := func(page string) string { return "scenarios-" + page + "-" + string(language) }
		tab.Inspect(name("list"))
		for page, at := range map[string]string{
			"scenario": path + "/" + scenario.ID, "large": path + "/" + large.ID, "edit": path + "/" + scenario.ID + "/edit",
			"runs": runs, "run-waiting": runs + "/" + waiting.ID, "run-failed": runs + "/" + failed.ID,
		} {
			tab.Open(s.URL + at)
			tab.Inspect(name(page))
		}
		tab.Open(s.URL + path + "/new")
		tab.Fill("#name", "Wrong")
		tab.Fill("#steps", "[\n  {\"id\": \"a\", \"type\": \"wait\", \"duration\": \"soon\"},\n  {\"id\": \"b\"}\n]")
		tab.Click(".form button")
		tab.Wait("#problem")
		tab.Forgive()
		tab.Inspect(name("wrong"))
		tab.RequireQuiet(s.URL)
	}
}

func worksByKeyboard(t *testing.T, running *browser.Browser) {
	s := dashtest.New(t)
	contact := newContact(t, s, s.Project)
	tab := s.Tab(t, running, ui.English, path+"/new")
	tab.Fill("#name", "From the browser")
	tab.Press("\r") // the example is a scenario that works
	tab.Wait(".flow")
	id := strings.TrimPrefix(tab.Read("location.pathname"), path+"/")
	require.Equal(t, models.ScenarioDraft, read(t, s, id).Status)
	tab.TabTo(".actions .primary")
	tab.Press("\r")
	tab.Wait("#contact_id")
	require.Equal(t, models.ScenarioActive, read(t, s, id).Status)

	tab.TabTo("a.flow-node")
	tab.Press("\r")
	tab.Wait(".step:target")
	tab.Fill("#contact_id", contact.ID)
	tab.Press("\r")
	tab.Wait("#run")
	list := tab.Read("location.pathname")
	require.Contains(t, list, runs+"/run_")
	run, _, _, err := s.Store.Run(s.Context(), s.Project.ID, strings.TrimPrefix(list, runs+"/"))
	require.NoError(t, err)
	reach(s, run, 1, "welcome")
	tab.Wait(".flow-taken")
	tab.TabTo("[data-dialog]")
	tab.Press("\r")
	tab.Wait("dialog[open]")
	tab.TabTo("dialog .danger")
	tab.Press("\r")
	tab.WaitText(".done", "The run was cancelled.")
	run, _, _, err = s.Store.Run(s.Context(), s.Project.ID, run.ID)
	require.NoError(t, err)
	require.Equal(t, models.RunCancelled, run.Status)
	tab.RequireQuiet(s.URL)
}
