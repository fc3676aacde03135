package testenv

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestLeftoversOfKilledRunsAreRemoved(t *testing.T) {
	t.Parallel()
	base := t.TempDir()
	folder := func(name string, age time.Duration) string {
		path := filepath.Join(base, name)
		require.NoError(t, os.Mkdir(path, 0o700))
		require.NoError(t, os.Chtimes(path, time.Now(), time.Now().Add(-age)))
		return path
	}
	left := folder(folderPrefix+"left", time.Hour)
	young := folder(folderPrefix+"young", 0)
	foreign := folder("foreign", time.Hour)
	used := folder(folderPrefix+"used", 0)
	lock, err := lockFolder(used)
	require.NoError(t, err)
	defer func() { _ = lock.Close() }()
	require.NoError(t, os.Chtimes(used, time.Now(), time.Now().Add(-time.Hour)))

	removeLeftovers(base)
	require.NoDirExists(t, left)
	require.DirExists(t, young, "its owner may be about to lock it")
	require.DirExists(t, foreign)
	require.DirExists(t, used)
}

func TestAFolderIsGoneAfterRemove(t *testing.T) {
	t.Parallel()
	place, err := newFolder()
	require.NoError(t, err)
	info, err := os.Stat(place.path)
	require.NoError(t, err)
	require.Equal(t, os.FileMode(0o711), info.Mode().Perm(), "PostgreSQL's account passes through it")
	require.NoError(t, place.remove())
	require.NoDirExists(t, place.path)
	require.NoError(t, place.remove(), "twice is fine")
}
