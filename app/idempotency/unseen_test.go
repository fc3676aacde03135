package idempotency_test

import (
	"context"
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/botix-pro/platform/app/idempotency"
	"github.com/botix-pro/platform/app/models"
	"github.com/botix-pro/platform/app/store"
	"github.com/botix-pro/platform/internal/testenv"
)

// counted is an execution that counts its calls.
func counted(calls *int, execute idempotency.Execution) idempotency.Execution {
	return func(ctx context.Context, tx *store.Tx) (models.Answer, error) {
		*calls++
		return execute(ctx, tx)
	}
}

// keyRow is what is stored with a key.
func (b *bundle) keyRow(t *testing.T, key string) *models.IdempotencyRecord {
	t.Helper()
	_, record, err := b.store.Operation(t.Context(), b.project, key)
	require.NoError(t, err)
	return record
}

// An operation that only writes is carried out once, without a look before, and
// leaves the same record as any other.
func TestUnseenOperationIsCarriedOutOnce(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.unseen = true
	calls := 0
	op := b.operation("k", "body")
	result, err := b.engine.Run(t.Context(), op, counted(&calls, b.create("a")))
	require.NoError(t, err)
	require.Equal(t, 1, calls)
	require.False(t, result.Replayed)
	require.Equal(t, effects{1, 1, 1, 1}, b.effects(t))
	record := b.keyRow(t, "k")
	require.Equal(t, op.RequestID, record.RequestID)
	require.Equal(t, result.Answer, record.Answer)
	require.InDelta(t, op.TTL.Seconds(), record.ExpiresAt.Sub(record.CompletedAt).Seconds(), 1)
}

// The key of an operation that another server carries out refuses at once an
// operation that did not look for it, and leaves it without effect.
func TestUnseenOperationMeetsARunningOne(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.unseen = true
	other := openStore(t, testenv.DatabaseURL(t))
	running, claim, err := other.BeginOperation(t.Context(), b.project, "k")
	require.NoError(t, err)
	defer running.Rollback(t.Context())
	require.True(t, claim.Locked)

	begun := time.Now()
	_, err = b.engine.Run(t.Context(), b.operation("k", "body"), b.create("a"))
	require.Equal(t, models.CodeIdempotencyKeyRunning, codeOf(t, err))
	require.Less(t, time.Since(begun), 5*time.Second, "it did not wait for the lock")
	require.Equal(t, effects{}, b.effects(t))

	running.Rollback(t.Context())
	_, err = b.engine.Run(t.Context(), b.operation("k", "body"), b.create("a"))
	require.NoError(t, err)
	require.Equal(t, effects{1, 1, 1, 1}, b.effects(t))
}

// What the caller is told depends on what has the key, not on what an execution
// thinks of a request that nobody asked it to carry out.
func TestUnseenRefusalIsNotAnsweredBeforeTheKeyWasLookedUp(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.unseen = true
	_, err := b.engine.Run(t.Context(), b.operation("k", "body"), b.create("a"))
	require.NoError(t, err)
	_, err = b.engine.Run(t.Context(), b.operation("k", "not valid"), func(context.Context, *store.Tx) (models.Answer, error) {
		return models.Answer{}, models.Invalid()
	})
	require.Equal(t, models.CodeIdempotencyKeyReuse, codeOf(t, err))
}

// An execution that reads all the same gets what it asks for: its key is looked
// up, and it is called anew.
func TestUnseenOperationThatReadsIsCarriedOutAnew(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.unseen = true
	calls := 0
	result, err := b.engine.Run(t.Context(), b.operation("k", "body"), counted(&calls, func(ctx context.Context, tx *store.Tx) (models.Answer, error) {
		if _, err := tx.LockContactByExternalID(ctx, "a"); models.AsError(err).Code != models.CodeNotFound {
			return models.Answer{}, err
		}
		return b.create("a")(ctx, tx)
	}))
	require.NoError(t, err)
	require.Equal(t, 2, calls)
	require.Equal(t, http.StatusCreated, result.Answer.Status)
	require.Equal(t, effects{1, 1, 1, 1}, b.effects(t))
}
