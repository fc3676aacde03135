package localstack

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// installation makes a folder with stand-ins for the server's programs, where
// every user can run them.
func installation(t *testing.T, version string, programs ...string) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "botix-programs-")
	require.NoError(t, err)
	require.NoError(t, os.Chmod(dir, 0o755))
	t.Cleanup(func() { require.NoError(t, os.RemoveAll(dir)) })
	for _, program := range programs {
		script := fmt.Sprintf("#!/bin/sh\necho '%s (PostgreSQL) %s'\n", program, version)
		require.NoError(t, os.WriteFile(filepath.Join(dir, program), []byte(script), 0o755))
	}
	return dir
}

func finder(t *testing.T, major int, dirs ...string) postgresFinder {
	t.Helper()
	owner, err := accountFor("")
	require.NoError(t, err)
	return postgresFinder{
		owner: owner, major: major, log: slog.New(slog.DiscardHandler),
		folders: func(context.Context) []string { return dirs },
	}
}

func TestFindTakesTheFirstUsableInstallation(t *testing.T) {
	t.Parallel()
	clientOnly := installation(t, "17.1", "psql")
	old := installation(t, "13.9", "initdb", "postgres")
	good := installation(t, "16.4 (Debian 16.4-1)", "initdb", "postgres")
	newer := installation(t, "18.0", "initdb", "postgres")
	f := finder(t, 0, filepath.Join(t.TempDir(), "missing"), clientOnly, old, good, newer)
	found, err := f.find(t.Context(), false)
	require.NoError(t, err)
	require.Equal(t, binaries{dir: good, major: 16}, found)
}

func TestFindHonoursTheVersionOfExistingData(t *testing.T) {
	t.Parallel()
	newer := installation(t, "18.0", "initdb", "postgres")
	same := installation(t, "15.8", "initdb", "postgres")
	found, err := finder(t, 15, newer, same).find(t.Context(), false)
	require.NoError(t, err)
	require.Equal(t, same, found.dir)

	_, err = finder(t, 15, newer).find(t.Context(), false)
	require.ErrorContains(t, err, "made by PostgreSQL 15, but only version 18 was found")
}

func TestFindSaysWhatToInstall(t *testing.T) {
	t.Parallel()
	_, err := finder(t, 0).find(t.Context(), false)
	require.ErrorContains(t, err, "apt-get install postgresql")
}

func TestAnInterruptedSearchInstallsNothing(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	var log bytes.Buffer
	f := finder(t, 0)
	f.log = slog.New(slog.NewTextHandler(&log, nil))
	_, err := f.find(ctx, true)
	require.ErrorIs(t, err, context.Canceled)
	require.Empty(t, log.String(), "nothing was even begun")
}

func TestTheTestMachineHasProgramsThatItsAccountCanRun(t *testing.T) {
	t.Parallel()
	f := finder(t, 0, machineFolders(t.Context())...)
	found, err := f.find(t.Context(), false)
	require.NoError(t, err)
	require.GreaterOrEqual(t, found.major, oldestPostgres)
}

func TestVersionOf(t *testing.T) {
	t.Parallel()
	for text, major := range map[string]int{
		"postgres (PostgreSQL) 15.18 (Debian 15.18-0+deb12u1)\n": 15,
		"initdb (PostgreSQL) 18beta1":                            18,
		"postgres: command not found":                            0,
		"":                                                       0,
	} {
		require.Equal(t, major, versionOf(text), text)
	}
}

func TestMajorInPath(t *testing.T) {
	t.Parallel()
	require.Equal(t, 15, majorInPath("/usr/lib/postgresql/15/bin"))
	require.Equal(t, 17, majorInPath("/opt/homebrew/opt/postgresql@17/bin"))
	require.Zero(t, majorInPath("/usr/local/pgsql/bin"))
}
