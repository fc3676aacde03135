package store

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
	"gorm.io/gorm/clause"

	"github.com/botix-pro/platform/app/models"
)

// ErrLeaseLost is returned when a job is no longer the caller's: another worker
// continues it, or it has ended.
var ErrLeaseLost = errors.New("the job is no longer this worker's")

const (
	sqlCreateJob = `
		INSERT INTO jobs (project_id, id, type, status, params, position, total, api_version, request_id, run_at, created_at, updated_at)
		VALUES ($1, $2, $3, 'queued', $4, $5, $6, $7, $8, $9, $9, $9)`
	// The longest waiting first, so that one project's jobs do not keep the
	// others' from their turn. A lease that ran out means that a worker was lost
	// in the middle of a batch, which its transaction rolled back.
	sqlClaimJob = `
		UPDATE jobs SET
		       status = 'running', holder = $1, lease_expires_at = clock_timestamp() + make_interval(secs => $2),
		       failures = failures + (holder IS NOT NULL)::int,
		       started_at = coalesce(started_at, clock_timestamp()), updated_at = clock_timestamp()
		WHERE (project_id, id) = (
			SELECT project_id, id FROM jobs
			WHERE status IN ('queued', 'running') AND run_at <= now() AND type = ANY($3)
			  AND (lease_expires_at IS NULL OR lease_expires_at <= clock_timestamp())
			ORDER BY run_at LIMIT 1 FOR UPDATE SKIP LOCKED)
		RETURNING project_id, id, failures`
	// run_at: when whoever is free may go on with it.
	sqlAdvanceJob = `
		UPDATE jobs SET position = $4, processed = $5, succeeded = $6, failed = $7, failures = 0,
		       run_at = clock_timestamp() + make_interval(secs => $8),
		       lease_expires_at = clock_timestamp() + make_interval(secs => $9), updated_at = clock_timestamp()
		WHERE project_id = $1 AND id = $2 AND holder = $3 AND status = 'running'`
	sqlEndJob = `
		UPDATE jobs SET status = $3, position = $4, processed = $5, succeeded = $6, failed = $7, error = $8,
		       cancel_requested = cancel_requested OR $3 = 'cancelled', run_at = NULL, holder = NULL, lease_expires_at = NULL,
		       updated_at = $9, finished_at = $9
		WHERE project_id = $1 AND id = $2 AND status IN ('queued', 'running')`
	sqlLeaveJob = `
		UPDATE jobs SET holder = NULL, lease_expires_at = NULL, failures = failures + $4::boolean::int,
		       run_at = greatest(run_at, clock_timestamp() + make_interval(secs => $5)), updated_at = clock_timestamp()
		WHERE project_id = $1 AND id = $2 AND holder = $3`
	sqlPurgeJobs = `
		WITH purged AS (
			DELETE FROM jobs WHERE (project_id, id) IN (
				SELECT project_id, id FROM jobs WHERE finished_at <= clock_timestamp() - make_interval(secs => $2)
				ORDER BY finished_at LIMIT $1 FOR UPDATE SKIP LOCKED)
			RETURNING project_id, id
		), results AS (
			DELETE FROM job_results r USING purged p WHERE r.project_id = p.project_id AND r.job_id = p.id
		)
		SELECT count(*) FROM purged`
	// A job that waits for its next batch need not wait to be stopped.
	sqlRequestCancel = `
		UPDATE jobs SET cancel_requested = true, run_at = least(run_at, $3), updated_at = $3
		WHERE project_id = $1 AND id = $2 AND status = 'running' AND NOT cancel_requested`
)

// Job returns one job of the project, or [ErrNotFound].
func (s *Store) Job(ctx context.Context, project models.ProjectID, id string) (*models.Job, error) {
	var job models.Job
	if err := s.read(ctx).Where("project_id = ? AND id = ?", project, id).Take(&job).Error; err != nil {
		return nil, one(err, "job")
	}
	return &job, nil
}

// JobFilter narrows a list of jobs; nil fields do not.
type JobFilter struct {
	Span

	Type, Status *string
}

// Jobs returns a page of the project's jobs, newest first.
func (s *Store) Jobs(ctx context.Context, project models.ProjectID, filter JobFilter, page Page) ([]models.Job, error) {
	query := filter.narrow(s.read(ctx).Where("project_id = ?", project))
	for condition, value := range map[string]*string{"type = ?": filter.Type, "status = ?": filter.Status} {
		if value != nil {
			query = query.Where(condition, *value)
		}
	}
	var jobs []models.Job
	if err := page.newestFirst(query).Find(&jobs).Error; err != nil {
		return nil, fmt.Errorf("list jobs: %w", err)
	}
	return jobs, nil
}

// JobsUnderWay returns the project's jobs that have not ended, newest first, at
// most limit of them.
func (s *Store) JobsUnderWay(ctx context.Context, project models.ProjectID, limit int) ([]models.Job, error) {
	var jobs []models.Job
	err := s.read(ctx).Where("project_id = ? AND status IN ('queued', 'running')", project).Order("id DESC").Limit(limit).Find(&jobs).Error
	if err != nil {
		return nil, fmt.Errorf("list the jobs under way: %w", err)
	}
	return jobs, nil
}

// NewJob queues a job of the transaction's project, with params encoded as JSON,
// and returns it. A worker finds it within a second. An ID that the job has
// already is kept.
func (tx *Tx) NewJob(job models.Job, params any) (*models.Job, error) {
	now := tx.Now()
	if job.ID == "" {
		job.ID = models.NewID(models.PrefixJob, now)
	}
	job.ProjectID, job.Status = tx.project, models.JobQueued
	job.CreatedAt, job.UpdatedAt = now, now
	var err error
	if job.Params, err = json.Marshal(params); err != nil {
		return nil, fmt.Errorf("encode the params of a job: %w", err)
	}
	tx.exec(sqlCreateJob, string(tx.project), job.ID, string(job.Type), job.Params, job.Position, job.Total, job.APIVersion, job.RequestID, now)
	tx.due(WorkJobs)
	return &job, nil
}

