package store

import (
	"context"
	"crypto/rand"
	"database/sql"
	"encoding/binary"
	"errors"
	"fmt"
	"net"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
)

// WorkerID names a worker's process in the tokens of its claims and lanes, whose
// first eight bytes it is. The zero one is nobody's: such a claim ends with its
// lease only.
type WorkerID [8]byte

// NewToken is a fresh token of the worker's, a UUID.
func (id WorkerID) NewToken() string {
	var token uuid.UUID
	copy(token[:], id[:])
	_, _ = rand.Read(token[len(id):]) // documented never to fail: it ends the process instead
	return token.String()
}

// Presence is a worker's mark that it is there: an advisory lock of a session of
// its own, which PostgreSQL ends with the process. A worker that is killed loses
// it at once; one that is frozen keeps it, for its connection stays open.
type Presence struct {
	ID WorkerID
	db *sql.DB // one connection, beside the pool's
}

// advisoryLocks are the 64-bit advisory locks held in this database, as eight
// bytes in l.key, with the session's pid.
const advisoryLocks = `(
	SELECT int8send((k.classid::int8 << 32) | k.objid::int8) AS key, k.pid FROM pg_locks k
	WHERE k.locktype = 'advisory' AND k.objsubid = 1 AND k.granted
	  AND k.database = (SELECT oid FROM pg_database WHERE datname = current_database())) AS l`

const (
	sqlConfirmPresence = `
		SELECT CASE WHEN EXISTS (SELECT 1 FROM ` + advisoryLocks + ` WHERE l.key = int8send($1) AND l.pid = pg_backend_pid())
		       THEN true ELSE pg_try_advisory_lock($1) END`
	// Their locks are looked at after the rows were: a worker takes its lock before
	// it claims.
	sqlAbsentWorkers = `
		WITH claimed AS MATERIALIZED (
			SELECT substr(uuid_send(claim_token), 1, 8) AS worker FROM webhook_deliveries WHERE status = 'in_flight'
			UNION
			SELECT substr(uuid_send(holder), 1, 8) FROM webhook_lanes WHERE holder IS NOT NULL
		)
		SELECT worker FROM claimed WHERE worker <> '\x0000000000000000' AND worker NOT IN (SELECT l.key FROM ` + advisoryLocks + `)`
	sqlFreeLanes = `
		UPDATE webhook_lanes SET holder = NULL, lease_expires_at = NULL, again = false
		WHERE (project_id, endpoint_id) IN (
			SELECT project_id, endpoint_id FROM webhook_lanes WHERE substr(uuid_send(holder), 1, 8) = ANY ($1::bytea[])
			ORDER BY project_id, endpoint_id FOR UPDATE SKIP LOCKED)
		AND substr(uuid_send(holder), 1, 8) = ANY ($1::bytea[])`
)

// NewPresence returns the mark of a process that is not there yet.
func (s *Store) NewPresence() (*Presence, error) {
	p := &Presence{}
	_, _ = rand.Read(p.ID[:])
	cfg := s.cfg
	cfg.MaxConns = 1
	db, err := openPool(cfg, func(context.Context, *pgx.Conn) error { return nil })
	if err != nil {
		return nil, err
	}
	db.SetConnMaxLifetime(0) // the lock goes with its connection
	p.db = db
	return p, nil
}

// Confirm makes sure that PostgreSQL knows of the process, and reports whether it
// did so by the time of the call. It does not while a session that was cut off
// still has the mark, nor behind a pooler that shares sessions.
func (p *Presence) Confirm(ctx context.Context) (held bool, err error) {
	key := int64(binary.BigEndian.Uint64(p.ID[:])) //nolint:gosec // 64 bits are 64 bits
	if err := p.db.QueryRowContext(ctx, sqlConfirmPresence, key).Scan(&held); err != nil {
		return false, fmt.Errorf("confirm a worker's presence: %w", err)
	}
	return held, nil
}

// Close ends the session, and with it the presence.
func (p *Presence) Close() error {
	if err := p.db.Close(); err != nil && !errors.Is(err, net.ErrClosed) {
		return fmt.Errorf("end a worker's presence: %w", err)
	}
	return nil
}

// AbsentWorkers returns those that hold claims or lanes and whose presence
// PostgreSQL knows nothing of at this moment.
func (s *Store) AbsentWorkers(ctx context.Context) (list []WorkerID, err error) {
	err = s.withConn(ctx, func(c *pgx.Conn) error {
		rows, err := c.Query(ctx, sqlAbsentWorkers)
		if err != nil {
			return err
		}
		list, err = pgx.CollectRows(rows, func(row pgx.CollectableRow) (id WorkerID, err error) {
			var worker []byte
			err = row.Scan(&worker)
			copy(id[:], worker)
			return id, err
		})
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("find absent workers: %w", err)
	}
	return list, nil
}

// FreeLanes frees the lanes of workers that are gone.
func (s *Store) FreeLanes(ctx context.Context, gone []WorkerID) error {
	_, err := s.affected(ctx, "free lost lanes", sqlFreeLanes, workerBytes(gone))
	return err
}

func workerBytes(ids []WorkerID) [][]byte {
	list := make([][]byte, len(ids))
	for i := range ids {
		list[i] = ids[i][:]
	}
	return list
}
