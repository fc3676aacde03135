package localstack

import (
	"context"
	"os"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// stack starts a PostgreSQL in a folder that its account can reach.
func stack(t *testing.T) *Postgres {
	t.Helper()
	place, err := os.MkdirTemp("", "botix-stray-")
	require.NoError(t, err)
	require.NoError(t, os.Chmod(place, 0o711))
	t.Cleanup(func() { require.NoError(t, os.RemoveAll(place)) })
	server, err := StartPostgres(t.Context(), Options{Dir: place, Ephemeral: true})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, server.Remove(context.Background())) })
	return server
}

func TestAServerLeftBehindIsStopped(t *testing.T) {
	t.Parallel()
	server := stack(t)
	require.NoError(t, stopStray(t.Context(), server.dataDir()))
	require.Eventually(t, func() bool { return server.PID() == 0 }, 10*time.Second, time.Millisecond)
	require.NoError(t, stopStray(t.Context(), server.dataDir()), "nothing is left to stop")
}

func TestOnlyTheServerOfThisFolderIsStopped(t *testing.T) {
	t.Parallel()
	neighbour := stack(t)
	for name, pid := range map[string]int{
		"another folder's server": neighbour.PID(),
		"another program":         os.Getpid(),
	} {
		dataDir := t.TempDir()
		pidFile := filepath.Join(dataDir, "postmaster.pid")
		require.NoError(t, os.WriteFile(pidFile, []byte(strconv.Itoa(pid)+"\n"+dataDir+"\n"), 0o600))
		require.NoError(t, stopStray(t.Context(), dataDir), name)
		require.NoFileExists(t, pidFile, "%s has the old process id: PostgreSQL would refuse to start", name)
	}
	require.NotZero(t, neighbour.PID())
}

func TestARedisLeftBehindIsStopped(t *testing.T) {
	t.Parallel()
	first, err := StartRedis(t.Context(), Options{Dir: t.TempDir(), Ephemeral: true})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, first.Stop(context.Background())) })
	neighbour, err := StartRedis(t.Context(), Options{Dir: t.TempDir(), Ephemeral: true})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, neighbour.Stop(context.Background())) })

	finder := &redisProcess{home: first.home}
	require.NoError(t, os.WriteFile(finder.pidPath(), []byte(strconv.Itoa(neighbour.PID())), 0o600))
	require.NoError(t, finder.stopStray(t.Context()))
	require.NotZero(t, neighbour.PID(), "another folder's server is left alone")

	require.NoError(t, os.WriteFile(finder.pidPath(), []byte(strconv.Itoa(first.PID())), 0o600))
	require.NoError(t, finder.stopStray(t.Context()))
	require.Eventually(t, func() bool { return first.PID() == 0 }, 10*time.Second, time.Millisecond)
}
