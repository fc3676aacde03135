package store

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/botix-pro/platform/app/models"
)

// RequestRetention is how long the request log is kept.
const RequestRetention = 14 * 24 * time.Hour

// maxRequestsShown is how many physical requests an operation is shown with.
const maxRequestsShown = 100

var requestColumns = []string{
	"project_id", "request_id", "key_id", "method", "route", "status", "code", "idempotency_key", "replayed", "duration_ms", "at",
}

// RecordRequests writes physical requests to the request log, all or none.
func (s *Store) RecordRequests(ctx context.Context, records []models.RequestRecord) error {
	err := s.withConn(ctx, func(c *pgx.Conn) error {
		_, err := c.CopyFrom(ctx, pgx.Identifier{"request_log"}, requestColumns, pgx.CopyFromSlice(len(records), func(i int) ([]any, error) {
			r := records[i]
			return []any{
				string(r.ProjectID), r.RequestID, r.KeyID, r.Method, r.Route, r.Status, string(r.Code), r.IdempotencyKey, r.Replayed,
				r.DurationMs, r.At,
			}, nil
		}))
		return err
	})
	if err != nil {
		return fmt.Errorf("write the request log: %w", err)
	}
	return nil
}

// RequestsOfOperation returns the physical requests that carried an idempotency
// key, in the order in which they came.
func (s *Store) RequestsOfOperation(ctx context.Context, project models.ProjectID, key string) ([]models.RequestRecord, error) {
	var records []models.RequestRecord
	err := s.read(ctx).Table("request_log").Where("project_id = ? AND idempotency_key = ?", project, key).
		Order("at, request_id").Limit(maxRequestsShown).Find(&records).Error
	if err != nil {
		return nil, fmt.Errorf("read the request log: %w", err)
	}
	return records, nil
}
