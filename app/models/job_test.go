package models_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/botix-pro/platform/app/models"
)

func TestJobMachine(t *testing.T) {
	t.Parallel()
	for _, from := range models.JobStatuses() {
		require.Equal(t, from != models.JobQueued && from != models.JobRunning, from.Ended(), "%s", from)
		for _, to := range models.JobStatuses() {
			require.False(t, from.Ended() && from.CanBecome(to), "%s is final", from)
			require.False(t, from.CanBecome(models.JobQueued), "nothing begins anew")
		}
	}
	require.True(t, models.JobQueued.CanBecome(models.JobCancelled))
	require.False(t, models.JobQueued.CanBecome(models.JobCompleted), "only what ran is completed")
}

func TestJobTellsItsPaceAndItsEnd(t *testing.T) {
	t.Parallel()
	began := time.Date(2026, 12, 1, 10, 0, 0, 0, time.UTC)
	job := models.Job{Status: models.JobRunning, Total: 300, StartedAt: &began, UpdatedAt: began}
	require.Zero(t, job.Pace())
	require.Nil(t, job.EndsAbout(), "nothing is known before the first batch")
	job.Advance(models.JobStep{Position: "x", Succeeded: 90, Failed: 10})
	job.UpdatedAt = began.Add(10 * time.Second)
	require.InDelta(t, 10, job.Pace(), 0.001)
	require.Equal(t, began.Add(30*time.Second), *job.EndsAbout())
	require.Equal(t, []any{"x", 100, 90, 10}, []any{job.Position, job.Processed, job.Succeeded, job.Failed})
	job.Status = models.JobCompleted
	require.Nil(t, job.EndsAbout())
}

// Identifiers made at or after a time are not below the bound made of it, and
// carry it.
func TestIdentifiersCarryTheirTime(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 12, 1, 10, 0, 0, 123_000_000, time.UTC)
	id, bound := models.NewID(models.PrefixDelivery, at), models.FirstID(models.PrefixDelivery, at)
	require.LessOrEqual(t, bound, id)
	require.Less(t, models.NewID(models.PrefixDelivery, at.Add(-time.Millisecond)), bound)
	read, err := models.TimeOfID(models.PrefixDelivery, id)
	require.NoError(t, err)
	require.Equal(t, at, read)
	_, err = models.TimeOfID(models.PrefixDelivery, "whd_x")
	require.Error(t, err)
	require.Equal(t, "whd_00000000000000000000000000", models.FirstID(models.PrefixDelivery, time.Unix(-1, 0)), "before there were any")
}
