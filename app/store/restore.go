package store

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"

	"github.com/botix-pro/platform/app/models"
)

// ErrForeignArchive is returned for an archived line that belongs to another
// project, or to no dead letter at all.
var ErrForeignArchive = errors.New("the archive holds something that is not a dead letter of this project")

// Each takes one archived line. What is there already stays as it
// is, but is locked, so that the retention that deletes old rows either has done
// it before, and they are made anew, or finds them needed. A delivery that
// somebody has sent again meanwhile gets no dead letter. The columns are named:
// one that is added later gets its default.
const (
	sqlRestoreEvent = `
		INSERT INTO events (project_id, id, type, source, api_version, request_id, body, data, created_at)
		SELECT r.project_id, r.id, r.type, r.source, r.api_version, r.request_id,
		       convert_to($1::jsonb -> 'event' ->> 'body', 'UTF8'), convert_to($1::jsonb -> 'event' ->> 'data', 'UTF8'), r.created_at
		FROM jsonb_populate_record(NULL::events, ($1::jsonb -> 'event') - 'body' - 'data') AS r
		ON CONFLICT (project_id, id) DO UPDATE SET type = events.type`
	sqlRestoreDelivery = `
		INSERT INTO webhook_deliveries (project_id, id, event_id, event_type, endpoint_id, status, step, attempt_count,
		       last_status_code, last_error_class, created_at)
		SELECT r.project_id, r.id, r.event_id, r.event_type, r.endpoint_id, 'dead_letter', r.step, r.attempt_count,
		       r.last_status_code, r.last_error_class, r.created_at
		FROM jsonb_populate_record(NULL::webhook_deliveries, $1::jsonb -> 'delivery') AS r
		ON CONFLICT (project_id, id) DO UPDATE SET status = webhook_deliveries.status`
	sqlRestoreLetter = `
		INSERT INTO dead_letters (project_id, id, delivery_id, endpoint_id, event_id, event_type, cause, attempt_id, created_at, expires_at)
		SELECT r.project_id, r.id, r.delivery_id, r.endpoint_id, r.event_id, r.event_type, r.cause, r.attempt_id, r.created_at,
		       clock_timestamp() + make_interval(days => (t.limits ->> 'dead_letter_retention_days')::int)
		FROM jsonb_populate_record(NULL::dead_letters, $1::jsonb -> 'dead_letter') AS r
		JOIN webhook_deliveries d ON d.project_id = r.project_id AND d.id = r.delivery_id AND d.status = 'dead_letter'
		JOIN projects p ON p.id = r.project_id JOIN plans t ON t.id = p.plan_id
		ON CONFLICT DO NOTHING`
	// Beside the partitions, which are gone, or have it already.
	sqlRestoreAttempt = `
		INSERT INTO dead_letter_attempts
		SELECT r.* FROM jsonb_populate_record(NULL::dead_letter_attempts, nullif($1::jsonb -> 'attempt', 'null')) AS r
		WHERE r.id IS NOT NULL AND r.project_id = $2
		ON CONFLICT DO NOTHING`
)

// RestoreLetters brings dead letters back from lines that [Store.ArchiveLines]
// made, all or none, each with its event, delivery and last attempt, and returns how many were
// not there: a line that is restored already adds nothing. Their retention starts
// anew.
func (s *Store) RestoreLetters(ctx context.Context, project models.ProjectID, lines [][]byte) (restored int, err error) {
	tx, err := s.begin(ctx, project, &pgx.Batch{})
	if err != nil {
		return 0, fmt.Errorf("restore dead letters: %w", err)
	}
	defer tx.Rollback(ctx)
	for _, line := range lines {
		if err := checkArchived(project, line); err != nil {
			return 0, err
		}
		tx.exec(sqlRestoreEvent, line)
		tx.exec(sqlRestoreDelivery, line)
		tx.query(func(rows pgx.Rows) error {
			rows.Close()
			restored += int(rows.CommandTag().RowsAffected())
			return rows.Err()
		}, sqlRestoreLetter, line)
		tx.exec(sqlRestoreAttempt, line, string(project))
	}
	if err := tx.flush(ctx, &pgx.Batch{}); err != nil {
		return 0, fmt.Errorf("restore dead letters: %w", err)
	}
	return restored, nil
}

// checkArchived makes sure that all three parts are there and the project's own.
func checkArchived(project models.ProjectID, line []byte) error {
	var parts struct {
		Letter   owned `json:"dead_letter"`
		Delivery owned `json:"delivery"`
		Event    owned `json:"event"`
	}
	if err := json.Unmarshal(line, &parts); err != nil {
		return fmt.Errorf("%w: %w", ErrForeignArchive, err)
	}
	for _, part := range []owned{parts.Letter, parts.Delivery, parts.Event} {
		if part.ProjectID != project {
			return ErrForeignArchive
		}
	}
	return nil
}

type owned struct {
	ProjectID models.ProjectID `json:"project_id"`
}
