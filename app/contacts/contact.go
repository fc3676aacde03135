package contacts

import (
	"fmt"

	"github.com/botix-pro/platform/api"
	"github.com/botix-pro/platform/app/models"
	"github.com/botix-pro/platform/app/store"
)

// New returns an empty contact of the transaction's project.
func New(tx *store.Tx) *models.Contact {
	now := tx.Now()
	return &models.Contact{
		ProjectID: tx.Project(), ID: models.NewID(models.PrefixContact, now), Version: 1, CreatedAt: now, UpdatedAt: now,
	}
}

// Create gives the contact every field of what POST /contacts takes.
func Create(contact *models.Contact, c api.ContactCreate) {
	contact.ExternalID = c.ExternalID
	Replace(contact, api.ContactReplace{
		Name: c.Name, Email: c.Email, Phone: c.Phone, Identities: c.Identities, Tags: c.Tags, Attributes: c.Attributes,
	})
}

// Replace gives the contact every field of the input; what is absent or null is
// cleared.
func Replace(contact *models.Contact, c api.ContactReplace) {
	contact.Name, contact.Email, contact.Phone = c.Name, c.Email, c.Phone
	contact.Identities, contact.Tags, contact.Attributes = map[string]string{}, []string{}, []byte("{}")
	if c.Identities != nil {
		contact.Identities = c.Identities
	}
	if c.Tags != nil {
		contact.Tags = c.Tags
	}
	if len(c.Attributes) > 0 && c.Attributes.Kind() != 'n' {
		contact.Attributes = c.Attributes
	}
}

// CreatedEvent completes an event about a contact that was made.
func CreatedEvent(event *models.Event, contact *models.Contact) error {
	event.Type = models.EventContactCreated
	return setObject(event, contact, contact.View())
}

// UpdatedEvent completes an event about a contact in which the named fields were
// changed.
func UpdatedEvent(event *models.Event, contact *models.Contact, changed []string) error {
	event.Type = models.EventContactUpdated
	return setObject(event, contact, models.UpdatedContact{ContactView: contact.View(), ChangedFields: changed})
}

func setObject(event *models.Event, contact *models.Contact, data any) error {
	about := models.Subject{ID: contact.ID, Object: models.ContactObject}
	if err := event.SetObject(data, about); err != nil {
		return fmt.Errorf("build %s: %w", event.Type, err)
	}
	return nil
}
