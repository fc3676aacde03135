package models

import "time"

// MaxRequestBytes is how large the body of most requests may be (contract §1).
const MaxRequestBytes = 1 << 20

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

// RequestRollup is what a project's API requests of one hour add up to. A request
// belongs to the hour (UTC) in which it began, and counts once.
type RequestRollup struct {
	ProjectID ProjectID
	Hour      time.Time
	Succeeded int64 // below 400, and no replay
	Replayed  int64 // a stored answer, whatever it says
	Refused   int64 // 4xx but for 429
	Limited   int64 // 429
	Failed    int64 // 5xx
}

// Requests is how many there were.
func (r RequestRollup) Requests() int64 {
	return r.Succeeded + r.Replayed + r.Refused + r.Limited + r.Failed
}

// RequestMinute is one API key's requests of one minute, the window of the rate
// limit.
type RequestMinute struct {
	ProjectID ProjectID
	KeyID     string
	Minute    time.Time
	Admitted  int64 // counted against the limit
	Limited   int64 // refused with 429
}
