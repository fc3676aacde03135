package store

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/botix-pro/platform/app/models"
)

const (
	contactRows = `
		unnest($3::text[], $4::text[], $5::text[], $6::text[], $7::text[], $8::text[], $9::text[], $10::text[], $11::bigint[])
		AS c(id, external_id, name, email, phone, identities, tags, attributes, version)`
	sqlCreateContacts = `
		INSERT INTO contacts (project_id, id, external_id, name, email, phone, identities, tags, attributes, version, created_at, updated_at)
		SELECT $1, c.id, c.external_id, c.name, c.email, c.phone, c.identities::jsonb, c.tags::jsonb, c.attributes::json, c.version, $2, $2
		FROM ` + contactRows
	sqlUpdateContacts = `
		UPDATE contacts SET external_id = c.external_id, name = c.name, email = c.email, phone = c.phone, identities = c.identities::jsonb,
		       tags = c.tags::jsonb, attributes = c.attributes::json, updated_at = $2, version = c.version
		FROM ` + contactRows + ` WHERE contacts.project_id = $1 AND contacts.id = c.id`
	// One lock stands for all external_ids of a project: who changes one has it
	// shared. So many single ones would fill the lock table.
	sqlLockExternalIDs = `SELECT pg_advisory_xact_lock(?)`
	// One look-up each, whatever the planner believes about a table that has just
	// grown: it is known that there is at most one.
	sqlTakenExternalIDs = `
		SELECT c.external_id FROM jsonb_array_elements_text(CAST(@ids AS jsonb)) AS wanted(id) CROSS JOIN LATERAL (
			SELECT external_id FROM contacts WHERE project_id = @project AND external_id = wanted.id LIMIT 1) AS c`
	sqlLockContacts = `
		SELECT c.* FROM jsonb_array_elements_text(CAST(@ids AS jsonb)) AS wanted(id) CROSS JOIN LATERAL (
			SELECT * FROM contacts WHERE project_id = @project AND external_id = wanted.id LIMIT 1 FOR UPDATE) AS c`
)

// TakenExternalIDs returns which of the given external_ids contacts have. Until
// the transaction ends nobody else can give one to a contact.
func (tx *Tx) TakenExternalIDs(ctx context.Context, ids []string) (taken []string, err error) {
	err = tx.byExternalIDs(ctx, sqlTakenExternalIDs, ids, &taken)
	return taken, err
}

// LockContactsByExternalID returns the contacts that have one of the given
// external_ids: nobody else can change them, or make or give away such a one,
// until the transaction ends.
func (tx *Tx) LockContactsByExternalID(ctx context.Context, ids []string) (contacts []models.Contact, err error) {
	err = tx.byExternalIDs(ctx, sqlLockContacts, ids, &contacts)
	return contacts, err
}

func (tx *Tx) byExternalIDs(ctx context.Context, sql string, ids []string, found any) error {
	wanted := slices.Clone(ids)
	slices.Sort(wanted)
	encoded, err := json.Marshal(slices.Compact(wanted))
	if err != nil {
		return fmt.Errorf("encode external_ids: %w", err)
	}
	if err := tx.LockExternalIDs(ctx); err != nil {
		return err
	}
	if err := tx.read(ctx).Raw(sql, map[string]any{"project": tx.project, "ids": string(encoded)}).Scan(found).Error; err != nil {
		return fmt.Errorf("look external_ids up: %w", err)
	}
	return nil
}

// CreateContacts queues the insertion of contacts, whose external_ids
// [Tx.TakenExternalIDs] or [Tx.LockContactsByExternalID] was asked about. They are
// made at the transaction's time.
func (tx *Tx) CreateContacts(contacts []*models.Contact) error {
	return tx.writeContacts(sqlCreateContacts, contacts)
}

// UpdateContacts queues the replacement of contacts that
// [Tx.LockContactsByExternalID] returned; they keep their external_ids.
func (tx *Tx) UpdateContacts(contacts []*models.Contact) error {
	return tx.writeContacts(sqlUpdateContacts, contacts)
}

func (tx *Tx) writeContacts(sql string, contacts []*models.Contact) error {
	if len(contacts) == 0 {
		return nil
	}
	var ids, identities, tags, attributes []string
	var externalIDs, names, emails, phones []*string
	var versions []int64
	for _, c := range contacts {
		encodedIdentities, encodedTags, err := encodeContact(c)
		if err != nil {
			return err
		}
		ids, versions = append(ids, c.ID), append(versions, c.Version)
		externalIDs, names = append(externalIDs, c.ExternalID), append(names, c.Name)
		emails, phones = append(emails, c.Email), append(phones, c.Phone)
		identities, tags = append(identities, string(encodedIdentities)), append(tags, string(encodedTags))
		attributes = append(attributes, string(c.Attributes))
	}
	tx.exec(sql, string(tx.project), tx.now, ids, externalIDs, names, emails, phones, identities, tags, attributes, versions)
	return nil
}
