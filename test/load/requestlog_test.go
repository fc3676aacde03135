//go:build bench

package load_test

import (
	"net/http"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/botix-pro/platform/app/models"
	"github.com/botix-pro/platform/app/store"
	"github.com/botix-pro/platform/internal/clock"
	"github.com/botix-pro/platform/internal/seal"
	"github.com/botix-pro/platform/test/programs"
)

const (
	// loggedAtOnce is what two thousand requests a second leave for one flush.
	loggedAtOnce = 1000
	flushes      = 50
)

// logCost is the CPU time that the request log takes a request, in PostgreSQL and
// in the process that writes it.
func logCost(t *testing.T, databaseURL string, database process) time.Duration {
	t.Helper()
	box, err := seal.New([]string{programs.EncryptionKey})
	require.NoError(t, err)
	s, err := store.Open(t.Context(), store.Config{URL: databaseURL, MaxConns: 1, Application: "botix-bench"}, box)
	require.NoError(t, err)
	defer func() { _ = s.Close() }()
	var batches [][]models.RequestRecord
	for range flushes {
		batches = append(batches, requestRecords())
	}
	before, own := costs(t, []process{database}), ownCost(t)
	for _, batch := range batches {
		require.NoError(t, s.RecordRequests(t.Context(), batch))
	}
	used := costs(t, []process{database})[0] - before[0] + ownCost(t) - own
	return used / (flushes * loggedAtOnce)
}

func requestRecords() (records []models.RequestRecord) {
	now := clock.System{}.Now()
	for range loggedAtOnce {
		key := models.NewID("", now)
		records = append(records, models.RequestRecord{
			ProjectID: "prj_bench", RequestID: models.NewID(models.PrefixRequest, now), KeyID: "key_bench", Method: http.MethodPost,
			Route: "/contacts", Status: http.StatusCreated, IdempotencyKey: &key, DurationMs: 5, At: now,
		})
	}
	return records
}

// ownCost is the CPU time that this process has used.
func ownCost(t *testing.T) time.Duration {
	t.Helper()
	var usage syscall.Rusage
	require.NoError(t, syscall.Getrusage(syscall.RUSAGE_SELF, &usage))
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
}
