package jobs_test

import (
	"fmt"
	"iter"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/botix-pro/platform/app/models"
	"github.com/botix-pro/platform/app/store"
	"github.com/botix-pro/platform/internal/clock"
	"github.com/botix-pro/platform/internal/testenv"
	"github.com/botix-pro/platform/test/dashtest"
	"github.com/botix-pro/platform/web/dashboard/jobs"
	"github.com/botix-pro/platform/web/ui"
)

func TestMain(m *testing.M) { testenv.Main(m) }

const path = jobs.Path

// newJob queues a job of a type with so many rows.
func newJob(t testing.TB, s *dashtest.Site, project models.ProjectID, kind models.JobType, total int) *models.Job {
	t.Helper()
	var job *models.Job
	s.Write(project, func(tx *store.Tx) (err error) {
		job, err = tx.NewJob(models.Job{
			Type: kind, Total: total, APIVersion: models.CurrentAPIVersion, RequestID: models.NewID(models.PrefixRequest, tx.Now()),
		}, models.Recovery{EndpointID: models.NewID(models.PrefixEndpoint, tx.Now())})
		return err
	})
	return job
}

// run brings a job to where a worker would have brought it, ago seconds before now.
func run(s *dashtest.Site, job *models.Job, processed, failed, ago int) {
	s.Exec(`UPDATE jobs SET status = 'running', processed = $3::int, succeeded = $3::int - $4::int, failed = $4::int, holder = gen_random_uuid(),
		lease_expires_at = now() + interval '1 minute', started_at = now() - make_interval(secs => $5 + 60), updated_at = now() - make_interval(secs => $5)
		WHERE project_id = $1 AND id = $2`, string(job.ProjectID), job.ID, processed, failed, ago)
}

func end(t testing.TB, s *dashtest.Site, job *models.Job, status models.JobStatus, reason string) {
	t.Helper()
	s.Write(job.ProjectID, func(tx *store.Tx) error {
		locked, err := tx.LockJob(s.Context(), job.ID)
		if err != nil {
			return err
		}
		return tx.EndJob(locked, status, reason)
	})
}

func read(t testing.TB, s *dashtest.Site, id string) *models.Job {
	t.Helper()
	job, err := s.Store.Job(s.Context(), s.Project.ID, id)
	require.NoError(t, err)
	return job
}

func TestProgressIsShownWhileItMoves(t *testing.T) {
	t.Parallel()
	s := dashtest.New(t)
	dashtest.Languages(t, func(t *testing.T, language ui.Language, header [2]string) {
		got := s.Get(path, header)
		dashtest.RequireStrict(t, got)
		require.Contains(t, got.Body, map[ui.Language]string{ui.English: "No jobs yet", ui.Russian: "Заданий пока нет"}[language])
	})
	job := newJob(t, s, s.Project.ID, models.JobContactsBulk, 1284)
	run(s, job, 412, 3, 1)
	dashtest.Languages(t, func(t *testing.T, language ui.Language, header [2]string) {
		for _, at := range []string{path, path + "/under-way", path + "/" + job.ID, path + "/" + job.ID + "/live"} {
			got := s.Get(at, header)
			require.Equal(t, http.StatusOK, got.StatusCode, at)
			dashtest.RequireStrict(t, got)
			require.Contains(t, got.Body, `max="1284" value="412"`, at)
			require.Contains(t, got.Body, "data-live", at)
			require.Contains(t, got.Body, map[ui.Language]string{ui.English: "412 of 1,284 (32.1%)", ui.Russian: "412 из 1\u00a0284 (32,1"}[language], at)
		}
	})
	end(t, s, job, models.JobCompleted, "")
	require.NotContains(t, s.Get(path+"/under-way").Body, "data-live", "when it has ended, nothing is asked for any more")
	require.NotContains(t, s.Get(path+"/"+job.ID+"/live").Body, "data-live")
}

func TestAJobThatStandsIsCalledStalled(t *testing.T) {
	t.Parallel()
	s := dashtest.New(t)
	moving, standing := newJob(t, s, s.Project.ID, models.JobWebhookRecovery, 10), newJob(t, s, s.Project.ID, models.JobWebhookRelease, 10)
	run(s, moving, 5, 0, 30)
	run(s, standing, 5, 0, 90)
	require.NotContains(t, s.Get(path+"/"+moving.ID).Body, "Stalled")
	body := s.Get(path + "/" + standing.ID).Body
	require.Contains(t, body, "Stalled")
	require.Contains(t, body, "Nothing has moved for 1 min")
}

