package testenv

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"syscall"
	"time"
)

const (
	folderPrefix = "botix-test-"
	// memoryNeeded is how much room /dev/shm must have to hold test data.
	memoryNeeded = 4 << 30
	// settleTime is how old a folder must be to count as left behind: its owner
	// has taken the lock by then.
	settleTime = time.Minute
)

// folder is a throw-away folder, locked for as long as this process lives.
type folder struct {
	path string
	lock *os.File
}

// newFolder makes a folder that other users can pass through, since PostgreSQL
// runs as another user when the tests run as root. It also removes the folders
// of runs that were killed before they could.
func newFolder() (*folder, error) {
	base := roomiest()
	removeLeftovers(base)
	path, err := os.MkdirTemp(base, folderPrefix)
	if err != nil {
		return nil, fmt.Errorf("create a folder for test data: %w", err)
	}
	lock, err := lockFolder(path)
	if err == nil {
		err = os.Chmod(path, 0o711) //nolint:gosec // to pass through, not to look around
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("prepare the folder for test data: %w", err), os.RemoveAll(path))
	}
	return &folder{path: path, lock: lock}, nil
}

func (f *folder) remove() error {
	if err := errors.Join(os.RemoveAll(f.path), f.lock.Close()); err != nil && !errors.Is(err, os.ErrClosed) {
		return fmt.Errorf("remove test data: %w", err)
	}
	return nil
}

// roomiest prefers memory to the disk when there is plenty of it.
func roomiest() string {
	const memory = "/dev/shm"
	var room syscall.Statfs_t
	if err := syscall.Statfs(memory, &room); err != nil || uint64(room.Bavail)*uint64(room.Bsize) < memoryNeeded { //nolint:gosec // sizes are positive
		return os.TempDir()
	}
	return memory
}

func lockFolder(path string) (*os.File, error) {
	file, err := os.OpenFile(filepath.Join(path, "run.lock"), os.O_CREATE|os.O_RDWR, 0o600) //nolint:gosec // our own path
	if err != nil {
		return nil, err
	}
	if err := syscall.Flock(int(file.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		return nil, errors.Join(err, file.Close())
	}
	return file, nil
}

// removeLeftovers removes the folders of runs that ended without tidying up.
// What cannot be removed, another user's for example, is let be.
func removeLeftovers(base string) {
	folders, _ := filepath.Glob(filepath.Join(base, folderPrefix+"*"))
	for _, path := range folders {
		info, err := os.Lstat(path)
		if err != nil || !info.IsDir() || time.Since(info.ModTime()) < settleTime {
			continue
		}
		if lock, err := lockFolder(path); err == nil {
			_ = os.RemoveAll(path)
			_ = lock.Close()
		}
	}
}
