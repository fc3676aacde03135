package store

import (
	"context"
	"fmt"

	"gorm.io/gorm/clause"

	"github.com/botix-pro/platform/app/models"
)

const (
	sqlCreateRun = `
		INSERT INTO scenario_runs (project_id, id, scenario_id, scenario_version, contact_id, variables, status, due_at,
		       api_version, request_id, created_at, updated_at)
		VALUES ($1, $2, $3, $4, $5, $6, 'queued', $7, $8, $9, $7, $7)`
	sqlCancelRun = `
		UPDATE scenario_runs SET status = 'cancelled', due_at = NULL, claim_token = NULL, message_id = NULL,
		       finished_at = $3, updated_at = $3, revision = revision + 1
		WHERE project_id = $1 AND id = $2 AND status IN ('queued', 'running', 'waiting')`
	sqlCancelRunSteps = `
		UPDATE scenario_run_steps SET status = 'cancelled', finished_at = $3
		WHERE project_id = $1 AND run_id = $2 AND status IN ('running', 'waiting')`
	// Whoever has a run in hand finds out by itself that the contact is gone; not
	// waiting for them keeps this from a deadlock.
	sqlWakeRunsOfContact = `
		UPDATE scenario_runs SET due_at = clock_timestamp()
		WHERE project_id = $1 AND id IN (
			SELECT id FROM scenario_runs WHERE project_id = $1 AND contact_id = $2 AND status = 'waiting'
			FOR UPDATE SKIP LOCKED)`
)

// RunFilter narrows a list of runs; nil fields do not.
type RunFilter struct{ ScenarioID, ContactID, Status *string }

// CreateRun queues a run's insertion, due at once.
func (tx *Tx) CreateRun(r *models.ScenarioRun) {
	tx.exec(sqlCreateRun, string(tx.project), r.ID, r.ScenarioID, r.ScenarioVersion, r.ContactID, r.Variables, r.CreatedAt,
		r.APIVersion, r.RequestID)
	tx.due(WorkRuns)
}

// LockRun returns a run that nobody else can move until the transaction ends,
// or [ErrNotFound].
func (tx *Tx) LockRun(ctx context.Context, id string) (*models.ScenarioRun, error) {
	return tx.lockRun(ctx, "id = ?", id)
}

func (tx *Tx) lockRun(ctx context.Context, condition string, values ...any) (*models.ScenarioRun, error) {
	var run models.ScenarioRun
	err := tx.read(ctx).Clauses(clause.Locking{Strength: clause.LockingStrengthUpdate}).
		Where("project_id = ?", tx.project).Where(condition, values...).Take(&run).Error
	if err != nil {
		return nil, one(err, "run")
	}
	return &run, nil
}

// CancelRun queues the end of a run that [Tx.LockRun] returned as not over,
// whoever holds it, and of its present step, with its event.
func (tx *Tx) CancelRun(run *models.ScenarioRun) error {
	now := tx.Now()
	run.Status, run.DueAt, run.ClaimToken, run.MessageID = models.RunCancelled, nil, nil, nil
	run.FinishedAt, run.UpdatedAt = &now, now
	run.Revision++
	tx.exec(sqlCancelRun, string(tx.project), run.ID, now)
	tx.exec(sqlCancelRunSteps, string(tx.project), run.ID, now)
	return tx.AppendRunEvent(run, models.EventRunCancelled)
}

// AppendRunEvent queues an event about the run's present state.
func (tx *Tx) AppendRunEvent(run *models.ScenarioRun, kind string) error {
	event, err := run.Event(kind, tx.Now())
	if err != nil {
		return fmt.Errorf("the event of a run: %w", err)
	}
	tx.AppendEvent(event)
	return nil
}

// RunSteps returns the records of a run's steps within the transaction.
func (tx *Tx) RunSteps(ctx context.Context, run string) ([]models.ScenarioRunStep, error) {
	var records []models.ScenarioRunStep
	if err := tx.read(ctx).Where("project_id = ? AND run_id = ?", tx.project, run).Find(&records).Error; err != nil {
		return nil, fmt.Errorf("list a run's steps: %w", err)
	}
	return records, nil
}

// ScenarioSteps returns the steps of one version of a scenario, as they were
// given, within the transaction.
func (tx *Tx) ScenarioSteps(ctx context.Context, scenario string, version int) ([]byte, error) {
	var sealed []byte
	err := tx.read(ctx).Raw(sqlVersionSteps, tx.project, scenario, version).Row().Scan(&sealed)
	if err != nil {
		return nil, fmt.Errorf("read a scenario's version: %w", err)
	}
	return tx.store.openSteps(sealed, tx.project, scenario)
}

const sqlVersionSteps = `SELECT steps FROM scenario_versions WHERE project_id = ? AND scenario_id = ? AND version = ?`

// Run returns one run of the project with the records of its steps and the
// steps of its scenario's version, as they were given, or [ErrNotFound].
func (s *Store) Run(ctx context.Context, project models.ProjectID, id string) (*models.ScenarioRun, []models.ScenarioRunStep, []byte, error) {
	var run models.ScenarioRun
	if err := s.read(ctx).Where("project_id = ? AND id = ?", project, id).Take(&run).Error; err != nil {
		return nil, nil, nil, one(err, "run")
	}
	var records []models.ScenarioRunStep
	if err := s.read(ctx).Where("project_id = ? AND run_id = ?", project, id).Find(&records).Error; err != nil {
		return nil, nil, nil, fmt.Errorf("list a run's steps: %w", err)
	}
	var sealed []byte
	if err := s.read(ctx).Raw(sqlVersionSteps, project, run.ScenarioID, run.ScenarioVersion).Row().Scan(&sealed); err != nil {
		return nil, nil, nil, fmt.Errorf("read a scenario's version: %w", err)
	}
	steps, err := s.openSteps(sealed, project, run.ScenarioID)
	return &run, records, steps, err
}

// Runs returns a page of the project's runs, newest first.
func (s *Store) Runs(ctx context.Context, project models.ProjectID, filter RunFilter, page Page) ([]models.ScenarioRun, error) {
	query := s.read(ctx).Where("project_id = ?", project)
	for condition, value := range map[string]*string{
		"scenario_id = ?": filter.ScenarioID, "contact_id = ?": filter.ContactID, "status = ?": filter.Status,
	} {
		if value != nil {
			query = query.Where(condition, *value)
		}
	}
	var runs []models.ScenarioRun
	if err := page.newestFirst(query).Find(&runs).Error; err != nil {
		return nil, fmt.Errorf("list runs: %w", err)
	}
	return runs, nil
}
