package inspector_test

import (
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/botix-pro/platform/app/inspector"
	"github.com/botix-pro/platform/app/models"
	"github.com/botix-pro/platform/app/store"
	"github.com/botix-pro/platform/internal/clock"
	"github.com/botix-pro/platform/internal/testenv"
)

// A project has so many bins and no more, however many are made at once; one that
// is deleted or has expired makes room.
func TestBinsAreBounded(t *testing.T) {
	t.Parallel()
	s := newSite(t, inspector.Limits{})
	made := make(chan error, models.MaxBins+5)
	for range cap(made) {
		go func() {
			made <- s.write(func(tx *store.Tx) error {
				_, err := s.desk.Create(t.Context(), tx, "One of many")
				return err
			})
		}()
	}
	refused := 0
	for range cap(made) {
		if err := <-made; err != nil {
			require.ErrorIs(t, err, store.ErrTooManyBins)
			refused++
		}
	}
	require.Equal(t, 5, refused)
	bins, err := s.store.Bins(t.Context(), s.project)
	require.NoError(t, err)
	require.Len(t, bins, models.MaxBins)
	require.NoError(t, s.write(func(tx *store.Tx) error { return tx.DeleteBin(t.Context(), bins[0].ID) }))
	s.newBin()
	s.exec(`UPDATE inspector_bins SET expires_at = now() WHERE id = $1`, bins[1].ID)
	s.newBin()
}

// What a bin shows is the newest thousand, page by page; what is new can be asked
// for; clearing hides what is there and nothing that comes later.
func TestWhatABinShows(t *testing.T) {
	t.Parallel()
	s := newSite(t, inspector.Limits{})
	bin := s.newBin()
	const total = models.CapturedKept + 30
	first := s.insertCaptured(bin, total)
	_, err := s.store.CapturedRequest(t.Context(), s.project, first)
	require.ErrorIs(t, err, store.ErrNotFound, "it is not among the newest")

	bin = s.bin(bin.ID)
	require.EqualValues(t, total, bin.Captured)
	var seqs []int64
	for before := int64(0); ; {
		page, err := s.store.CapturedRequests(t.Context(), bin, before, 300)
		require.NoError(t, err)
		if len(page) == 0 {
			break
		}
		for _, one := range page {
			require.Empty(t, one.Body, "lists come without bodies")
			seqs = append(seqs, one.Seq)
		}
		before = page[len(page)-1].Seq
	}
	require.Len(t, seqs, models.CapturedKept)
	require.EqualValues(t, total, seqs[0])
	require.EqualValues(t, 31, seqs[len(seqs)-1])

	list, err := s.store.CapturedSince(t.Context(), bin, total-2, 10)
	require.NoError(t, err)
	require.Equal(t, []int64{total - 1, total}, []int64{list[0].Seq, list[1].Seq})
	require.Len(t, list, 2)

	require.NoError(t, s.write(func(tx *store.Tx) error { return tx.ClearBin(t.Context(), bin.ID) }))
	require.Empty(t, s.shown(bin.ID))
	_, err = s.store.CapturedRequest(t.Context(), s.project, list[1].ID)
	require.ErrorIs(t, err, store.ErrNotFound)
	require.Equal(t, http.StatusOK, s.post(bin).status)
	require.EqualValues(t, total+1, s.shown(bin.ID)[0].Seq)
}

// insertCaptured makes rows as captures do, and returns the first one's id.
func (s *site) insertCaptured(bin *models.Bin, total int) string {
	s.t.Helper()
	at, first := clock.System{}.Now(), ""
	for i := range total {
		one := models.CapturedRequest{
			BinID: bin.ID, ID: models.NewID(models.PrefixCaptured, at), Source: models.SourceExternal, Method: "POST",
			Headers: []byte("{}"), Body: []byte(strconv.Itoa(i)), AnswerOutcome: models.AnswerPending, ReceivedAt: at,
		}
		require.NoError(s.t, s.store.Capture(s.t.Context(), &one))
		if first == "" {
			first = one.ID
		}
	}
	return first
}

// A bin stores so much a day; what is more is refused and counted.
func TestABinsDayIsBounded(t *testing.T) {
	t.Parallel()
	s := newSite(t, inspector.Limits{})
	bin := s.newBin()
	require.Equal(t, http.StatusOK, s.post(bin).status)
	s.exec(`UPDATE inspector_bins SET stored_bytes = $2 WHERE id = $1`, bin.ID, models.MaxBinBytes-10)
	require.Equal(t, http.StatusTooManyRequests, s.post(bin).status)
	s.capture.Flush(t.Context())
	full := s.bin(bin.ID)
	require.EqualValues(t, 1, full.Captured)
	require.EqualValues(t, 1, full.Refused)
	require.Equal(t, 1, full.ScriptHits)
	s.exec(`UPDATE inspector_bins SET stored_on = stored_on - 1 WHERE id = $1`, bin.ID)
	require.Equal(t, http.StatusOK, s.post(bin).status, "another day")
}

