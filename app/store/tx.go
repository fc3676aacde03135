package store

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgtype"
	"gorm.io/gorm"

	"github.com/botix-pro/platform/app/models"
)

// ErrCommitUnknown is returned when the connection was lost after COMMIT was
// sent: the transaction may have been committed or not. Only a look-up on
// another connection, holding the key's lock, can tell.
var ErrCommitUnknown = errors.New("the answer to COMMIT was lost")

// ErrKeyTaken is returned when another operation stored the same key first.
// Nothing was applied; a fresh look-up finds what that operation answered.
var ErrKeyTaken = errors.New("another operation stored this idempotency key first")

// ErrNotClaimed is returned when a transaction that was to claim its key with
// its only round trip did not get it: somebody holds it, or has stored an answer
// with it, or the estimate of the time was off. Nothing was applied, and
// [Store.BeginOperation] tells which it was.
var ErrNotClaimed = errors.New("the idempotency key could not be claimed unseen")

// errNotBegun is what a read gets in a transaction that begins with its commit.
var errNotBegun = fmt.Errorf("%w: the operation reads before it writes", ErrNotClaimed)

// errRolledBack: in an aborted transaction COMMIT reports ROLLBACK and no error.
var errRolledBack = errors.New("COMMIT was answered with ROLLBACK")

const (
	sqlBegin      = `BEGIN ISOLATION LEVEL READ COMMITTED READ WRITE`
	sqlNow        = `SELECT date_trunc('milliseconds', now())`
	sqlSavepoint  = `SAVEPOINT operation`
	sqlUndo       = `ROLLBACK TO SAVEPOINT operation`
	sqlCommit     = `COMMIT`
	sqlRollback   = `ROLLBACK`
	severityError = "ERROR"
)

// Tx is one transaction of a project. Its write methods queue statements;
// nothing is sent before the commit, so everything travels in one round trip
// together with the stored answer (DESIGN, decision 2). A violated constraint
// therefore shows at the commit.
//
// A Tx is not safe for concurrent use.
type Tx struct {
	store   *Store
	conn    *sql.Conn // nil once ended
	project models.ProjectID
	now     time.Time
	// unseen: it begins with its commit, which claims its key as well.
	unseen bool
	begun  bool
	// forgotten: the key has a tombstone that has to make way.
	forgotten bool
	queue     []statement
	lanes     []Lane
	works     []Lane // of work that is due after the commit
}

// statement is a queued write. rows, when set, reads what it returned.
type statement struct {
	sql  string
	args []any
	rows func(pgx.Rows) error
}

// Write runs fn and commits what it queued, in one transaction. It is for
// writes that no API request makes: set-up and operators' commands. It returns
// the lanes that have something due.
func (s *Store) Write(ctx context.Context, project models.ProjectID, fn func(*Tx) error) ([]Lane, error) {
	tx, err := s.beginTimed(ctx, project, &pgx.Batch{})
	if err != nil {
		return nil, err
	}
	defer tx.Rollback(ctx)
	if err := fn(tx); err != nil {
		return nil, err
	}
	if err := tx.flush(ctx, &pgx.Batch{}); err != nil {
		return nil, translate(err)
	}
	return tx.lanes, nil
}

// beginTimed is [Store.begin] with the transaction's time asked for.
func (s *Store) beginTimed(ctx context.Context, project models.ProjectID, batch *pgx.Batch) (*Tx, error) {
	var now time.Time
	opening := &pgx.Batch{}
	opening.Queue(sqlNow).QueryRow(func(row pgx.Row) error { return row.Scan(&now) })
	opening.QueuedQueries = append(opening.QueuedQueries, batch.QueuedQueries...)
	tx, err := s.begin(ctx, project, opening)
	if err == nil {
		tx.now = now
	}
	return tx, err
}

// begin opens a transaction and runs the batch in it, all in one round trip. The
// caller sets its time.
func (s *Store) begin(ctx context.Context, project models.ProjectID, batch *pgx.Batch) (*Tx, error) {
	conn, err := s.db.Conn(ctx)
	if err != nil {
		return nil, fmt.Errorf("take a connection: %w", err)
	}
	tx := &Tx{store: s, conn: conn, project: project, begun: true}
	opening := &pgx.Batch{}
	opening.Queue(sqlBegin)
	opening.QueuedQueries = append(opening.QueuedQueries, batch.QueuedQueries...)
	if err := tx.send(ctx, opening); err != nil {
		tx.discard()
		return nil, fmt.Errorf("begin: %w", err)
	}
	return tx, nil
}

// Project is the tenant that the transaction writes for.
func (tx *Tx) Project() models.ProjectID { return tx.project }

// Now is the transaction's beginning by the database's clock, in UTC and cut to
// milliseconds: the one time of everything that the transaction writes. In one
// that begins with its commit it is an estimate, which the commit checks.
func (tx *Tx) Now() time.Time { return tx.now.UTC() }

// Until is when, by the database's clock, a transaction that claims its key with
// its commit can no longer do so, however late it arrives; zero for one that holds
// its key.
func (tx *Tx) Until() time.Time {
	if !tx.unseen {
		return time.Time{}
	}
	return tx.now.Add(timeMargin)
}

// claimable is [Tx.Until] as the claim checks it.
func (tx *Tx) claimable() pgtype.Timestamptz {
	if !tx.unseen {
		return pgtype.Timestamptz{InfinityModifier: pgtype.Infinity, Valid: true}
	}
	return pgtype.Timestamptz{Time: tx.Until(), Valid: true}
}

