package actions

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/botix-pro/platform/app/models"
	"github.com/botix-pro/platform/app/scenarios"
	"github.com/botix-pro/platform/app/store"
	"github.com/botix-pro/platform/app/webhooks"
)

const maxScenarioName = 200

// URLChecker judges a URL before it is saved: an error says why it is refused, a
// warning what is doubtful.
type URLChecker interface {
	CheckURL(ctx context.Context, u *url.URL) (warning string, err error)
}

// ScenarioDraft is what somebody says of a scenario; nil fields stay as they are.
// Steps that are empty and not nil are missing.
type ScenarioDraft struct {
	Name  *string
	Steps jsontext.Value

	definition *scenarios.Definition
}

// Check collects what is wrong with the draft, and asks DNS about the hosts that
// its steps name. It must have found nothing before the draft is used.
func (d *ScenarioDraft) Check(ctx context.Context, urls URLChecker) error {
	var found models.Faults
	found.OptionalLength("/name", d.Name, 1, maxScenarioName)
	if d.Steps != nil {
		d.checkSteps(ctx, urls, &found)
	}
	return found.Err()
}

func (d *ScenarioDraft) checkSteps(ctx context.Context, urls URLChecker, found *models.Faults) {
	if len(d.Steps) == 0 {
		found.Add("/steps", models.FieldMissing, "A scenario has steps.")
		return
	}
	definition, wrong := scenarios.Parse("/steps", d.Steps)
	for _, fault := range wrong {
		found.Add(fault.Pointer, fault.Code, "%s", fault.Detail)
	}
	d.definition = definition
	if definition == nil {
		return
	}
	asked := map[string]error{}
	for i, step := range definition.Steps {
		if step.Request != nil {
			checkRequest(ctx, urls, found, "/steps/"+strconv.Itoa(i), step.Request, asked)
		}
	}
}

// checkRequest judges where a step's request goes, and its headers. Each host is
// asked about once.
func checkRequest(ctx context.Context, urls URLChecker, found *models.Faults, at string, request *scenarios.HTTPRequest, asked map[string]error) {
	if u, err := url.Parse(request.Address()); err == nil && u.Host != "" {
		site := u.Scheme + "://" + u.User.String() + "@" + u.Host
		if _, done := asked[site]; !done {
			_, asked[site] = urls.CheckURL(ctx, u)
		}
		if refused := asked[site]; refused != nil {
			found.Add(at+"/url", models.FieldRefused, "%s", refused)
		}
	}
	for _, fault := range webhooks.CheckHeaders(request.Headers) {
		found.Add(headerPointer(at, fault.Name), models.FieldFormat, "%s", fault.Reason)
	}
	for name := range request.Headers {
		if http.CanonicalHeaderKey(name) == "Idempotency-Key" {
			found.Add(headerPointer(at, name), models.FieldReserved, "The key is the platform's: it is the same on every try of the step.")
		}
	}
}

func headerPointer(at, name string) string {
	if name == "" {
		return at + "/headers"
	}
	return at + "/headers/" + models.EscapePointer(name)
}

// ScenarioTag names the scenario's revision.
func ScenarioTag(s *models.Scenario) string { return fmt.Sprintf(`"%d"`, s.Revision) }

// CreateScenario makes a draft of a checked [ScenarioDraft] that has a name and
// steps.
func CreateScenario(tx *store.Tx, draft *ScenarioDraft) (*models.Scenario, error) {
	now := tx.Now()
	if err := draft.definition.CheckTimes("/steps", now).Err(); err != nil {
		return nil, err
	}
	scenario := &models.Scenario{
		ProjectID: tx.Project(), ID: models.NewID(models.PrefixScenario, now), Name: *draft.Name, Status: models.ScenarioDraft,
		Version: 1, Revision: 1, Steps: draft.Steps, CreatedAt: now, UpdatedAt: now,
	}
	if err := tx.CreateScenario(scenario); err != nil {
		return nil, fmt.Errorf("create scenario: %w", err)
	}
	return scenario, nil
}

// UpdateScenario applies a checked draft. What changes is a new version; runs
// under way keep theirs.
func UpdateScenario(ctx context.Context, tx *store.Tx, cause Cause, id string, draft *ScenarioDraft) (*models.Scenario, error) {
	scenario, err := lockScenario(ctx, tx, cause, id)
	if err != nil {
		return nil, err
	}
	before := *scenario
	if draft.Name != nil {
		scenario.Name = *draft.Name
	}
	if draft.Steps != nil && !models.SameJSON(before.Steps, draft.Steps) {
		if err := draft.definition.CheckTimes("/steps", tx.Now()).Err(); err != nil {
			return nil, err
		}
		scenario.Steps = draft.Steps
	}
	if scenario.Name == before.Name && slices.Equal(scenario.Steps, before.Steps) {
		return scenario, nil
	}
	scenario.Version++
	return scenario, saveScenario(tx, &before, scenario)
}

