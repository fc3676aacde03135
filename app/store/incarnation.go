package store

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/botix-pro/platform/internal/clock"
)

// The cluster, its timeline (a failover or a restore to an earlier moment begins
// another one), the database in it, what its first migration drew by lot, and when
// the server was started: files that were put back from a copy differ in nothing else.
const sqlIncarnation = `
	SELECT concat_ws('/', (SELECT system_identifier FROM pg_control_system()),
	       left(pg_walfile_name(pg_current_wal_lsn()), 8),
	       (SELECT oid FROM pg_database WHERE datname = current_database()),
	       (SELECT id FROM installation), extract(epoch FROM pg_postmaster_start_time())), clock_timestamp()`

// incarnationTimeout bounds what a new connection waits for it.
const incarnationTimeout = 5 * time.Second

// knowledge is what a database says of itself.
type knowledge struct {
	incarnation string
	// ahead is how far its clock is ahead of ours, at least: a transaction's time
	// is never estimated later than it begins, so that what follows it, by the
	// database's own clock, is not found to have come before.
	ahead time.Duration
}

// learned is what an answer says that carried the database's time: it was read
// after the question was sent and before the answer was received. What was known
// before holds on while it may be true, so that an estimate does not fall behind
// an earlier one because one answer took longer; a clock that was set, or drifted,
// refutes it.
func learned(before *knowledge, incarnation string, its, sent, received time.Time) *knowledge {
	least, most := its.Sub(received), its.Sub(sent)
	if before != nil && before.incarnation == incarnation && before.ahead >= least && before.ahead <= most {
		least = before.ahead
	}
	return &knowledge{incarnation: incarnation, ahead: least}
}

// Incarnation tells the database's present history from every other one that may
// stand or have stood at the same address: another cluster, a copy, or this one
// after a failover that lost commits or a start with older files. What is remembered elsewhere about a
// commit holds only while it is the same. It is empty while it is not known.
//
// Every new connection asks for it, and so does [Store.LearnIncarnation].
func (s *Store) Incarnation() string {
	if known := s.known.Load(); known != nil {
		return known.incarnation
	}
	return ""
}

// Now implements [clock.Clock]: the database's time as far as it is known, ours
// while nothing is.
func (s *Store) Now() time.Time {
	at, _ := s.estimate()
	return at.UTC()
}

// estimate is the time of a transaction that is sent at this moment, by the
// database's clock and cut to milliseconds, as far as it can be told without
// asking. The transaction itself has to check it.
func (s *Store) estimate() (at time.Time, known bool) {
	ours := clock.System{}.Now()
	k := s.known.Load()
	if k == nil {
		return ours, false
	}
	return ours.Add(k.ahead).Truncate(time.Millisecond), true
}

// LearnIncarnation asks again: behind a pooler the server can change without a
// new connection of ours.
func (s *Store) LearnIncarnation(ctx context.Context) {
	err := s.withConn(ctx, func(c *pgx.Conn) error { return s.learnFrom(ctx, c) })
	if err != nil {
		s.known.Store(nil)
	}
}

// learnFrom is also what a new connection runs. A database that does not tell,
// such as a standby, is no reason not to work with it.
func (s *Store) learnFrom(ctx context.Context, c *pgx.Conn) error {
	ctx, cancel := context.WithTimeout(ctx, incarnationTimeout)
	defer cancel()
	var incarnation string
	var its time.Time
	before, sent := s.known.Load(), clock.System{}.Now()
	if err := c.QueryRow(ctx, sqlIncarnation).Scan(&incarnation, &its); err != nil {
		s.known.Store(nil)
		if c.IsClosed() {
			return fmt.Errorf("ask for the incarnation: %w", err)
		}
		return nil
	}
	s.known.Store(learned(before, incarnation, its, sent, clock.System{}.Now()))
	return nil
}
