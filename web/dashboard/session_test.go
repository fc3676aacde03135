package dashboard

import (
	"crypto/sha256"
	"database/sql"
	"encoding/base64"
	"log/slog"
	"net/http"
	"testing"
	"time"

	_ "github.com/jackc/pgx/v5/stdlib" // the driver
	"github.com/stretchr/testify/require"

	"github.com/botix-pro/platform/app/store"
	"github.com/botix-pro/platform/internal/clock"
	"github.com/botix-pro/platform/internal/egress"
	"github.com/botix-pro/platform/internal/testenv"
)

// databaseSite serves a dashboard whose sessions are in PostgreSQL.
func databaseSite(t testing.TB, db *sql.DB, queries Queries) *site {
	t.Helper()
	s := &site{t: t, log: &logBuffer{}, clock: clock.NewManual(testNow)}
	d, err := New(Config{
		Queries: queries, DB: db, Log: slog.New(slog.NewTextHandler(s.log, nil)), Clock: s.clock, PublicURL: "http://localhost:8080", Hint: func([]store.Lane) {},
		URLs: egress.New(nil),
	})
	require.NoError(t, err)
	t.Cleanup(d.Close)
	s.serve(d)
	return s
}

func openDatabase(t testing.TB) *sql.DB {
	t.Helper()
	db, err := sql.Open("pgx", testenv.FreshDatabaseURL(t))
	require.NoError(t, err)
	db.SetMaxOpenConns(4)
	t.Cleanup(func() { require.NoError(t, db.Close()) })
	return db
}

func TestSessionsAreKeptHashedAndOutliveTheProcess(t *testing.T) {
	t.Parallel()
	db := openDatabase(t)
	s := databaseSite(t, db, newQueries(1))
	require.Equal(t, http.StatusSeeOther, s.get(pathHome).StatusCode)
	require.Zero(t, countSessions(t, db), "who only looks gets no session")
	s.signIn()

	var token string
	require.NoError(t, db.QueryRowContext(t.Context(), "SELECT token FROM sessions").Scan(&token))
	hash := sha256.Sum256([]byte(s.cookie().Value))
	require.Equal(t, base64.RawURLEncoding.EncodeToString(hash[:]), token)

	other := databaseSite(t, db, newQueries(1)) // another server, or this one after a restart
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, other.URL+pathHome, nil)
	require.NoError(t, err)
	r.AddCookie(s.cookie())
	require.Equal(t, http.StatusOK, other.do(r).StatusCode)
}

func TestSessionsEndWhenIdleAndWhenOld(t *testing.T) {
	t.Parallel()
	db := openDatabase(t)
	s := databaseSite(t, db, newQueries(1))
	s.signIn()
	var left float64
	const remaining = "SELECT extract(epoch FROM expiry - now()) FROM sessions"
	require.NoError(t, db.QueryRowContext(t.Context(), remaining).Scan(&left))
	require.InDelta(t, sessionIdle.Seconds(), left, 60)
	require.Equal(t, 12*time.Hour, s.dashboard.sessions.Lifetime)

	execute(t, db, "UPDATE sessions SET expiry = now() + interval '10 seconds'")
	require.Equal(t, http.StatusOK, s.get(pathHome).StatusCode)
	require.NoError(t, db.QueryRowContext(t.Context(), remaining).Scan(&left))
	require.InDelta(t, sessionIdle.Seconds(), left, 60, "a visit makes the idle time start anew")

	execute(t, db, "UPDATE sessions SET expiry = now() - interval '1 second'")
	require.Equal(t, http.StatusSeeOther, s.get(pathHome).StatusCode)
}

func TestSigningOutDeletesTheSession(t *testing.T) {
	t.Parallel()
	db := openDatabase(t)
	s := databaseSite(t, db, newQueries(1))
	s.signIn()
	s.signIn()
	require.Equal(t, 1, countSessions(t, db), "signing in again replaces the session")
	s.post(pathSignOut, nil)
	require.Zero(t, countSessions(t, db))
}

func TestWithoutTheDatabaseThePageIsTheErrorPage(t *testing.T) {
	t.Parallel()
	db := openDatabase(t)
	s := databaseSite(t, db, newQueries(1))
	s.signIn()
	execute(t, db, "ALTER TABLE sessions RENAME COLUMN data TO gone") // loading fails
	requireFault(t, s)
	execute(t, db, "ALTER TABLE sessions RENAME COLUMN gone TO data")
	// Loading works, saving does not: still one page, and not half of another.
	execute(t, db, "CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE 'no'; END $$")
	execute(t, db, "CREATE TRIGGER refuse BEFORE UPDATE OR INSERT ON sessions FOR EACH ROW EXECUTE FUNCTION refuse()")
	requireFault(t, s)
}

func requireFault(t *testing.T, s *site) {
	t.Helper()
	got := s.get(pathHome)
	require.Equal(t, http.StatusInternalServerError, got.StatusCode)
	require.Contains(t, got.body, english.Errors.Internal.Title)
	require.NotContains(t, got.body, "contact.created")
	requireStrict(t, got)
}

func TestClosingTwiceIsFineAndMissingPartsAreNot(t *testing.T) {
	t.Parallel()
	s := databaseSite(t, openDatabase(t), newQueries(0))
	s.dashboard.Close()
	s.dashboard.Close()
	_, err := New(Config{})
	require.ErrorContains(t, err, "Queries, DB, Log, Clock, PublicURL, Hint and URLs")
}

func countSessions(t *testing.T, db *sql.DB) int {
	t.Helper()
	var count int
	require.NoError(t, db.QueryRowContext(t.Context(), "SELECT count(*) FROM sessions").Scan(&count))
	return count
}

func execute(t *testing.T, db *sql.DB, statement string) {
	t.Helper()
	_, err := db.ExecContext(t.Context(), statement)
	require.NoError(t, err)
}
