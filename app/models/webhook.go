package models

import "time"

// EndpointStatus is the state of a webhook endpoint.
type EndpointStatus string

// The endpoint states. Deleted is a tombstone: it is never shown, and exists so
// that deliveries already made for the endpoint end as cancelled.
const (
	EndpointActive   EndpointStatus = "active"
	EndpointPaused   EndpointStatus = "paused"
	EndpointDisabled EndpointStatus = "disabled"
	EndpointDeleted  EndpointStatus = "deleted"
)

// DefaultMaxInFlight is how many requests one endpoint gets at a time unless
// its owner says otherwise.
const DefaultMaxInFlight = 10

// WebhookEndpoint is where a project wants its events (contract §5).
type WebhookEndpoint struct {
	ProjectID     ProjectID
	ID            string
	URL           string
	Description   string
	EventTypes    []string `gorm:"serializer:json"`
	Status        EndpointStatus
	MaxInFlight   int
	RatePerSecond *int              // nil: no limit
	Secrets       []EndpointSecret  `gorm:"-"`
	Headers       map[string]string `gorm:"-"` // custom request headers
	Version       int64             // 1, and one more with every change: the ETag
	CreatedAt     time.Time
	UpdatedAt     time.Time
	StatusSince   time.Time // when the status became what it is
}

// EndpointSecret is a signing secret, "whsec_" and base64. Newest first; an
// older one is valid until it expires.
type EndpointSecret struct {
	Value     string     `json:"value"`
	ExpiresAt *time.Time `json:"expires_at,omitempty"` // nil: current
}

// WebhookDelivery is one event on its way to one endpoint.
type WebhookDelivery struct {
	ProjectID      ProjectID
	ID             string
	EventID        string
	EventType      string
	EndpointID     string
	Status         DeliveryStatus
	Step           int // 1–5: the place on the retry ladder
	AttemptCount   int // physical sends so far; the next one's number is one more
	Manual         bool
	NextAttemptAt  *time.Time // nil unless pending or waiting
	LastStatusCode *int
	LastErrorClass *ErrorClass
	CreatedAt      time.Time
	UpdatedAt      time.Time
}

// WebhookAttempt is one physical HTTP request made for a delivery.
type WebhookAttempt struct {
	ProjectID         ProjectID
	ID                string
	DeliveryID        string
	EndpointID        string
	EventID           string
	EventType         string
	Number            int // 1…, never reused within a delivery
	Step              int
	Manual            bool
	URL               string
	RequestID         string
	RequestHeaders    []byte      // JSON object of header lists, secrets masked; made of a [SentRequest]
	StatusCode        *int        // nil: no answer
	ErrorClass        *ErrorClass // nil: delivered
	Error             string      // one readable sentence, empty when delivered
	ResponseHeaders   []byte      // JSON object of header lists
	ResponseBody      []byte      // as received, cut at 16 KiB
	ResponseTruncated bool
	Timing            AttemptTiming
	StartedAt         time.Time
}

// AttemptTiming splits an attempt's duration, in milliseconds. A part that did
// not happen (a reused connection needs no DNS) is 0.
type AttemptTiming struct {
	DNSMs       int
	ConnectMs   int
	TLSMs       int
	FirstByteMs int
	DurationMs  int // the whole exchange
}

// DeadLetterCause says why a delivery was given up.
type DeadLetterCause string

// The causes that are not an HTTP status. A permanent status is its own cause,
// "http_401".
const (
	CauseRetriesExhausted DeadLetterCause = "retries_exhausted"
	CauseWorkerLost       DeadLetterCause = "worker_lost"
	// CauseHeldExpired: held for as long as the plan keeps dead letters.
	CauseHeldExpired DeadLetterCause = "held_expired"
)

// DeadLetter is a delivery that no longer retries by itself.
type DeadLetter struct {
	ProjectID  ProjectID
	ID         string
	DeliveryID string
	EndpointID string
	EventID    string
	EventType  string
	Cause      DeadLetterCause
	AttemptID  *string // the last attempt, nil if none was made
	CreatedAt  time.Time
	ExpiresAt  time.Time
}

// ErrorClass says in one word why an attempt did not deliver.
type ErrorClass string

// The error classes an attempt may carry.
const (
	ErrorDNS            ErrorClass = "dns"
	ErrorRefused        ErrorClass = "refused"
	ErrorConnectTimeout ErrorClass = "connect_timeout"
	ErrorTLSExpired     ErrorClass = "tls_expired"
	ErrorTLSName        ErrorClass = "tls_name"
	ErrorTLSUntrusted   ErrorClass = "tls_untrusted"
	ErrorTLS            ErrorClass = "tls"
	ErrorReset          ErrorClass = "reset"
	ErrorReadTimeout    ErrorClass = "read_timeout"
	ErrorTimeout        ErrorClass = "timeout"
	ErrorConnection     ErrorClass = "connection"
	ErrorBadResponse    ErrorClass = "bad_response"
	ErrorBlockedAddress ErrorClass = "blocked_address"
	ErrorRedirect       ErrorClass = "redirect"
	ErrorHTTP1xx        ErrorClass = "http_1xx"
	ErrorHTTP4xx        ErrorClass = "http_4xx"
	ErrorHTTP5xx        ErrorClass = "http_5xx"
	ErrorWorkerLost     ErrorClass = "worker_lost"
	// ErrorInternal is a fault of ours before anything was sent.
	ErrorInternal ErrorClass = "internal"
)

// ErrorClasses lists them all, from the way to the receiver to its answer.
func ErrorClasses() []ErrorClass {
	return []ErrorClass{
		ErrorDNS, ErrorRefused, ErrorConnectTimeout, ErrorTLSExpired, ErrorTLSName, ErrorTLSUntrusted, ErrorTLS, ErrorReset,
		ErrorReadTimeout, ErrorTimeout, ErrorConnection, ErrorBadResponse, ErrorBlockedAddress, ErrorRedirect,
		ErrorHTTP1xx, ErrorHTTP4xx, ErrorHTTP5xx, ErrorWorkerLost, ErrorInternal,
	}
}
