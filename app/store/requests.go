package store

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/botix-pro/platform/app/models"
)

// RequestRetention is how long the request log is kept.
const RequestRetention = 14 * 24 * time.Hour

// MaxRequestsShown is how many physical requests an operation is shown with.
const MaxRequestsShown = 100

// Set-based, and harmless when repeated: a batch whose commit was not answered is
// written again.
const sqlRecordRequests = `
	WITH written AS (
		INSERT INTO request_log (project_id, request_id, key_id, method, route, status, code, idempotency_key, replayed, duration_ms, at)
		SELECT * FROM unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::text[], $6::int[], $7::text[], $8::text[],
		                     $9::boolean[], $10::int[], $11::timestamptz[])
		ON CONFLICT DO NOTHING RETURNING project_id, key_id, status, replayed, at
	)` + sqlCountRequests

// RecordRequests writes physical requests to the request log, all or none.
func (s *Store) RecordRequests(ctx context.Context, records []models.RequestRecord) error {
	n := len(records)
	projects, ids, keys, methods, routes := make([]string, n), make([]string, n), make([]string, n), make([]string, n), make([]string, n)
	statuses, codes, operations := make([]int, n), make([]string, n), make([]*string, n)
	replayed, durations, times := make([]bool, n), make([]int, n), make([]time.Time, n)
	for i, r := range records {
		projects[i], ids[i], keys[i], methods[i], routes[i] = string(r.ProjectID), r.RequestID, r.KeyID, r.Method, r.Route
		statuses[i], codes[i], operations[i] = r.Status, string(r.Code), r.IdempotencyKey
		replayed[i], durations[i], times[i] = r.Replayed, r.DurationMs, r.At
	}
	err := s.withConn(ctx, func(c *pgx.Conn) error {
		_, err := c.Exec(ctx, sqlRecordRequests, projects, ids, keys, methods, routes, statuses, codes, operations, replayed, durations, times)
		return err
	})
	if err != nil {
		return fmt.Errorf("write the request log: %w", err)
	}
	return nil
}

// RequestsOfOperation returns the last hundred physical requests that carried an
// idempotency key, in the order in which they came.
func (s *Store) RequestsOfOperation(ctx context.Context, project models.ProjectID, key string) ([]models.RequestRecord, error) {
	var records []models.RequestRecord
	err := s.read(ctx).Table("request_log").Where("project_id = ? AND idempotency_key = ?", project, key).
		Order("at DESC, request_id DESC").Limit(MaxRequestsShown).Find(&records).Error
	if err != nil {
		return nil, fmt.Errorf("read the request log: %w", err)
	}
	slices.Reverse(records)
	return records, nil
}
