package handlers

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"

	"github.com/go-json-experiment/json"

	"github.com/botix-pro/platform/api"
	"github.com/botix-pro/platform/app/middleware"
	"github.com/botix-pro/platform/app/models"
	"github.com/botix-pro/platform/app/store"
)

// createBulk is POST /contacts/bulk: the rows are kept as they came, and a job
// carries them out.
func (a *API) createBulk(ctx context.Context, tx *store.Tx, r *middleware.Request) (middleware.Result, error) {
	read, err := readerFor(r)
	if err != nil {
		return middleware.Result{}, err
	}
	bulk, err := bulkOf(r.Query)
	if err != nil {
		return middleware.Result{}, err
	}
	job := newJob(r)
	job.Type, job.ID = models.JobContactsBulk, models.NewID(models.PrefixJob, tx.Now())
	if job.Total, err = tx.SaveJobRows(ctx, job.ID, chunksOf(r.Open(), read)); err != nil {
		return middleware.Result{}, fmt.Errorf("keep the rows: %w", err)
	}
	accepted, err := tx.NewJob(job, bulk)
	if err != nil {
		return middleware.Result{}, fmt.Errorf("start an import: %w", err)
	}
	return acceptedJob(accepted), nil
}

// readerFor is the reader for the request's media type.
func readerFor(r *middleware.Request) (rowReader, error) {
	if err := checkMediaType(r, []string{jsonType, ndjsonType}); err != nil {
		return nil, err
	}
	if checkMediaType(r, []string{ndjsonType}) == nil {
		return readLines, nil
	}
	return readArray, nil
}

func bulkOf(query url.Values) (models.Bulk, error) {
	bulk := models.Bulk{Mode: models.BulkCreate, Events: true}
	if err := onlyParameters(query, "mode", "events"); err != nil {
		return bulk, err
	}
	if mode := parameter(query, "mode"); mode != nil {
		bulk.Mode = models.BulkMode(*mode)
	}
	if bulk.Mode != models.BulkCreate && bulk.Mode != models.BulkUpsert {
		return bulk, badParameter("mode", "mode is create or upsert.")
	}
	if events := parameter(query, "events"); events != nil {
		bulk.Events = *events == "true"
		if !bulk.Events && *events != "false" {
			return bulk, badParameter("events", "events is true or false.")
		}
	}
	return bulk, nil
}

// listJobResults is GET /jobs/{id}/results, in the order of the rows.
func (a *API) listJobResults(ctx context.Context, r *middleware.Request) (middleware.Result, error) {
	id, err := pathID(r, models.PrefixJob)
	if err != nil {
		return middleware.Result{}, err
	}
	if err := onlyParameters(r.Query, "status", "limit", "cursor"); err != nil {
		return middleware.Result{}, err
	}
	status := parameter(r.Query, "status")
	if status != nil && !slices.Contains(models.RowStatuses(), models.RowStatus(*status)) {
		return middleware.Result{}, badParameter("status", "There is no such status of a row.")
	}
	page, err := pageBy(r.Query, validIndex)
	if err != nil {
		return middleware.Result{}, err
	}
	if _, err := a.store.Job(ctx, r.Project(), id); err != nil {
		return middleware.Result{}, fmt.Errorf("read job: %w", err)
	}
	after := -1
	if page.Before != "" {
		after, _ = strconv.Atoi(page.Before) // validIndex
	}
	results, err := a.store.JobResults(ctx, r.Project(), id, status, after, page.Limit)
	if err != nil {
		return middleware.Result{}, fmt.Errorf("list results: %w", err)
	}
	return showResults(results, page)
}

func validIndex(mark string) bool {
	index, err := strconv.Atoi(mark)
	return err == nil && index >= 0 && index < models.MaxBulkRows && strconv.Itoa(index) == mark
}

func showResults(results []models.NumberedResult, page store.Page) (middleware.Result, error) {
	results, next := pageOut(results, page, func(n models.NumberedResult) string { return strconv.Itoa(n.Index) })
	list := api.JobResultList{Data: make([]api.JobResult, len(results)), NextCursor: next}
	for i, numbered := range results {
		var result models.RowResult
		if err := json.Unmarshal(numbered.Result, &result); err != nil {
			return middleware.Result{}, fmt.Errorf("decode the result of row %d: %w", numbered.Index, err)
		}
		list.Data[i] = showResult(numbered.Index, result)
	}
	return middleware.Result{Status: http.StatusOK, Body: list}, nil
}

func showResult(index int, result models.RowResult) api.JobResult {
	shown := api.JobResult{Index: index, Status: api.JobResultStatus(result.Status)}
	if result.ID != "" {
		shown.ID = &result.ID
	}
	if result.Error != nil {
		shown.Error = &api.RowError{Code: string(result.Error.Code), Detail: result.Error.Detail, Errors: []api.FieldError{}}
		for _, fault := range result.Error.Errors {
			shown.Error.Errors = append(shown.Error.Errors, api.FieldError{Pointer: fault.Pointer, Code: fault.Code, Detail: fault.Detail})
		}
	}
	return shown
}
