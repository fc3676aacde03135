package localstack_test

import (
	"bytes"
	"context"
	"log/slog"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"github.com/botix-pro/platform/internal/localstack"
)

func TestPostgresKeepsDataAndAddressOverRestarts(t *testing.T) {
	t.Parallel()
	server := startPostgres(t, fast(folder(t)))
	location := server.URL(localstack.DefaultDatabase)
	keep(t, location, "found")

	require.NoError(t, server.Restart(t.Context()))
	require.Equal(t, "found", found(t, location), "after Restart")

	require.NoError(t, server.Kill())
	require.Zero(t, server.PID())
	require.NoError(t, server.Start(t.Context()))
	require.Equal(t, "found", found(t, location), "after Kill and Start")
	require.NoError(t, server.Start(t.Context()), "starting twice is fine")

	require.NoError(t, server.Stop(t.Context()))
	require.NoError(t, server.Stop(t.Context()), "stopping twice is fine")
	require.NoError(t, server.Start(t.Context()))
	require.Equal(t, "found", found(t, location), "after Stop and Start")
}

func TestPostgresFindsItsDataAgain(t *testing.T) {
	t.Parallel()
	dir := folder(t)
	first := startPostgres(t, fast(dir))
	keep(t, first.URL(localstack.DefaultDatabase), "found")
	require.NoError(t, first.Stop(t.Context()))

	second := startPostgres(t, fast(dir))
	require.Equal(t, "found", found(t, second.URL(localstack.DefaultDatabase)))
}

// A checkout under /root, or t.TempDir here, is closed to other users: as root
// the data have to go elsewhere and be found there again.
func TestPostgresWorksInAFolderThatOtherUsersCannotReach(t *testing.T) {
	t.Parallel()
	closed := filepath.Join(t.TempDir(), "closed")
	require.NoError(t, os.Mkdir(closed, 0o700))
	dir := filepath.Join(closed, ".botix")
	first := startPostgres(t, fast(dir))
	location := first.URL(localstack.DefaultDatabase)
	keep(t, location, "found")
	data := ask(t, location, "SHOW data_directory")
	t.Cleanup(func() { require.NoError(t, os.RemoveAll(filepath.Dir(data))) })
	require.NoError(t, first.Stop(t.Context()))

	second := startPostgres(t, fast(dir))
	location = second.URL(localstack.DefaultDatabase)
	require.Equal(t, "found", found(t, location))
	require.Equal(t, data, ask(t, location, "SHOW data_directory"))
}

func TestPostgresIsPrivate(t *testing.T) {
	t.Parallel()
	dir := folder(t)
	server := startPostgres(t, fast(dir))
	location := server.URL(localstack.DefaultDatabase)
	require.Equal(t, "127.0.0.1", ask(t, location, "SHOW listen_addresses"))
	require.Empty(t, ask(t, location, "SHOW unix_socket_directories"))
	require.Equal(t, "UTC", ask(t, location, "SHOW timezone"))
	require.Equal(t, "UTF8", ask(t, location, "SHOW server_encoding"))
	require.Equal(t, "C", ask(t, location, "SELECT datcollate FROM pg_database WHERE datname = current_database()"))
	require.Equal(t, "200", ask(t, location, "SHOW max_connections"))
	require.Contains(t, ask(t, location, "SELECT rolpassword FROM pg_authid WHERE rolname = 'botix'"), "SCRAM-SHA-256")

	info, err := os.Stat(filepath.Join(dir, "postgres.password"))
	require.NoError(t, err)
	require.Equal(t, os.FileMode(0o600), info.Mode().Perm())

	guess, err := url.Parse(location)
	require.NoError(t, err)
	guess.User = url.UserPassword("botix", "guess")
	_, err = pgx.Connect(t.Context(), guess.String())
	require.ErrorContains(t, err, "password authentication failed")
}

func TestPostgresStacksDoNotMeet(t *testing.T) {
	t.Parallel()
	one, other := startPostgres(t, fast(folder(t))), startPostgres(t, fast(folder(t)))
	keep(t, one.URL(localstack.DefaultDatabase), "one's")
	keep(t, other.URL(localstack.DefaultDatabase), "other's")
	require.NoError(t, one.Kill())
	require.Equal(t, "other's", found(t, other.URL(localstack.DefaultDatabase)))
	require.NoError(t, one.Start(t.Context()))
	require.NoError(t, other.Stop(t.Context()))
	require.Equal(t, "one's", found(t, one.URL(localstack.DefaultDatabase)))
}

