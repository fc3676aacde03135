package models

import (
	"time"

	"github.com/go-json-experiment/json/jsontext"
)

// ContactObject is the value of a contact's "object".
const ContactObject = "contact"

// Contact is a person or company a project talks to (contract §8).
type Contact struct {
	ProjectID  ProjectID
	ID         string
	ExternalID *string // the project's own identifier, unique within the project
	Name       *string
	Email      *string
	Phone      *string           // E.164
	Identities map[string]string `gorm:"serializer:json"` // channel → address there
	Tags       []string          `gorm:"serializer:json"`
	Attributes []byte            // a JSON object, byte for byte as it was given
	Version    int64             // 1, and one more with every change: the ETag
	CreatedAt  time.Time
	UpdatedAt  time.Time
}

// ContactView is a contact as the API and its events show it (contract §8).
type ContactView struct {
	ID         string            `json:"id"`
	Object     string            `json:"object"`
	ExternalID *string           `json:"external_id"`
	Name       *string           `json:"name"`
	Email      *string           `json:"email"`
	Phone      *string           `json:"phone"`
	Identities map[string]string `json:"identities"`
	Tags       []string          `json:"tags"`
	Attributes jsontext.Value    `json:"attributes"`
	CreatedAt  string            `json:"created_at"`
	UpdatedAt  string            `json:"updated_at"`
}

// UpdatedContact is the data of contact.updated.
type UpdatedContact struct {
	ContactView

	ChangedFields []string `json:"changed_fields"`
}

// View returns the contact as it is shown.
func (c *Contact) View() ContactView {
	return ContactView{
		ID: c.ID, Object: ContactObject, ExternalID: c.ExternalID, Name: c.Name, Email: c.Email, Phone: c.Phone,
		Identities: c.Identities, Tags: c.Tags, Attributes: c.Attributes,
		CreatedAt: FormatTime(c.CreatedAt), UpdatedAt: FormatTime(c.UpdatedAt),
	}
}

// ContactExists is CONTACT_ALREADY_EXISTS.
func ContactExists() *Error {
	return NewError(CodeContactExists, "A contact with this external_id already exists in the project.")
}
