package handlers

import (
	"context"
	"fmt"
	"net/http"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/botix-pro/platform/api"
	"github.com/botix-pro/platform/app/middleware"
	"github.com/botix-pro/platform/app/models"
	"github.com/botix-pro/platform/app/store"
)

const contactObject = "contact"

// createContact is POST /contacts: a contact and its contact.created event.
func (a *API) createContact(_ context.Context, tx *store.Tx, r *middleware.Request) (middleware.Result, error) {
	input, err := decode[api.ContactCreate](r)
	if err != nil {
		return middleware.Result{}, err
	}
	if err := validateContact(input); err != nil {
		return middleware.Result{}, err
	}
	contact := newContact(tx, input)
	if err := tx.CreateContact(contact); err != nil {
		return middleware.Result{}, fmt.Errorf("create contact: %w", err)
	}
	shown := showContact(contact)
	if err := appendEvent(tx, r, models.EventContactCreated, models.Subject{ID: contact.ID, Object: contactObject}, shown); err != nil {
		return middleware.Result{}, err
	}
	return middleware.Result{Status: http.StatusCreated, Body: shown, Location: "/contacts/" + contact.ID, ETag: etag(contact)}, nil
}

// readContact is GET /contacts/{id}.
func (a *API) readContact(ctx context.Context, r *middleware.Request) (middleware.Result, error) {
	id := r.Param("id")
	if !models.ValidID(models.PrefixContact, id) {
		return middleware.Result{}, models.NewError(models.CodeNotFound, "There is no contact with this id in the project.")
	}
	contact, err := a.store.Contact(ctx, r.Project(), id)
	if err != nil {
		return middleware.Result{}, fmt.Errorf("read contact: %w", err)
	}
	return middleware.Result{Status: http.StatusOK, Body: showContact(contact), ETag: etag(contact)}, nil
}

// listContacts is GET /contacts, newest first.
func (a *API) listContacts(ctx context.Context, r *middleware.Request) (middleware.Result, error) {
	if err := onlyParameters(r.Query, "limit", "cursor"); err != nil {
		return middleware.Result{}, err
	}
	page, err := pageOf(r.Query, models.PrefixContact)
	if err != nil {
		return middleware.Result{}, err
	}
	contacts, err := a.store.Contacts(ctx, r.Project(), page)
	if err != nil {
		return middleware.Result{}, fmt.Errorf("list contacts: %w", err)
	}
	contacts, next := pageOut(contacts, page, func(c models.Contact) string { return c.ID })
	list := api.ContactList{Data: make([]api.Contact, len(contacts)), NextCursor: next}
	for i := range contacts {
		list.Data[i] = showContact(&contacts[i])
	}
	return middleware.Result{Status: http.StatusOK, Body: list}, nil
}

func validateContact(c api.ContactCreate) error {
	var found faults
	found.optionalLength("/external_id", c.ExternalID, 1, maxExternalID)
	found.optionalLength("/name", c.Name, 0, maxName)
	found.email("/email", c.Email)
	found.phone("/phone", c.Phone)
	found.identities("/identities", c.Identities)
	found.tags("/tags", c.Tags)
	found.attributes("/attributes", c.Attributes)
	return found.err()
}

func newContact(tx *store.Tx, c api.ContactCreate) *models.Contact {
	now := tx.Now()
	contact := &models.Contact{
		ProjectID: tx.Project(), ID: models.NewID(models.PrefixContact, now), ExternalID: c.ExternalID,
		Name: c.Name, Email: c.Email, Phone: c.Phone, Identities: c.Identities, Tags: c.Tags, Attributes: c.Attributes,
		Version: 1, CreatedAt: now, UpdatedAt: now,
	}
	if contact.Identities == nil {
		contact.Identities = map[string]string{}
	}
	if contact.Tags == nil {
		contact.Tags = []string{}
	}
	if len(c.Attributes) == 0 || c.Attributes.Kind() == 'n' {
		contact.Attributes = []byte("{}")
	}
	return contact
}

func showContact(c *models.Contact) api.Contact {
	return api.Contact{
		ID: c.ID, Object: contactObject, ExternalID: c.ExternalID, Name: c.Name, Email: c.Email, Phone: c.Phone,
		Identities: c.Identities, Tags: c.Tags, Attributes: jsontext.Value(c.Attributes),
		CreatedAt: api.Timestamp(c.CreatedAt), UpdatedAt: api.Timestamp(c.UpdatedAt),
	}
}

// etag names the contact's version, which changes with every update.
func etag(c *models.Contact) string { return fmt.Sprintf(`"%d"`, c.Version) }

// appendEvent writes an event of the platform about an object, in the
// transaction of what caused it.
func appendEvent(tx *store.Tx, r *middleware.Request, kind string, about models.Subject, data any) error {
	encoded, err := json.Marshal(data, json.Deterministic(true))
	if err != nil {
		return fmt.Errorf("encode the data of %s: %w", kind, err)
	}
	now := tx.Now()
	event := &models.Event{
		ProjectID: r.Project(), ID: models.NewID(models.PrefixEvent, now), Type: kind, Source: models.SourcePlatform,
		APIVersion: r.APIVersion, RequestID: r.ID, CreatedAt: now,
	}
	if err := event.SetData(encoded, about); err != nil {
		return fmt.Errorf("build %s: %w", kind, err)
	}
	tx.AppendEvent(event)
	return nil
}
