package jobs_test

import (
	"context"
	"errors"
	"log/slog"
	"strconv"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/botix-pro/platform/app/jobs"
	"github.com/botix-pro/platform/app/models"
	"github.com/botix-pro/platform/app/store"
	"github.com/botix-pro/platform/internal/clock"
	"github.com/botix-pro/platform/internal/seal"
	"github.com/botix-pro/platform/internal/testenv"
)

func TestMain(m *testing.M) { testenv.Main(m) }

const (
	soon = 15 * time.Second
	// counting is a job that counts to its total, one a batch.
	counting = models.JobType("counting")
)

// bench is a database of its own with a project: a runner takes whatever is due
// in it.
type bench struct {
	t       *testing.T
	store   *store.Store
	project models.ProjectID
}

func newBench(t *testing.T) *bench {
	t.Helper()
	box, err := seal.New([]string{seal.NewKey()})
	require.NoError(t, err)
	s, err := store.Open(t.Context(), store.Config{URL: testenv.FreshDatabaseURL(t), MaxConns: 6, Application: "botix-test"}, box)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, s.Close()) })
	now := clock.System{}.Now()
	b := &bench{t: t, store: s, project: models.ProjectID(models.NewID(models.PrefixProject, now))}
	_, err = s.Write(t.Context(), b.project, func(tx *store.Tx) error {
		tx.CreateProject(models.Project{Name: "Test", Mode: models.ModeLive, PlanID: "start", APIVersion: models.CurrentAPIVersion, CreatedAt: now})
		return nil
	})
	require.NoError(t, err)
	return b
}

func (b *bench) start(kind models.JobType, total int) string {
	b.t.Helper()
	var job *models.Job
	_, err := b.store.Write(b.t.Context(), b.project, func(tx *store.Tx) (err error) {
		job, err = tx.NewJob(models.Job{Type: kind, Total: total, APIVersion: models.CurrentAPIVersion}, struct{}{})
		return err
	})
	require.NoError(b.t, err)
	return job.ID
}

func (b *bench) job(id string) *models.Job {
	b.t.Helper()
	job, err := b.store.Job(context.Background(), b.project, id)
	require.NoError(b.t, err)
	return job
}

func (b *bench) runner(step jobs.Step, change ...func(*jobs.Config)) *jobs.Runner {
	b.t.Helper()
	cfg := jobs.Config{
		Store: b.store, Steps: map[models.JobType]jobs.Step{counting: step}, Hint: func([]store.Lane) {},
		Concurrency: 2, Log: slog.New(slog.DiscardHandler),
	}
	for _, apply := range change {
		apply(&cfg)
	}
	r := jobs.NewRunner(cfg)
	require.NoError(b.t, r.Start(b.t.Context()))
	b.t.Cleanup(func() { require.NoError(b.t, r.Stop(context.Background())) })
	return r
}

func (b *bench) eventually(id string, want models.JobStatus) *models.Job {
	b.t.Helper()
	require.Eventually(b.t, func() bool { return b.job(id).Status == want }, soon, 5*time.Millisecond)
	return b.job(id)
}

func count(_ context.Context, _ *store.Tx, job *models.Job) (models.JobStep, error) {
	at, _ := strconv.Atoi(job.Position)
	return models.JobStep{Position: strconv.Itoa(at + 1), Succeeded: 1, Done: at+1 == job.Total}, nil
}

// A runner that is woken does not wait for its next look.
func TestWokenRunnerStartsAtOnce(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	runner := b.runner(count, func(c *jobs.Config) { c.Probe = time.Hour })
	id := b.start(counting, 3)
	runner.Wake()
	b.eventually(id, models.JobCompleted)
}

// Any type runs; one that nobody here has a step for is left to who does.
func TestJobsOfItsTypesAreRunToTheirEnd(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	other, one, two := b.start("other", 1), b.start(counting, 20), b.start(counting, 1)
	b.runner(count)
	require.Equal(t, 20, b.eventually(one, models.JobCompleted).Succeeded)
	require.Equal(t, 1, b.eventually(two, models.JobCompleted).Succeeded)
	require.Equal(t, models.JobQueued, b.job(other).Status)
	events, err := b.store.Events(t.Context(), b.project, store.EventFilter{}, store.Page{Limit: 10})
	require.NoError(t, err)
	require.Len(t, events, 2)
	require.Equal(t, "job.completed", events[0].Type)
}

// A worker that is told to stop finishes its batch and gives the job back at
// once, whatever is left.
func TestStopFinishesTheBatchAndGivesTheJobBack(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	id := b.start(counting, 1_000_000)
	began, goOn := make(chan struct{}), make(chan struct{})
	r := b.runner(func(ctx context.Context, tx *store.Tx, job *models.Job) (models.JobStep, error) {
		began <- struct{}{}
		<-goOn
		return count(ctx, tx, job)
	})
	<-began
	stopped := make(chan error, 1)
	go func() { stopped <- r.Stop(context.Background()) }()
	select {
	case err := <-stopped:
		t.Fatal("the batch was not waited for", err)
	case goOn <- struct{}{}:
	}
	for ended := false; !ended; { // the stop may come just after the next batch began
		select {
		case <-began:
			goOn <- struct{}{}
		case err := <-stopped:
			require.NoError(t, err)
			ended = true
		}
	}
	require.Positive(t, b.job(id).Processed)
	claimed, err := b.store.ClaimJob(t.Context(), uuid.NewString(), time.Minute, []models.JobType{counting})
	require.NoError(t, err)
	require.Equal(t, []any{id, 0}, []any{claimed.ID, claimed.Failures})
}

// A batch that failed is tried again, and none of it was kept.
func TestFailedBatchIsTriedAgain(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	id := b.start(counting, 3)
	tries := 0
	b.runner(func(ctx context.Context, tx *store.Tx, job *models.Job) (models.JobStep, error) {
		tries++ // one job, one worker: never at the same time
		if tries == 2 {
			return models.JobStep{Succeeded: 7}, errors.New("passing")
		}
		return count(ctx, tx, job)
	})
	require.Equal(t, 3, b.eventually(id, models.JobCompleted).Succeeded)
	require.Equal(t, 4, tries)
}

// What cannot go on ends with its reason, and keeps what it did.
func TestJobThatCannotGoOnSaysWhy(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	id := b.start(counting, 3)
	b.runner(func(ctx context.Context, tx *store.Tx, job *models.Job) (models.JobStep, error) {
		if job.Position == "2" {
			return models.JobStep{Position: "2", Failure: "The third does not exist."}, nil
		}
		return count(ctx, tx, job)
	})
	job := b.eventually(id, models.JobFailed)
	require.Equal(t, []any{"The third does not exist.", 2, 3}, []any{job.Error, job.Processed, job.Total})
	events, err := b.store.Events(t.Context(), b.project, store.EventFilter{}, store.Page{Limit: 1})
	require.NoError(t, err)
	require.Equal(t, "job.failed", events[0].Type)
	require.Contains(t, string(events[0].Body), "The third does not exist.")
}
