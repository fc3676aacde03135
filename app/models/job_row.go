package models

import (
	"encoding/json"
	"strings"
)

// RowStatus is what became of one row of a job.
type RowStatus string

// The outcomes of a row.
const (
	// RowCreated made an object.
	RowCreated RowStatus = "created"
	// RowUpdated changed an object.
	RowUpdated RowStatus = "updated"
	// RowUnchanged found the object as it was to be.
	RowUnchanged RowStatus = "unchanged"
	// RowFailed did nothing; the error says why.
	RowFailed RowStatus = "failed"
)

// RowStatuses lists every outcome.
func RowStatuses() []RowStatus {
	return []RowStatus{RowCreated, RowUpdated, RowUnchanged, RowFailed}
}

// RowError is why a row failed, in the terms of a problem (contract §2).
type RowError struct {
	Code   Code         `json:"code"`
	Detail string       `json:"detail"`
	Errors []FieldError `json:"errors,omitempty"`
}

// maxRowFaults bounds what a job keeps about one row.
const maxRowFaults = 10

// NewRowError is what a job keeps of the error that a request with that row would
// have been answered with.
func NewRowError(err *Error) *RowError {
	fields := Bounded(err.Fields[:min(len(err.Fields), maxRowFaults)])
	for i := range fields {
		fields[i].Pointer, fields[i].Detail = storable(fields[i].Pointer), storable(fields[i].Detail)
	}
	return &RowError{Code: err.Code, Detail: storable(Cut(err.Detail, MaxDetail)), Errors: fields}
}

// storable is a text that PostgreSQL can keep, whatever a row held.
func storable(text string) string {
	return strings.ReplaceAll(strings.ToValidUTF8(text, "\uFFFD"), "\x00", "\uFFFD")
}

// RowResult is what became of one row of a job.
type RowResult struct {
	Status RowStatus `json:"status"`
	ID     string    `json:"id,omitempty"` // of the object; empty when it failed
	Error  *RowError `json:"error,omitempty"`
}

// NumberedResult is a [RowResult] with the row's number, from 0, as it is read
// again.
type NumberedResult struct {
	Index  int
	Result json.RawMessage
}

// BulkMode says what a row of a bulk import does.
type BulkMode string

// The modes, contract §6.
const (
	// BulkCreate makes a new contact of each row.
	BulkCreate BulkMode = "create"
	// BulkUpsert makes the contact with the row's external_id be what the row says.
	BulkUpsert BulkMode = "upsert"
)

// Bulk is the params of a [JobContactsBulk].
type Bulk struct {
	Mode BulkMode `json:"mode"`
	// Events says whether each row writes its contact.* event.
	Events bool `json:"events"`
}

// Bounds of a bulk import (contract §1, §6).
const (
	MaxBulkBytes = 16 << 20
	MaxBulkRows  = 10_000
	// MaxRowBytes is what one row may have: as much as a request of its own.
	MaxRowBytes = 1 << 20
)
