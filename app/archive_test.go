package app

import (
	"io"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
	"gocloud.dev/gcerrors"
)

// objectStore answers as much of S3's protocol as an archive needs.
type objectStore struct {
	mu      sync.Mutex
	objects map[string][]byte
}

func (o *objectStore) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	o.mu.Lock()
	defer o.mu.Unlock()
	switch object, found := o.objects[r.URL.Path]; {
	case r.Method == http.MethodPut:
		body, err := io.ReadAll(r.Body)
		if err != nil {
			w.WriteHeader(http.StatusBadRequest)
			return
		}
		o.objects[r.URL.Path] = body
	case r.Method == http.MethodDelete:
		delete(o.objects, r.URL.Path)
		w.WriteHeader(http.StatusNoContent)
	case !found:
		w.Header().Set("Content-Type", "application/xml")
		w.WriteHeader(http.StatusNotFound)
		_, _ = io.WriteString(w, `<Error><Code>NoSuchKey</Code></Error>`)
	default:
		_, _ = w.Write(object)
	}
}

// The archive speaks S3 to wherever ARCHIVE_URL leads.
func TestArchiveOverS3(t *testing.T) {
	t.Parallel()
	stored := &objectStore{objects: map[string][]byte{}}
	server := httptest.NewServer(stored)
	t.Cleanup(server.Close)
	bucket, err := openArchive(t.Context(), "s3://letters?region=eu-central-1&anonymous=true&use_path_style=true&endpoint="+server.URL)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, bucket.Close()) })

	require.NoError(t, bucket.WriteAll(t.Context(), "prj_1/2026/12/01/a.jsonl.gz", []byte("\x1f\x8b bytes"), nil))
	require.Contains(t, stored.objects, "/letters/prj_1/2026/12/01/a.jsonl.gz")
	got, err := bucket.ReadAll(t.Context(), "prj_1/2026/12/01/a.jsonl.gz")
	require.NoError(t, err)
	require.Equal(t, "\x1f\x8b bytes", string(got))
	_, err = bucket.ReadAll(t.Context(), "prj_1/other")
	require.Equal(t, gcerrors.NotFound, gcerrors.Code(err))

	server.Close() // and where there is nobody, writing fails instead of being forgotten
	require.Error(t, bucket.WriteAll(t.Context(), "prj_1/b", []byte("b"), nil))
}

func TestArchiveIsAChoice(t *testing.T) {
	t.Parallel()
	bucket, err := openArchive(t.Context(), "")
	require.NoError(t, err)
	require.Nil(t, bucket)
}
