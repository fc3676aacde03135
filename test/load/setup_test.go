//go:build bench

package load_test

import (
	"context"
	"database/sql"
	"testing"

	_ "github.com/jackc/pgx/v5/stdlib" // the "pgx" driver
	"github.com/stretchr/testify/require"

	"github.com/botix-pro/platform/internal/localstack"
	"github.com/botix-pro/platform/migrations"
)

// durablePostgres is a migrated server that waits for its disk, unlike the ones
// that other tests use: a commit costs what it costs.
func durablePostgres(t *testing.T) *localstack.Postgres {
	t.Helper()
	postgres, err := localstack.StartPostgres(t.Context(), localstack.Options{Dir: t.TempDir()})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, postgres.Remove(context.WithoutCancel(t.Context()))) })
	db, err := sql.Open("pgx", postgres.URL(localstack.DefaultDatabase))
	require.NoError(t, err)
	defer func() { _ = db.Close() }()
	require.NoError(t, migrations.Up(t.Context(), db))
	return postgres
}

// unlimited takes the plan's limit out of the way; it is counted all the same.
func unlimited(t *testing.T, databaseURL string) {
	t.Helper()
	db, err := sql.Open("pgx", databaseURL)
	require.NoError(t, err)
	defer func() { _ = db.Close() }()
	_, err = db.ExecContext(t.Context(), `UPDATE plans SET limits = jsonb_set(limits, '{api_rate_per_minute}', '10000000')`)
	require.NoError(t, err)
}
