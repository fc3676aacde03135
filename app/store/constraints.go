package store

import (
	"context"
	"database/sql/driver"
	"errors"
	"fmt"
	"io"
	"net"
	"slices"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/botix-pro/platform/app/models"
)

// SQLSTATE classes and codes, PostgreSQL appendix A.
const (
	sqlUniqueViolation = "23505"
	sqlNullViolation   = "23502"
	sqlUndefinedTable  = "42P01"
	keyConstraint      = "idempotency_keys_pkey"
)

// constraintErrors says what a violated constraint means to a caller. One that
// is missing here is a fault of ours and answers INTERNAL_ERROR.
var constraintErrors = map[string]func() error{
	"contacts_external_id_unique": func() error { return models.ContactExists() },
	"audit_entries_once":          func() error { return ErrRepeated },
	"users_email_key":             func() error { return ErrUserExists },
}

// translate turns a violated constraint that a caller caused into the error
// that tells them so, and leaves every other error as it is.
func translate(err error) error {
	var pg *pgconn.PgError
	if !errors.As(err, &pg) {
		return err
	}
	if known, ok := constraintErrors[pg.ConstraintName]; ok {
		return known()
	}
	return err
}

// isKeyCollision reports whether another operation stored the same idempotency
// key first.
func isKeyCollision(err error) bool {
	var pg *pgconn.PgError
	return errors.As(err, &pg) && pg.Code == sqlUniqueViolation && pg.ConstraintName == keyConstraint
}

// unclaimed tells an operation whose key was not to be had from one that failed
// though it was.
func unclaimed(err error) error {
	var pg *pgconn.PgError
	unheld := errors.As(err, &pg) && pg.Code == sqlNullViolation && pg.TableName == keysTable
	if unheld || isKeyCollision(err) {
		return fmt.Errorf("%w: %w", ErrNotClaimed, err)
	}
	return err
}

// isUndefinedTable reports whether a statement named a table that is gone.
func isUndefinedTable(err error) bool {
	var pg *pgconn.PgError
	return errors.As(err, &pg) && pg.Code == sqlUndefinedTable
}

// unavailableClasses are the SQLSTATE classes that say the database cannot do
// its work right now: connection, rollback of a serialisable or deadlocked
// transaction, resources, lock and statement timeouts, shutdown, system error.
var unavailableClasses = []string{"08", "40", "53", "55", "57", "58"}

// IsUnavailable reports whether err means that PostgreSQL could not be reached
// or could not do its work right now, so that trying again may help.
func IsUnavailable(err error) bool {
	var pg *pgconn.PgError
	if errors.As(err, &pg) {
		return slices.Contains(unavailableClasses, pg.Code[:2])
	}
	var network net.Error
	return errors.Is(err, context.DeadlineExceeded) || errors.Is(err, driver.ErrBadConn) ||
		errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, io.EOF) || errors.As(err, &network)
}
