package handlers

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/botix-pro/platform/api"
	"github.com/botix-pro/platform/app/middleware"
	"github.com/botix-pro/platform/app/models"
	"github.com/botix-pro/platform/app/scenarios"
	"github.com/botix-pro/platform/app/store"
	"github.com/botix-pro/platform/app/webhooks"
)

const maxScenarioName = 200

// prepareScenario decodes, validates, and asks DNS about the steps' URLs.
func (a *API) prepareScenario(ctx context.Context, r *middleware.Request) (any, error) {
	input, err := decode[api.ScenarioCreate](r)
	if err != nil {
		return nil, err
	}
	var found faults
	found.Length("/name", input.Name, 1, maxScenarioName)
	definition := a.checkSteps(ctx, &found, jsontext.Value(input.Steps))
	return scenarioInput{name: &input.Name, steps: input.Steps, definition: definition}, found.err()
}

// scenarioInput is what a request says of a scenario; nil fields stay.
type scenarioInput struct {
	name       *string
	steps      []byte
	definition *scenarios.Definition
}

// prepareScenarioPatch does the same for what is to change.
func (a *API) prepareScenarioPatch(ctx context.Context, r *middleware.Request) (any, error) {
	patch, err := decodeAs[api.ScenarioUpdate](r, jsonType, mergePatchType)
	if err != nil {
		return nil, err
	}
	var found faults
	var input scenarioInput
	if patch.Name.Set {
		input.name = &patch.Name.Value
		found.Length("/name", patch.Name.Value, 1, maxScenarioName)
	}
	if patch.Steps.Set {
		input.steps = patch.Steps.Value
		if patch.Steps.Null {
			input.steps = []byte("null")
		}
		input.definition = a.checkSteps(ctx, &found, input.steps)
	}
	return input, found.err()
}

// checkSteps collects what is wrong with a definition.
func (a *API) checkSteps(ctx context.Context, found *faults, steps jsontext.Value) *scenarios.Definition {
	if len(steps) == 0 {
		found.add("/steps", models.FieldMissing, "A scenario has steps.")
		return nil
	}
	definition, wrong := scenarios.Parse("/steps", steps)
	for _, fault := range wrong {
		found.add(fault.Pointer, fault.Code, "%s", fault.Detail)
	}
	if definition == nil {
		return nil
	}
	asked := map[string]error{}
	for i, step := range definition.Steps {
		if step.Request != nil {
			a.checkRequest(ctx, found, "/steps/"+strconv.Itoa(i), step.Request, asked)
		}
	}
	return definition
}

// checkRequest judges where a step's request goes, and its headers. Each host is
// asked about once.
func (a *API) checkRequest(ctx context.Context, found *faults, at string, request *scenarios.HTTPRequest, asked map[string]error) {
	if u, err := url.Parse(request.Address()); err == nil && u.Host != "" {
		site := u.Scheme + "://" + u.User.String() + "@" + u.Host
		if _, done := asked[site]; !done {
			_, asked[site] = a.urls.CheckURL(ctx, u)
		}
		if refused := asked[site]; refused != nil {
			found.add(at+"/url", fieldRefused, "%s", refused)
		}
	}
	for _, fault := range webhooks.CheckHeaders(request.Headers) {
		found.add(headerPointer(at, fault.Name), fieldFormat, "%s", fault.Reason)
	}
	for name := range request.Headers {
		if http.CanonicalHeaderKey(name) == "Idempotency-Key" {
			found.add(headerPointer(at, name), fieldReserved, "The key is the platform's: it is the same on every try of the step.")
		}
	}
}

func headerPointer(at, name string) string {
	if name == "" {
		return at + "/headers"
	}
	return at + "/headers/" + models.EscapePointer(name)
}

// createScenario is POST /scenarios: a draft.
func (a *API) createScenario(_ context.Context, tx *store.Tx, r *middleware.Request) (middleware.Result, error) {
	input, _ := r.Prepared.(scenarioInput)
	now := tx.Now()
	if err := input.definition.CheckTimes("/steps", now).Err(); err != nil {
		return middleware.Result{}, err
	}
	scenario := &models.Scenario{
		ProjectID: tx.Project(), ID: models.NewID(models.PrefixScenario, now), Name: *input.name, Status: models.ScenarioDraft,
		Version: 1, Revision: 1, Steps: input.steps, CreatedAt: now, UpdatedAt: now,
	}
	if err := tx.CreateScenario(scenario); err != nil {
		return middleware.Result{}, fmt.Errorf("create scenario: %w", err)
	}
	result := scenarioResult(scenario)
	result.Status, result.Location = http.StatusCreated, "/scenarios/"+scenario.ID
	return result, nil
}

// updateScenario is PATCH /scenarios/{id}. What changes is a new version; runs
// under way keep theirs.
func (a *API) updateScenario(ctx context.Context, tx *store.Tx, r *middleware.Request) (middleware.Result, error) {
	input, _ := r.Prepared.(scenarioInput)
	scenario, err := lockScenario(ctx, tx, r)
	if err != nil {
		return middleware.Result{}, err
	}
	before := *scenario
	if input.name != nil {
		scenario.Name = *input.name
	}
	if input.steps != nil && !models.SameJSON(before.Steps, input.steps) {
		if err := input.definition.CheckTimes("/steps", tx.Now()).Err(); err != nil {
			return middleware.Result{}, err
		}
		scenario.Steps = input.steps
	}
	if scenario.Name == before.Name && slices.Equal(scenario.Steps, before.Steps) {
		return scenarioResult(scenario), nil
	}
	scenario.Version++
	return saveScenario(tx, &before, scenario)
}