func TestStopEndsAJob(t *testing.T) {
	t.Parallel()
	s := dashtest.New(t)
	queued, running := newJob(t, s, s.Project.ID, models.JobContactsBulk, 10), newJob(t, s, s.Project.ID, models.JobContactsBulk, 10)
	run(s, running, 5, 0, 1)
	require.Equal(t, http.StatusOK, s.Get(path+"/"+queued.ID+"/cancel").StatusCode)
	for _, job := range []*models.Job{queued, running} {
		require.Equal(t, http.StatusSeeOther, s.Post(path+"/"+job.ID+"/cancel", nil).StatusCode)
	}
	require.Equal(t, models.JobCancelled, read(t, s, queued.ID).Status)
	require.True(t, read(t, s, running.ID).CancelRequested)
	body := s.Get(path + "/" + running.ID).Body
	require.Contains(t, body, "Stopping")
	require.NotContains(t, body, "data-dialog")
	require.Equal(t, http.StatusConflict, s.Post(path+"/"+queued.ID+"/cancel", nil).StatusCode, "it has ended")
}

// rows are the chunks of an import.
func rows(n int) iter.Seq2[[][]byte, error] {
	return func(yield func([][]byte, error) bool) {
		chunk := make([][]byte, n)
		for i := range chunk {
			chunk[i] = []byte("{}")
		}
		yield(chunk, nil)
	}
}

// newImport is an import whose rows are done, every third of which failed.
func newImport(t testing.TB, s *dashtest.Site, project models.ProjectID, n int) *models.Job {
	t.Helper()
	job := newJob(t, s, project, models.JobContactsBulk, n)
	results := make([]models.RowResult, n)
	for i := range results {
		results[i] = models.RowResult{Status: models.RowCreated, ID: models.NewID(models.PrefixContact, clock.System{}.Now())}
		if i%3 == 0 {
			results[i] = models.RowResult{Status: models.RowFailed, Error: &models.RowError{
				Code: models.CodeValidationFailed, Detail: "not valid", Errors: []models.FieldError{{Pointer: "/email", Code: models.FieldFormat, Detail: fmt.Sprintf("<b>row %d</b>", i)}},
			}}
		}
	}
	s.Write(project, func(tx *store.Tx) error {
		if _, err := tx.SaveJobRows(s.Context(), job.ID, rows(n)); err != nil {
			return err
		}
		return tx.JobRowsDone(job.ID, 0, results)
	})
	return job
}

func TestEachRowsResultIsShown(t *testing.T) {
	t.Parallel()
	s := dashtest.New(t)
	job := newImport(t, s, s.Project.ID, 120)
	first := s.Get(path + "/" + job.ID)
	dashtest.RequireStrict(t, first)
	require.Equal(t, 50, strings.Count(first.Body, `<th scope="row"`))
	require.Contains(t, first.Body, "&lt;b&gt;row 0&lt;/b&gt;")
	_, rest, _ := strings.Cut(first.Body, `rel="next" href="`)
	next, _, _ := strings.Cut(rest, `"`)
	second := s.Get(strings.ReplaceAll(next, "&amp;", "&")).Body
	require.Contains(t, second, "row 51")
	require.NotContains(t, second, "row 48")
	failed := s.Get(path + "/" + job.ID + "?status=failed").Body
	require.Equal(t, 40, strings.Count(failed, `<th scope="row"`))
}

func TestFiltersNarrowTheList(t *testing.T) {
	t.Parallel()
	s := dashtest.New(t)
	bulk, recovery := newJob(t, s, s.Project.ID, models.JobContactsBulk, 1), newJob(t, s, s.Project.ID, models.JobWebhookRecovery, 1)
	end(t, s, recovery, models.JobFailed, "the endpoint is gone")
	body := s.Get(path + "?type=contacts_bulk").Body
	require.Contains(t, body, bulk.ID)
	require.NotContains(t, body, recovery.ID)
	body = s.Get(path + "?status=failed").Body
	require.Contains(t, body, recovery.ID)
	require.NotContains(t, body, bulk.ID)
	require.Contains(t, s.Get(path+"?status=nonsense").Body, "A filter cannot be used.")
	require.Contains(t, s.Get(path+"/"+recovery.ID).Body, "the endpoint is gone")
}

func TestOthersJobsDoNotExist(t *testing.T) {
	t.Parallel()
	s := dashtest.New(t)
	project, _ := s.NewProject("Other")
	job := newJob(t, s, project.ID, models.JobContactsBulk, 1)
	for _, id := range []string{job.ID, models.NewID(models.PrefixJob, clock.System{}.Now()), "job_1"} {
		for _, below := range []string{"", "/live", "/cancel"} {
			require.Equal(t, http.StatusNotFound, s.Get(path+"/"+id+below).StatusCode, below)
		}
		require.Equal(t, http.StatusNotFound, s.Post(path+"/"+id+"/cancel", nil).StatusCode)
	}
	require.NotContains(t, s.Get(path).Body, job.ID)
	require.NotContains(t, s.Get(path+"/under-way").Body, job.ID)
	require.Equal(t, http.StatusForbidden, s.Post(path+"/"+job.ID+"/cancel", url.Values{}, [2]string{"Sec-Fetch-Site", "cross-site"}).StatusCode)
}
