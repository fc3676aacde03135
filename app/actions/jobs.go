package actions

import (
	"context"
	"fmt"

	"github.com/botix-pro/platform/app/models"
	"github.com/botix-pro/platform/app/store"
)

// JobTag names how far the job is.
func JobTag(j *models.Job) string {
	return fmt.Sprintf(`"%s-%d-%d"`, j.Status, j.Processed, j.UpdatedAt.UnixMicro())
}

// CancelJob stops a job: one that is queued ends now, one that runs stops at its
// next batch.
func CancelJob(ctx context.Context, tx *store.Tx, cause Cause, id string) (*models.Job, error) {
	job, err := tx.LockJob(ctx, id)
	if err != nil {
		return nil, fmt.Errorf("lock job: %w", err)
	}
	if err := cause.match(JobTag(job)); err != nil {
		return nil, err
	}
	if err := tx.CancelJob(job); err != nil {
		return nil, fmt.Errorf("cancel job: %w", err)
	}
	return job, nil
}
