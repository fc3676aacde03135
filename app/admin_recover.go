package app

import (
	"context"
	"math"

	"github.com/botix-pro/platform/app/models"
	"github.com/botix-pro/platform/app/store"
)

// The operators' half of "recover" (contract §5): the same rules as the API's,
// without a key. Nothing hints to a worker from here; its sweeper finds what
// became due within a second.

// RetryDelivery sends a delivery again by hand.
func (a *Admin) RetryDelivery(ctx context.Context, project models.ProjectID, id string) (*models.WebhookDelivery, error) {
	var delivery *models.WebhookDelivery
	_, err := a.store.Write(ctx, project, func(tx *store.Tx) error {
		locked, err := tx.LockDelivery(ctx, id)
		if err != nil {
			return err
		}
		delivery, err = tx.RetryDelivery(locked)
		return err
	})
	return delivery, err
}

// DeadLetters lists a project's newest dead letters, at most limit.
func (a *Admin) DeadLetters(ctx context.Context, project models.ProjectID, filter store.DeadLetterFilter, limit int) ([]models.DeadLetter, error) {
	return a.store.DeadLetters(ctx, project, filter, store.Page{Limit: limit})
}

// DeadLetterGroups counts a project's dead letters by endpoint and cause.
func (a *Admin) DeadLetterGroups(ctx context.Context, project models.ProjectID) ([]models.DeadLetterGroup, error) {
	return a.store.DeadLetterGroups(ctx, project, nil, models.DeadLetterGroup{}, math.MaxInt32)
}

// CountRecovery counts what a recovery would send again now.
func (a *Admin) CountRecovery(ctx context.Context, project models.ProjectID, recovery models.Recovery) (count int, err error) {
	_, err = a.store.Write(ctx, project, func(tx *store.Tx) (err error) {
		count, err = tx.CountRecovery(ctx, recovery)
		return err
	})
	return count, err
}

// Recover starts a job that sends again what a recovery is about.
func (a *Admin) Recover(ctx context.Context, project models.ProjectID, recovery models.Recovery) (*models.Job, error) {
	var job *models.Job
	_, err := a.store.Write(ctx, project, func(tx *store.Tx) (err error) {
		job, err = tx.StartRecovery(ctx, recovery, models.Job{APIVersion: models.CurrentAPIVersion})
		return err
	})
	return job, err
}

// Jobs lists a project's newest jobs, at most limit.
func (a *Admin) Jobs(ctx context.Context, project models.ProjectID, limit int) ([]models.Job, error) {
	return a.store.Jobs(ctx, project, store.JobFilter{}, store.Page{Limit: limit})
}

// Job returns one job.
func (a *Admin) Job(ctx context.Context, project models.ProjectID, id string) (*models.Job, error) {
	return a.store.Job(ctx, project, id)
}

// CancelJob stops a job: at once if it has not begun, else before its next
// batch.
func (a *Admin) CancelJob(ctx context.Context, project models.ProjectID, id string) (*models.Job, error) {
	var job *models.Job
	_, err := a.store.Write(ctx, project, func(tx *store.Tx) (err error) {
		if job, err = tx.LockJob(ctx, id); err != nil {
			return err
		}
		return tx.CancelJob(job)
	})
	return job, err
}
