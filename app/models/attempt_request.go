package models

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/oklog/ulid/v2"
)

// Masked stands where a secret was.
const Masked = "***"

// SentRequest is what is kept of an attempt's request: all from which its headers
// are made, but for the values of the endpoint's own, which are never kept. The
// sender makes its headers of it, and whoever shows an attempt later makes the
// same ones again: there is no second account of what was sent.
type SentRequest struct {
	URL        string
	RequestID  string
	EventID    string
	EventType  string
	Number     int       // X-Delivery-Attempt
	StartedAt  time.Time // webhook-timestamp
	UserAgent  string
	Signatures Signatures
	OwnHeaders []string // names of the endpoint's own headers
	BodyBytes  int
	Fresh      bool // on a connection of its own, closed after it
}

// Signatures are, for each secret that signed, newest first, the 32 bytes of the
// body's HMAC and the 32 of Standard Webhooks'.
type Signatures []byte

// Body is the X-BOTIX-Signature: in hex, separated by commas.
func (s Signatures) Body() string {
	var text strings.Builder
	for rest := s; len(rest) >= 2*sha256.Size; rest = rest[2*sha256.Size:] {
		if text.Len() > 0 {
			text.WriteByte(',')
		}
		text.WriteString(hex.EncodeToString(rest[:sha256.Size]))
	}
	return text.String()
}

// Standard is the webhook-signature: "v1," and base64, separated by spaces.
func (s Signatures) Standard() string {
	var text strings.Builder
	for rest := s; len(rest) >= 2*sha256.Size; rest = rest[2*sha256.Size:] {
		if text.Len() > 0 {
			text.WriteByte(' ')
		}
		text.WriteString("v1," + base64.StdEncoding.EncodeToString(rest[sha256.Size:2*sha256.Size]))
	}
	return text.String()
}

// platformHeaders is how many headers are ours.
const platformHeaders = 11

// Header returns what the request carries beside Host and Content-Length, with
// the endpoint's own headers (name to value), whose names must not be ours. Names
// are as they are documented, not in Go's canonical case.
func (r *SentRequest) Header(own map[string]string) http.Header {
	h := make(http.Header, len(own)+platformHeaders+3) // and what ShownHeader adds
	values := make([]string, 0, len(own)+platformHeaders)
	set := func(name, value string) {
		values = append(values, value)
		h[name] = values[len(values)-1 : len(values) : len(values)]
	}
	for name, value := range own {
		set(name, value)
	}
	set("Content-Type", "application/json")
	set("Accept-Encoding", "identity")
	set("User-Agent", r.UserAgent)
	set("X-Request-Id", r.RequestID)
	set("X-Event-Id", r.EventID)
	set("X-Event-Type", r.EventType)
	set("X-Delivery-Attempt", strconv.Itoa(r.Number))
	set("X-BOTIX-Signature", r.Signatures.Body())
	set("webhook-id", r.EventID)
	set("webhook-timestamp", strconv.FormatInt(r.StartedAt.Unix(), 10))
	set("webhook-signature", r.Signatures.Standard())
	return h
}

// ShownHeader returns everything that went out, with the values of the endpoint's
// own headers masked, for they are often tokens.
func (r *SentRequest) ShownHeader() http.Header {
	own := make(map[string]string, len(r.OwnHeaders))
	for _, name := range r.OwnHeaders {
		own[name] = Masked
	}
	h := r.Header(own)
	if u, err := url.Parse(r.URL); err == nil {
		h["Host"] = []string{u.Host}
	}
	h["Content-Length"] = []string{strconv.Itoa(r.BodyBytes)}
	if r.Fresh {
		h["Connection"] = []string{"close"}
	}
	return h
}

// RequestIDOf is the request id of an attempt. It is made of the attempt's, which
// is given at the claim: if the worker is lost, whoever records the loss knows
// what was sent.
func RequestIDOf(attemptID string) string {
	return PrefixRequest + strings.TrimPrefix(attemptID, PrefixAttempt)
}

// CompactID is the 16 bytes behind a valid identifier with the given prefix, in
// which tables that grow keep it; ok is false for any other text.
func CompactID(prefix, id string) (compact [16]byte, ok bool) {
	if !ValidID(prefix, id) {
		return compact, false
	}
	parsed, err := ulid.ParseStrict(id[len(prefix):])
	return parsed, err == nil
}

// FullID is the identifier whose 16 bytes are given.
func FullID(prefix string, compact [16]byte) string { return prefix + ulid.ULID(compact).String() }
