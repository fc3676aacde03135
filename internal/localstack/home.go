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

const (
	// pointerName is the file in Options.Dir that says where the data are when
	// the server's account cannot reach Options.Dir itself.
	pointerName = "postgres.location"
	// originName is its counterpart in the folder pointed at: whose data it is.
	originName = "origin"

	// lockPoll is how often a lock that somebody holds is asked for again.
	lockPoll = 100 * time.Millisecond
)

// folderLock is a folder that this process holds. The kernel lets it go when
// the process dies, however it dies.
type folderLock struct{ file *os.File }

// Close lets the folder go. Closing the file alone would not do: a process that
// was forked meanwhile, and has not executed its program yet, has a copy of the
// descriptor, and a lock lasts until its last copy is closed.
func (l *folderLock) Close() error {
	return errors.Join(syscall.Flock(int(l.file.Fd()), syscall.LOCK_UN), l.file.Close())
}

// lockDir takes the folder's lock for this process.
func lockDir(dir string) (*folderLock, error) {
	path := filepath.Join(dir, "lock")
	file, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o600) //nolint:gosec // the path is this package's own
	if err != nil {
		return nil, fmt.Errorf("open the lock file: %w", err)
	}
	if err := syscall.Flock(int(file.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		holder, _ := os.ReadFile(path) //nolint:gosec // as above
		_ = file.Close()
		if errors.Is(err, syscall.EWOULDBLOCK) {
			return nil, &InUseError{Dir: dir, PID: strings.TrimSpace(string(holder))}
		}
		return nil, fmt.Errorf("lock %s: %w", path, err)
	}
	if err := errors.Join(file.Truncate(0), writeAt(file, strconv.Itoa(os.Getpid()))); err != nil {
		_ = file.Close()
		return nil, fmt.Errorf("write the lock file: %w", err)
	}
	return &folderLock{file}, nil
}

// lockDirPatiently waits for another process to let the folder go.
func lockDirPatiently(ctx context.Context, dir string) (*folderLock, error) {
	for {
		file, err := lockDir(dir)
		var inUse *InUseError
		if !errors.As(err, &inUse) || !pause(ctx, lockPoll) {
			return file, err
		}
	}
}

func writeAt(file *os.File, text string) error {
	_, err := file.WriteAt([]byte(text+"\n"), 0)
	return err
}

// InUseError says that another running process uses the data folder.
type InUseError struct {
	// Dir is the folder that is in use.
	Dir string
	// PID is the process that uses it, as it wrote it down; may be empty.
	PID string
}

// Error tells what to do about it.
func (e *InUseError) Error() string {
	return fmt.Sprintf("the data folder %s is in use by process %s: stop that run first, or use another folder", e.Dir, e.PID)
}

// locator finds or makes the folder of a PostgreSQL server's data.
type locator struct {
	dir string // Options.Dir, canonical
	// bases are the folders under which data may be put when the server's
	// account cannot reach dir.
	bases []string
}

func newLocator(dir string) locator {
	return locator{dir: dir, bases: []string{"/var/lib/botix", "/var/tmp", os.TempDir()}}
}

// existing returns the folder that earlier runs used, or "" on the first run.
// A pointer that was copied along with dir is not followed: the data belong to
// the folder it was copied from.
func (l locator) existing() string {
	if target := readLine(filepath.Join(l.dir, pointerName)); target != "" && l.owns(target) {
		return target
	}
	if inside := filepath.Join(l.dir, "postgres"); isDir(filepath.Join(inside, "data")) {
		return inside
	}
	return ""
}

// confirm checks that the folder of earlier runs can still be used, and notes
// once more whose data a folder outside dir holds: dir may have been moved.
func (l locator) confirm(ctx context.Context, home string, owner account) error {
	if !owner.reaches(ctx, home) {
		return fmt.Errorf("user id %d, who owns the data in %s, cannot get there any more: "+
			"move them back to where they were, or delete %s to start anew", owner.uid, home, l.dir)
	}
	if home == filepath.Join(l.dir, "postgres") || readLine(filepath.Join(home, originName)) == l.dir {
		return nil
	}
	return l.remember(home)
}

