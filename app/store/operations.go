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

const keysTable = "idempotency_keys"

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
	sqlTryKey = `SELECT pg_try_advisory_xact_lock($1), date_trunc('milliseconds', now())`
	// A statement of its own, after the lock: its snapshot then includes
	// whatever the lock's previous holder committed.
	sqlFindKey = `
		SELECT fingerprint, method, path, request_id, status, headers, body, sealed, completed_at, expires_at,
		       expires_at <= clock_timestamp(), expires_at + make_interval(secs => $3) <= clock_timestamp()
		FROM idempotency_keys WHERE project_id = $1 AND key = $2`
	sqlKeyHeld = `
		SELECT max(COALESCE(a.xact_start, clock_timestamp()))
		FROM pg_locks l LEFT JOIN pg_stat_activity a USING (pid)
		WHERE l.locktype = 'advisory' AND l.granted AND l.objsubid = 1
		  AND l.database = (SELECT oid FROM pg_database WHERE datname = current_database())
		  AND (l.classid::bigint << 32 | l.objid::bigint) = $1`
	sqlForgetKey = `
		DELETE FROM idempotency_keys
		WHERE project_id = $1 AND key = $2 AND expires_at + make_interval(secs => $3) <= clock_timestamp()`
	// Ahead of everything else that the operation writes: without the lock, with a
	// time that is later than the transaction's, or too late, there is no status,
	// which ends the transaction there and then; so does a row that has the key
	// already. The clock is looked at with the lock in hand: whoever gets the lock
	// after that time, and finds no row, knows that none will come.
	sqlStoreKey = `
		INSERT INTO idempotency_keys
		       (project_id, key, fingerprint, method, path, request_id, status, headers, body, sealed, completed_at, expires_at)
		VALUES ($1, $2, $3, $4, $5, $6,
		        CASE WHEN pg_try_advisory_xact_lock($12)
		             THEN CASE WHEN $13 <= now() AND clock_timestamp() <= $14 THEN $7::int END END,
		        $8, $9, $10, clock_timestamp(), clock_timestamp() + make_interval(secs => $11))`
)

// timeMargin is how much earlier than its transaction's beginning the time of what
// it writes may be.
const timeMargin = 500 * time.Millisecond

// BeginOperation opens the transaction of a mutating request: it tries the
// key's lock, then looks the key up, in one round trip. The caller must end
// the transaction whatever the claim says.
func (s *Store) BeginOperation(ctx context.Context, project models.ProjectID, key string) (*Tx, Claim, error) {
	var claim Claim
	var now time.Time
	batch := &pgx.Batch{}
	batch.Queue(sqlTryKey, lockNumber(project, key)).QueryRow(func(row pgx.Row) error {
		return row.Scan(&claim.Locked, &now)
	})
	batch.Queue(sqlFindKey, string(project), key, models.TombstoneRetention.Seconds()).QueryRow(func(row pgx.Row) error {
		record, err := s.scanRecord(row, project, key)
		claim.Record = record
		return err
	})
	tx, err := s.begin(ctx, project, batch)
	if err != nil {
		return nil, Claim{}, err
	}
	tx.now = now
	return tx, claim, nil
}

// BeginUnseen prepares the transaction of a mutating request that only writes:
// nothing is sent before [Tx.CommitOperation], which claims the key as well. Its
// reads fail. The caller must end the transaction. It returns [ErrNotClaimed]
// while the database's time is not known.
func (s *Store) BeginUnseen(ctx context.Context, project models.ProjectID) (*Tx, error) {
	conn, err := s.db.Conn(ctx)
	if err != nil {
		return nil, fmt.Errorf("take a connection: %w", err)
	}
	tx := &Tx{store: s, conn: conn, project: project, unseen: true}
	now, known := s.estimate() // after the wait for a connection
	if !known {
		tx.release()
		return nil, ErrNotClaimed
	}
	tx.now = now
	return tx, nil
}

// CommitOperation stores the record with everything that was queued and
// commits, in one round trip; the answer can be replayed for ttl from then on.
// Errors:
//   - [*models.Error]: a constraint that the caller's data violated; the
//     transaction is back at its beginning, holds the key, and may be committed
//     with a record of that error.
//   - [ErrKeyTaken], [ErrNotClaimed], [ErrCommitUnknown]: see there; the
//     transaction is over.
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
	if record.Answer.Secret {
		body = tx.store.box.Seal(body, secretOwner(keysTable, tx.project, record.Key))
	}
	claim := &pgx.Batch{}
	if tx.forgotten {
		claim.Queue(sqlForgetKey, string(tx.project), record.Key, models.TombstoneRetention.Seconds())
	}
	claim.Queue(sqlStoreKey, string(tx.project), record.Key, record.Fingerprint, record.Method, record.Path,
		record.RequestID, record.Answer.Status, headers, body, record.Answer.Secret, ttl.Seconds(),
		lockNumber(tx.project, record.Key), tx.now, tx.claimable())
	return translate(tx.flush(ctx, claim))
}

// Forget makes the commit remove the key's tombstone, whose time is over,
// whatever it then stores.
func (tx *Tx) Forget() { tx.forgotten = true }

func (s *Store) scanRecord(row pgx.Row, project models.ProjectID, key string) (*models.IdempotencyRecord, error) {
	record := &models.IdempotencyRecord{ProjectID: project, Key: key}
	var headers []byte
	err := row.Scan(&record.Fingerprint, &record.Method, &record.Path, &record.RequestID, &record.Answer.Status,
		&headers, &record.Answer.Body, &record.Answer.Secret, &record.CompletedAt, &record.ExpiresAt, &record.Expired, &record.Forgotten)
	if errors.Is(err, pgx.ErrNoRows) {
		return nil, nil //nolint:nilnil // an unused key is the usual case, not a fault
	}
	if err != nil {
		return nil, fmt.Errorf("read the idempotency key: %w", err)
	}
	if err := json.Unmarshal(headers, &record.Answer.Header); err != nil {
		return nil, fmt.Errorf("decode the stored headers: %w", err)
	}
	if record.Answer.Secret && len(record.Answer.Body) > 0 {
		if record.Answer.Body, err = s.box.Open(record.Answer.Body, secretOwner(keysTable, project, key)); err != nil {
			return nil, fmt.Errorf("decrypt the stored answer: %w", err)
		}
	}
	return record, nil
}

// Operation returns what is known about a key without taking its lock: since
// when a transaction holds it, nil if none does right now, and the completed
// operation, nil if there is none. The lock is looked at first, so that an
// operation that commits in between is found completed.
func (s *Store) Operation(ctx context.Context, project models.ProjectID, key string) (running *time.Time, record *models.IdempotencyRecord, err error) {
	err = s.withConn(ctx, func(c *pgx.Conn) error {
		if err := c.QueryRow(ctx, sqlKeyHeld, lockNumber(project, key)).Scan(&running); err != nil {
			return err
		}
		record, err = s.scanRecord(c.QueryRow(ctx, sqlFindKey, string(project), key, models.TombstoneRetention.Seconds()), project, key)
		return err
	})
	if err != nil {
		return nil, nil, fmt.Errorf("look an operation up: %w", err)
	}
	return running, record, nil
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
