package store

import (
	"context"
	"encoding/json"
	"fmt"

	"gorm.io/gorm"
	"gorm.io/gorm/clause"

	"github.com/botix-pro/platform/app/models"
)

const (
	endpointsTable    = "webhook_endpoints"
	sqlCreateEndpoint = `
		INSERT INTO webhook_endpoints
		       (project_id, id, url, description, event_types, status, max_in_flight, rate_per_second, secrets, headers, created_at, updated_at, status_since)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $11, $11)`
	sqlCreateLane     = `INSERT INTO webhook_lanes (project_id, endpoint_id) VALUES ($1, $2)`
	sqlUpdateEndpoint = `
		UPDATE webhook_endpoints SET url = $3, description = $4, event_types = $5, status = $6, max_in_flight = $7,
		       rate_per_second = $8, secrets = $9, headers = $10, updated_at = $11, version = $12,
		       status_since = CASE WHEN status = $6 THEN status_since ELSE $11 END
		WHERE project_id = $1 AND id = $2`
	// As much as one transaction should move; the rest is cancelled as it is
	// claimed.
	sqlCancelDue = `
		UPDATE webhook_deliveries SET status = 'cancelled', next_attempt_at = NULL, updated_at = clock_timestamp()
		WHERE project_id = $1 AND status IN ('pending', 'waiting') AND id IN (
			SELECT id FROM webhook_deliveries WHERE project_id = $1 AND endpoint_id = $2 AND status IN ('pending', 'waiting')
			ORDER BY next_attempt_at LIMIT $3)`
)

// endpointRow is an endpoint as it is stored: secrets and headers encrypted.
type endpointRow struct {
	models.WebhookEndpoint `gorm:"embedded"`

	SealedSecrets []byte `gorm:"column:secrets"`
	SealedHeaders []byte `gorm:"column:headers"`
}

// TableName implements gorm's Tabler.
func (endpointRow) TableName() string { return endpointsTable }

func (s *Store) openEndpoint(row *endpointRow) (*models.WebhookEndpoint, error) {
	e := &row.WebhookEndpoint
	owner := secretOwner(endpointsTable, e.ProjectID, e.ID)
	if err := s.openJSON(row.SealedSecrets, owner, &e.Secrets); err != nil {
		return nil, err
	}
	return e, s.openJSON(row.SealedHeaders, owner, &e.Headers)
}

// Endpoint returns one endpoint of the project, or [ErrNotFound].
func (s *Store) Endpoint(ctx context.Context, project models.ProjectID, id string) (*models.WebhookEndpoint, error) {
	return s.endpoint(s.read(ctx), project, id)
}

func (s *Store) endpoint(q *gorm.DB, project models.ProjectID, id string) (*models.WebhookEndpoint, error) {
	var row endpointRow
	err := q.Where("project_id = ? AND id = ? AND status <> 'deleted'", project, id).Take(&row).Error
	if err != nil {
		return nil, one(err, "endpoint")
	}
	return s.openEndpoint(&row)
}

// Endpoints returns a page of the project's endpoints, newest first.
func (s *Store) Endpoints(ctx context.Context, project models.ProjectID, page Page) ([]models.WebhookEndpoint, error) {
	var rows []endpointRow
	query := page.newestFirst(s.read(ctx).Where("project_id = ? AND status <> 'deleted'", project))
	if err := query.Find(&rows).Error; err != nil {
		return nil, fmt.Errorf("list endpoints: %w", err)
	}
	endpoints := make([]models.WebhookEndpoint, len(rows))
	for i := range rows {
		e, err := s.openEndpoint(&rows[i])
		if err != nil {
			return nil, err
		}
		endpoints[i] = *e
	}
	return endpoints, nil
}

// LockEndpoint returns an endpoint that nobody else can change until the
// transaction ends, or [ErrNotFound].
func (tx *Tx) LockEndpoint(ctx context.Context, id string) (*models.WebhookEndpoint, error) {
	locked := tx.read(ctx).Clauses(clause.Locking{Strength: clause.LockingStrengthUpdate})
	return tx.store.endpoint(locked, tx.project, id)
}

// EndpointName is an endpoint as lists and filters name it.
type EndpointName struct {
	ID, URL, Description string
	Status               models.EndpointStatus
}

