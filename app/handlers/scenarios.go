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
	"github.com/botix-pro/platform/app/scenarios"
	"github.com/botix-pro/platform/app/store"
)

// prepareScenario decodes, validates, and asks DNS about the steps' URLs.
func (a *API) prepareScenario(ctx context.Context, r *middleware.Request) (any, error) {
	input, err := decode[api.ScenarioCreate](r)
	if err != nil {
		return nil, err
	}
	draft := &actions.ScenarioDraft{Name: &input.Name, Steps: input.Steps}
	if draft.Steps == nil {
		draft.Steps = jsontext.Value{}
	}
	return draft, draft.Check(ctx, a.urls)
}

// prepareScenarioPatch does the same for what is to change.
func (a *API) prepareScenarioPatch(ctx context.Context, r *middleware.Request) (any, error) {
	patch, err := decodeAs[api.ScenarioUpdate](r, jsonType, mergePatchType)
	if err != nil {
		return nil, err
	}
	draft := &actions.ScenarioDraft{}
	if patch.Name.Set {
		draft.Name = &patch.Name.Value
	}
	if patch.Steps.Set {
		draft.Steps = patch.Steps.Value
		if patch.Steps.Null {
			draft.Steps = jsontext.Value("null")
		}
	}
	return draft, draft.Check(ctx, a.urls)
}

// createScenario is POST /scenarios: a draft.
func (a *API) createScenario(_ context.Context, tx *store.Tx, r *middleware.Request) (middleware.Result, error) {
	draft, _ := r.Prepared.(*actions.ScenarioDraft)
	scenario, err := actions.CreateScenario(tx, draft)
	if err != nil {
		return middleware.Result{}, err
	}
	result := scenarioResult(scenario)
	result.Status, result.Location = http.StatusCreated, "/scenarios/"+scenario.ID
	return result, nil
}

// updateScenario is PATCH /scenarios/{id}.
func (a *API) updateScenario(ctx context.Context, tx *store.Tx, r *middleware.Request) (middleware.Result, error) {
	draft, _ := r.Prepared.(*actions.ScenarioDraft)
	id, err := pathID(r, models.PrefixScenario)
	if err != nil {
		return middleware.Result{}, err
	}
	scenario, err := actions.UpdateScenario(ctx, tx, causeOf(r), id, draft)
	if err != nil {
		return middleware.Result{}, err
	}
	return scenarioResult(scenario), nil
}

// activateScenario is POST /scenarios/{id}/activate.
func (a *API) activateScenario(ctx context.Context, tx *store.Tx, r *middleware.Request) (middleware.Result, error) {
	return moveScenario(ctx, tx, r, models.ScenarioActive)
}

// archiveScenario is POST /scenarios/{id}/archive.
func (a *API) archiveScenario(ctx context.Context, tx *store.Tx, r *middleware.Request) (middleware.Result, error) {
	return moveScenario(ctx, tx, r, models.ScenarioArchived)
}

func moveScenario(ctx context.Context, tx *store.Tx, r *middleware.Request, status models.ScenarioStatus) (middleware.Result, error) {
	if err := noBody(r); err != nil {
		return middleware.Result{}, err
	}
	id, err := pathID(r, models.PrefixScenario)
	if err != nil {
		return middleware.Result{}, err
	}
	scenario, err := actions.MoveScenario(ctx, tx, causeOf(r), id, status)
	if err != nil {
		return middleware.Result{}, err
	}
	return scenarioResult(scenario), nil
}

// readScenario is GET /scenarios/{id}.
func (a *API) readScenario(ctx context.Context, r *middleware.Request) (middleware.Result, error) {
	id, err := pathID(r, models.PrefixScenario)
	if err != nil {
		return middleware.Result{}, err
	}
	scenario, err := a.store.Scenario(ctx, r.Project(), id)
	if err != nil {
		return middleware.Result{}, fmt.Errorf("read scenario: %w", err)
	}
	return scenarioResult(scenario), nil
}

// scenarioList is a page of scenarios.
type scenarioList struct {
	Data       []models.ScenarioView `json:"data"`
	NextCursor *string               `json:"next_cursor"`
}

// listScenarios is GET /scenarios, newest first.
func (a *API) listScenarios(ctx context.Context, r *middleware.Request) (middleware.Result, error) {
	if err := onlyParameters(r.Query, "limit", "cursor", "status"); err != nil {
		return middleware.Result{}, err
	}
	page, err := pageOf(r.Query, models.PrefixScenario)
	if err != nil {
		return middleware.Result{}, err
	}
	status := parameter(r.Query, "status")
	if status != nil && !slices.Contains(models.ScenarioStatuses(), models.ScenarioStatus(*status)) {
		return middleware.Result{}, badParameter("status", "There is no such status of a scenario.")
	}
	rows, err := a.store.Scenarios(ctx, r.Project(), status, page)
	if err != nil {
		return middleware.Result{}, fmt.Errorf("list scenarios: %w", err)
	}
	rows, next := pageOut(rows, page, func(s models.Scenario) string { return s.ID })
	list := scenarioList{Data: make([]models.ScenarioView, len(rows)), NextCursor: next}
	for i := range rows {
		list.Data[i] = rows[i].View()
	}
	return middleware.Result{Status: http.StatusOK, Body: list}, nil
}

// runScenario is POST /scenarios/{id}/run: the intent to take a contact through
// the scenario's present version.
func (a *API) runScenario(ctx context.Context, tx *store.Tx, r *middleware.Request) (middleware.Result, error) {
	input, err := decode[api.ScenarioRun](r)
	if err != nil {
		return middleware.Result{}, err
	}
	id, err := pathID(r, models.PrefixScenario)
	if err != nil {
		return middleware.Result{}, err
	}
	run, steps, err := actions.RunScenario(ctx, tx, causeOf(r), id, input.ContactID, input.Variables)
	if err != nil {
		return middleware.Result{}, err
	}
	result, err := runResult(run, nil, steps)
	result.Status, result.Location = http.StatusAccepted, "/runs/"+run.ID
	return result, err
}

func scenarioResult(s *models.Scenario) middleware.Result {
	return middleware.Result{Status: http.StatusOK, Body: s.View(), ETag: actions.ScenarioTag(s), Secret: hasHeaders(s.Steps)}
}

// hasHeaders reports whether steps carry headers of their owner's, which are often
// secrets: an answer that holds them is stored like one.
func hasHeaders(steps []byte) bool {
	definition, _ := scenarios.Parse("", steps)
	return definition != nil && slices.ContainsFunc(definition.Steps, func(step scenarios.Step) bool {
		return step.Request != nil && len(step.Request.Headers) > 0
	})
}