// ClaimedJob names a job that the caller holds until its lease ends.
type ClaimedJob struct {
	ProjectID models.ProjectID
	ID        string
	// Failures counts tries in a row that moved nothing, lost workers included.
	Failures int
	Holder   string
}

// ClaimJob takes the job of the given types that has waited longest, or returns
// [ErrNotFound]. holder is a new UUID.
func (s *Store) ClaimJob(ctx context.Context, holder string, lease time.Duration, types []models.JobType) (ClaimedJob, error) {
	claimed := ClaimedJob{Holder: holder}
	err := s.withConn(ctx, func(c *pgx.Conn) error {
		return c.QueryRow(ctx, sqlClaimJob, holder, lease.Seconds(), types).Scan(&claimed.ProjectID, &claimed.ID, &claimed.Failures)
	})
	switch {
	case errors.Is(err, pgx.ErrNoRows):
		return claimed, notFound("job to run")
	case err != nil:
		return claimed, fmt.Errorf("claim a job: %w", err)
	default:
		return claimed, nil
	}
}

// LeaveJob gives a job back, to be continued by anybody after the delay. failed
// says that the try moved nothing because of an error.
func (s *Store) LeaveJob(ctx context.Context, job ClaimedJob, failed bool, delay time.Duration) error {
	return s.withConn(ctx, func(c *pgx.Conn) error {
		if _, err := c.Exec(ctx, sqlLeaveJob, string(job.ProjectID), job.ID, job.Holder, failed, delay.Seconds()); err != nil {
			return fmt.Errorf("leave a job: %w", err)
		}
		return nil
	})
}

// LockClaimed locks a job that the caller claimed: nobody else can take or
// change it until the transaction ends. [ErrLeaseLost]: somebody has already.
func (tx *Tx) LockClaimed(ctx context.Context, claimed ClaimedJob) (*models.Job, error) {
	var job models.Job
	err := tx.read(ctx).Clauses(clause.Locking{Strength: clause.LockingStrengthUpdate}).
		Where("project_id = ? AND id = ? AND holder = ? AND status = 'running'", tx.project, claimed.ID, claimed.Holder).Take(&job).Error
	if err := one(err, "job"); errors.Is(err, ErrNotFound) {
		return nil, ErrLeaseLost
	} else if err != nil {
		return nil, err
	}
	return &job, nil
}

// AdvanceJob queues what a batch came to, beside the batch's own effects. The
// lease begins anew; the next batch is due after the pause.
func (tx *Tx) AdvanceJob(claimed ClaimedJob, job *models.Job, lease, pause time.Duration) {
	tx.exec(sqlAdvanceJob, string(tx.project), job.ID, claimed.Holder, job.Position, job.Processed, job.Succeeded, job.Failed,
		pause.Seconds(), lease.Seconds())
}

// EndJob queues the end of a job that this transaction has locked, with its
// event.
func (tx *Tx) EndJob(job *models.Job, status models.JobStatus, reason string) error {
	now := tx.Now()
	job.Status, job.Error, job.UpdatedAt, job.FinishedAt = status, reason, now, &now
	event, err := job.EndEvent()
	if err != nil {
		return err
	}
	tx.exec(sqlEndJob, string(tx.project), job.ID, string(status), job.Position, job.Processed, job.Succeeded, job.Failed, reason, now)
	tx.exec(sqlDropJobRows, string(tx.project), job.ID)
	tx.AppendEvent(event)
	return nil
}

// LockJob returns a job that nobody else can change until the transaction ends,
// or [ErrNotFound].
func (tx *Tx) LockJob(ctx context.Context, id string) (*models.Job, error) {
	var job models.Job
	err := tx.read(ctx).Clauses(clause.Locking{Strength: clause.LockingStrengthUpdate}).
		Where("project_id = ? AND id = ?", tx.project, id).Take(&job).Error
	if err != nil {
		return nil, one(err, "job")
	}
	return &job, nil
}

// CancelJob queues the end of a locked job by hand and makes job what it will
// be: one that is queued is cancelled, one that runs stops at its next batch.
// NOT_CANCELLABLE when it has ended.
func (tx *Tx) CancelJob(job *models.Job) error {
	switch {
	case job.Status.Ended():
		return models.NewError(models.CodeNotCancellable, "The job is %s already.", job.Status)
	case job.Status == models.JobQueued:
		job.CancelRequested = true
		return tx.EndJob(job, models.JobCancelled, "")
	case !job.CancelRequested:
		tx.exec(sqlRequestCancel, string(tx.project), job.ID, tx.Now())
		tx.due(WorkJobs)
		job.CancelRequested, job.UpdatedAt = true, tx.Now()
	}
	return nil
}

// JobRetention is how long a job that has ended is kept.
const JobRetention = 30 * 24 * time.Hour

// PurgeJobs deletes at most limit jobs that ended long ago, with what became of
// their rows, and reports whether
// there may be more.
func (s *Store) PurgeJobs(ctx context.Context, limit int) (more bool, err error) {
	err = s.withConn(ctx, func(c *pgx.Conn) error {
		var purged int
		err := c.QueryRow(ctx, sqlPurgeJobs, limit, JobRetention.Seconds()).Scan(&purged)
		more = purged == limit
		return err
	})
	if err != nil {
		return false, fmt.Errorf("purge jobs: %w", err)
	}
	return more, nil
}