// activateScenario is POST /scenarios/{id}/activate.
func (a *API) activateScenario(ctx context.Context, tx *store.Tx, r *middleware.Request) (middleware.Result, error) {
	return moveScenario(ctx, tx, r, models.ScenarioActive)
}

// archiveScenario is POST /scenarios/{id}/archive. Runs under way go on.
func (a *API) archiveScenario(ctx context.Context, tx *store.Tx, r *middleware.Request) (middleware.Result, error) {
	return moveScenario(ctx, tx, r, models.ScenarioArchived)
}

// moveScenario brings a scenario into a state; being there already is no error.
func moveScenario(ctx context.Context, tx *store.Tx, r *middleware.Request, status models.ScenarioStatus) (middleware.Result, error) {
	if err := noBody(r); err != nil {
		return middleware.Result{}, err
	}
	scenario, err := lockScenario(ctx, tx, r)
	if err != nil || !scenario.Status.CanBecome(status) {
		return scenarioResult(scenario), err
	}
	before := *scenario
	scenario.Status = status
	return saveScenario(tx, &before, scenario)
}

func saveScenario(tx *store.Tx, before, scenario *models.Scenario) (middleware.Result, error) {
	scenario.UpdatedAt = tx.Now()
	scenario.Revision++
	if err := tx.UpdateScenario(before, scenario); err != nil {
		return middleware.Result{}, fmt.Errorf("update scenario: %w", err)
	}
	return scenarioResult(scenario), nil
}

// lockScenario returns the path's scenario, at the version that If-Match names.
func lockScenario(ctx context.Context, tx *store.Tx, r *middleware.Request) (*models.Scenario, error) {
	id, err := pathID(r, models.PrefixScenario)
	if err != nil {
		return &models.Scenario{}, err
	}
	scenario, err := tx.LockScenario(ctx, id)
	if err != nil {
		return &models.Scenario{}, fmt.Errorf("lock scenario: %w", err)
	}
	return scenario, checkMatch(r, scenarioTag(scenario))
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
	scenario, err := tx.ShareScenario(ctx, id)
	if err != nil {
		return middleware.Result{}, fmt.Errorf("run scenario: %w", err)
	}
	if err := checkMatch(r, scenarioTag(scenario)); err != nil {
		return middleware.Result{}, err
	}
	variables, err := a.checkRun(ctx, tx, input)
	if err != nil {
		return middleware.Result{}, err
	}
	if scenario.Status != models.ScenarioActive {
		return middleware.Result{}, models.NewError(models.CodeScenarioNotActive, "The scenario is %s; only an active one can be run.", scenario.Status)
	}
	now := tx.Now()
	run := &models.ScenarioRun{
		ProjectID: tx.Project(), ID: models.NewID(models.PrefixRun, now), ScenarioID: scenario.ID, ScenarioVersion: scenario.Version,
		ContactID: input.ContactID, Variables: variables, Status: models.RunQueued,
		APIVersion: r.APIVersion, RequestID: r.ID, Revision: 1, CreatedAt: now, UpdatedAt: now,
	}
	tx.CreateRun(run)
	result, err := runResult(run, nil, scenario.Steps)
	result.Status, result.Location = http.StatusAccepted, "/runs/"+run.ID
	return result, err
}

// checkRun returns the variables of a run whose contact exists.
func (a *API) checkRun(ctx context.Context, tx *store.Tx, input api.ScenarioRun) ([]byte, error) {
	var found faults
	variables := input.Variables
	if len(variables) == 0 || variables.Kind() == 'n' {
		variables = jsontext.Value("{}")
	}
	switch {
	case variables.Kind() != '{':
		found.add("/variables", fieldType, "Variables are a JSON object.")
	case len(variables) > models.MaxAttributeBytes:
		found.add("/variables", fieldTooLong, "At most %d bytes are allowed; there are %d.", models.MaxAttributeBytes, len(variables))
	}
	err := store.ErrNotFound
	if models.ValidID(models.PrefixContact, input.ContactID) {
		_, err = tx.ShareContact(ctx, input.ContactID)
	}
	if errors.Is(err, store.ErrNotFound) {
		found.add("/contact_id", models.FieldNotFound, "There is no such contact in this project.")
	} else if err != nil {
		return nil, fmt.Errorf("the run's contact: %w", err)
	}
	return variables, found.err()
}

func scenarioResult(s *models.Scenario) middleware.Result {
	return middleware.Result{Status: http.StatusOK, Body: s.View(), ETag: scenarioTag(s), Secret: hasHeaders(s.Steps)}
}

// hasHeaders reports whether steps carry headers of their owner's, which are often
// secrets: an answer that holds them is stored like one.
func hasHeaders(steps []byte) bool {
	definition, _ := scenarios.Parse("", steps)
	return definition != nil && slices.ContainsFunc(definition.Steps, func(step scenarios.Step) bool {
		return step.Request != nil && len(step.Request.Headers) > 0
	})
}

func scenarioTag(s *models.Scenario) string { return fmt.Sprintf(`"%d"`, s.Revision) }
