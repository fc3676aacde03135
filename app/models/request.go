package models

import "time"

// RequestRecord is one physical request as the request log keeps it: who asked
// what and how it was answered, never what was carried.
type RequestRecord struct {
	ProjectID      ProjectID
	RequestID      string
	KeyID          string // the API key's id
	Method         string
	Route          string // the path's template, "/contacts/:id"
	Status         int
	Code           Code    // of the error; empty: none
	IdempotencyKey *string // nil: a read, or none that could be one
	Replayed       bool
	DurationMs     int
	At             time.Time // when it began
}
