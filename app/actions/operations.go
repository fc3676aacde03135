package actions

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/botix-pro/platform/app/models"
	"github.com/botix-pro/platform/app/store"
)

// OperationState is what is known of an Idempotency-Key.
type OperationState string

// The states of an operation, contract §3.
const (
	// OperationUnknown: nothing with this key has been completed so far.
	OperationUnknown    OperationState = ""
	OperationInProgress OperationState = "in_progress"
	OperationCompleted  OperationState = "completed"
	// OperationExpired: it was completed; its stored answer is past its retention.
	OperationExpired OperationState = "expired"
)

// Operation is what became of an Idempotency-Key.
type Operation struct {
	Key   string
	State OperationState
	// Began is when the request came that executes it; zero while it is unknown.
	Began time.Time
	// Record is the completed operation; nil unless it is completed or expired.
	Record *models.IdempotencyRecord
	// Requests are the physical requests with the key, in the order in which they
	// came: the last [store.MaxRequestsShown], and the one that executed it.
	Requests []models.RequestRecord
}

// OperationReader is what [ReadOperation] asks of the store.
type OperationReader interface {
	Operation(ctx context.Context, project models.ProjectID, key string) (running *time.Time, record *models.IdempotencyRecord, err error)
	RequestsOfOperation(ctx context.Context, project models.ProjectID, key string) ([]models.RequestRecord, error)
}

// ReadOperation tells what became of an operation whose answer was lost. It takes
// no lock.
func ReadOperation(ctx context.Context, from OperationReader, project models.ProjectID, key string) (*Operation, error) {
	running, record, err := from.Operation(ctx, project, key)
	if err != nil {
		return nil, fmt.Errorf("read an operation: %w", err)
	}
	requests, err := from.RequestsOfOperation(ctx, project, key)
	if err != nil {
		return nil, fmt.Errorf("read an operation: %w", err)
	}
	op := &Operation{Key: key, Requests: requests}
	switch {
	case record != nil && !record.Forgotten:
		op.State, op.Record, op.Began, op.Requests = OperationCompleted, record, record.Began(), withExecuting(record, requests)
		if record.Expired {
			op.State = OperationExpired
		}
	case running != nil:
		op.State, op.Began = OperationInProgress, *running
	}
	return op, nil
}

// Resource is the API's path of the object that the operation made; empty: it
// made none.
func (o *Operation) Resource() string {
	if o.Record == nil {
		return ""
	}
	return o.Record.Answer.Header.Get("Location")
}

// withExecuting adds the request that executed an operation where the log does
// not show it (yet, or any more): it is part of the key's row and never missing.
func withExecuting(record *models.IdempotencyRecord, logged []models.RequestRecord) []models.RequestRecord {
	if slices.ContainsFunc(logged, func(r models.RequestRecord) bool { return r.RequestID == record.RequestID }) {
		return logged
	}
	executing := models.RequestRecord{
		ProjectID: record.ProjectID, RequestID: record.RequestID, Method: record.Method, Status: record.Answer.Status,
		IdempotencyKey: &record.Key, At: record.Began(),
	}
	at, _ := slices.BinarySearchFunc(logged, executing, func(a, b models.RequestRecord) int {
		return strings.Compare(a.RequestID, b.RequestID) // which begin with their time
	})
	if len(logged) == store.MaxRequestsShown { // it stays, however long ago it was
		logged, at = logged[1:], max(at-1, 0)
	}
	return slices.Insert(logged, at, executing)
}

// MaskedBody is a stored body without the secret that it may hold: only a repeat
// of the request itself shows it (contract §3).
func MaskedBody(answer models.Answer) (jsontext.Value, error) {
	if len(answer.Body) == 0 {
		return jsontext.Value("null"), nil
	}
	if !answer.Secret {
		return jsontext.Value(answer.Body), nil
	}
	var fields map[string]jsontext.Value
	if err := json.Unmarshal(answer.Body, &fields); err != nil {
		return nil, fmt.Errorf("decode a stored answer: %w", err)
	}
	if _, held := fields["secret"]; held { // a scenario's headers are shown with it, to the same readers
		fields["secret"] = jsontext.Value(`"***"`)
	}
	masked, err := json.Marshal(fields, json.Deterministic(true))
	if err != nil {
		return nil, fmt.Errorf("encode a masked answer: %w", err)
	}
	return masked, nil
}

// maxNote is the length of a note about an operation, in characters.
const maxNote = 500

// NoteOperation checks what a person records about an operation that they have
// looked into. It changes nothing: the note is the deed's entry in the audit trail.
func NoteOperation(note string) error {
	var found models.Faults
	found.Length("/note", note, 1, maxNote)
	found.Plain("/note", note)
	if err := found.Err(); err != nil {
		return fmt.Errorf("check a note: %w", err)
	}
	return nil
}

// RetryUndelivered queues the retry of those of the deliveries that did not
// arrive and can be sent again, and returns how many these are. A delivery that
// arrived, or is on its way, stays as it is.
func RetryUndelivered(ctx context.Context, tx *store.Tx, ids []string) (retried int, err error) {
	locked, err := tx.LockDeliveries(ctx, ids)
	if err != nil {
		return 0, fmt.Errorf("lock the deliveries: %w", err)
	}
	var due []string
	for i := range locked {
		if Undelivered(locked[i].Status) && locked[i].Refusal() == nil {
			due = append(due, locked[i].ID)
		}
	}
	tx.RetryDeliveries(due)
	return len(due), nil
}

// Undelivered reports whether a delivery waits for its next try, or for a person.
func Undelivered(status models.DeliveryStatus) bool {
	return status == models.DeliveryWaiting || status == models.DeliveryDeadLetter
}
