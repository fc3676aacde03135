package handlers

import (
	"context"
	"fmt"
	"net/http"
	"slices"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/botix-pro/platform/api"
	"github.com/botix-pro/platform/app/actions"
	"github.com/botix-pro/platform/app/middleware"
	"github.com/botix-pro/platform/app/models"
	"github.com/botix-pro/platform/app/store"
)

// listJobs is GET /jobs, newest first.
func (a *API) listJobs(ctx context.Context, r *middleware.Request) (middleware.Result, error) {
	page, span, err := listOf(r, models.PrefixJob, "type", "status")
	if err != nil {
		return middleware.Result{}, err
	}
	filter := store.JobFilter{Span: span, Type: parameter(r.Query, "type"), Status: parameter(r.Query, "status")}
	if filter.Status != nil && !slices.Contains(models.JobStatuses(), models.JobStatus(*filter.Status)) {
		return middleware.Result{}, badParameter("status", "There is no such status of a job.")
	}
	jobs, err := a.store.Jobs(ctx, r.Project(), filter, page)
	if err != nil {
		return middleware.Result{}, fmt.Errorf("list jobs: %w", err)
	}
	jobs, next := pageOut(jobs, page, func(j models.Job) string { return j.ID })
	list := api.JobList{Data: make([]api.Job, len(jobs)), NextCursor: next}
	for i := range jobs {
		list.Data[i] = showJob(&jobs[i])
	}
	return middleware.Result{Status: http.StatusOK, Body: list}, nil
}

// readJob is GET /jobs/{id}.
func (a *API) readJob(ctx context.Context, r *middleware.Request) (middleware.Result, error) {
	id, err := pathID(r, models.PrefixJob)
	if err != nil {
		return middleware.Result{}, err
	}
	job, err := a.store.Job(ctx, r.Project(), id)
	if err != nil {
		return middleware.Result{}, fmt.Errorf("read job: %w", err)
	}
	return middleware.Result{Status: http.StatusOK, Body: showJob(job), ETag: actions.JobTag(job)}, nil
}

// cancelJob is POST /jobs/{id}/cancel.
func (a *API) cancelJob(ctx context.Context, tx *store.Tx, r *middleware.Request) (middleware.Result, error) {
	if err := noBody(r); err != nil {
		return middleware.Result{}, err
	}
	id, err := pathID(r, models.PrefixJob)
	if err != nil {
		return middleware.Result{}, err
	}
	job, err := actions.CancelJob(ctx, tx, causeOf(r), id)
	if err != nil {
		return middleware.Result{}, err
	}
	return acceptedJob(job), nil
}

// newJob is what a request tells a job about itself.
func newJob(r *middleware.Request) models.Job {
	return models.Job{APIVersion: r.APIVersion, RequestID: r.ID}
}

func acceptedJob(job *models.Job) middleware.Result {
	return middleware.Result{Status: http.StatusAccepted, Body: showJob(job), Location: "/jobs/" + job.ID}
}

func showJob(j *models.Job) api.Job {
	shown := api.Job{
		ID: j.ID, Object: models.JobObject, Type: string(j.Type), Status: api.JobStatus(j.Status), Params: jsontext.Value(j.Params),
		Total: j.Total, Processed: j.Processed, Succeeded: j.Succeeded, Failed: j.Failed, CancelRequested: j.CancelRequested,
		EstimatedFinishAt: api.TimestampPtr(j.EndsAbout()), CreatedAt: api.Timestamp(j.CreatedAt), UpdatedAt: api.Timestamp(j.UpdatedAt),
		StartedAt: api.TimestampPtr(j.StartedAt), FinishedAt: api.TimestampPtr(j.FinishedAt),
	}
	if j.Error != "" {
		shown.Error = &j.Error
	}
	if pace := j.Pace(); pace > 0 {
		shown.RatePerSecond = &pace
	}
	return shown
}
