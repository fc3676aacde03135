package middleware

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/url"

	"github.com/go-json-experiment/json"

	"github.com/botix-pro/platform/app/models"
	"github.com/botix-pro/platform/app/store"
)

// Request is what a handler may know about the HTTP request.
type Request struct {
	ID         string // req_…, of this physical request
	Caller     *models.Caller
	APIVersion string // the version that shapes the answer and the events
	Query      url.Values
	Header     http.Header
	// Body is that of a mutating route; nil where it was so large that it is kept
	// in a file.
	Body []byte
	// Open reads the body of a mutating route from its beginning, however large it
	// is. It may be called until the request is answered.
	Open func() io.Reader
	// Prepared is what the route's Prepare returned.
	Prepared any
	params   func(string) string
}

// Param returns a path parameter, decoded.
func (r *Request) Param(name string) string { return r.params(name) }

// Project is the tenant that the request speaks for.
func (r *Request) Project() models.ProjectID { return r.Caller.Project.ID }

// Result is a successful answer.
type Result struct {
	Status   int
	Body     any    // encoded as JSON; nil: no body
	Location string // path of the object created or accepted
	ETag     string
	Secret   bool // the body holds a secret: stored encrypted
}

// Read answers a request that changes nothing.
type Read func(ctx context.Context, r *Request) (Result, error)

// Mutation carries out a request inside its transaction. What it queued is
// committed together with its result, at most once per idempotency key; an error
// rolls everything back. It has no other effect, so that it can be called again.
type Mutation func(ctx context.Context, tx *store.Tx, r *Request) (Result, error)

// Prepare does what a mutation needs done before its transaction: asking
// somebody outside, which no transaction may wait for. It runs only for a key
// that is free, after the body was read.
type Prepare func(ctx context.Context, r *Request) (any, error)

// Route is a line of the API: exactly one of Read and Mutate is set. There is
// no third kind, so no route can change something without an idempotency key.
type Route struct {
	Method string
	Path   string       // Echo's syntax, ":id"
	Scope  models.Scope // empty: any key may
	Read   Read
	Mutate Mutation
	// WriteOnly: Mutate reads nothing through the transaction. It is then carried
	// out in one round trip, and may be called twice.
	WriteOnly bool
	// Prepare, optional, comes before Mutate.
	Prepare Prepare
	// MaxBody is how many bytes the body may have, where that is more than 1 MiB.
	// Mutate then reads it through [Request.Open].
	MaxBody int64
}

// answer encodes a result once; the bytes are stored, replayed and sent.
func (r Result) answer() (models.Answer, error) {
	answer := models.Answer{Status: r.Status, Header: http.Header{}, Secret: r.Secret}
	for name, value := range map[string]string{"Location": r.Location, "ETag": r.ETag} {
		if value != "" {
			answer.Header.Set(name, value)
		}
	}
	if r.Body == nil {
		return answer, nil
	}
	body, err := json.Marshal(r.Body, json.Deterministic(true))
	if err != nil {
		return models.Answer{}, fmt.Errorf("encode the answer: %w", err)
	}
	answer.Header.Set("Content-Type", "application/json")
	answer.Body = append(body, '\n')
	return answer, nil
}
