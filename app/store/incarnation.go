package store

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
)

// The cluster, its timeline (a failover or a restore to an earlier moment begins
// another one), the database in it, and what its first migration drew by lot.
const sqlIncarnation = `
	SELECT concat_ws('/', (SELECT system_identifier FROM pg_control_system()),
	       left(pg_walfile_name(pg_current_wal_lsn()), 8),
	       (SELECT oid FROM pg_database WHERE datname = current_database()),
	       (SELECT id FROM installation))`

// incarnationTimeout bounds what a new connection waits for it.
const incarnationTimeout = 5 * time.Second

// Incarnation tells the database's present history from every other one that may
// stand or have stood at the same address: another cluster, a copy, or this one
// after a failover that lost commits. What is remembered elsewhere about a
// commit holds only while it is the same. It is empty while it is not known.
//
// Every new connection asks for it, and so does [Store.LearnIncarnation].
func (s *Store) Incarnation() string {
	if known := s.incarnation.Load(); known != nil {
		return *known
	}
	return ""
}

// LearnIncarnation asks again: behind a pooler the server can change without a
// new connection of ours.
func (s *Store) LearnIncarnation(ctx context.Context) {
	err := s.withConn(ctx, func(c *pgx.Conn) error { return s.learnFrom(ctx, c) })
	if err != nil {
		s.forgetIncarnation()
	}
}

// learnFrom is also what a new connection runs. A database that does not tell,
// such as a standby, is no reason not to work with it.
func (s *Store) learnFrom(ctx context.Context, c *pgx.Conn) error {
	ctx, cancel := context.WithTimeout(ctx, incarnationTimeout)
	defer cancel()
	var incarnation string
	if err := c.QueryRow(ctx, sqlIncarnation).Scan(&incarnation); err != nil {
		s.forgetIncarnation()
		if c.IsClosed() {
			return fmt.Errorf("ask for the incarnation: %w", err)
		}
		return nil
	}
	s.incarnation.Store(&incarnation)
	return nil
}

func (s *Store) forgetIncarnation() { s.incarnation.Store(nil) }
