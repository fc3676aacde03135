package handlers

import (
	"context"
	"fmt"
	"net/http"
	"net/url"

	"github.com/botix-pro/platform/api"
	"github.com/botix-pro/platform/app/actions"
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
	contact, err := actions.CreateContact(tx, causeOf(r), input)
	if err != nil {
		return middleware.Result{}, err
	}
	return createdContact(contact), nil
}

// upsertContact is PUT /contacts/by-external-id/{external_id}: it creates the
// contact, or replaces all of it.
func (a *API) upsertContact(ctx context.Context, tx *store.Tx, r *middleware.Request) (middleware.Result, error) {
	input, err := decode[api.ContactReplace](r)
	if err != nil {
		return middleware.Result{}, err
	}
	contact, created, err := actions.UpsertContact(ctx, tx, causeOf(r), r.Param("external_id"), input)
	switch {
	case err != nil:
		return middleware.Result{}, err
	case created:
		return createdContact(contact), nil
	}
	return contactResult(contact), nil
}

// mergePatchType is RFC 7396's own media type; plain JSON is taken as well.
const mergePatchType = "application/merge-patch+json"

// updateContact is PATCH /contacts/{id}, a merge patch (RFC 7396).
func (a *API) updateContact(ctx context.Context, tx *store.Tx, r *middleware.Request) (middleware.Result, error) {
	input, err := decodeAs[api.ContactUpdate](r, jsonType, mergePatchType)
	if err != nil {
		return middleware.Result{}, err
	}
	id, err := pathID(r, models.PrefixContact)
	if err != nil {
		return middleware.Result{}, err
	}
	contact, err := actions.UpdateContact(ctx, tx, causeOf(r), id, input)
	if err != nil {
		return middleware.Result{}, err
	}
	return contactResult(contact), nil
}

// deleteContact is DELETE /contacts/{id}.
func (a *API) deleteContact(ctx context.Context, tx *store.Tx, r *middleware.Request) (middleware.Result, error) {
	if err := noBody(r); err != nil {
		return middleware.Result{}, err
	}
	id, err := pathID(r, models.PrefixContact)
	if err != nil {
		return middleware.Result{}, err
	}
	if err := actions.DeleteContact(ctx, tx, causeOf(r), id); err != nil {
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
	return contactResult(contact), nil
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

func contactResult(contact *models.Contact) middleware.Result {
	return middleware.Result{Status: http.StatusOK, Body: contact.View(), ETag: actions.ContactTag(contact)}
}

func createdContact(contact *models.Contact) middleware.Result {
	result := contactResult(contact)
	result.Status, result.Location = http.StatusCreated, "/contacts/"+contact.ID
	return result
}