// Lanes are the endpoints that got a delivery in this transaction, and the kinds
// of work that it made due, known once it is committed.
func (tx *Tx) Lanes() []Lane { return tx.lanes }

// read returns a GORM handle on the transaction's own connection. Reads are
// sent at once, ahead of everything that is queued.
func (tx *Tx) read(ctx context.Context) *gorm.DB {
	session := tx.store.gorm.Session(&gorm.Session{NewDB: true, Context: ctx})
	session.Statement.ConnPool = tx.conn
	if !tx.begun {
		_ = session.AddError(errNotBegun)
	}
	return session
}

// Reset drops what was queued: the operation is to end without its effect.
func (tx *Tx) Reset() { tx.queue, tx.works = nil, nil }

func (tx *Tx) exec(sql string, args ...any) {
	tx.queue = append(tx.queue, statement{sql: sql, args: args})
}

func (tx *Tx) query(rows func(pgx.Rows) error, sql string, args ...any) {
	tx.queue = append(tx.queue, statement{sql: sql, args: args, rows: rows})
}

func (tx *Tx) queueOn(batch *pgx.Batch) {
	for _, s := range tx.queue {
		queued := batch.Queue(s.sql, s.args...)
		if s.rows != nil {
			queued.Query(s.rows)
		}
	}
}

// flush sends the claim's statements, the queue and COMMIT in one round trip.
// After an error that a caller can be told about the transaction is back at its
// beginning and may be flushed again; after any other it is over, and so is one
// that began unseen.
func (tx *Tx) flush(ctx context.Context, claim *pgx.Batch) error {
	batch := &pgx.Batch{}
	if tx.unseen {
		batch.Queue(sqlBegin)
	} else {
		batch.Queue(sqlSavepoint)
	}
	batch.QueuedQueries = append(batch.QueuedQueries, claim.QueuedQueries...)
	tx.queueOn(batch)
	batch.Queue(sqlCommit).Exec(committed)
	tx.queue, tx.lanes, tx.begun = nil, slices.Clone(tx.works), true
	err := tx.send(ctx, batch)
	if err == nil {
		tx.release()
		return nil
	}
	return tx.afterFailure(ctx, err)
}

// committed checks COMMIT's tag: in an aborted transaction PostgreSQL answers
// ROLLBACK, without an error.
func committed(tag pgconn.CommandTag) error {
	if tag.String() != sqlCommit {
		return errRolledBack
	}
	return nil
}

// afterFailure decides what a failed flush leaves behind.
func (tx *Tx) afterFailure(ctx context.Context, err error) error {
	tx.lanes = nil
	if errors.Is(err, errRolledBack) {
		tx.release()
		return err
	}
	var pg *pgconn.PgError
	if !errors.As(err, &pg) || pg.SeverityUnlocalized != severityError {
		// Connection lost, or ended by the server (FATAL): COMMIT was on its way.
		tx.discard()
		return fmt.Errorf("%w: %w", ErrCommitUnknown, err)
	}
	if tx.unseen {
		tx.Rollback(ctx)
		return unclaimed(err)
	}
	if isKeyCollision(err) {
		tx.Rollback(ctx)
		return ErrKeyTaken
	}
	if lost := tx.undo(ctx); lost != nil {
		return fmt.Errorf("%w, after: %v", lost, err) //nolint:errorlint // the first error no longer says what to do
	}
	return err
}

// undo goes back to the beginning of the transaction, keeping its locks. A
// failure of COMMIT itself has already ended it, which undo reports.
func (tx *Tx) undo(ctx context.Context) error {
	if err := tx.one(ctx, sqlUndo); err != nil {
		tx.discard()
		return fmt.Errorf("undo the operation: %w", err)
	}
	return nil
}

// Rollback ends the transaction without applying anything. It may be called
// after a commit, where it does nothing, and works on a cancelled context: the
// connection is then given up, which rolls back as well.
func (tx *Tx) Rollback(ctx context.Context) {
	if tx.conn == nil {
		return
	}
	if !tx.begun {
		tx.release()
		return
	}
	if err := tx.one(ctx, sqlRollback); err != nil {
		tx.discard()
		return
	}
	tx.release()
}

func (tx *Tx) one(ctx context.Context, sql string) error {
	return native(tx.conn, func(c *pgx.Conn) error {
		_, err := c.Exec(ctx, sql)
		return err
	})
}

// native gives fn the transaction's own connection, for what it reads.
func (tx *Tx) native(fn func(*pgx.Conn) error) error {
	if !tx.begun {
		return errNotBegun
	}
	return native(tx.conn, fn)
}

// send runs a batch and reads every result of it.
func (tx *Tx) send(ctx context.Context, batch *pgx.Batch) error {
	return native(tx.conn, func(c *pgx.Conn) error {
		return c.SendBatch(ctx, batch).Close()
	})
}

// release hands the connection back to the pool.
func (tx *Tx) release() {
	_ = tx.conn.Close()
	tx.conn = nil
}

// discard closes the connection for good: its state is not known.
func (tx *Tx) discard() {
	if tx.conn == nil {
		return
	}
	_ = tx.conn.Raw(func(any) error { return driver.ErrBadConn })
	_ = tx.conn.Close()
	tx.conn = nil
}
