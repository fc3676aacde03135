package store

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/botix-pro/platform/app/models"
)

const sqlCreateContact = `
	INSERT INTO contacts (project_id, id, external_id, name, email, phone, identities, tags, attributes, created_at, updated_at)
	VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $10)`

// CreateContact queues a contact's insertion. A taken external_id shows at the
// commit, as CONTACT_ALREADY_EXISTS.
func (tx *Tx) CreateContact(c *models.Contact) error {
	identities, err := json.Marshal(c.Identities)
	if err != nil {
		return fmt.Errorf("encode identities: %w", err)
	}
	tags, err := json.Marshal(c.Tags)
	if err != nil {
		return fmt.Errorf("encode tags: %w", err)
	}
	tx.exec(sqlCreateContact, string(tx.project), c.ID, c.ExternalID, c.Name, c.Email, c.Phone,
		identities, tags, c.Attributes, c.CreatedAt)
	return nil
}

// Contact returns one contact of the project, or [ErrNotFound].
func (s *Store) Contact(ctx context.Context, project models.ProjectID, id string) (*models.Contact, error) {
	var c models.Contact
	err := s.read(ctx).Where("project_id = ? AND id = ?", project, id).Take(&c).Error
	if err != nil {
		return nil, one(err, "contact")
	}
	return &c, nil
}

// Contacts returns a page of the project's contacts, newest first.
func (s *Store) Contacts(ctx context.Context, project models.ProjectID, page Page) ([]models.Contact, error) {
	var contacts []models.Contact
	query := page.newestFirst(s.read(ctx).Where("project_id = ?", project))
	if err := query.Find(&contacts).Error; err != nil {
		return nil, fmt.Errorf("list contacts: %w", err)
	}
	return contacts, nil
}