// A bin ends three days after its owner last had to do with it. What strangers send
// does not put that off; what the owner does, does.
func TestBinsExpire(t *testing.T) {
	t.Parallel()
	s := newSite(t, inspector.Limits{})
	bin := s.newBin()
	require.WithinDuration(t, clock.System{}.Now().Add(models.BinLifetime), bin.ExpiresAt, time.Minute)
	s.exec(`UPDATE inspector_bins SET expires_at = now() + interval '1 hour' WHERE id = $1`, bin.ID)
	require.Equal(t, http.StatusOK, s.post(bin).status)
	require.WithinDuration(t, clock.System{}.Now().Add(time.Hour), s.bin(bin.ID).ExpiresAt, time.Minute)
	require.NoError(t, s.write(func(tx *store.Tx) error { return tx.RenameBin(t.Context(), bin.ID, "Новое имя") }))
	renamed := s.bin(bin.ID)
	require.Equal(t, "Новое имя", renamed.Name)
	require.WithinDuration(t, clock.System{}.Now().Add(models.BinLifetime), renamed.ExpiresAt, time.Minute)

	s.exec(`UPDATE inspector_bins SET expires_at = now() - interval '1 second' WHERE id = $1`, bin.ID)
	_, err := s.store.Bin(t.Context(), s.project, bin.ID)
	require.ErrorIs(t, err, store.ErrNotFound)
	require.ErrorIs(t, s.write(func(tx *store.Tx) error { return tx.RenameBin(t.Context(), bin.ID, "late") }), store.ErrNotFound)
	bins, err := s.store.Bins(t.Context(), s.project)
	require.NoError(t, err)
	require.Empty(t, bins)
	for more := true; more; {
		more, err = s.store.PurgeBins(t.Context(), 1)
		require.NoError(t, err)
	}
	var rows int
	require.NoError(t, s.store.DB().QueryRowContext(t.Context(), `SELECT count(*) FROM inspector_bins WHERE id = $1`, bin.ID).Scan(&rows))
	require.Zero(t, rows)
}

// Names that cannot be shown are refused.
func TestBinNames(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"", strings.Repeat("я", models.MaxBinName+1), "a\x00b", "\xff"} {
		require.Error(t, models.CheckBinName(name), "%q", name)
	}
	require.NoError(t, models.CheckBinName(strings.Repeat("я", models.MaxBinName)))
}

// Another project cannot see, change or delete a bin or what is in it.
func TestBinsAreTheirProjects(t *testing.T) {
	t.Parallel()
	s := newSite(t, inspector.Limits{})
	bin := s.newBin()
	s.post(bin)
	captured := s.shown(bin.ID)[0]
	owner := s.project
	s.project = s.newProject()

	_, err := s.store.Bin(t.Context(), s.project, bin.ID)
	require.ErrorIs(t, err, store.ErrNotFound)
	_, err = s.store.CapturedRequest(t.Context(), s.project, captured.ID)
	require.ErrorIs(t, err, store.ErrNotFound)
	for name, change := range map[string]func(tx *store.Tx) error{
		"rename": func(tx *store.Tx) error { return tx.RenameBin(t.Context(), bin.ID, "mine") },
		"script": func(tx *store.Tx) error { return tx.SetBinScript(t.Context(), bin.ID, models.BinRecipes()[2].Script) },
		"clear":  func(tx *store.Tx) error { return tx.ClearBin(t.Context(), bin.ID) },
		"delete": func(tx *store.Tx) error { return tx.DeleteBin(t.Context(), bin.ID) },
		"lock":   func(tx *store.Tx) error { _, err := tx.LockBin(t.Context(), bin.ID); return err },
		"name":   func(tx *store.Tx) error { return tx.SetBinEndpoint(t.Context(), bin.ID, nil) },
	} {
		require.ErrorIs(t, s.write(change), store.ErrNotFound, name)
	}
	foreign := *bin
	foreign.ProjectID = s.project
	list, err := s.store.CapturedRequests(t.Context(), &foreign, 0, 10)
	require.NoError(t, err)
	require.Empty(t, list)
	bins, err := s.store.Bins(t.Context(), s.project)
	require.NoError(t, err)
	require.Empty(t, bins)
	s.project = owner
	require.Equal(t, "Test", s.bin(bin.ID).Name)
	require.Equal(t, captured, s.shown(bin.ID)[0])
}

// Captured requests are dropped by day: a partition past the retention is gone, and
// with it what a bin showed of it.
func TestCapturedRequestsAreDroppedByDay(t *testing.T) {
	t.Parallel()
	s := newSiteOn(t, testenv.FreshDatabaseURL(t), inspector.Limits{}) // elsewhere another test would drop it too early
	bin := s.newBin()
	at := clock.System{}.Now().Add(-models.CapturedRetention - 48*time.Hour)
	day := at.Truncate(24 * time.Hour)
	s.exec(fmt.Sprintf(`CREATE TABLE inspector_requests_%s PARTITION OF inspector_requests FOR VALUES FROM ('%s+00') TO ('%s+00')`,
		day.Format("20060102"), day.Format(time.DateTime), day.Add(24*time.Hour).Format(time.DateTime)))
	old := models.CapturedRequest{
		BinID: bin.ID, ID: models.NewID(models.PrefixCaptured, at), Source: models.SourceExternal, Method: "POST",
		Headers: []byte("{}"), AnswerOutcome: models.AnswerPending, ReceivedAt: at,
	}
	require.NoError(t, s.store.Capture(t.Context(), &old))
	s.post(bin)
	require.Len(t, s.shown(bin.ID), 2)
	require.NoError(t, s.store.KeepPartitions(t.Context()))
	require.Len(t, s.shown(bin.ID), 1)
	_, err := s.store.CapturedRequest(t.Context(), s.project, old.ID)
	require.ErrorIs(t, err, store.ErrNotFound)
}
