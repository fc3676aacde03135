package store

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"

	"github.com/botix-pro/platform/app/models"
)

const (
	// Past its expiry a key keeps its tombstone only: the answer's bytes go.
	sqlEmptyExpired = `
		UPDATE idempotency_keys SET body = ''
		WHERE (project_id, key) IN (
			SELECT project_id, key FROM idempotency_keys
			WHERE expires_at <= clock_timestamp() AND octet_length(body) > 0
			ORDER BY expires_at LIMIT $1 FOR UPDATE SKIP LOCKED)`
	sqlDropForgotten = `
		DELETE FROM idempotency_keys
		WHERE (project_id, key) IN (
			SELECT project_id, key FROM idempotency_keys
			WHERE expires_at <= clock_timestamp() - make_interval(secs => $2) AND octet_length(body) = 0
			ORDER BY expires_at LIMIT $1 FOR UPDATE SKIP LOCKED)`
)

// PurgeOperations frees what expired operations take, at most limit rows of each
// kind, and reports whether there may be more. It changes no answer: what has
// expired is decided when a key is read.
func (s *Store) PurgeOperations(ctx context.Context, limit int) (more bool, err error) {
	err = s.withConn(ctx, func(c *pgx.Conn) error {
		emptied, err := c.Exec(ctx, sqlEmptyExpired, limit)
		if err != nil {
			return err
		}
		dropped, err := c.Exec(ctx, sqlDropForgotten, limit, models.TombstoneRetention.Seconds())
		more = emptied.RowsAffected() == int64(limit) || dropped.RowsAffected() == int64(limit)
		return err
	})
	if err != nil {
		return false, fmt.Errorf("purge operations: %w", err)
	}
	return more, nil
}