// MoveScenario brings a scenario into a state; being there already is no error.
// Runs under way go on.
func MoveScenario(ctx context.Context, tx *store.Tx, cause Cause, id string, status models.ScenarioStatus) (*models.Scenario, error) {
	scenario, err := lockScenario(ctx, tx, cause, id)
	if err != nil || !scenario.Status.CanBecome(status) {
		return scenario, err
	}
	before := *scenario
	scenario.Status = status
	return scenario, saveScenario(tx, &before, scenario)
}

func saveScenario(tx *store.Tx, before, scenario *models.Scenario) error {
	scenario.UpdatedAt = tx.Now()
	scenario.Revision++
	if err := tx.UpdateScenario(before, scenario); err != nil {
		return fmt.Errorf("update scenario: %w", err)
	}
	return nil
}

func lockScenario(ctx context.Context, tx *store.Tx, cause Cause, id string) (*models.Scenario, error) {
	scenario, err := tx.LockScenario(ctx, id)
	if err != nil {
		return nil, fmt.Errorf("lock scenario: %w", err)
	}
	return scenario, cause.match(ScenarioTag(scenario))
}

// RunScenario queues a run: the intent to take a contact through the scenario's
// present version. It returns that version's steps beside it.
func RunScenario(ctx context.Context, tx *store.Tx, cause Cause, id, contactID string, variables jsontext.Value) (
	run *models.ScenarioRun, steps []byte, err error,
) {
	scenario, err := tx.ShareScenario(ctx, id)
	if err != nil {
		return nil, nil, fmt.Errorf("run scenario: %w", err)
	}
	if err := cause.match(ScenarioTag(scenario)); err != nil {
		return nil, nil, err
	}
	if variables, err = checkRun(ctx, tx, contactID, variables); err != nil {
		return nil, nil, err
	}
	if scenario.Status != models.ScenarioActive {
		return nil, nil, models.NewError(models.CodeScenarioNotActive, "The scenario is %s; only an active one can be run.", scenario.Status)
	}
	now := tx.Now()
	run = &models.ScenarioRun{
		ProjectID: tx.Project(), ID: models.NewID(models.PrefixRun, now), ScenarioID: scenario.ID, ScenarioVersion: scenario.Version,
		ContactID: contactID, Variables: variables, Status: models.RunQueued,
		APIVersion: cause.APIVersion, RequestID: cause.RequestID, Revision: 1, CreatedAt: now, UpdatedAt: now,
	}
	tx.CreateRun(run)
	return run, scenario.Steps, nil
}

// checkRun returns the variables of a run whose contact exists.
func checkRun(ctx context.Context, tx *store.Tx, contactID string, variables jsontext.Value) (jsontext.Value, error) {
	var found models.Faults
	if len(variables) == 0 || variables.Kind() == 'n' {
		variables = jsontext.Value("{}")
	}
	switch {
	case variables.Kind() != '{':
		found.Add("/variables", models.FieldType, "Variables are a JSON object.")
	case len(variables) > models.MaxAttributeBytes:
		found.Add("/variables", models.FieldTooLong, "At most %d bytes are allowed; there are %d.", models.MaxAttributeBytes, len(variables))
	}
	err := store.ErrNotFound
	if models.ValidID(models.PrefixContact, contactID) {
		_, err = tx.ShareContact(ctx, contactID)
	}
	if errors.Is(err, store.ErrNotFound) {
		found.Add("/contact_id", models.FieldNotFound, "There is no such contact in this project.")
	} else if err != nil {
		return nil, fmt.Errorf("the run's contact: %w", err)
	}
	return variables, found.Err()
}

// RunTag names the run's revision.
func RunTag(run *models.ScenarioRun) string { return fmt.Sprintf(`"%d"`, run.Revision) }

// CancelRun calls a run off. A step that is under way may still have its effect;
// none follows it.
func CancelRun(ctx context.Context, tx *store.Tx, cause Cause, id string) (*models.ScenarioRun, error) {
	run, err := tx.LockRun(ctx, id)
	if err != nil {
		return nil, fmt.Errorf("lock run: %w", err)
	}
	if err := cause.match(RunTag(run)); err != nil {
		return nil, err
	}
	if !run.Status.CanBecome(models.RunCancelled) {
		return nil, models.NewError(models.CodeNotCancellable, "The run is %s.", run.Status)
	}
	if err := tx.CancelRun(run); err != nil {
		return nil, fmt.Errorf("cancel run: %w", err)
	}
	return run, nil
}
