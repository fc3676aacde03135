package store

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"gorm.io/gorm"
	"gorm.io/gorm/clause"

	"github.com/botix-pro/platform/app/models"
)

const (
	sqlCreateContact = `
		INSERT INTO contacts (project_id, id, external_id, name, email, phone, identities, tags, attributes, created_at, updated_at)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $10)`
	sqlUpdateContact = `
		UPDATE contacts SET external_id = $3, name = $4, email = $5, phone = $6, identities = $7, tags = $8, attributes = $9,
		       updated_at = $10, version = $11
		WHERE project_id = $1 AND id = $2`
	sqlDeleteContact = `DELETE FROM contacts WHERE project_id = $1 AND id = $2`
	// Makes creations, upserts and changes to one external_id queue up, so that an
	// upsert never meets a row that appeared after it looked. The first lock is
	// what keeps them from external_ids that are locked all together.
	sqlLockExternalID = `SELECT pg_advisory_xact_lock_shared($1), pg_advisory_xact_lock($2)`
)

// ContactFilter narrows a list of contacts; nil fields do not.
type ContactFilter struct {
	ExternalID, Email, Phone, Tag *string
	// UpdatedSince keeps what changed at that time or later.
	UpdatedSince *time.Time
}

// CreateContact queues a contact's insertion. A taken external_id shows at the
// commit, as CONTACT_ALREADY_EXISTS.
func (tx *Tx) CreateContact(c *models.Contact) error {
	identities, tags, err := encodeContact(c)
	if err != nil {
		return err
	}
	if c.ExternalID != nil {
		tx.exec(sqlLockExternalID, tx.externalIDsLock(), tx.externalIDLock(*c.ExternalID))
	}
	tx.exec(sqlCreateContact, string(tx.project), c.ID, c.ExternalID, c.Name, c.Email, c.Phone,
		identities, tags, c.Attributes, c.CreatedAt)
	return nil
}

// UpdateContact queues the replacement of a contact that [Tx.LockContact] or
// [Tx.LockContactByExternalID] returned. Before that a new external_id was locked
// by [Tx.LockExternalID], or all of them.
func (tx *Tx) UpdateContact(c *models.Contact) error {
	identities, tags, err := encodeContact(c)
	if err != nil {
		return err
	}
	tx.exec(sqlUpdateContact, string(tx.project), c.ID, c.ExternalID, c.Name, c.Email, c.Phone,
		identities, tags, c.Attributes, c.UpdatedAt, c.Version)
	return nil
}

// DeleteContact queues a contact's deletion. Runs that wait with it come up, to
// end.
func (tx *Tx) DeleteContact(id string) {
	tx.exec(sqlDeleteContact, string(tx.project), id)
	tx.exec(sqlWakeRunsOfContact, string(tx.project), id)
	tx.due(WorkRuns)
}

func encodeContact(c *models.Contact) (identities, tags []byte, err error) {
	if identities, err = json.Marshal(c.Identities); err != nil {
		return nil, nil, fmt.Errorf("encode identities: %w", err)
	}
	if tags, err = json.Marshal(c.Tags); err != nil {
		return nil, nil, fmt.Errorf("encode tags: %w", err)
	}
	return identities, tags, nil
}

// LockContact returns a contact that nobody else can change until the
// transaction ends, or [ErrNotFound].
func (tx *Tx) LockContact(ctx context.Context, id string) (*models.Contact, error) {
	return tx.lockContact(ctx, "id = ?", id)
}

// LockContactByExternalID does the same by external_id. When it returns
// [ErrNotFound], nobody else can create such a contact until the transaction ends.
func (tx *Tx) LockContactByExternalID(ctx context.Context, externalID string) (*models.Contact, error) {
	if err := tx.LockExternalID(ctx, externalID); err != nil {
		return nil, err
	}
	return tx.lockContact(ctx, "external_id = ?", externalID)
}

// LockExternalID keeps everybody else from giving a contact the external_id, or
// looking it up to change it, until the transaction ends. Who locks a contact's
// row as well does so after it: one order for all, so that nobody waits in a
// circle.
func (tx *Tx) LockExternalID(ctx context.Context, externalID string) error {
	if err := tx.read(ctx).Exec(sqlLockExternalID, tx.externalIDsLock(), tx.externalIDLock(externalID)).Error; err != nil {
		return fmt.Errorf("lock external_id: %w", err)
	}
	return nil
}

// LockExternalIDs does the same for all external_ids of the project.
func (tx *Tx) LockExternalIDs(ctx context.Context) error {
	if err := tx.read(ctx).Exec(sqlLockExternalIDs, tx.externalIDsLock()).Error; err != nil {
		return fmt.Errorf("lock external_ids: %w", err)
	}
	return nil
}

func (tx *Tx) lockContact(ctx context.Context, condition, value string) (*models.Contact, error) {
	var c models.Contact
	err := tx.read(ctx).Clauses(clause.Locking{Strength: clause.LockingStrengthUpdate}).
		Where("project_id = ?", tx.project).Where(condition, value).Take(&c).Error
	if err != nil {
		return nil, one(err, "contact")
	}
	return &c, nil
}

func (tx *Tx) externalIDLock(externalID string) int64 {
	return advisoryLock("contact external_id", string(tx.project), externalID)
}

func (tx *Tx) externalIDsLock() int64 {
	return advisoryLock("contact external_ids", string(tx.project))
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
func (s *Store) Contacts(ctx context.Context, project models.ProjectID, filter ContactFilter, page Page) ([]models.Contact, error) {
	query := filter.narrow(s.read(ctx).Where("project_id = ?", project))
	if filter.UpdatedSince != nil {
		horizon, err := s.horizon(ctx)
		if err != nil {
			return nil, err
		}
		query = query.Where("updated_at >= ? AND updated_at < ?", *filter.UpdatedSince, horizon)
	}
	var contacts []models.Contact
	query = page.newestFirst(query)
	if err := query.Find(&contacts).Error; err != nil {
		return nil, fmt.Errorf("list contacts: %w", err)
	}
	return contacts, nil
}

func (f ContactFilter) narrow(q *gorm.DB) *gorm.DB {
	for condition, value := range map[string]*string{
		"external_id = ?": f.ExternalID, "lower(email) = lower(?)": f.Email, "phone = ?": f.Phone,
	} {
		if value != nil {
			q = q.Where(condition, *value)
		}
	}
	if f.Tag != nil {
		q = q.Where("tags @> jsonb_build_array(?::text)", *f.Tag)
	}
	return q
}

// A transaction's beginning is published a moment after it is taken: nothing
// younger than that is shown. What it writes may carry a time that is earlier by
// the margin.
const sqlHorizon = `
	SELECT date_trunc('milliseconds', least(min(xact_start), clock_timestamp() - interval '100 milliseconds') - make_interval(secs => ?))
	FROM pg_stat_activity WHERE datname = current_database() AND application_name LIKE 'botix-%' AND pid <> pg_backend_pid()`

// horizon is before the beginning of every transaction of ours that is still
// open. What a transaction writes carries its beginning, or an estimate not
// earlier than the margin, as updated_at, so a poll that ends at the horizon, and
// remembers the latest updated_at it saw, never steps over a row that was not
// committed yet. It is read before the rows are: whatever ends in between is then
// among them.
func (s *Store) horizon(ctx context.Context) (at time.Time, err error) {
	if err := s.read(ctx).Raw(sqlHorizon, timeMargin.Seconds()).Scan(&at).Error; err != nil {
		return at, fmt.Errorf("find the oldest open transaction: %w", err)
	}
	return at, nil
}
