package localstack

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// strayPoll is how often a process that is not our child is looked at.
const strayPoll = 20 * time.Millisecond

// stopStray ends a PostgreSQL that an earlier, killed run left behind on this
// data folder. The caller holds the folder's lock, so no run of ours owns it.
// A pid file whose process is something else is removed: pids are reused, and
// PostgreSQL would refuse to start because of it.
func stopStray(ctx context.Context, dataDir string) error {
	path := filepath.Join(dataDir, "postmaster.pid")
	pid := firstNumber(path)
	if pid == 0 {
		return nil
	}
	if isPostmaster(pid, dataDir) {
		return endStray(ctx, pid, postgresStop...)
	}
	if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("remove the pid file of a run that is over: %w", err)
	}
	return nil
}

// isPostmaster reports whether the process is a PostgreSQL started by this
// package on this very data folder.
func isPostmaster(pid int, dataDir string) bool {
	line := commandLine(pid)
	return strings.Contains(line, "postgres") && strings.Contains(line+" ", " -D "+dataDir+" ")
}

// endStray stops a process that is not our child.
func endStray(ctx context.Context, pid int, steps ...stopStep) error {
	for _, step := range steps {
		if err := syscall.Kill(pid, step.signal); errors.Is(err, syscall.ESRCH) {
			return nil
		} else if err != nil {
			return fmt.Errorf("stop the server that an earlier run left behind (process %d): %w", pid, err)
		}
		if strayEnds(ctx, pid, step.patience) {
			return nil
		}
	}
	return fmt.Errorf("the server that an earlier run left behind (process %d) does not stop", pid)
}

func strayEnds(ctx context.Context, pid int, patience time.Duration) bool {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	ticker := time.NewTicker(strayPoll)
	defer ticker.Stop()
	for commandLine(pid) != "" { // an unreaped zombie has no command line and holds nothing
		select {
		case <-ctx.Done():
			return false
		case <-ticker.C:
		}
	}
	return true
}

// firstNumber returns the number on a file's first line, or 0.
func firstNumber(path string) int {
	line, _, _ := strings.Cut(readLine(path), "\n")
	number, err := strconv.Atoi(strings.TrimSpace(line))
	if err != nil || number < 0 {
		return 0
	}
	return number
}
