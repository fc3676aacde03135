package migrations_test

import (
	"database/sql"
	"testing"

	_ "github.com/jackc/pgx/v5/stdlib" // the "pgx" driver
	"github.com/stretchr/testify/require"

	"github.com/botix-pro/platform/internal/testenv"
	"github.com/botix-pro/platform/migrations"
)

func TestMain(m *testing.M) { testenv.Main(m) }

// schema is every table, column, constraint and index, as text.
const schema = `
	SELECT string_agg(line, E'\n' ORDER BY line) FROM (
		SELECT table_name || '.' || column_name || ' ' || data_type || ' ' || is_nullable || ' ' || coalesce(column_default, '') AS line
		FROM information_schema.columns WHERE table_schema = 'public' AND table_name NOT LIKE 'goose%'
		UNION ALL SELECT conrelid::regclass || ' ' || conname || ' ' || pg_get_constraintdef(oid)
		FROM pg_constraint WHERE connamespace = 'public'::regnamespace AND conrelid::regclass::text NOT LIKE 'goose%'
		UNION ALL SELECT indexdef FROM pg_indexes WHERE schemaname = 'public' AND tablename NOT LIKE 'goose%'
		UNION ALL SELECT oid::regprocedure::text FROM pg_proc WHERE pronamespace = 'public'::regnamespace) AS lines`

func TestUpDownUpEndsWhereItBegan(t *testing.T) {
	t.Parallel()
	db, err := sql.Open("pgx", testenv.FreshDatabaseURL(t))
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, db.Close()) })
	read := func() string {
		var text sql.NullString
		require.NoError(t, db.QueryRowContext(t.Context(), schema).Scan(&text))
		return text.String
	}
	up := read()
	require.Contains(t, up, "idempotency_keys")
	require.NoError(t, migrations.Check(t.Context(), db))

	require.NoError(t, migrations.Down(t.Context(), db))
	require.Empty(t, read(), "the way down leaves nothing")
	require.ErrorIs(t, migrations.Check(t.Context(), db), migrations.ErrPending)

	require.NoError(t, migrations.Up(t.Context(), db))
	require.Equal(t, up, read())
	require.NoError(t, migrations.Up(t.Context(), db), "a second time does nothing")
}
