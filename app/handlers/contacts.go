package handlers

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"

	"github.com/botix-pro/platform/api"
	"github.com/botix-pro/platform/app/middleware"
	"github.com/botix-pro/platform/app/models"
	"github.com/botix-pro/platform/app/store"
)

// createContact is POST /contacts: a contact and its contact.created event.
func (a *API) createContact(_ context.Context, tx *store.Tx, r *middleware.Request) (middleware.Result, error) {
	input, err := decode[api.ContactCreate](r)
	if err != nil {
		return middleware.Result{}, err
	}
	contact := newContact(tx)
	contact.ExternalID = input.ExternalID
	fillContact(contact, api.ContactReplace{
		Name: input.Name, Email: input.Email, Phone: input.Phone,
		Identities: input.Identities, Tags: input.Tags, Attributes: input.Attributes,
	})
	return insertContact(tx, r, contact)
}

// upsertContact is PUT /contacts/by-external-id/{external_id}: it creates the
// contact, or replaces all of it.
func (a *API) upsertContact(ctx context.Context, tx *store.Tx, r *middleware.Request) (middleware.Result, error) {
	input, err := decode[api.ContactReplace](r)
	if err != nil {
		return middleware.Result{}, err
	}
	externalID := r.Param("external_id")
	contact, err := tx.LockContactByExternalID(ctx, externalID)
	if errors.Is(err, store.ErrNotFound) {
		if r.Header.Get("If-Match") != "" {
			return middleware.Result{}, errChanged()
		}
		contact = newContact(tx)
		contact.ExternalID = &externalID
		fillContact(contact, input)
		return insertContact(tx, r, contact)
	}
	if err != nil {
		return middleware.Result{}, fmt.Errorf("upsert contact: %w", err)
	}
	before := *contact
	fillContact(contact, input)
	return changeContact(tx, r, &before, contact)
}

// updateContact is PATCH /contacts/{id}, a merge patch (RFC 7396).
func (a *API) updateContact(ctx context.Context, tx *store.Tx, r *middleware.Request) (middleware.Result, error) {
	input, err := decodeAs[api.ContactUpdate](r, jsonType, mergePatchType)
	if err != nil {
		return middleware.Result{}, err
	}
	contact, err := lockContact(ctx, tx, r)
	if err != nil {
		return middleware.Result{}, err
	}
	before := *contact
	if err := patchContact(contact, input); err != nil {
		return middleware.Result{}, err
	}
	return changeContact(tx, r, &before, contact)
}

// deleteContact is DELETE /contacts/{id}.
func (a *API) deleteContact(ctx context.Context, tx *store.Tx, r *middleware.Request) (middleware.Result, error) {
	if err := noBody(r); err != nil {
		return middleware.Result{}, err
	}
	contact, err := lockContact(ctx, tx, r)
	if err != nil {
		return middleware.Result{}, err
	}
	if err := checkMatch(r, etag(contact)); err != nil {
		return middleware.Result{}, err
	}
	tx.DeleteContact(contact.ID)
	about := models.Subject{ID: contact.ID, Object: models.ContactObject}
	if err := appendEvent(tx, r, models.EventContactDeleted, about, contact.View()); err != nil {
		return middleware.Result{}, err
	}
	return middleware.Result{Status: http.StatusNoContent}, nil
}

// readContact is GET /contacts/{id}.
func (a *API) readContact(ctx context.Context, r *middleware.Request) (middleware.Result, error) {
	id, err := pathID(r, models.PrefixContact)
	if err != nil {
		return middleware.Result{}, err
	}
	contact, err := a.store.Contact(ctx, r.Project(), id)
	if err != nil {
		return middleware.Result{}, fmt.Errorf("read contact: %w", err)
	}
	return middleware.Result{Status: http.StatusOK, Body: contact.View(), ETag: etag(contact)}, nil
}

