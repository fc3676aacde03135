package models

import (
	"net/http"
	"strings"
	"time"
	"unicode/utf8"
)

// CapturedObject is the value of a captured request's "object".
const CapturedObject = "inspector_request"

// The inspector's bounds (contract §8).
const (
	MaxBins      = 20                     // of a project
	MaxBinName   = 80                     // characters
	BinLifetime  = 72 * time.Hour         // after its owner last had to do with it
	CapturedKept = 1000                   // newest requests of a bin that are shown
	MaxCaptured  = 256 << 10              // bytes of a body that are kept
	MaxBinBytes  = int64(32) << 20        // that a bin stores in a day
	MaxBinWait   = 45 * time.Second       // that an answer may take in all
	MaxBinBody   = 4 << 10                // bytes of an answer's body
	MaxBinTimes  = 1000                   // requests with another answer first
	maxBinRetry  = 24 * 60 * 60           // seconds of Retry-After
	binRowBytes  = 512                    // what a row takes besides its texts
	harmlessPage = "https://example.com/" // reserved for documentation (RFC 2606)
	// CapturedRetention is how long captured requests are kept.
	CapturedRetention = 72 * time.Hour
)

// Bin captures every request that is sent to it, and answers by its script.
type Bin struct {
	ProjectID  ProjectID
	ID         string // 128 random bits: whoever knows it may send
	Name       string
	Default    bool      `gorm:"column:is_default"` // where redirects land
	Secret     string    `gorm:"-"`                 // whsec_…: verifies signatures, signs nothing but redirects of deleted endpoints
	EndpointID *string   // an endpoint whose secrets verify as well
	Script     BinScript `gorm:"serializer:json"`
	ScriptHits int       // answers given since the script was set
	Captured   int64     // requests so far: the newest one's Seq
	Cleared    int64     // nothing up to this Seq is shown
	Refused    int64     // requests over a bound, which were not stored
	LastAt     *time.Time
	Version    int64
	CreatedAt  time.Time
	UpdatedAt  time.Time
	ExpiresAt  time.Time
}

// Shown is the Seq after which the bin's requests are shown.
func (b *Bin) Shown() int64 { return max(b.Cleared, b.Captured-CapturedKept) }

// BinDrop says where a connection is cut instead of an answer.
type BinDrop string

// The places where a connection is cut.
const (
	DropNever  BinDrop = ""
	DropBefore BinDrop = "before" // the answer
	DropDuring BinDrop = "during" // the answer's body
)

// BinAnswer is what a bin answers. It waits for DelayMs, then sends the status
// and the body, a byte every DripMs where that is set.
type BinAnswer struct {
	Status     int     `json:"status"` // 200–599; 301, 302, 303, 307 and 308 lead to a harmless page
	Body       string  `json:"body,omitempty"`
	DelayMs    int     `json:"delay_ms,omitempty"`
	RetryAfter int     `json:"retry_after,omitempty"` // seconds; 0: no such header
	DripMs     int     `json:"drip_ms,omitempty"`
	Drop       BinDrop `json:"drop,omitempty"`
}

// Waits is how long the answer takes by itself.
func (a BinAnswer) Waits() time.Duration {
	return time.Duration(a.DelayMs)*time.Millisecond + time.Duration(a.DripMs*len(a.Body))*time.Millisecond
}

// Location is where the answer leads, or empty.
func (a BinAnswer) Location() string {
	switch a.Status {
	case http.StatusMovedPermanently, http.StatusFound, http.StatusSeeOther, http.StatusTemporaryRedirect, http.StatusPermanentRedirect:
		return harmlessPage
	default:
		return ""
	}
}

// BinScript is what a bin answers: First as often as Times says, then Then.
type BinScript struct {
	Times int        `json:"times,omitempty"`
	First *BinAnswer `json:"first,omitempty"`
	Then  BinAnswer  `json:"then"`
}

// Validate returns VALIDATION_FAILED about everything that is wrong with a
// script, or nil.
func (s BinScript) Validate() error {
	var found Faults
	if s.Times < 0 || s.Times > MaxBinTimes {
		found.Add("/times", FieldRange, "At most %d requests get another answer first.", MaxBinTimes)
	}
	if (s.Times > 0) != (s.First != nil) {
		found.Add("/first", FieldRange, "first and times go together.")
	}
	if s.First != nil {
		s.First.check(&found, "/first")
	}
	s.Then.check(&found, "/then")
	return found.Err()
}

