package store

import (
	"context"
	"encoding/json"
	"fmt"
	"iter"

	"github.com/jackc/pgx/v5"

	"github.com/botix-pro/platform/app/models"
)

const (
	sqlJobRows  = `SELECT rows FROM job_rows WHERE project_id = $1 AND job_id = $2 AND first = $3`
	sqlRowsDone = `
		WITH done AS (DELETE FROM job_rows WHERE project_id = $1 AND job_id = $2 AND first = $3)
		INSERT INTO job_results (project_id, job_id, first, count, results) VALUES ($1, $2, $3, $4, $5)`
	sqlDropJobRows = `DELETE FROM job_rows WHERE project_id = $1 AND job_id = $2`
	sqlJobResults  = `
		SELECT r.first + e.at::int - 1 AS index, e.result
		FROM job_results r CROSS JOIN LATERAL jsonb_array_elements(r.results) WITH ORDINALITY AS e(result, at)
		WHERE r.project_id = ? AND r.job_id = ? AND r.first + r.count - 1 > ? AND r.first + e.at - 1 > ?
		  AND (CAST(? AS text) IS NULL OR e.result->>'status' = ?)
		ORDER BY r.first, e.at LIMIT ?`
)

// SaveJobRows keeps what a job is to do and returns how many rows that is; a nil
// row is one that was too large. The chunks are copied as they come, not queued:
// what a request may carry is never in memory as a whole, and a chunk's memory is
// its maker's again when the next one is asked for. The error of a chunk is
// returned as it is. After any error, and unless the job is queued, the
// transaction has to end without effect.
func (tx *Tx) SaveJobRows(ctx context.Context, job string, chunks iter.Seq2[[][]byte, error]) (total int, err error) {
	next, stop := iter.Pull2(chunks)
	defer stop()
	var fault error
	source := pgx.CopyFromFunc(func() ([]any, error) {
		rows, err, more := next()
		if !more || err != nil {
			fault = err
			return nil, err
		}
		total += len(rows)
		return []any{string(tx.project), job, total - len(rows), rows}, nil
	})
	err = tx.native(func(c *pgx.Conn) error {
		_, err := c.CopyFrom(ctx, pgx.Identifier{"job_rows"}, []string{"project_id", "job_id", "first", "rows"}, source)
		return err
	})
	switch {
	case fault != nil:
		return 0, fault
	case err != nil:
		return 0, fmt.Errorf("save the rows of a job: %w", err)
	default:
		return total, nil
	}
}

// JobRows returns the chunk of a job's rows that begins at the row number first.
func (tx *Tx) JobRows(ctx context.Context, job string, first int) (rows [][]byte, err error) {
	err = tx.native(func(c *pgx.Conn) error {
		return c.QueryRow(ctx, sqlJobRows, string(tx.project), job, first).Scan(&rows)
	})
	if err != nil {
		return nil, fmt.Errorf("read the rows of job %s from %d: %w", job, first, err)
	}
	return rows, nil
}

// JobRowsDone queues what became of a chunk, which takes its place.
func (tx *Tx) JobRowsDone(job string, first int, results []models.RowResult) error {
	encoded, err := json.Marshal(results)
	if err != nil {
		return fmt.Errorf("encode the results of a job: %w", err)
	}
	tx.exec(sqlRowsDone, string(tx.project), job, first, len(results), encoded)
	return nil
}

// JobResults returns what became of the rows of one of the project's jobs, behind
// the row number after, in their order. status narrows them, unless nil.
func (s *Store) JobResults(ctx context.Context, project models.ProjectID, job string, status *string, after, limit int) ([]models.NumberedResult, error) {
	var results []models.NumberedResult
	err := s.read(ctx).Raw(sqlJobResults, project, job, after, after, status, status, limit).Scan(&results).Error
	if err != nil {
		return nil, fmt.Errorf("read the results of job %s: %w", job, err)
	}
	return results, nil
}
