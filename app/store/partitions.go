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
	day             = 24 * time.Hour
)

// partitioned are the tables that are cut by day, with what they keep. Their
// partitions are named by their day, so that the names alone tell which are too
// old.
var partitioned = map[string]time.Duration{
	"webhook_attempts": AttemptRetention,
	"request_log":      RequestRetention,
}

const (
	sqlPartitionLock  = `SELECT pg_advisory_xact_lock(hashtextextended('partitions', 0))`
	sqlToday          = `SELECT date_trunc('day', now() AT TIME ZONE 'UTC')`
	sqlListPartitions = `
		SELECT inhrelid::regclass::text FROM pg_inherits WHERE inhparent = $1::regclass`
)

// KeepPartitions makes the partitions of today and the days ahead, and drops
// those past their table's retention. Several callers at once wait for each
// other.
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

func dropPartitions(ctx context.Context, tx pgx.Tx, table string, before time.Time) error {
	rows, err := tx.Query(ctx, sqlListPartitions, table)
	if err != nil {
		return err
	}
	names, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil {
		return err
	}
	for _, name := range names {
		if !tooOld(name, table, before) {
			continue
		}
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
