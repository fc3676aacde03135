package contacts

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"runtime"
	"strconv"
	"sync"

	"github.com/botix-pro/platform/api"
	"github.com/botix-pro/platform/app/models"
	"github.com/botix-pro/platform/app/store"
)

// Import is the step of a bulk import: the next chunk of its rows, whose number
// is the job's position.
func Import(ctx context.Context, tx *store.Tx, job *models.Job) (models.JobStep, error) {
	b := &batch{tx: tx, job: job, events: map[string][]*models.Event{}, held: map[string]*held{}}
	if err := json.Unmarshal(job.Params, &b.bulk); err != nil {
		return models.JobStep{}, fmt.Errorf("decode an import: %w", err)
	}
	first, _ := strconv.Atoi(job.Position) // empty at the beginning
	raw, err := tx.JobRows(ctx, job.ID, first)
	if err != nil {
		return models.JobStep{}, err
	}
	b.read(raw)
	if err := b.lookUp(ctx); err != nil {
		return models.JobStep{}, err
	}
	if err := b.apply(); err != nil {
		return models.JobStep{}, err
	}
	if err := b.write(first); err != nil {
		return models.JobStep{}, err
	}
	next := first + len(raw)
	return models.JobStep{
		Position: strconv.Itoa(next), Succeeded: len(raw) - b.failed, Failed: b.failed, Done: next >= job.Total,
	}, nil
}

// batch is a chunk of rows on its way.
type batch struct {
	tx   *store.Tx
	job  *models.Job
	bulk models.Bulk

	rows    []row
	held    map[string]*held // by external_id
	created []*models.Contact
	updated []*models.Contact
	events  map[string][]*models.Event // by type
	results []models.RowResult
	failed  int
}

// row is a contact as a row wants it, or why it cannot be.
type row struct {
	contact *models.Contact
	fault   *models.Error
}

// held is a contact that an external_id stands for, as the rows so far leave it.
type held struct {
	contact *models.Contact
	written bool // it is among those to write already
}

// read parses the rows on every CPU: the database waits for it.
func (b *batch) read(raw [][]byte) {
	b.rows = make([]row, len(raw))
	share := len(raw)/runtime.GOMAXPROCS(0) + 1
	var done sync.WaitGroup
	for from := 0; from < len(raw); from += share {
		done.Go(func() {
			for i := from; i < min(from+share, len(raw)); i++ {
				b.rows[i] = b.parse(raw[i])
			}
		})
	}
	done.Wait()
}

func (b *batch) parse(raw []byte) row {
	contact, err := b.contactOf(raw)
	if err != nil {
		return row{fault: models.AsError(err)}
	}
	return row{contact: contact}
}

// contactOf reads and checks a row exactly as POST /contacts does its body.
func (b *batch) contactOf(raw []byte) (*models.Contact, error) {
	if raw == nil {
		return nil, models.NewError(models.CodePayloadTooLarge, "The row exceeds %d bytes.", models.MaxRowBytes)
	}
	var input api.ContactCreate
	if err := models.DecodeObject(raw, &input); err != nil {
		var known *models.Error
		if errors.As(err, &known) && known.Code == models.CodeMalformedJSON {
			known.Detail = "The row is not valid JSON."
		}
		return nil, fmt.Errorf("decode a row: %w", err)
	}
	contact := New(b.tx)
	Create(contact, input)
	found := contact.Check()
	if b.bulk.Mode == models.BulkUpsert && contact.ExternalID == nil {
		found.Add("/external_id", models.FieldMissing, "An upsert goes by external_id.")
	}
	return contact, found.Err()
}

// lookUp finds what the external_ids of the rows stand for, and keeps it that way
// until the commit.
func (b *batch) lookUp(ctx context.Context) error {
	var ids []string
	for _, r := range b.rows {
		if r.contact != nil && r.contact.ExternalID != nil {
			ids = append(ids, *r.contact.ExternalID)
		}
	}
	switch {
	case len(ids) == 0:
		return nil
	case b.bulk.Mode == models.BulkCreate:
		taken, err := b.tx.TakenExternalIDs(ctx, ids)
		for _, id := range taken {
			b.held[id] = &held{}
		}
		return err
	default:
		contacts, err := b.tx.LockContactsByExternalID(ctx, ids)
		for i := range contacts {
			b.held[*contacts[i].ExternalID] = &held{contact: &contacts[i]}
		}
		return err
	}
}

// apply carries the rows out in their order: a later one finds what an earlier
// one did.
func (b *batch) apply() error {
	for _, r := range b.rows {
		if r.fault != nil {
			b.fail(r.fault)
			continue
		}
		if err := b.applyRow(r.contact); err != nil {
			return err
		}
	}
	return nil
}

func (b *batch) applyRow(contact *models.Contact) error {
	var known *held
	if contact.ExternalID != nil {
		known = b.held[*contact.ExternalID]
	}
	switch {
	case known == nil:
		return b.create(contact)
	case b.bulk.Mode == models.BulkCreate:
		b.fail(models.ContactExists())
		return nil
	default:
		return b.replace(known, contact)
	}
}

func (b *batch) done(status models.RowStatus, id string) {
	b.results = append(b.results, models.RowResult{Status: status, ID: id})
}

func (b *batch) fail(fault *models.Error) {
	b.failed++
	b.results = append(b.results, models.RowResult{Status: models.RowFailed, Error: models.NewRowError(fault)})
}

func (b *batch) create(contact *models.Contact) error {
	b.created = append(b.created, contact)
	if contact.ExternalID != nil {
		b.held[*contact.ExternalID] = &held{contact: contact, written: true}
	}
	b.done(models.RowCreated, contact.ID)
	return b.note(func(event *models.Event) error { return CreatedEvent(event, contact) })
}

// replace makes a known contact be what a row says. One that changes nothing
// writes nothing.
func (b *batch) replace(known *held, wanted *models.Contact) error {
	before := *known.contact
	wanted.ID, wanted.CreatedAt, wanted.Version = before.ID, before.CreatedAt, before.Version+1
	changed := before.ChangedFields(wanted)
	if len(changed) == 0 {
		b.done(models.RowUnchanged, before.ID)
		return nil
	}
	*known.contact = *wanted
	if !known.written {
		b.updated = append(b.updated, known.contact)
		known.written = true
	}
	b.done(models.RowUpdated, before.ID)
	return b.note(func(event *models.Event) error { return UpdatedEvent(event, known.contact, changed) })
}

// note adds an event, unless none is wanted.
func (b *batch) note(complete func(*models.Event) error) error {
	if !b.bulk.Events {
		return nil
	}
	now := b.tx.Now()
	event := &models.Event{
		ProjectID: b.tx.Project(), ID: models.NewID(models.PrefixEvent, now), Source: models.SourcePlatform,
		APIVersion: b.job.APIVersion, RequestID: b.job.RequestID, CreatedAt: now,
	}
	if err := complete(event); err != nil {
		return err
	}
	b.events[event.Type] = append(b.events[event.Type], event)
	return nil
}

// write queues everything that the chunk came to.
func (b *batch) write(first int) error {
	if err := b.tx.CreateContacts(b.created); err != nil {
		return err
	}
	if err := b.tx.UpdateContacts(b.updated); err != nil {
		return err
	}
	for _, events := range b.events {
		b.tx.AppendEvents(events)
	}
	return b.tx.JobRowsDone(b.job.ID, first, b.results)
}
