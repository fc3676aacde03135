package idempotency

import (
	"bytes"
	"net/http"
	"time"

	"github.com/botix-pro/platform/app/models"
	"github.com/botix-pro/platform/app/store"
)

// state is what a look-up of a key found.
type state int

const (
	// stateUnused: nobody has used the key, and this transaction holds it.
	stateUnused state = iota
	// stateForgotten: used so long ago that even the tombstone's time is over.
	stateForgotten
	// stateRunning: another request holds the key and has not committed.
	stateRunning
	// stateConflict: the key belongs to another request.
	stateConflict
	// stateExpired: the same request was completed, its answer is gone.
	stateExpired
	// stateCompleted: the same request was completed and its answer is here.
	stateCompleted
)

// inProgressRetry is the Retry-After of IDEMPOTENCY_KEY_IN_PROGRESS (contract §3).
const inProgressRetry = 5 * time.Second

// stateOf tells what a claim means for a request with the given fingerprint. A
// completed record counts even when the lock is not ours: its owner committed
// between our two statements.
func stateOf(claim store.Claim, fingerprint []byte) state {
	record := claim.Record
	switch {
	case record == nil || record.Forgotten:
		return vacant(claim)
	case !bytes.Equal(record.Fingerprint, fingerprint):
		return stateConflict
	case record.Expired:
		return stateExpired
	default:
		return stateCompleted
	}
}

func vacant(claim store.Claim) state {
	switch {
	case !claim.Locked:
		return stateRunning
	case claim.Record != nil:
		return stateForgotten
	default:
		return stateUnused
	}
}

// refusal is the error that a state other than unused, forgotten or completed
// answers with.
func refusal(s state, record *models.IdempotencyRecord) *models.Error {
	switch s {
	case stateRunning:
		err := models.NewError(models.CodeIdempotencyKeyRunning, "A request with this key is being executed; repeat this one unchanged.")
		err.RetryAfter = inProgressRetry
		return err
	case stateConflict:
		return models.NewError(models.CodeIdempotencyKeyReuse, "This key was first used for another request (%s %s, request %s).",
			record.Method, record.Path, record.RequestID)
	default:
		return expired(record)
	}
}

// expired tells what the tombstone kept: whether the operation was applied, and
// where its result is.
func expired(record *models.IdempotencyRecord) *models.Error {
	err := models.NewError(models.CodeIdempotencyKeyExpired,
		"The operation was completed at %s with status %d (request %s); its stored answer has expired.",
		models.FormatTime(record.CompletedAt), record.Answer.Status, record.RequestID)
	if link := record.Answer.Header.Get("Location"); link != "" {
		err.Detail += " Its result: " + link + "."
	}
	err.Outcome = models.Applied
	if record.Answer.Status >= http.StatusBadRequest {
		err.Outcome = models.NotApplied
	}
	return err
}
