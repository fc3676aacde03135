package store

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"

	"github.com/botix-pro/platform/app/models"
)

const capturesTable = "inspector_requests"

// ErrBinFull is returned when a bin has stored as much today as it may.
var ErrBinFull = errors.New("the bin has stored as much today as it may")

const (
	// One statement counts the request, decides what it is answered, and stores
	// it. The bin's row makes requests wait for each other, so that seq is in the
	// order of the commits and no two get the same place in the script.
	sqlCapture = `
		WITH bin AS (
			UPDATE inspector_bins SET
			       captured = captured + 1, script_hits = script_hits + ($18 AND $14::json IS NULL)::int, last_at = $17,
			       stored_on = (now() AT TIME ZONE 'UTC')::date,
			       stored_bytes = $19 + CASE WHEN stored_on = (now() AT TIME ZONE 'UTC')::date THEN stored_bytes ELSE 0 END,
			       expires_at = CASE WHEN $18 THEN expires_at ELSE greatest(expires_at, now() + make_interval(secs => $21)) END
			WHERE id = $1 AND ($22 = '' OR project_id = $22) AND expires_at > now()
			  AND (stored_on <> (now() AT TIME ZONE 'UTC')::date OR stored_bytes + $19 <= $20)
			RETURNING project_id, id, captured, script, script_hits
		)
		INSERT INTO inspector_requests (project_id, bin_id, id, seq, source, delivery_id, endpoint_id, method, path, query, headers,
		       body, body_bytes, truncated, remote_addr, answer, answer_outcome, duration_ms, received_at)
		SELECT project_id, id, $2, captured, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13,
		       CASE WHEN $14::json IS NOT NULL OR NOT $18 THEN $14::json
		            WHEN script_hits <= (script->>'times')::int THEN script->'first' ELSE script->'then' END,
		       $15, $16, $17
		FROM bin
		RETURNING project_id, seq, answer`
	sqlFinishCapture = `
		UPDATE inspector_requests SET answer = $4, answer_outcome = $5, duration_ms = $6
		WHERE project_id = $1 AND id = $2 AND received_at = $3`
	sqlCaptured = `
		SELECT r.* FROM inspector_requests r JOIN inspector_bins b ON b.project_id = r.project_id AND b.id = r.bin_id
		WHERE r.project_id = @project AND r.id = @id AND r.received_at = @at
		  AND b.expires_at > now() AND r.seq > greatest(b.cleared, b.captured - @kept)`
	sqlRedirectable = `
		SELECT d.event_id, d.event_type, d.endpoint_id, d.attempt_count, e.url, e.status AS endpoint_status,
		       e.secrets AS sealed_secrets, e.headers AS sealed_headers, v.body
		FROM webhook_deliveries d JOIN webhook_endpoints e ON e.project_id = d.project_id AND e.id = d.endpoint_id
		LEFT JOIN events v ON v.project_id = d.project_id AND v.id = d.event_id
		WHERE d.project_id = ? AND d.id = ?`
	// Everything but the body.
	captureColumns = `project_id, id, bin_id, seq, source, delivery_id, endpoint_id, method, path, query, headers, body_bytes, truncated,
		remote_addr, answer, answer_outcome, duration_ms, received_at`
)

// captureRow is a captured request as it is stored.
type captureRow struct{ models.CapturedRequest }

// TableName implements gorm's Tabler.
func (captureRow) TableName() string { return capturesTable }

// captureArgs are sqlCapture's: asks is whether somebody waits for an answer, and
// project, unless empty, whose bin it must be.
func captureArgs(c *models.CapturedRequest, asks bool, project models.ProjectID) ([]any, error) {
	answer, err := encodeAnswer(c.Answer)
	if err != nil {
		return nil, err
	}
	body := c.Body
	if body == nil {
		body = []byte{}
	}
	return []any{
		c.BinID, c.ID, string(c.Source), c.DeliveryID, c.EndpointID, c.Method, c.Path, c.Query, string(c.Headers), body, c.BodyBytes,
		c.Truncated, c.RemoteAddr, answer, string(c.AnswerOutcome), c.DurationMs, c.ReceivedAt, asks, c.StoredBytes(), models.MaxBinBytes,
		models.BinLifetime.Seconds(), string(project),
	}, nil
}

// encodeAnswer returns nil for no answer.
func encodeAnswer(a *models.BinAnswer) (*string, error) {
	if a == nil {
		return nil, nil //nolint:nilnil // NULL
	}
	encoded, err := json.Marshal(a)
	if err != nil {
		return nil, fmt.Errorf("encode an answer: %w", err)
	}
	text := string(encoded)
	return &text, nil
}

// Capture stores a request that somebody sent and fills in its project, its Seq
// and, unless it has one, the answer that the script gives it. It returns
// [ErrBinFull], also for a bin that has just gone.
func (s *Store) Capture(ctx context.Context, c *models.CapturedRequest) error {
	args, err := captureArgs(c, true, "")
	if err != nil {
		return err
	}
	var answer []byte
	err = s.withConn(ctx, func(conn *pgx.Conn) error {
		return conn.QueryRow(ctx, sqlCapture, args...).Scan(&c.ProjectID, &c.Seq, &answer)
	})
	if errors.Is(err, pgx.ErrNoRows) {
		return ErrBinFull
	}
	if err == nil {
		err = json.Unmarshal(answer, &c.Answer)
	}
	if err != nil {
		return fmt.Errorf("capture a request: %w", err)
	}
	return nil
}

