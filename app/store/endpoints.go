package store

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/botix-pro/platform/app/models"
)

const (
	endpointsTable    = "webhook_endpoints"
	sqlCreateEndpoint = `
		INSERT INTO webhook_endpoints
		       (project_id, id, url, description, event_types, status, max_in_flight, rate_per_second, secrets, headers, created_at, updated_at)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $11)`
	sqlCreateLane = `INSERT INTO webhook_lanes (project_id, endpoint_id) VALUES ($1, $2)`
)

// CreateEndpoint queues an endpoint's insertion together with its lane.
// Secrets and header values are encrypted.
func (tx *Tx) CreateEndpoint(e *models.WebhookEndpoint) error {
	types, err := json.Marshal(e.EventTypes)
	if err != nil {
		return fmt.Errorf("encode event types: %w", err)
	}
	secrets, err := tx.store.sealJSON(e.Secrets, secretOwner(endpointsTable, tx.project, e.ID))
	if err != nil {
		return err
	}
	headers, err := tx.store.sealJSON(e.Headers, secretOwner(endpointsTable, tx.project, e.ID))
	if err != nil {
		return err
	}
	tx.exec(sqlCreateEndpoint, string(tx.project), e.ID, e.URL, e.Description, types, string(e.Status),
		e.MaxInFlight, e.RatePerSecond, secrets, headers, e.CreatedAt)
	tx.exec(sqlCreateLane, string(tx.project), e.ID)
	return nil
}

// SetEndpointURL points an endpoint elsewhere, or returns [ErrNotFound]. The
// next attempt of every delivery goes to the new URL.
func (s *Store) SetEndpointURL(ctx context.Context, project models.ProjectID, id, url string) error {
	changed := s.read(ctx).Exec(`
		UPDATE webhook_endpoints SET url = ?, updated_at = now()
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
