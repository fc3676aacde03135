package localstack

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
)

// self is the account that needs no switching.
func self() account { return account{uid: os.Getuid(), gid: os.Getgid()} }

// outside makes the data folder of a dir that the server's account cannot
// reach, under base, with something in it.
func outside(t *testing.T, dir, base string) (home string) {
	t.Helper()
	l := locator{dir: dir, bases: []string{base}}
	home, err := l.createElsewhere(t.Context(), self())
	require.NoError(t, err)
	require.NoError(t, os.Mkdir(filepath.Join(home, "data"), 0o700))
	return home
}

func TestDataStayInsideAFolderThatCanBeReached(t *testing.T) {
	t.Parallel()
	l := newLocator(t.TempDir())
	require.Empty(t, l.existing())
	home, err := l.create(t.Context(), self())
	require.NoError(t, err)
	require.Equal(t, filepath.Join(l.dir, "postgres"), home)
	require.Empty(t, l.existing(), "a folder without data is not a cluster yet")
	require.NoError(t, os.Mkdir(filepath.Join(home, "data"), 0o700))
	require.Equal(t, home, l.existing())
	require.NoError(t, l.confirm(t.Context(), home, self()))
}

func TestDataElsewhereAreFoundAgain(t *testing.T) {
	t.Parallel()
	dir, base := t.TempDir(), t.TempDir()
	home := outside(t, dir, base)
	info, err := os.Stat(home)
	require.NoError(t, err)
	require.Equal(t, os.FileMode(0o700), info.Mode().Perm())
	l := locator{dir: dir, bases: []string{base}}
	require.Equal(t, home, l.existing())
}

func TestDataElsewhereFollowAMovedFolder(t *testing.T) {
	t.Parallel()
	parent, base := t.TempDir(), t.TempDir()
	before, after := filepath.Join(parent, "before"), filepath.Join(parent, "after")
	require.NoError(t, os.Mkdir(before, 0o700))
	home := outside(t, before, base)
	require.NoError(t, os.Rename(before, after))

	moved := locator{dir: after, bases: []string{base}}
	require.Equal(t, home, moved.existing())
	require.NoError(t, moved.confirm(t.Context(), home, self()))
	require.Equal(t, after, readLine(filepath.Join(home, originName)))
}

func TestACopiedFolderDoesNotGetTheOriginalsData(t *testing.T) {
	t.Parallel()
	original, copied, base := t.TempDir(), t.TempDir(), t.TempDir()
	home := outside(t, original, base)
	require.NoError(t, os.CopyFS(copied, os.DirFS(original)))

	require.Empty(t, locator{dir: copied}.existing())
	require.NotEqual(t, home, outside(t, copied, base))
	require.Equal(t, home, locator{dir: original}.existing())
}

func TestDeletingTheFolderMeansStartingAnew(t *testing.T) {
	t.Parallel()
	dir, neighbour, base := t.TempDir(), t.TempDir(), t.TempDir()
	old, other := outside(t, dir, base), outside(t, neighbour, base)
	require.NoError(t, os.Remove(filepath.Join(dir, pointerName)))

	require.Empty(t, locator{dir: dir}.existing())
	require.NotEqual(t, old, outside(t, dir, base))
	require.NoDirExists(t, old, "what nothing points at is removed")
	require.DirExists(t, other, "another folder's data are not")
}

func TestLostDataInUseAreLeftAlone(t *testing.T) {
	t.Parallel()
	dir, base := t.TempDir(), t.TempDir()
	old := outside(t, dir, base)
	lock, err := lockDir(old)
	require.NoError(t, err)
	defer func() { _ = lock.Close() }()
	require.NoError(t, os.Remove(filepath.Join(dir, pointerName)))
	outside(t, dir, base)
	require.DirExists(t, old)
}

func TestUnusableBasesArePassedOver(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "file")
	require.NoError(t, os.WriteFile(file, nil, 0o600))
	good := t.TempDir()
	l := locator{dir: t.TempDir(), bases: []string{file, good}}
	home, err := l.createElsewhere(t.Context(), self())
	require.NoError(t, err)
	require.Equal(t, good, filepath.Dir(home))

	l.bases = []string{file}
	_, err = l.createElsewhere(t.Context(), self())
	require.ErrorContains(t, err, "no folder found")
}

func TestALockIsHeldUntilItIsClosed(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	first, err := lockDir(dir)
	require.NoError(t, err)
	_, err = lockDir(dir)
	var inUse *InUseError
	require.ErrorAs(t, err, &inUse)
	require.Equal(t, dir, inUse.Dir)
	require.Contains(t, inUse.Error(), inUse.PID)

	got := make(chan error, 1)
	go func() {
		second, err := lockDirPatiently(t.Context(), dir)
		if err == nil {
			err = second.Close()
		}
		got <- err
	}()
	require.NoError(t, first.Close())
	require.NoError(t, <-got)
}

// A process that was forked while the folder was held, and has not executed its
// program yet, has a copy of the descriptor: letting go must not wait for it.
func TestFolderIsFreeAtOnceThoughItsDescriptorWasCopied(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	lock, err := lockDir(dir)
	require.NoError(t, err)
	fork, err := syscall.Dup(int(lock.file.Fd()))
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, syscall.Close(fork)) })
	require.NoError(t, lock.Close())
	again, err := lockDir(dir)
	require.NoError(t, err)
	require.NoError(t, again.Close())
}
