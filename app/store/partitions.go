package store

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/botix-pro/platform/app/models"
)

const (
	partitionsAhead = 3 // days
	partitionLayout = "20060102"
	day             = 24 * time.Hour
	attemptsTable   = "webhook_attempts"
	saveBatch       = 1000
)

// partitioned are the tables that are cut by day, with what they keep. Their
// partitions are named by their day, so that the names alone tell which are too
// old.
var partitioned = map[string]time.Duration{
	attemptsTable:        AttemptRetention,
	"request_log":        RequestRetention,
	"request_minutes":    MinuteRetention,
	"inspector_requests": models.CapturedRetention,
}

const (
	sqlPartitionLock  = `SELECT pg_advisory_xact_lock(hashtextextended('partitions', 0))`
	sqlToday          = `SELECT date_trunc('day', now() AT TIME ZONE 'UTC')`
	sqlListPartitions = `
		SELECT inhrelid::regclass::text FROM pg_inherits WHERE inhparent = $1::regclass`
	sqlSaveAttempts = `
		WITH page AS (
			SELECT project_id, id, attempt_id FROM dead_letters WHERE (project_id, id) > ($1, $2) ORDER BY project_id, id LIMIT $3
		), saved AS (
			INSERT INTO dead_letter_attempts
			SELECT a.* FROM page p JOIN %s a ON a.project_id = p.project_id AND a.id = compact_id(p.attempt_id) ON CONFLICT DO NOTHING
		)
		SELECT project_id, id FROM page ORDER BY project_id DESC, id DESC LIMIT 1`
)

// KeepPartitions makes the partitions of today and the days ahead, and drops
// those past their table's retention, after the last attempts of dead letters
// that are still kept were saved from them. Several callers at once wait for each
// other.
func (s *Store) KeepPartitions(ctx context.Context) error {
	err := s.withConn(ctx, func(c *pgx.Conn) error {
		// One day for both: what is dropped is what was saved from.
		var today time.Time
		if err := c.QueryRow(ctx, sqlToday).Scan(&today); err != nil {
			return err
		}
		if err := saveLastAttempts(ctx, c, today.Add(-AttemptRetention)); err != nil {
			return err
		}
		return pgx.BeginFunc(ctx, c, func(tx pgx.Tx) error {
			if _, err := tx.Exec(ctx, sqlPartitionLock); err != nil {
				return err
			}
			for table, retention := range partitioned {
				if err := makePartitions(ctx, tx, table, today); err != nil {
					return err
				}
				if err := dropPartitions(ctx, tx, table, today.Add(-retention)); err != nil {
					return err
				}
			}
			return nil
		})
	})
	if err != nil {
		return fmt.Errorf("keep the partitions: %w", err)
	}
	return nil
}

func makePartitions(ctx context.Context, tx pgx.Tx, table string, today time.Time) error {
	// Yesterday's as well: what began before midnight may be recorded after it.
	for ahead := -1; ahead <= partitionsAhead; ahead++ {
		from := today.AddDate(0, 0, ahead)
		statement := fmt.Sprintf(`CREATE TABLE IF NOT EXISTS %s PARTITION OF %s FOR VALUES FROM ('%s+00') TO ('%s+00')`,
			table+"_"+from.Format(partitionLayout), table, from.Format(time.DateTime), from.AddDate(0, 0, 1).Format(time.DateTime))
		if _, err := tx.Exec(ctx, statement); err != nil {
			return err
		}
	}
	return nil
}

// querier is a connection or a transaction on it.
type querier interface {
	Query(ctx context.Context, sql string, args ...any) (pgx.Rows, error)
}

// oldPartitions are the names of a table's partitions that end before the given
// time.
func oldPartitions(ctx context.Context, q querier, table string, before time.Time) ([]string, error) {
	rows, err := q.Query(ctx, sqlListPartitions, table)
	if err != nil {
		return nil, err
	}
	names, err := pgx.CollectRows(rows, pgx.RowTo[string])
	return slices.DeleteFunc(names, func(name string) bool { return !tooOld(name, table, before) }), err
}

// saveLastAttempts copies, from the partitions that are about to be dropped, the
// attempts that dead letters name: a dead letter is kept with its last attempt,
// for as long as the plan says (contract §5). It goes through the dead letters
// page by page, so that no statement takes long.
func saveLastAttempts(ctx context.Context, c *pgx.Conn, before time.Time) error {
	names, err := oldPartitions(ctx, c, attemptsTable, before)
	if err != nil {
		return err
	}
	for _, name := range names {
		save := fmt.Sprintf(sqlSaveAttempts, pgx.Identifier{name}.Sanitize())
		for project, id := "", ""; ; {
			err := c.QueryRow(ctx, save, project, id, saveBatch).Scan(&project, &id)
			if errors.Is(err, pgx.ErrNoRows) || isUndefinedTable(err) { // somebody else has saved all and dropped it
				break
			}
			if err != nil {
				return err
			}
		}
	}
	return nil
}

func dropPartitions(ctx context.Context, tx pgx.Tx, table string, before time.Time) error {
	names, err := oldPartitions(ctx, tx, table, before)
	if err != nil {
		return err
	}
	for _, name := range names {
		if _, err := tx.Exec(ctx, "DROP TABLE "+pgx.Identifier{name}.Sanitize()); err != nil {
			return err
		}
	}
	return nil
}

// tooOld reports whether a partition of the table ends before the given time.
func tooOld(name, table string, before time.Time) bool {
	from, err := time.Parse(table+"_"+partitionLayout, name)
	return err == nil && from.Add(day).Before(before)
}