func TestPostgresRefusesAFolderInUse(t *testing.T) {
	t.Parallel()
	dir := folder(t)
	server := startPostgres(t, fast(dir))
	_, err := localstack.StartPostgres(t.Context(), fast(dir))
	var inUse *localstack.InUseError
	require.ErrorAs(t, err, &inUse)
	require.ErrorContains(t, err, "stop that run first")
	require.NotZero(t, server.PID(), "the run that was there is not disturbed")
	require.Equal(t, "1", ask(t, server.URL(localstack.DefaultDatabase), "SELECT '1'"))
}

func TestPostgresStartThatIsCutShortLeavesNothingBehind(t *testing.T) {
	t.Parallel()
	dir := folder(t)
	begin := time.Now()
	require.NoError(t, startPostgres(t, fast(dir)).Remove(t.Context()))
	cutShort(t, dir, time.Since(begin))

	require.NoError(t, startPostgres(t, fast(dir)).Stop(t.Context())) // from here on there is a cluster
	begin = time.Now()
	require.NoError(t, startPostgres(t, fast(dir)).Stop(t.Context()))
	cutShort(t, dir, time.Since(begin))
	startPostgres(t, fast(dir))
}

// cutShort gives a start the first to the ninth tenth of the time it takes.
func cutShort(t *testing.T, dir string, whole time.Duration) {
	t.Helper()
	for tenth := range 10 {
		ctx, cancel := context.WithTimeout(t.Context(), whole*time.Duration(tenth)/10)
		server, err := localstack.StartPostgres(ctx, fast(dir))
		if cancel(); err == nil {
			require.NoError(t, server.Stop(t.Context()))
			continue
		}
		require.ErrorIs(t, err, context.DeadlineExceeded)
		require.NoFileExists(t, filepath.Join(dir, "postgres", "data", "postmaster.pid"))
	}
}

func TestRemoveLeavesNothing(t *testing.T) {
	t.Parallel()
	dir := folder(t)
	require.NoError(t, startPostgres(t, fast(dir)).Remove(t.Context()))
	require.NoError(t, startRedis(t, fast(dir)).Remove(t.Context()))
	left, err := os.ReadDir(dir)
	require.NoError(t, err)
	require.Empty(t, left)
}

func TestPostgresReportsAnUnexpectedEnd(t *testing.T) {
	t.Parallel()
	opts := fast(folder(t))
	var record logBook
	opts.Log = slog.New(slog.NewTextHandler(&record, nil))
	server := startPostgres(t, opts)
	says := func(words string) func() bool {
		return func() bool { return strings.Contains(record.text(), words) }
	}
	require.NoError(t, server.Restart(t.Context()))
	require.Eventually(t, says("PostgreSQL has stopped"), 10*time.Second, time.Millisecond)
	require.NotContains(t, record.text(), "unexpectedly", "a restart is expected")

	require.NoError(t, syscall.Kill(server.PID(), syscall.SIGINT))
	require.Eventually(t, says("PostgreSQL ended unexpectedly"), 20*time.Second, time.Millisecond)
	require.NoError(t, server.Start(t.Context()))
	require.NotZero(t, server.PID())
}

func TestPostgresSaysWhyItDoesNotStart(t *testing.T) {
	t.Parallel()
	opts := fast(folder(t))
	opts.Settings["shared_buffers"] = "nonsense"
	_, err := localstack.StartPostgres(t.Context(), opts)
	require.ErrorContains(t, err, `invalid value for parameter "shared_buffers"`)

	_, err = localstack.StartPostgres(t.Context(), localstack.Options{})
	require.ErrorContains(t, err, "Dir is empty")
}

// logBook collects log lines from several goroutines.
type logBook struct {
	mu    sync.Mutex
	lines bytes.Buffer
}

func (b *logBook) Write(line []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.lines.Write(line)
}

func (b *logBook) text() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.lines.String()
}
