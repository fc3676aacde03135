package handlers

import (
	"context"
	"fmt"
	"net/http"
	"slices"

	"github.com/go-json-experiment/json"

	"github.com/botix-pro/platform/app/actions"
	"github.com/botix-pro/platform/app/middleware"
	"github.com/botix-pro/platform/app/models"
	"github.com/botix-pro/platform/app/store"
)

// readRun is GET /runs/{id}, with every step.
func (a *API) readRun(ctx context.Context, r *middleware.Request) (middleware.Result, error) {
	id, err := pathID(r, models.PrefixRun)
	if err != nil {
		return middleware.Result{}, err
	}
	run, records, steps, err := a.store.Run(ctx, r.Project(), id)
	if err != nil {
		return middleware.Result{}, fmt.Errorf("read run: %w", err)
	}
	return runResult(run, records, steps)
}

// runList is a page of runs.
type runList struct {
	Data       []models.RunView `json:"data"`
	NextCursor *string          `json:"next_cursor"`
}

// listRuns is GET /runs, newest first.
func (a *API) listRuns(ctx context.Context, r *middleware.Request) (middleware.Result, error) {
	if err := onlyParameters(r.Query, "limit", "cursor", "scenario_id", "contact_id", "status"); err != nil {
		return middleware.Result{}, err
	}
	page, err := pageOf(r.Query, models.PrefixRun)
	if err != nil {
		return middleware.Result{}, err
	}
	filter := store.RunFilter{
		ScenarioID: parameter(r.Query, "scenario_id"), ContactID: parameter(r.Query, "contact_id"), Status: parameter(r.Query, "status"),
	}
	if filter.Status != nil && !slices.Contains(models.RunStatuses(), models.RunStatus(*filter.Status)) {
		return middleware.Result{}, badParameter("status", "There is no such status of a run.")
	}
	rows, err := a.store.Runs(ctx, r.Project(), filter, page)
	if err != nil {
		return middleware.Result{}, fmt.Errorf("list runs: %w", err)
	}
	rows, next := pageOut(rows, page, func(r models.ScenarioRun) string { return r.ID })
	list := runList{Data: make([]models.RunView, len(rows)), NextCursor: next}
	for i := range rows {
		list.Data[i] = rows[i].View()
	}
	return middleware.Result{Status: http.StatusOK, Body: list}, nil
}

// cancelRun is POST /runs/{id}/cancel. A step that is under way may still have
// its effect; none follows it.
func (a *API) cancelRun(ctx context.Context, tx *store.Tx, r *middleware.Request) (middleware.Result, error) {
	if err := noBody(r); err != nil {
		return middleware.Result{}, err
	}
	id, err := pathID(r, models.PrefixRun)
	if err != nil {
		return middleware.Result{}, err
	}
	run, err := actions.CancelRun(ctx, tx, causeOf(r), id)
	if err != nil {
		return middleware.Result{}, err
	}
	records, err := tx.RunSteps(ctx, run.ID)
	if err != nil {
		return middleware.Result{}, err
	}
	steps, err := tx.ScenarioSteps(ctx, run.ScenarioID, run.ScenarioVersion)
	if err != nil {
		return middleware.Result{}, err
	}
	for i := range records { // as they will be once what is queued is done
		if !records[i].Status.Over() {
			records[i].Status, records[i].FinishedAt = models.StepCancelled, run.FinishedAt
		}
	}
	return runResult(run, records, steps)
}

// runResult shows a run with the steps of its scenario's version.
func runResult(run *models.ScenarioRun, records []models.ScenarioRunStep, steps []byte) (middleware.Result, error) {
	var names []models.StepName
	if err := json.Unmarshal(steps, &names); err != nil {
		return middleware.Result{}, fmt.Errorf("decode the steps of scenario %s: %w", run.ScenarioID, err)
	}
	return middleware.Result{Status: http.StatusOK, Body: run.ViewWith(names, records), ETag: actions.RunTag(run)}, nil
}