// owns reports whether the folder pointed at is this dir's: it says so, or dir
// was moved and nobody else points at it any more.
func (l locator) owns(target string) bool {
	if !isDir(target) {
		return false
	}
	origin := readLine(filepath.Join(target, originName))
	return origin == l.dir || readLine(filepath.Join(origin, pointerName)) != target
}

// create makes a folder that the account can work in: inside dir when it can
// get there, elsewhere otherwise.
func (l locator) create(ctx context.Context, owner account) (string, error) {
	inside := filepath.Join(l.dir, "postgres")
	if err := makePrivate(inside, owner); err != nil {
		return "", err
	}
	if owner.reaches(ctx, inside) {
		return inside, nil
	}
	if err := os.RemoveAll(inside); err != nil {
		return "", fmt.Errorf("remove the unreachable folder: %w", err)
	}
	return l.createElsewhere(ctx, owner)
}

func (l locator) createElsewhere(ctx context.Context, owner account) (string, error) {
	var failures []error
	for _, base := range l.bases {
		target, err := l.createUnder(ctx, base, owner)
		if err == nil {
			return target, l.remember(target)
		}
		failures = append(failures, err)
	}
	return "", fmt.Errorf("no folder found that user id %d can reach: %w", owner.uid, errors.Join(failures...))
}

func (l locator) createUnder(ctx context.Context, base string, owner account) (string, error) {
	if err := os.MkdirAll(base, 0o755); err != nil { //nolint:gosec // the folders inside are 0700
		return "", fmt.Errorf("create %s: %w", base, err)
	}
	l.forgetLost(ctx, base)
	// A random name: under a world-writable base nobody can have prepared it.
	target, err := os.MkdirTemp(base, "botix-postgres-")
	if err != nil {
		return "", fmt.Errorf("create a folder under %s: %w", base, err)
	}
	err = makePrivate(target, owner)
	if err == nil && !owner.reaches(ctx, target) {
		err = fmt.Errorf("%s cannot be reached by user id %d", target, owner.uid)
	}
	if err != nil {
		return "", errors.Join(err, os.RemoveAll(target))
	}
	return target, nil
}

// remember links dir and target both ways; the origin is written first, so
// that a crash in between leaves a folder that forgetLost can remove.
func (l locator) remember(target string) error {
	if err := os.WriteFile(filepath.Join(target, originName), []byte(l.dir+"\n"), 0o600); err != nil {
		return fmt.Errorf("note whose data these are: %w", err)
	}
	if err := os.WriteFile(filepath.Join(l.dir, pointerName), []byte(target+"\n"), 0o600); err != nil {
		return fmt.Errorf("note where the data are: %w", err)
	}
	return nil
}

// forgetLost removes what earlier runs of this very dir left under base and
// nothing points at any more, which is how someone who deleted dir expects it.
func (l locator) forgetLost(ctx context.Context, base string) {
	folders, _ := filepath.Glob(filepath.Join(base, "botix-postgres-*"))
	for _, folder := range folders {
		if readLine(filepath.Join(folder, originName)) != l.dir {
			continue
		}
		lock, err := lockDir(folder)
		if err != nil {
			continue
		}
		_ = stopStray(ctx, filepath.Join(folder, "data"))
		_ = os.RemoveAll(folder)
		_ = lock.Close()
	}
}

// makePrivate creates the folder when missing and gives it to its owner alone.
func makePrivate(dir string, owner account) error {
	if err := os.Mkdir(dir, 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
		return fmt.Errorf("create the data folder: %w", err)
	}
	return owner.own(dir)
}

// readLine returns a small file's text without the white space around it, or
// "" when it cannot be read.
func readLine(path string) string {
	text, err := os.ReadFile(path) //nolint:gosec // the paths are this package's own
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(text))
}

func isDir(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}