// FinishCapture takes note of what became of a captured request's answer.
func (s *Store) FinishCapture(ctx context.Context, c *models.CapturedRequest) error {
	answer, err := encodeAnswer(c.Answer)
	if err != nil {
		return err
	}
	err = s.withConn(ctx, func(conn *pgx.Conn) error {
		_, err := conn.Exec(ctx, sqlFinishCapture, string(c.ProjectID), c.ID, c.ReceivedAt, answer, string(c.AnswerOutcome), c.DurationMs)
		return err
	})
	if err != nil {
		return fmt.Errorf("finish a captured request: %w", err)
	}
	return nil
}

// CaptureCopy queues the storing of a request that nobody sent, in a bin that
// [Tx.LockBin] or [Tx.LockDefaultBin] returned. It returns INSPECTOR_FULL when
// the bin has no room for it today.
func (tx *Tx) CaptureCopy(ctx context.Context, c *models.CapturedRequest) error {
	var room bool
	err := tx.read(ctx).Raw(`SELECT stored_on <> (now() AT TIME ZONE 'UTC')::date OR stored_bytes + ? <= ? FROM inspector_bins
		WHERE project_id = ? AND id = ?`, c.StoredBytes(), models.MaxBinBytes, tx.project, c.BinID).Scan(&room).Error
	if err != nil {
		return fmt.Errorf("ask a bin for room: %w", err)
	}
	if !room {
		return models.InspectorFull()
	}
	args, err := captureArgs(c, false, tx.project)
	if err != nil {
		return err
	}
	tx.query(discardRows, sqlCapture, args...)
	return nil
}

// discardRows reads rows that nobody needs.
func discardRows(rows pgx.Rows) error {
	rows.Close()
	return rows.Err()
}

// CapturedRequests lists what a bin shows, newest first and without bodies: at
// most limit requests with a Seq below before; 0: from the newest.
func (s *Store) CapturedRequests(ctx context.Context, bin *models.Bin, before int64, limit int) ([]models.CapturedRequest, error) {
	query := s.read(ctx).Select(captureColumns).Where("project_id = ? AND bin_id = ? AND seq > ?", bin.ProjectID, bin.ID, bin.Shown())
	if before > 0 {
		query = query.Where("seq < ?", before)
	}
	var rows []captureRow
	if err := query.Order("seq DESC").Limit(limit).Find(&rows).Error; err != nil {
		return nil, fmt.Errorf("list captured requests: %w", err)
	}
	return unwrap(rows), nil
}

// CapturedSince lists what came into a bin after the request with the given Seq,
// oldest first and without bodies, at most limit requests. Nothing that is
// committed later has a Seq that is smaller than one that was seen.
func (s *Store) CapturedSince(ctx context.Context, bin *models.Bin, seq int64, limit int) ([]models.CapturedRequest, error) {
	var rows []captureRow
	err := s.read(ctx).Select(captureColumns).
		Where("project_id = ? AND bin_id = ? AND seq > ?", bin.ProjectID, bin.ID, max(seq, bin.Shown())).
		Order("seq").Limit(limit).Find(&rows).Error
	if err != nil {
		return nil, fmt.Errorf("list new captured requests: %w", err)
	}
	return unwrap(rows), nil
}

func unwrap(rows []captureRow) []models.CapturedRequest {
	list := make([]models.CapturedRequest, len(rows))
	for i := range rows {
		list[i] = rows[i].CapturedRequest
	}
	return list
}

// CapturedRequest returns one request that a bin of the project shows, with its
// body, or [ErrNotFound].
func (s *Store) CapturedRequest(ctx context.Context, project models.ProjectID, id string) (*models.CapturedRequest, error) {
	at, err := models.TimeOfID(models.PrefixCaptured, id)
	if err != nil {
		return nil, notFound("captured request")
	}
	var row captureRow
	found := s.read(ctx).Raw(sqlCaptured, map[string]any{"project": project, "id": id, "at": at, "kept": models.CapturedKept}).Scan(&row)
	switch {
	case found.Error != nil:
		return nil, fmt.Errorf("read a captured request: %w", found.Error)
	case found.RowsAffected == 0:
		return nil, notFound("captured request")
	default:
		return &row.CapturedRequest, nil
	}
}

// Redirectable is what a copy of a delivery is made of.
type Redirectable struct {
	EventID        string
	EventType      string
	EndpointID     string
	EndpointStatus models.EndpointStatus
	AttemptCount   int
	URL            string
	Body           []byte                  // nil: the event is no longer kept
	Secrets        []models.EndpointSecret `gorm:"-"` // none once the endpoint is deleted
	Headers        map[string]string       `gorm:"-"`
	SealedSecrets  []byte
	SealedHeaders  []byte
}

// Redirectable reads what a copy of a delivery is made of, without locking
// anything, or returns [ErrNotFound].
func (tx *Tx) Redirectable(ctx context.Context, delivery string) (*Redirectable, error) {
	var row Redirectable
	found := tx.read(ctx).Raw(sqlRedirectable, tx.project, delivery).Scan(&row)
	switch {
	case found.Error != nil:
		return nil, fmt.Errorf("read a delivery to copy: %w", found.Error)
	case found.RowsAffected == 0:
		return nil, notFound("delivery")
	}
	owner := secretOwner(endpointsTable, tx.project, row.EndpointID)
	if err := tx.store.openJSON(row.SealedSecrets, owner, &row.Secrets); err != nil {
		return nil, err
	}
	return &row, tx.store.openJSON(row.SealedHeaders, owner, &row.Headers)
}
