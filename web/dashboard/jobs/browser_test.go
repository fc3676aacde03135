package jobs_test

import (
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
		"looks well": looksWell, "stops by keyboard, and follows": worksByKeyboard,
	} {
		t.Run(name, func(t *testing.T) { part(t, running) })
	}
}

func looksWell(t *testing.T, running *browser.Browser) {
	s := dashtest.New(t)
	imported := newImport(t, s, s.Project.ID, 60)
	end(t, s, imported, models.JobCompleted, "")
	failed := newJob(t, s, s.Project.ID, models.JobWebhookRecovery, 900)
	end(t, s, failed, models.JobFailed, "The endpoint was deleted while its webhooks were sent again.")
	newJob(t, s, s.Project.ID, models.JobWebhookRelease, 40)
	standing := newJob(t, s, s.Project.ID, models.JobWebhookRecovery, 100_000)
	run(s, standing, 40_000, 12, 400)
	moving := newJob(t, s, s.Project.ID, models.JobContactsBulk, 1284)
	run(s, moving, 412, 3, 1)
	for _, language := range ui.Languages() {
		tab := s.Tab(t, running, language, path)
		name := func(page string) string { return "jobs-" + page + "-" + string(language) }
		tab.Inspect(name("list"))
		for page, job := range map[string]*models.Job{"import": imported, "failed": failed, "stalled": standing} {
			tab.Open(s.URL + path + "/" + job.ID)
			tab.Inspect(name(page))
		}
		tab.RequireQuiet(s.URL)
	}
}

func worksByKeyboard(t *testing.T, running *browser.Browser) {
	s := dashtest.New(t)
	job := newJob(t, s, s.Project.ID, models.JobContactsBulk, 100)
	run(s, job, 10, 0, 1)
	tab := s.Tab(t, running, ui.English, path)
	tab.Wait("#under-way progress")
	run(s, job, 60, 0, 1)
	tab.WaitText("#under-way", "60 of 100")
	tab.TabTo("[data-dialog]")
	tab.Press("\r")
	tab.Wait("dialog[open]")
	tab.TabTo("dialog .danger")
	tab.Press("\r")
	tab.Wait(".done")
	require.True(t, read(t, s, job.ID).CancelRequested)
	end(t, s, job, models.JobCancelled, "")
	tab.WaitText("#job", "What was done stays done.")
	tab.RequireQuiet(s.URL)
}