func (a BinAnswer) check(found *Faults, at string) {
	if a.Status < http.StatusOK || a.Status > 599 {
		found.Add(at+"/status", FieldRange, "A status is 200 to 599.")
	}
	if len(a.Body) > MaxBinBody || !plainText(a.Body) {
		found.Add(at+"/body", FieldFormat, "A body is text of at most %d bytes without NUL.", MaxBinBody)
	}
	if bodiless := a.Status == http.StatusNoContent || a.Status == http.StatusNotModified; bodiless && a.Body != "" {
		found.Add(at+"/body", FieldRefused, "A %d has no body.", a.Status)
	}
	most := int(MaxBinWait.Milliseconds())
	if a.DelayMs < 0 || a.DelayMs > most {
		found.Add(at+"/delay_ms", FieldRange, "A delay is 0 to %d ms.", most)
	}
	if a.DripMs < 0 || a.DripMs > most || a.Waits() > MaxBinWait {
		found.Add(at+"/drip_ms", FieldRange, "An answer may take %d ms in all.", most)
	}
	if a.RetryAfter < 0 || a.RetryAfter > maxBinRetry {
		found.Add(at+"/retry_after", FieldRange, "Retry-After is 0 to %d seconds.", maxBinRetry)
	}
	switch a.Drop {
	case DropNever, DropBefore, DropDuring:
	default:
		found.Add(at+"/drop", FieldFormat, "A connection is dropped before or during the answer.")
	}
}

// plainText reports whether a text can be stored and shown as it is.
func plainText(text string) bool { return utf8.ValidString(text) && strings.IndexByte(text, 0) < 0 }

// CheckBinName returns VALIDATION_FAILED about a bin's name, or nil.
func CheckBinName(name string) error {
	var found Faults
	found.Length("/name", name, 1, MaxBinName)
	found.Plain("/name", name)
	return found.Err()
}

// BinRecipe is a script under the name by which people look for it.
type BinRecipe struct {
	Key    string
	Script BinScript
}

// BinRecipes are ready-made scripts, the plain one first.
func BinRecipes() []BinRecipe {
	ok := BinAnswer{Status: http.StatusOK}
	broken := &BinAnswer{Status: http.StatusInternalServerError, Body: "Something broke."}
	limited := BinAnswer{Status: http.StatusTooManyRequests, RetryAfter: 60, Body: "Slow down."}
	always := func(key string, a BinAnswer) BinRecipe { return BinRecipe{key, BinScript{Then: a}} }
	return []BinRecipe{
		always("ok", ok),
		{"fail_twice", BinScript{Times: 2, First: broken, Then: ok}},
		always("fail", *broken),
		{"rate_limited_once", BinScript{Times: 1, First: &limited, Then: ok}},
		always("rate_limited", limited),
		always("unavailable", BinAnswer{Status: http.StatusServiceUnavailable, RetryAfter: 120, Body: "Back in two minutes."}),
		always("unauthorized", BinAnswer{Status: http.StatusUnauthorized, Body: "Who are you?"}),
		always("gone", BinAnswer{Status: http.StatusGone, Body: "This endpoint is gone."}),
		always("redirect", BinAnswer{Status: http.StatusFound}),
		always("slow", BinAnswer{Status: http.StatusOK, DelayMs: 5000}),
		always("time_out", BinAnswer{Status: http.StatusOK, DelayMs: 35000}),
		always("drip", BinAnswer{Status: http.StatusOK, Body: "one byte at a time\n", DripMs: 200}),
		always("drop_before", BinAnswer{Status: http.StatusOK, Drop: DropBefore}),
		always("drop_during", BinAnswer{Status: http.StatusOK, Body: "This answer will never be whole.", Drop: DropDuring}),
	}
}

// CaptureSource says how a request got into a bin.
type CaptureSource string

// The sources.
const (
	SourceExternal CaptureSource = "external" // somebody sent it
	SourceRedirect CaptureSource = "redirect" // a copy of a delivery, by hand
)