// listContacts is GET /contacts, newest first.
func (a *API) listContacts(ctx context.Context, r *middleware.Request) (middleware.Result, error) {
	if err := onlyParameters(r.Query, "limit", "cursor", "external_id", "email", "phone", "tag", "updated_since"); err != nil {
		return middleware.Result{}, err
	}
	page, err := pageOf(r.Query, models.PrefixContact)
	if err != nil {
		return middleware.Result{}, err
	}
	filter, err := contactFilter(r.Query)
	if err != nil {
		return middleware.Result{}, err
	}
	contacts, err := a.store.Contacts(ctx, r.Project(), filter, page)
	if err != nil {
		return middleware.Result{}, fmt.Errorf("list contacts: %w", err)
	}
	contacts, next := pageOut(contacts, page, func(c models.Contact) string { return c.ID })
	list := contactList{Data: make([]models.ContactView, len(contacts)), NextCursor: next}
	for i := range contacts {
		list.Data[i] = contacts[i].View()
	}
	return middleware.Result{Status: http.StatusOK, Body: list}, nil
}

// contactList is a page of contacts.
type contactList struct {
	Data       []models.ContactView `json:"data"`
	NextCursor *string              `json:"next_cursor"`
}

func contactFilter(query url.Values) (store.ContactFilter, error) {
	filter := store.ContactFilter{
		ExternalID: parameter(query, "external_id"), Email: parameter(query, "email"),
		Phone: parameter(query, "phone"), Tag: parameter(query, "tag"),
	}
	since, err := timeParameter(query, "updated_since")
	filter.UpdatedSince = since
	return filter, err
}

func lockContact(ctx context.Context, tx *store.Tx, r *middleware.Request) (*models.Contact, error) {
	id, err := pathID(r, models.PrefixContact)
	if err != nil {
		return nil, err
	}
	contact, err := tx.LockContact(ctx, id)
	if err != nil {
		return nil, fmt.Errorf("lock contact: %w", err)
	}
	return contact, nil
}

func insertContact(tx *store.Tx, r *middleware.Request, contact *models.Contact) (middleware.Result, error) {
	if err := contact.Check().Err(); err != nil {
		return middleware.Result{}, err
	}
	if err := tx.CreateContact(contact); err != nil {
		return middleware.Result{}, fmt.Errorf("create contact: %w", err)
	}
	shown := contact.View()
	about := models.Subject{ID: contact.ID, Object: models.ContactObject}
	if err := appendEvent(tx, r, models.EventContactCreated, about, shown); err != nil {
		return middleware.Result{}, err
	}
	return middleware.Result{Status: http.StatusCreated, Body: shown, Location: "/contacts/" + contact.ID, ETag: etag(contact)}, nil
}

// changeContact writes a changed contact and its contact.updated event, which
// names what changed. A change that changes nothing writes nothing.
func changeContact(tx *store.Tx, r *middleware.Request, before, after *models.Contact) (middleware.Result, error) {
	if err := checkMatch(r, etag(before)); err != nil {
		return middleware.Result{}, err
	}
	if err := after.Check().Err(); err != nil {
		return middleware.Result{}, err
	}
	if changed := before.ChangedFields(after); len(changed) > 0 {
		after.UpdatedAt, after.Version = tx.Now(), before.Version+1
		if err := tx.UpdateContact(before, after); err != nil {
			return middleware.Result{}, fmt.Errorf("update contact: %w", err)
		}
		about := models.Subject{ID: after.ID, Object: models.ContactObject}
		data := models.UpdatedContact{ContactView: after.View(), ChangedFields: changed}
		if err := appendEvent(tx, r, models.EventContactUpdated, about, data); err != nil {
			return middleware.Result{}, err
		}
	}
	return middleware.Result{Status: http.StatusOK, Body: after.View(), ETag: etag(after)}, nil
}

func newContact(tx *store.Tx) *models.Contact {
	now := tx.Now()
	return &models.Contact{
		ProjectID: tx.Project(), ID: models.NewID(models.PrefixContact, now), Version: 1, CreatedAt: now, UpdatedAt: now,
	}
}

// fillContact gives the contact every field of the input; what is absent or
// null is cleared.
func fillContact(contact *models.Contact, c api.ContactReplace) {
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

// etag names the contact's version, which changes with every update.
func etag(c *models.Contact) string { return fmt.Sprintf(`"%d"`, c.Version) }
