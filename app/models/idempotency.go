package models

import (
	"net/http"
	"time"
)

// TombstoneRetention is how long after its expiry a key is still recognised,
// so that a late retry is told so instead of being executed again (contract §3).
const TombstoneRetention = 7 * 24 * time.Hour

// Answer is a response as a value: what is stored with an idempotency key is
// these bytes, and what is sent is these bytes.
type Answer struct {
	Status int
	Header http.Header // only headers that describe the answer: Content-Type, Location, ETag
	Body   []byte
	// Secret: the body holds a secret. It is stored encrypted and shown only to
	// a repeat of the same request (contract §3).
	Secret bool
}

// IdempotencyRecord is a completed operation as stored with its key.
type IdempotencyRecord struct {
	ProjectID   ProjectID
	Key         string
	Fingerprint []byte // SHA-256, see app/idempotency
	Method      string
	Path        string
	RequestID   string // of the physical request that executed the operation
	Answer      Answer // zero once expired and purged
	CompletedAt time.Time
	ExpiresAt   time.Time
	// Expired and Forgotten are decided by the database's clock when the
	// record is read: past ExpiresAt, and past ExpiresAt + TombstoneRetention.
	Expired   bool
	Forgotten bool
}

// Began is when the request came that executed the operation.
func (r *IdempotencyRecord) Began() time.Time {
	began, err := TimeOfID(PrefixRequest, r.RequestID)
	if err != nil { // no id of ours: the best that is known
		return r.CompletedAt
	}
	return began
}