// AnswerOutcome says what became of a captured request's answer.
type AnswerOutcome string

// The outcomes of an answer.
const (
	AnswerGiven      AnswerOutcome = "given"
	AnswerPending    AnswerOutcome = "pending"     // it is being delayed or dripped
	AnswerDropped    AnswerOutcome = "dropped"     // the script cut the connection
	AnswerSenderLeft AnswerOutcome = "sender_left" // before all of it was sent
	AnswerBusy       AnswerOutcome = "busy"        // too many waited already: 503 at once
	AnswerTooLarge   AnswerOutcome = "too_large"   // the body: 413
	AnswerBrokenBody AnswerOutcome = "broken_body" // it broke off, or took too long: 400
	AnswerNone       AnswerOutcome = "none"        // a redirect: nobody waits for one
)

// CapturedRequest is a request as a bin got it. Its texts are valid UTF-8
// without NUL, whatever was sent; only Body is as received.
type CapturedRequest struct {
	ProjectID     ProjectID
	ID            string
	BinID         string
	Seq           int64 // 1… within the bin, in the order in which they are seen
	Source        CaptureSource
	DeliveryID    *string // of a redirect
	EndpointID    *string // of a redirect: whose secrets signed it
	Method        string
	Path          string     // escaped
	Query         string     // as sent, without the question mark
	Headers       []byte     // JSON object of header lists
	Body          []byte     // at most MaxCaptured bytes; nil in lists
	BodyBytes     int64      // as many as came, at most what was read
	Truncated     bool       // Body is not all of it
	RemoteAddr    string     // "ip:port"; empty for a redirect
	Answer        *BinAnswer `gorm:"serializer:json"` // nil: nobody waited for one
	AnswerOutcome AnswerOutcome
	DurationMs    int       // from the request's head to the end of the answer
	ReceivedAt    time.Time // to the millisecond: ID tells it
}

// StoredBytes is what the request takes of its bin's day.
func (c *CapturedRequest) StoredBytes() int64 {
	return int64(len(c.Path) + len(c.Query) + len(c.Headers) + len(c.Body) + binRowBytes)
}

// InspectorFull is the refusal of a request beyond what a bin stores in a day.
func InspectorFull() *Error {
	return NewError(CodeInspectorFull, "The bin has stored %d MiB today; it takes more tomorrow (UTC).", MaxBinBytes>>20)
}

// VerdictStatus says in one word what a signature is worth.
type VerdictStatus string

// The verdicts.
const (
	SignatureValid       VerdictStatus = "valid"
	SignatureWrongSecret VerdictStatus = "wrong_secret" // made with none of the candidates, or over another body
	SignatureTooOld      VerdictStatus = "too_old"      // the right secret, a timestamp of long ago
	SignatureInFuture    VerdictStatus = "in_future"
	SignatureMissing     VerdictStatus = "missing"    // no such headers
	SignatureMalformed   VerdictStatus = "malformed"  // headers that no library reads
	SignatureUnknowable  VerdictStatus = "unknowable" // the body was not kept whole
)

// SignatureScheme names one of the two ways in which deliveries are signed.
type SignatureScheme string

// The schemes (contract §5).
const (
	SchemeBotix    SignatureScheme = "x-botix-signature"
	SchemeStandard SignatureScheme = "standard-webhooks"
)

// SignatureTolerance is how far a timestamp may be from the time of receipt.
const SignatureTolerance = 5 * time.Minute

// SignatureVerdict is what one scheme's headers of a captured request are worth.
// It holds no secret.
type SignatureVerdict struct {
	Scheme   SignatureScheme
	Status   VerdictStatus
	Header   string            // the header that is missing or malformed
	Signed   []byte            // the bytes that the signature is over; nil when unknown
	Received []string          // the digests that the request carries
	Expected []SignatureDigest // what each candidate makes of Signed
	Matched  string            // the candidate that made a received digest
	At       *time.Time        // the timestamp; nil where the scheme has none
	Skew     time.Duration     // from the timestamp to the receipt; negative: in the future
}

// SignatureDigest is what one candidate's secret makes.
type SignatureDigest struct {
	Candidate string // the bin's or an endpoint's id
	Digest    string
}
