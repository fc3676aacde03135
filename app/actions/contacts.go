package actions

import (
	"context"
	"errors"
	"fmt"

	"github.com/botix-pro/platform/api"
	"github.com/botix-pro/platform/app/contacts"
	"github.com/botix-pro/platform/app/models"
	"github.com/botix-pro/platform/app/store"
)

// ContactTag names the contact's version, which changes with every update.
func ContactTag(c *models.Contact) string { return fmt.Sprintf(`"%d"`, c.Version) }

// CreateContact makes a contact and its contact.created event.
func CreateContact(tx *store.Tx, cause Cause, input api.ContactCreate) (*models.Contact, error) {
	contact := contacts.New(tx)
	contacts.Create(contact, input)
	return contact, insertContact(tx, cause, contact)
}

// UpsertContact makes the contact with the external_id be what the input says;
// created reports that there was none.
func UpsertContact(ctx context.Context, tx *store.Tx, cause Cause, externalID string, input api.ContactReplace) (
	contact *models.Contact, created bool, err error,
) {
	contact, err = tx.LockContactByExternalID(ctx, externalID)
	if errors.Is(err, store.ErrNotFound) {
		if cause.Exists {
			return nil, false, Changed()
		}
		contact = contacts.New(tx)
		contact.ExternalID = &externalID
		contacts.Replace(contact, input)
		return contact, true, insertContact(tx, cause, contact)
	}
	if err != nil {
		return nil, false, fmt.Errorf("upsert contact: %w", err)
	}
	before := *contact
	contacts.Replace(contact, input)
	return contact, false, changeContact(tx, cause, &before, contact)
}

// UpdateContact applies a merge patch (RFC 7396) to a contact.
func UpdateContact(ctx context.Context, tx *store.Tx, cause Cause, id string, patch api.ContactUpdate) (*models.Contact, error) {
	if wanted := patch.ExternalID; wanted.Set && !wanted.Null {
		if err := tx.LockExternalID(ctx, wanted.Value); err != nil {
			return nil, fmt.Errorf("update contact: %w", err)
		}
	}
	contact, err := lockContact(ctx, tx, id)
	if err != nil {
		return nil, err
	}
	before := *contact
	if err := contacts.Patch(contact, patch); err != nil {
		return nil, fmt.Errorf("patch a contact: %w", err)
	}
	return contact, changeContact(tx, cause, &before, contact)
}

// DeleteContact takes a contact away, with its contact.deleted event.
func DeleteContact(ctx context.Context, tx *store.Tx, cause Cause, id string) error {
	contact, err := lockContact(ctx, tx, id)
	if err != nil {
		return err
	}
	if err := cause.match(ContactTag(contact)); err != nil {
		return err
	}
	tx.DeleteContact(contact.ID)
	return cause.append(tx, models.EventContactDeleted, models.Subject{ID: contact.ID, Object: models.ContactObject}, contact.View())
}

func lockContact(ctx context.Context, tx *store.Tx, id string) (*models.Contact, error) {
	contact, err := tx.LockContact(ctx, id)
	if err != nil {
		return nil, fmt.Errorf("lock contact: %w", err)
	}
	return contact, nil
}

func insertContact(tx *store.Tx, cause Cause, contact *models.Contact) error {
	if err := contact.Check().Err(); err != nil {
		return err
	}
	if err := tx.CreateContact(contact); err != nil {
		return fmt.Errorf("create contact: %w", err)
	}
	event := cause.Event(tx, models.EventContactCreated, models.SourcePlatform)
	if err := contacts.CreatedEvent(event, contact); err != nil {
		return fmt.Errorf("create contact: %w", err)
	}
	tx.AppendEvent(event)
	return nil
}

// changeContact writes a changed contact and its contact.updated event, which
// names what changed. A change that changes nothing writes nothing.
func changeContact(tx *store.Tx, cause Cause, before, after *models.Contact) error {
	if err := cause.match(ContactTag(before)); err != nil {
		return err
	}
	if err := after.Check().Err(); err != nil {
		return err
	}
	changed := before.ChangedFields(after)
	if len(changed) == 0 {
		return nil
	}
	after.UpdatedAt, after.Version = tx.Now(), before.Version+1
	if err := tx.UpdateContact(after); err != nil {
		return fmt.Errorf("update contact: %w", err)
	}
	event := cause.Event(tx, models.EventContactUpdated, models.SourcePlatform)
	if err := contacts.UpdatedEvent(event, after, changed); err != nil {
		return fmt.Errorf("update contact: %w", err)
	}
	tx.AppendEvent(event)
	return nil
}
