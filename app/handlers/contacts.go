package handlers

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"

	"github.com/botix-pro/platform/api"
	"github.com/botix-pro/platform/app/contacts"
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
	contact := contacts.New(tx)
	contacts.Create(contact, input)
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
		contact = contacts.New(tx)
		contact.ExternalID = &externalID
		contacts.Replace(contact, input)
		return insertContact(tx, r, contact)
	}
	if err != nil {
		return middleware.Result{}, fmt.Errorf("upsert contact: %w", err)
	}
	before := *contact
	contacts.Replace(contact, input)
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
	rows, err := a.store.Contacts(ctx, r.Project(), filter, page)
	if err != nil {
		return middleware.Result{}, fmt.Errorf("list contacts: %w", err)
	}
	rows, next := pageOut(rows, page, func(c models.Contact) string { return c.ID })
	list := contactList{Data: make([]models.ContactView, len(rows)), NextCursor: next}
	for i := range rows {
		list.Data[i] = rows[i].View()
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
	event := newEvent(tx, r, models.EventContactCreated, models.SourcePlatform)
	if err := contacts.CreatedEvent(event, contact); err != nil {
		return middleware.Result{}, err
	}
	tx.AppendEvent(event)
	return middleware.Result{Status: http.StatusCreated, Body: contact.View(), Location: "/contacts/" + contact.ID, ETag: etag(contact)}, nil
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
		event := newEvent(tx, r, models.EventContactUpdated, models.SourcePlatform)
		if err := contacts.UpdatedEvent(event, after, changed); err != nil {
			return middleware.Result{}, err
		}
		tx.AppendEvent(event)
	}
	return middleware.Result{Status: http.StatusOK, Body: after.View(), ETag: etag(after)}, nil
}

// etag names the contact's version, which changes with every update.
func etag(c *models.Contact) string { return fmt.Sprintf(`"%d"`, c.Version) }
