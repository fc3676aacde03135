package store

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"gorm.io/gorm"

	"github.com/botix-pro/platform/app/models"
)

const (
	versionsTable     = "scenario_versions"
	sqlCreateScenario = `
		INSERT INTO scenarios (project_id, id, name, status, version, revision, created_at, updated_at)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $7)`
	sqlCreateScenarioVersion = `
		INSERT INTO scenario_versions (project_id, scenario_id, version, steps, created_at) VALUES ($1, $2, $3, $4, $5)`
	sqlUpdateScenario = `
		UPDATE scenarios SET name = $3, status = $4, version = $5, revision = $6, updated_at = $7
		WHERE project_id = $1 AND id = $2 AND status = $8 AND revision = $6 - 1`
	sqlScenario = `
		SELECT s.*, v.steps FROM scenarios s
		JOIN scenario_versions v ON v.project_id = s.project_id AND v.scenario_id = s.id AND v.version = s.version
		WHERE s.project_id = ?`
)

// scenarioRow is a scenario with the steps of its version, encrypted.
type scenarioRow struct {
	models.Scenario `gorm:"embedded"`

	SealedSteps []byte `gorm:"column:steps"`
}

func (s *Store) openScenario(row *scenarioRow) (*models.Scenario, error) {
	steps, err := s.openSteps(row.SealedSteps, row.ProjectID, row.ID)
	row.Steps = steps
	return &row.Scenario, err
}

func (s *Store) openSteps(sealed []byte, project models.ProjectID, scenario string) (steps json.RawMessage, err error) {
	err = s.openJSON(sealed, secretOwner(versionsTable, project, scenario), &steps)
	return steps, err
}

// Scenario returns one scenario of the project, or [ErrNotFound].
func (s *Store) Scenario(ctx context.Context, project models.ProjectID, id string) (*models.Scenario, error) {
	return s.scenario(s.read(ctx), sqlScenario+` AND s.id = ?`, project, id)
}

func (s *Store) scenario(q *gorm.DB, sql string, args ...any) (*models.Scenario, error) {
	var rows []scenarioRow
	if err := q.Raw(sql, args...).Scan(&rows).Error; err != nil {
		return nil, fmt.Errorf("read scenario: %w", err)
	}
	if len(rows) == 0 {
		return nil, notFound("scenario")
	}
	return s.openScenario(&rows[0])
}

// Scenarios returns a page of the project's scenarios, newest first; status, if
// not nil, narrows it.
func (s *Store) Scenarios(ctx context.Context, project models.ProjectID, status *string, page Page) ([]models.Scenario, error) {
	var rows []scenarioRow
	err := s.read(ctx).Raw(sqlScenario+` AND (?::text IS NULL OR s.status = ?) AND (? = '' OR s.id < ?) ORDER BY s.id DESC LIMIT ?`,
		project, status, status, page.Before, page.Before, page.Limit).Scan(&rows).Error
	if err != nil {
		return nil, fmt.Errorf("list scenarios: %w", err)
	}
	list := make([]models.Scenario, len(rows))
	for i := range rows {
		opened, err := s.openScenario(&rows[i])
		if err != nil {
			return nil, err
		}
		list[i] = *opened
	}
	return list, nil
}

// LockScenario returns a scenario that nobody else can change until the
// transaction ends, or [ErrNotFound].
func (tx *Tx) LockScenario(ctx context.Context, id string) (*models.Scenario, error) {
	return tx.store.scenario(tx.read(ctx), sqlScenario+` AND s.id = ? FOR UPDATE OF s`, tx.project, id)
}

// ShareScenario returns a scenario that nobody can change until the transaction
// ends, though others may start runs of it meanwhile, or [ErrNotFound].
func (tx *Tx) ShareScenario(ctx context.Context, id string) (*models.Scenario, error) {
	return tx.store.scenario(tx.read(ctx), sqlScenario+` AND s.id = ? FOR SHARE OF s`, tx.project, id)
}

// CreateScenario queues a scenario's insertion with its first version.
func (tx *Tx) CreateScenario(s *models.Scenario) error {
	tx.exec(sqlCreateScenario, string(tx.project), s.ID, s.Name, string(s.Status), s.Version, s.Revision, s.CreatedAt)
	return tx.createScenarioVersion(s)
}

// UpdateScenario queues the replacement of a scenario that [Tx.LockScenario]
// returned and that was as before says: its next revision, and, where the
// version is another one, the new version's steps.
func (tx *Tx) UpdateScenario(before, s *models.Scenario) error {
	tx.exec(sqlUpdateScenario, string(tx.project), s.ID, s.Name, string(s.Status), s.Version, s.Revision, s.UpdatedAt, string(before.Status))
	if s.Version == before.Version {
		return nil
	}
	return tx.createScenarioVersion(s)
}

func (tx *Tx) createScenarioVersion(s *models.Scenario) error {
	sealed, err := tx.store.sealJSON(json.RawMessage(s.Steps), secretOwner(versionsTable, tx.project, s.ID))
	if err != nil {
		return err
	}
	tx.exec(sqlCreateScenarioVersion, string(tx.project), s.ID, s.Version, sealed, s.UpdatedAt)
	return nil
}

// ScenarioVersion is one version of a scenario, without its steps.
type ScenarioVersion struct {
	Version   int
	CreatedAt time.Time
}

// ScenarioVersions returns the latest versions of a scenario, newest first.
func (s *Store) ScenarioVersions(ctx context.Context, project models.ProjectID, scenario string, limit int) ([]ScenarioVersion, error) {
	var list []ScenarioVersion
	err := s.read(ctx).Table(versionsTable).Select("version, created_at").Where("project_id = ? AND scenario_id = ?", project, scenario).
		Order("version DESC").Limit(limit).Find(&list).Error
	if err != nil {
		return nil, fmt.Errorf("list a scenario's versions: %w", err)
	}
	return list, nil
}

// ScenarioSteps returns the steps of one version of a scenario, as they were
// given, or [ErrNotFound].
func (s *Store) ScenarioSteps(ctx context.Context, project models.ProjectID, scenario string, version int) ([]byte, error) {
	var rows []struct{ Steps []byte }
	if err := s.read(ctx).Raw(sqlVersionSteps, project, scenario, version).Scan(&rows).Error; err != nil {
		return nil, fmt.Errorf("read a scenario's version: %w", err)
	}
	if len(rows) == 0 {
		return nil, notFound("version of a scenario")
	}
	return s.openSteps(rows[0].Steps, project, scenario)
}
