package store

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/google/uuid"

	"github.com/botix-pro/platform/app/models"
)

// attemptRow is a row of webhook_attempts.
type attemptRow struct {
	StartedAt         time.Time
	Number            int
	BodyBytes         int
	DNSMs             *int `gorm:"column:dns_ms"`
	ConnectMs         *int
	TLSMs             *int `gorm:"column:tls_ms"`
	FirstByteMs       int
	DurationMs        int
	StatusCode        *int
	Step              int
	Manual            bool
	Fresh             bool
	ResponseTruncated bool
	ID                uuid.UUID
	DeliveryID        uuid.UUID
	EndpointID        uuid.UUID
	ProjectID         models.ProjectID
	URL               string
	UserAgent         *string
	Signatures        []byte
	OwnHeaders        []byte
	ErrorClass        *models.ErrorClass
	Error             *string
	ResponseHeaders   []byte
	ResponseBody      []byte
}

// TableName implements gorm's Tabler.
func (attemptRow) TableName() string { return attemptsTable }

// attempt is the row with what its delivery knows.
func (r *attemptRow) attempt(d *models.WebhookDelivery) (models.WebhookAttempt, error) {
	a := models.WebhookAttempt{
		ProjectID: r.ProjectID, ID: models.FullID(models.PrefixAttempt, r.ID), DeliveryID: d.ID, EndpointID: d.EndpointID,
		EventID: d.EventID, EventType: d.EventType, Number: r.Number, Step: r.Step, Manual: r.Manual, URL: r.URL,
		StatusCode: r.StatusCode, ErrorClass: r.ErrorClass, Error: valueOf(r.Error), ResponseHeaders: r.ResponseHeaders,
		ResponseBody: r.ResponseBody, ResponseTruncated: r.ResponseTruncated, StartedAt: r.StartedAt,
		Timing: models.AttemptTiming{
			DNSMs: valueOf(r.DNSMs), ConnectMs: valueOf(r.ConnectMs), TLSMs: valueOf(r.TLSMs), FirstByteMs: r.FirstByteMs, DurationMs: r.DurationMs,
		},
	}
	a.RequestID = models.RequestIDOf(a.ID)
	headers, err := r.requestHeaders(a)
	a.RequestHeaders = headers
	return a, err
}

func valueOf[T any](p *T) (value T) {
	if p != nil {
		value = *p
	}
	return value
}

// requestHeaders makes the headers again that the sender made.
func (r *attemptRow) requestHeaders(a models.WebhookAttempt) ([]byte, error) {
	if r.Signatures == nil {
		return []byte("{}"), nil
	}
	sent := models.SentRequest{
		URL: a.URL, RequestID: a.RequestID, EventID: a.EventID, EventType: a.EventType, Number: a.Number, StartedAt: a.StartedAt,
		UserAgent: valueOf(r.UserAgent), Signatures: r.Signatures, BodyBytes: r.BodyBytes, Fresh: r.Fresh,
	}
	if r.OwnHeaders != nil {
		if err := json.Unmarshal(r.OwnHeaders, &sent.OwnHeaders); err != nil {
			return nil, fmt.Errorf("read the headers of attempt %s: %w", a.ID, err)
		}
	}
	headers, err := json.Marshal(sent.ShownHeader())
	if err != nil {
		return nil, fmt.Errorf("show the headers of attempt %s: %w", a.ID, err)
	}
	return headers, nil
}

// deliveriesOf returns the deliveries of attempts, by their ids. A delivery is
// kept for longer than its attempts.
func (s *Store) deliveriesOf(ctx context.Context, project models.ProjectID, rows []attemptRow) (map[string]*models.WebhookDelivery, error) {
	ids := make([]string, len(rows))
	for i, r := range rows {
		ids[i] = models.FullID(models.PrefixDelivery, r.DeliveryID)
	}
	var list []models.WebhookDelivery
	if err := s.read(ctx).Where("project_id = ? AND id IN ?", project, ids).Find(&list).Error; err != nil {
		return nil, fmt.Errorf("read the attempts' deliveries: %w", err)
	}
	byID := make(map[string]*models.WebhookDelivery, len(list))
	for i := range list {
		byID[list[i].ID] = &list[i]
	}
	return byID, nil
}

func withDeliveries(rows []attemptRow, deliveries map[string]*models.WebhookDelivery) ([]models.WebhookAttempt, error) {
	attempts := make([]models.WebhookAttempt, 0, len(rows))
	for i := range rows {
		delivery := deliveries[models.FullID(models.PrefixDelivery, rows[i].DeliveryID)]
		if delivery == nil {
			continue // deleted between the two looks
		}
		attempt, err := rows[i].attempt(delivery)
		if err != nil {
			return nil, err
		}
		attempts = append(attempts, attempt)
	}
	return attempts, nil
}

// attempts are rows with what their deliveries know.
func (s *Store) attempts(ctx context.Context, project models.ProjectID, rows []attemptRow) ([]models.WebhookAttempt, error) {
	deliveries, err := s.deliveriesOf(ctx, project, rows)
	if err != nil {
		return nil, err
	}
	return withDeliveries(rows, deliveries)
}