// maxEndpointNames is more than any plan lets a project have at a time.
const maxEndpointNames = 500

// EndpointNames lists the project's endpoints, deleted ones last, newest first.
func (s *Store) EndpointNames(ctx context.Context, project models.ProjectID) (names []EndpointName, err error) {
	err = s.read(ctx).Table(endpointsTable).Select("id, url, description, status").Where("project_id = ?", project).
		Order("status = 'deleted', id DESC").Limit(maxEndpointNames).Scan(&names).Error
	if err != nil {
		return nil, fmt.Errorf("list the endpoints' names: %w", err)
	}
	return names, nil
}

// CreateEndpoint queues an endpoint's insertion together with its lane.
// Secrets and header values are encrypted.
func (tx *Tx) CreateEndpoint(e *models.WebhookEndpoint) error {
	types, secrets, headers, err := tx.encodeEndpoint(e)
	if err != nil {
		return err
	}
	tx.exec(sqlCreateEndpoint, string(tx.project), e.ID, e.URL, e.Description, types, string(e.Status),
		e.MaxInFlight, e.RatePerSecond, secrets, headers, e.CreatedAt)
	tx.exec(sqlCreateLane, string(tx.project), e.ID)
	return nil
}

// UpdateEndpoint queues the replacement of an endpoint that [Tx.LockEndpoint]
// returned.
func (tx *Tx) UpdateEndpoint(e *models.WebhookEndpoint) error {
	types, secrets, headers, err := tx.encodeEndpoint(e)
	if err != nil {
		return err
	}
	tx.exec(sqlUpdateEndpoint, string(tx.project), e.ID, e.URL, e.Description, types, string(e.Status),
		e.MaxInFlight, e.RatePerSecond, secrets, headers, e.UpdatedAt, e.Version)
	tx.exec(sqlForgiveEndpoint, string(tx.project), e.ID, string(e.Status))
	return nil
}

// CancelWaiting queues the cancellation of what waits for an endpoint that is
// being deleted: at most limit deliveries, the rest as they are claimed. What is
// in flight ends as it ends.
func (tx *Tx) CancelWaiting(endpoint string, limit int) {
	tx.exec(sqlCancelDue, string(tx.project), endpoint, limit)
}

func (tx *Tx) encodeEndpoint(e *models.WebhookEndpoint) (types, secrets, headers []byte, err error) {
	if types, err = json.Marshal(e.EventTypes); err != nil {
		return nil, nil, nil, fmt.Errorf("encode event types: %w", err)
	}
	owner := secretOwner(endpointsTable, tx.project, e.ID)
	if secrets, err = tx.store.sealJSON(e.Secrets, owner); err != nil {
		return nil, nil, nil, err
	}
	headers, err = tx.store.sealJSON(e.Headers, owner)
	return types, secrets, headers, err
}

// SetEndpointURL points an endpoint elsewhere, or returns [ErrNotFound]. The
// next attempt of every delivery goes to the new URL.
func (s *Store) SetEndpointURL(ctx context.Context, project models.ProjectID, id, url string) error {
	changed := s.read(ctx).Exec(`
		UPDATE webhook_endpoints SET url = ?, updated_at = now(), version = version + 1
		WHERE project_id = ? AND id = ? AND status <> 'deleted'`, url, project, id)
	switch {
	case changed.Error != nil:
		return fmt.Errorf("set the endpoint's URL: %w", changed.Error)
	case changed.RowsAffected == 0:
		return notFound("endpoint")
	default:
		return nil
	}
}

func (s *Store) sealJSON(value any, owner string) ([]byte, error) {
	plain, err := json.Marshal(value)
	if err != nil {
		return nil, fmt.Errorf("encode what is to be encrypted: %w", err)
	}
	return s.box.Seal(plain, owner), nil
}

func (s *Store) openJSON(sealed []byte, owner string, value any) error {
	plain, err := s.box.Open(sealed, owner)
	if err != nil {
		return fmt.Errorf("decrypt %s: %w", owner, err)
	}
	if err := json.Unmarshal(plain, value); err != nil {
		return fmt.Errorf("decode %s: %w", owner, err)
	}
	return nil
}
