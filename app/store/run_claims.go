package store

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/botix-pro/platform/app/models"
)

// ClaimedRun is a run that the caller now holds and has to bring forward.
type ClaimedRun struct {
	ProjectID models.ProjectID
	ID        string
	Mode      models.Mode
	Position  int    // of its present step
	Steps     []byte // of its scenario's version, as they were given
	Token     string // proves the claim to [Tx.LockClaimedRun]
	// Unsealed is not nil when the steps cannot be decrypted: the run is claimed,
	// but nobody here can bring it forward.
	Unsealed error
}

// One statement takes what is due, whatever it was due for: new, a wait's end, a
// message's end, the next try of a request, or the end of a lost worker's lease.
const sqlClaimRuns = `
	WITH due AS (
		SELECT project_id, id FROM scenario_runs
		WHERE due_at <= now() -- not clock_timestamp(): what is volatile cannot use the index
		ORDER BY due_at
		LIMIT $1
		FOR UPDATE SKIP LOCKED
	), claimed AS (
		UPDATE scenario_runs r SET status = 'running', claim_token = $2, due_at = clock_timestamp() + make_interval(secs => $3),
		       updated_at = clock_timestamp(), revision = r.revision + 1
		FROM due WHERE r.project_id = due.project_id AND r.id = due.id AND r.status IN ('queued', 'running', 'waiting')
		RETURNING r.project_id, r.id, r.position, r.scenario_id, r.scenario_version
	)
	SELECT c.project_id, c.id, c.position, p.mode, c.scenario_id, v.steps
	FROM claimed c
	JOIN projects p ON p.id = c.project_id
	JOIN scenario_versions v ON v.project_id = c.project_id AND v.scenario_id = c.scenario_id AND v.version = c.scenario_version`

const (
	sqlMoveRun = `
		UPDATE scenario_runs SET status = $4, position = $5, variables = $6, message_id = $7, error_code = $8, error_detail = $9,
		       started_at = $10, finished_at = $11, claim_token = CASE WHEN $4 = 'running' THEN claim_token END,
		       due_at = CASE WHEN $4 IN ('running', 'waiting') THEN clock_timestamp() + make_interval(secs => $12) END,
		       updated_at = $13, revision = revision + 1
		WHERE project_id = $1 AND id = $2 AND status = 'running' AND claim_token = $3`
	sqlSaveRunStep = `
		INSERT INTO scenario_run_steps (project_id, run_id, step_id, status, attempts, maybe_done, error_code, error_detail, started_at, finished_at)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)
		ON CONFLICT (project_id, run_id, step_id) DO UPDATE SET
		       status = excluded.status, attempts = excluded.attempts, maybe_done = excluded.maybe_done,
		       error_code = excluded.error_code, error_detail = excluded.error_detail, finished_at = excluded.finished_at
		WHERE scenario_run_steps.status IN ('running', 'waiting')`
)

// ClaimRuns takes up to limit runs that are due, of whatever project, for as
// long as the lease: then others may take them.
func (s *Store) ClaimRuns(ctx context.Context, token string, limit int, lease time.Duration) (list []ClaimedRun, err error) {
	err = s.withConn(ctx, func(c *pgx.Conn) error {
		rows, err := c.Query(ctx, sqlClaimRuns, limit, token, lease.Seconds())
		if err != nil {
			return err
		}
		list, err = pgx.CollectRows(rows, func(row pgx.CollectableRow) (ClaimedRun, error) { return s.scanClaimedRun(row, token) })
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("claim runs: %w", err)
	}
	return list, nil
}

func (s *Store) scanClaimedRun(row pgx.CollectableRow, token string) (ClaimedRun, error) {
	claimed := ClaimedRun{Token: token}
	var scenario string
	var sealed []byte
	if err := row.Scan(&claimed.ProjectID, &claimed.ID, &claimed.Position, &claimed.Mode, &scenario, &sealed); err != nil {
		return claimed, fmt.Errorf("read a claimed run: %w", err)
	}
	claimed.Steps, claimed.Unsealed = s.openSteps(sealed, claimed.ProjectID, scenario)
	return claimed, nil
}

// LockClaimedRun returns a run that the claim still holds, which nobody else can
// move until the transaction ends; [ErrNotFound] if it was taken back or
// cancelled.
func (tx *Tx) LockClaimedRun(ctx context.Context, claim ClaimedRun) (*models.ScenarioRun, error) {
	return tx.lockRun(ctx, "id = ? AND status = 'running' AND claim_token = ?", claim.ID, claim.Token)
}

// RunStep returns the record of a run's step, nil if it was not begun.
func (tx *Tx) RunStep(ctx context.Context, run, step string) (*models.ScenarioRunStep, error) {
	var records []models.ScenarioRunStep
	err := tx.read(ctx).Where("project_id = ? AND run_id = ? AND step_id = ?", tx.project, run, step).Find(&records).Error
	if err != nil {
		return nil, fmt.Errorf("read a run's step: %w", err)
	}
	if len(records) == 0 {
		return nil, nil //nolint:nilnil // not begun
	}
	return &records[0], nil
}

// SaveRunStep queues the record of a step that began or moved. One that is over
// stays as it is.
func (tx *Tx) SaveRunStep(s *models.ScenarioRunStep) {
	tx.exec(sqlSaveRunStep, string(tx.project), s.RunID, s.StepID, string(s.Status), s.Attempts, s.MaybeDone,
		s.ErrorCode, s.ErrorDetail, s.StartedAt, s.FinishedAt)
}

// MoveRun queues what became of a run that [Tx.LockClaimedRun] returned. Running,
// it stays the caller's for dueIn; waiting, it is due after dueIn, or by its
// message alone when dueIn is nil; over, it is never due again.
func (tx *Tx) MoveRun(run *models.ScenarioRun, dueIn *time.Duration) {
	var seconds *float64
	if dueIn != nil {
		s := dueIn.Seconds()
		seconds = &s
	}
	run.UpdatedAt = tx.Now()
	tx.exec(sqlMoveRun, string(tx.project), run.ID, run.ClaimToken, string(run.Status), run.Position, run.Variables, run.MessageID,
		run.ErrorCode, run.ErrorDetail, run.StartedAt, run.FinishedAt, seconds, run.UpdatedAt)
}
