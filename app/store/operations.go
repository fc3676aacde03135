package store

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/botix-pro/platform/app/models"
)

// Claim is what a transaction found out about its idempotency key.
type Claim struct {
	// Locked: this transaction holds the key; nobody else runs the operation.
	Locked bool
	// Record is the completed operation, nil if there is none.
	Record *models.IdempotencyRecord
}

const (
	// Never waits: a second request learns at once that the first is running.
	// The lock ends with the transaction, so a crash frees the key.
	sqlTryKey = `SELECT pg_try_advisory_xact_lock($1)`
	// A statement of its own, after the lock: its snapshot then includes
	// whatever the lock's previous holder committed.
	sqlFindKey = `
		SELECT fingerprint, method, path, request_id, status, headers, body, completed_at, expires_at,
		       expires_at <= clock_timestamp(), expires_at + make_interval(secs => $3) <= clock_timestamp()
		FROM idempotency_keys WHERE project_id = $1 AND key = $2`
	sqlForgetKey = `
		DELETE FROM idempotency_keys
		WHERE project_id = $1 AND key = $2 AND expires_at + make_interval(secs => $3) <= clock_timestamp()`
	sqlStoreKey = `
		INSERT INTO idempotency_keys
		       (project_id, key, fingerprint, method, path, request_id, status, headers, body, completed_at, expires_at)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, clock_timestamp(), clock_timestamp() + make_interval(secs => $10))`
)

// BeginOperation opens the transaction of a mutating request: it tries the
// key's lock, then looks the key up, in one round trip. The caller must end
// the transaction whatever the claim says.
func (s *Store) BeginOperation(ctx context.Context, project models.ProjectID, key string) (*Tx, Claim, error) {
	var claim Claim
	batch := &pgx.Batch{}
	batch.Queue(sqlTryKey, lockNumber(project, key)).QueryRow(func(row pgx.Row) error {
		return row.Scan(&claim.Locked)
	})
	batch.Queue(sqlFindKey, string(project), key, models.TombstoneRetention.Seconds()).QueryRow(func(row pgx.Row) error {
		record, err := scanRecord(row, project, key)
		claim.Record = record
		return err
	})
	tx, err := s.begin(ctx, project, batch)
	if err != nil {
		return nil, Claim{}, err
	}
	return tx, claim, nil
}

// CommitOperation stores the record with everything that was queued and
// commits, in one round trip; the answer can be replayed for ttl from then on.
// Errors:
//   - [*models.Error]: a constraint that the caller's data violated; the
//     transaction is back at its beginning, holds the key, and may be committed
//     with a record of that error.
//   - [ErrKeyTaken], [ErrCommitUnknown]: see there; the transaction is over.
//   - anything else: nothing was applied.
func (tx *Tx) CommitOperation(ctx context.Context, record *models.IdempotencyRecord, ttl time.Duration) error {
	headers, err := json.Marshal(record.Answer.Header)
	if err != nil {
		return fmt.Errorf("encode the stored headers: %w", err)
	}
	body := record.Answer.Body
	if body == nil {
		body = []byte{} // 204: an empty answer, which is not an absent one
	}
	closing := &pgx.Batch{}
	closing.Queue(sqlStoreKey, string(tx.project), record.Key, record.Fingerprint, record.Method, record.Path,
		record.RequestID, record.Answer.Status, headers, body, ttl.Seconds())
	return translate(tx.flush(ctx, closing))
}

// Forget queues the removal of a key's tombstone whose time is over.
func (tx *Tx) Forget(key string) {
	tx.exec(sqlForgetKey, string(tx.project), key, models.TombstoneRetention.Seconds())
}

func scanRecord(row pgx.Row, project models.ProjectID, key string) (*models.IdempotencyRecord, error) {
	record := &models.IdempotencyRecord{ProjectID: project, Key: key}
	var headers []byte
	err := row.Scan(&record.Fingerprint, &record.Method, &record.Path, &record.RequestID, &record.Answer.Status,
		&headers, &record.Answer.Body, &record.CompletedAt, &record.ExpiresAt, &record.Expired, &record.Forgotten)
	if errors.Is(err, pgx.ErrNoRows) {
		return nil, nil //nolint:nilnil // an unused key is the usual case, not a fault
	}
	if err != nil {
		return nil, fmt.Errorf("read the idempotency key: %w", err)
	}
	if err := json.Unmarshal(headers, &record.Answer.Header); err != nil {
		return nil, fmt.Errorf("decode the stored headers: %w", err)
	}
	return record, nil
}

// lockNumber is the advisory lock of a key.
func lockNumber(project models.ProjectID, key string) int64 {
	return advisoryLock("idempotency", string(project), key)
}

// advisoryLock is the number of a lock by its purpose and what it is about: 64
// bits of a hash. Two that share one, which 2⁶⁴ makes unlikely, would at worst
// make one wait for the other.
func advisoryLock(parts ...string) int64 {
	sum := sha256.Sum256([]byte(strings.Join(parts, "\x00")))
	return int64(binary.BigEndian.Uint64(sum[:8])) //nolint:gosec // any 64 bits will do
}
