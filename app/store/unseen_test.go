package store_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/botix-pro/platform/app/models"
	"github.com/botix-pro/platform/app/store"
	"github.com/botix-pro/platform/internal/clock"
	"github.com/botix-pro/platform/internal/testenv"
)

// commitUnseen stores an operation in one round trip, by the time that the store
// takes it for.
func commitUnseen(t *testing.T, s *store.Store, project models.ProjectID) (*store.Tx, error) {
	t.Helper()
	tx, err := s.BeginUnseen(t.Context(), project)
	require.NoError(t, err)
	defer tx.Rollback(t.Context())
	return tx, tx.CommitOperation(t.Context(), &models.IdempotencyRecord{
		ProjectID: project, Key: "k", Fingerprint: make([]byte, 32), RequestID: models.NewID(models.PrefixRequest, clock.System{}.Now()),
		Answer: models.Answer{Status: 204},
	}, time.Hour)
}

// The time of a transaction that begins with its commit is an estimate. One that
// is off leaves no row behind: lists of what changed rely on it.
func TestTimeOfAnUnseenTransactionIsChecked(t *testing.T) {
	t.Parallel()
	for name, off := range map[string]time.Duration{"early": -time.Second, "late": time.Second, "a little late": 200 * time.Millisecond} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := open(t, testenv.DatabaseURL(t))
			project := models.ProjectID(models.NewID(models.PrefixProject, clock.System{}.Now()))
			s.Misjudge(off)
			_, err := commitUnseen(t, s, project)
			require.ErrorIs(t, err, store.ErrNotClaimed)
			_, record, err := s.Operation(t.Context(), project, "k")
			require.NoError(t, err)
			require.Nil(t, record)

			s.LearnIncarnation(t.Context())
			require.Eventually(t, func() bool { // a busy machine may take longer than the margin
				tx, err := commitUnseen(t, s, project)
				return err == nil && tx.Now().Location() == time.UTC
			}, 10*time.Second, time.Millisecond)
		})
	}
}

// A store that knows nothing of the database's clock does not guess.
func TestUnseenTransactionNeedsToKnowTheTime(t *testing.T) {
	t.Parallel()
	s := open(t, testenv.DatabaseURL(t))
	s.Forget()
	_, err := s.BeginUnseen(t.Context(), "prj_x")
	require.ErrorIs(t, err, store.ErrNotClaimed)
}

// A transaction's time is never taken to be later than it is, however long an
// answer took, and a slow answer does not set it back.
func TestTheTimeOfAnUnseenTransactionIsNotAheadOfIts(t *testing.T) {
	t.Parallel()
	ours := time.Date(2026, 12, 1, 12, 0, 0, 0, time.UTC)
	at := func(sent, its, received time.Duration) [3]time.Time { // by our clock, the database's two seconds ahead
		return [3]time.Time{ours.Add(its + 2*time.Second), ours.Add(sent), ours.Add(received)}
	}
	const ms = time.Millisecond
	for name, c := range map[string]struct {
		answers [][3]time.Time
		ahead   time.Duration
	}{
		"the question was long on its way": {[][3]time.Time{at(0, 90*ms, 100*ms)}, 1990 * ms},
		"the answer was":                   {[][3]time.Time{at(0, 10*ms, 100*ms)}, 1910 * ms},
		"a quick one tells more":           {[][3]time.Time{at(0, 10*ms, 100*ms), at(5000*ms, 5001*ms, 5002*ms)}, 1999 * ms},
		"a slow one no less":               {[][3]time.Time{at(0, 1*ms, 2*ms), at(5000*ms, 5010*ms, 5100*ms)}, 1999 * ms},
		"a clock that was set back":        {[][3]time.Time{at(0, 1*ms, 2*ms), at(5000*ms, 4001*ms, 5002*ms)}, 999 * ms},
		"and one that was set forward":     {[][3]time.Time{at(0, 1*ms, 2*ms), at(5000*ms, 6001*ms, 5002*ms)}, 2999 * ms},
	} {
		require.Equal(t, c.ahead, store.Ahead(c.answers...), name)
	}
}
