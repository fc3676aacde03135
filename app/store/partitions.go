package store

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
)

const (
	partitionsAhead = 3 // days
	partitionLayout = "20060102"
	attemptsPrefix  = "webhook_attempts_"
	day             = 24 * time.Hour
)

// The partitions are named by their day, so that the names alone tell which are
// too old.
const (
	sqlPartitionLock  = `SELECT pg_advisory_xact_lock(hashtextextended('webhook_attempts partitions', 0))`
	sqlToday          = `SELECT date_trunc('day', now() AT TIME ZONE 'UTC')`
	sqlListPartitions = `
		SELECT inhrelid::regclass::text FROM pg_inherits WHERE inhparent = 'webhook_attempts'::regclass`
)

// KeepPartitions makes the attempts' partitions of today and the days ahead,
// and drops those past [AttemptRetention]. Several callers at once wait for
// each other.
func (s *Store) KeepPartitions(ctx context.Context) error {
	err := s.withConn(ctx, func(c *pgx.Conn) error {
		return pgx.BeginFunc(ctx, c, func(tx pgx.Tx) error {
			if _, err := tx.Exec(ctx, sqlPartitionLock); err != nil {
				return err
			}
			var today time.Time
			if err := tx.QueryRow(ctx, sqlToday).Scan(&today); err != nil {
				return err
			}
			if err := makePartitions(ctx, tx, today); err != nil {
				return err
			}
			return dropPartitions(ctx, tx, today)
		})
	})
	if err != nil {
		return fmt.Errorf("keep the attempts' partitions: %w", err)
	}
	return nil
}

func makePartitions(ctx context.Context, tx pgx.Tx, today time.Time) error {
	// Yesterday's as well: an attempt that began before midnight may be recorded after it.
	for ahead := -1; ahead <= partitionsAhead; ahead++ {
		from := today.AddDate(0, 0, ahead)
		statement := fmt.Sprintf(`CREATE TABLE IF NOT EXISTS %s PARTITION OF webhook_attempts FOR VALUES FROM ('%s+00') TO ('%s+00')`,
			attemptsPrefix+from.Format(partitionLayout), from.Format(time.DateTime), from.AddDate(0, 0, 1).Format(time.DateTime))
		if _, err := tx.Exec(ctx, statement); err != nil {
			return err
		}
	}
	return nil
}

func dropPartitions(ctx context.Context, tx pgx.Tx, today time.Time) error {
	rows, err := tx.Query(ctx, sqlListPartitions)
	if err != nil {
		return err
	}
	names, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil {
		return err
	}
	for _, name := range names {
		if !tooOld(name, today) {
			continue
		}
		if _, err := tx.Exec(ctx, "DROP TABLE "+pgx.Identifier{name}.Sanitize()); err != nil {
			return err
		}
	}
	return nil
}

// tooOld reports whether a whole partition is past the retention.
func tooOld(name string, today time.Time) bool {
	from, err := time.Parse(attemptsPrefix+partitionLayout, name)
	return err == nil && from.Add(day).Before(today.Add(-AttemptRetention))
}
