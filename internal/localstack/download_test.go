package localstack

import (
	"archive/zip"
	"bytes"
	"crypto/sha256"
	_ "embed"
	"encoding/hex"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// programArchive holds bin/initdb, bin/postgres and bin/pg_ctl: shell scripts
// that print "NAME (PostgreSQL) 17.5", packed with tar and xz.
//
//go:embed testdata/programs.txz
var programArchive []byte

// repository serves the archive as the embedded-postgres module expects it: in
// a jar, with its checksum beside it.
func repository(t *testing.T) (url string, requests *atomic.Int64) {
	t.Helper()
	var jar bytes.Buffer
	writer := zip.NewWriter(&jar)
	entry, err := writer.Create("postgres.txz")
	require.NoError(t, err)
	_, err = entry.Write(programArchive)
	require.NoError(t, err)
	require.NoError(t, writer.Close())
	sum := sha256.Sum256(jar.Bytes())

	requests = new(atomic.Int64)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		requests.Add(1)
		if strings.HasSuffix(r.URL.Path, ".sha256") {
			_, _ = w.Write([]byte(hex.EncodeToString(sum[:])))
			return
		}
		_, _ = w.Write(jar.Bytes())
	}))
	t.Cleanup(server.Close)
	return server.URL, requests
}

func TestDownloadedProgramsAreUsedAndKept(t *testing.T) {
	url, requests := repository(t)
	source := downloader{dir: installation(t, ""), url: url, patience: time.Millisecond}
	t.Setenv("TMPDIR", t.TempDir()) // the module leaves its log there
	found, err := finder(t, 0).downloadWith(t.Context(), source)
	require.NoError(t, err)
	require.Equal(t, binaries{dir: filepath.Join(source.dir, "programs", "bin"), major: 17}, found)
	require.NoDirExists(t, filepath.Join(source.dir, "trial"))

	before := requests.Load()
	require.Positive(t, before)
	_, err = finder(t, 0).downloadWith(t.Context(), source)
	require.NoError(t, err)
	require.Equal(t, before, requests.Load(), "nothing is downloaded twice")
}

func TestADownloadThatFailsSaysWhatToInstall(t *testing.T) {
	empty := httptest.NewServer(http.NotFoundHandler())
	t.Cleanup(empty.Close)
	source := downloader{dir: installation(t, ""), url: empty.URL, patience: time.Millisecond}
	t.Setenv("TMPDIR", t.TempDir()) // as above
	_, err := finder(t, 0).downloadWith(t.Context(), source)
	require.ErrorContains(t, err, "no version found")
	require.ErrorContains(t, err, "apt-get install postgresql")
}
