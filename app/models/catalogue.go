package models

import (
	"maps"
	"net/http"
	"slices"
)

// The error codes, contract §2.
const (
	CodeAPIKeyMissing          Code = "API_KEY_MISSING"
	CodeAPIKeyInvalid          Code = "API_KEY_INVALID" //nolint:gosec // the name of an error, no credential
	CodeScopeInsufficient      Code = "SCOPE_INSUFFICIENT"
	CodeIdempotencyKeyRequired Code = "IDEMPOTENCY_KEY_REQUIRED"
	CodeIdempotencyKeyInvalid  Code = "IDEMPOTENCY_KEY_INVALID"
	CodeIdempotencyKeyReuse    Code = "IDEMPOTENCY_KEY_REUSE_CONFLICT"
	CodeIdempotencyKeyRunning  Code = "IDEMPOTENCY_KEY_IN_PROGRESS"
	CodeIdempotencyKeyExpired  Code = "IDEMPOTENCY_KEY_EXPIRED"
	CodeRateLimitExceeded      Code = "RATE_LIMIT_EXCEEDED"
	CodeMalformedJSON          Code = "MALFORMED_JSON"
	CodeInvalidRequest         Code = "INVALID_REQUEST"
	CodeValidationFailed       Code = "VALIDATION_FAILED"
	CodeUnsupportedMediaType   Code = "UNSUPPORTED_MEDIA_TYPE"
	CodeRequestTimeout         Code = "REQUEST_TIMEOUT"
	CodePayloadTooLarge        Code = "PAYLOAD_TOO_LARGE"
	CodeNotFound               Code = "NOT_FOUND"
	CodeMethodNotAllowed       Code = "METHOD_NOT_ALLOWED"
	CodePreconditionFailed     Code = "PRECONDITION_FAILED"
	CodeContactExists          Code = "CONTACT_ALREADY_EXISTS"
	CodeScenarioNotActive      Code = "SCENARIO_NOT_ACTIVE"
	CodeDeliveryInFlight       Code = "DELIVERY_IN_FLIGHT"
	CodeEndpointDeleted        Code = "ENDPOINT_DELETED"
	CodeEndpointNotActive      Code = "ENDPOINT_NOT_ACTIVE"
	CodeEventExpired           Code = "EVENT_EXPIRED"
	CodeInspectorFull          Code = "INSPECTOR_FULL"
	CodeNotCancellable         Code = "NOT_CANCELLABLE"
	CodeMessageNotUnknown      Code = "MESSAGE_NOT_UNKNOWN"
	CodeChannelNotConfigured   Code = "CHANNEL_NOT_CONFIGURED"
	CodeServiceUnavailable     Code = "SERVICE_UNAVAILABLE"
	CodeInternalError          Code = "INTERNAL_ERROR"
)

// CatalogueEntry is everything the platform says about one error code. The
// mapper, the public page and the tests all read it from here.
type CatalogueEntry struct {
	Code   Code
	Status int
	Title  string
	// Retryable: the same request with the same key can help.
	Retryable bool
	// Stored: returned by an execution, it is kept with the key and replayed.
	Stored bool
	// Outcome is whether anything was applied, unless the error says otherwise.
	Outcome Outcome
	When    string // when it happens
	Caller  string // what the caller does
	// Operator is what the people who run the platform do; empty: nothing.
	Operator string
}

// Catalogue returns every error code the platform can answer, ordered by
// status, then code.
func Catalogue() []CatalogueEntry {
	entries := slices.Collect(maps.Values(catalogue))
	slices.SortFunc(entries, func(a, b CatalogueEntry) int {
		if a.Status != b.Status {
			return a.Status - b.Status
		}
		if a.Code < b.Code {
			return -1
		}
		return 1
	})
	return entries
}

var catalogue = indexed(
	CatalogueEntry{
		Code: CodeAPIKeyMissing, Status: http.StatusUnauthorized, Outcome: NotApplied,
		Title:  "API key missing",
		When:   "The request carries no Authorization header.",
		Caller: "Send Authorization: Bearer btx_…; keys are made in the dashboard.",
	},
	CatalogueEntry{
		Code: CodeAPIKeyInvalid, Status: http.StatusUnauthorized, Outcome: NotApplied,
		Title:  "API key not valid",
		When:   "The key is unknown, revoked, expired or mistyped.",
		Caller: "Check the key; if it was rotated, use the new one. Repeating the request does not help.",
	},
	CatalogueEntry{
		Code: CodeScopeInsufficient, Status: http.StatusForbidden, Outcome: NotApplied,
		Title:  "API key lacks the scope",
		When:   "The key is valid but does not carry the scope that the route asks for.",
		Caller: "Use a key with the scope named in the detail.",
	},
	CatalogueEntry{
		Code: CodeIdempotencyKeyRequired, Status: http.StatusBadRequest, Outcome: NotApplied,
		Title:  "Idempotency-Key required",
		When:   "A mutating request came without an Idempotency-Key header.",
		Caller: "Make one random key per logical operation (UUIDv4 or ULID) and send it on every try.",
	},
	CatalogueEntry{
		Code: CodeIdempotencyKeyInvalid, Status: http.StatusBadRequest, Outcome: NotApplied,
		Title:  "Idempotency-Key not valid",
		When:   "The header is not 1 to 255 visible ASCII characters, or was sent more than once.",
		Caller: "Send one header with a UUIDv4 or ULID.",
	},
	CatalogueEntry{
		Code: CodeIdempotencyKeyReuse, Status: http.StatusConflict, Outcome: NotApplied,
		Title:  "Idempotency-Key belongs to another request",
		When:   "The key was already used with another method, path, query, content type or body.",
		Caller: "Do not mint a new key automatically: find out why two operations share one. Use a new key per operation.",
	},
	CatalogueEntry{
		Code: CodeIdempotencyKeyRunning, Status: http.StatusConflict, Retryable: true, Outcome: OutcomeUnknown,
		Title:    "The first request with this key is still running",
		When:     "Another request with the same key is being executed right now, on any server.",
		Caller:   "Wait Retry-After seconds and send the same request with the same key.",
		Operator: "If it lasts over a minute, look for a database session that holds the key's advisory lock.",
	},
	CatalogueEntry{
		Code: CodeIdempotencyKeyExpired, Status: http.StatusConflict, Outcome: Applied,
		Title:  "The stored answer has expired",
		When:   "The operation with this key was completed, but its stored answer is past its retention.",
		Caller: "Do not repeat it with a new key. Read the resource to learn its state.",
	},
	CatalogueEntry{
		Code: CodeRateLimitExceeded, Status: http.StatusTooManyRequests, Retryable: true, Outcome: NotApplied,
		Title:  "Rate limit exceeded",
		When:   "The API key, or the address when no valid key was sent, used up its requests for this minute.",
		Caller: "Wait Retry-After seconds, add jitter, and slow down by X-RateLimit-Remaining.",
	},
	CatalogueEntry{
		Code: CodeMalformedJSON, Status: http.StatusBadRequest, Outcome: NotApplied,
		Title:  "Body is not valid JSON",
		When:   "The body is not one UTF-8 JSON value, or repeats a name, or holds a NUL or a lone surrogate.",
		Caller: "Fix the body; the key may be used for the corrected request.",
	},
	CatalogueEntry{
		Code: CodeInvalidRequest, Status: http.StatusBadRequest, Outcome: NotApplied,
		Title:  "Request not valid",
		When:   "A query parameter, path segment or header does not have the documented form.",
		Caller: "Fix the parameter named in errors.",
	},
	CatalogueEntry{
		Code: CodeValidationFailed, Status: http.StatusUnprocessableEntity, Outcome: NotApplied,
		Title:  "Content not valid",
		When:   "The JSON is well-formed but a field is unknown, missing, of the wrong type or outside its bounds, or names an object that does not exist.",
		Caller: "Fix the fields listed in errors; the key may be used for the corrected request.",
	},
	CatalogueEntry{
		Code: CodeUnsupportedMediaType, Status: http.StatusUnsupportedMediaType, Outcome: NotApplied,
		Title:  "Media type not supported",
		When:   "Content-Type is not the documented one, or Content-Encoding is not identity.",
		Caller: "Send plain application/json.",
	},
	CatalogueEntry{
		Code: CodeRequestTimeout, Status: http.StatusRequestTimeout, Retryable: true, Outcome: NotApplied,
		Title:    "Body did not arrive",
		When:     "The body stalled, or its connection ended, before all of it had arrived (30 seconds; 60 on bulk routes).",
		Caller:   "Send the same request with the same key, on a new connection.",
		Operator: "If many callers see it, look for a proxy that holds bodies back or cuts connections.",
	},
	CatalogueEntry{
		Code: CodePayloadTooLarge, Status: http.StatusRequestEntityTooLarge, Outcome: NotApplied,
		Title:  "Body too large",
		When:   "The body exceeds 1 MiB (16 MiB on bulk routes).",
		Caller: "Send less, or use the bulk route.",
	},
	CatalogueEntry{
		Code: CodeNotFound, Status: http.StatusNotFound, Stored: true, Outcome: NotApplied,
		Title:  "Not found",
		When:   "The path is unknown, or the object does not exist in this project.",
		Caller: "Check the path and the identifier.",
	},
	CatalogueEntry{
		Code: CodeMethodNotAllowed, Status: http.StatusMethodNotAllowed, Outcome: NotApplied,
		Title:  "Method not allowed",
		When:   "The path exists but not with this method.",
		Caller: "Use one of the methods in the Allow header.",
	},
	CatalogueEntry{
		Code: CodePreconditionFailed, Status: http.StatusPreconditionFailed, Stored: true, Outcome: NotApplied,
		Title:  "The object has changed",
		When:   "If-Match names another version than the current one.",
		Caller: "Read the object again and decide anew, as a new operation with a new key.",
	},
	CatalogueEntry{
		Code: CodeContactExists, Status: http.StatusConflict, Stored: true, Outcome: NotApplied,
		Title:  "A contact with this external_id exists",
		When:   "external_id is unique within a project and is taken.",
		Caller: "Update the existing contact, or upsert with PUT /contacts/by-external-id/{external_id}.",
	},
	CatalogueEntry{
		Code: CodeScenarioNotActive, Status: http.StatusConflict, Stored: true, Outcome: NotApplied,
		Title:  "Scenario not active",
		When:   "A draft or archived scenario was asked to run.",
		Caller: "Activate the scenario, then run it as a new operation.",
	},
	CatalogueEntry{
		Code: CodeDeliveryInFlight, Status: http.StatusConflict, Stored: true, Outcome: NotApplied,
		Title:  "A send is running",
		When:   "A retry was asked for while this delivery is being sent.",
		Caller: "Wait for the attempt to end (40 seconds at most), then decide anew with a new key.",
	},
	CatalogueEntry{
		Code: CodeEndpointDeleted, Status: http.StatusConflict, Stored: true, Outcome: NotApplied,
		Title:  "The endpoint was deleted",
		When:   "A delivery was asked for whose endpoint no longer exists.",
		Caller: "Create an endpoint; use Redirect to see the body.",
	},
	CatalogueEntry{
		Code: CodeEndpointNotActive, Status: http.StatusConflict, Stored: true, Outcome: NotApplied,
		Title:  "The endpoint is paused or disabled",
		When:   "A test event or a recovery was asked for while the endpoint's deliveries are held: it would only be held as well.",
		Caller: "Resume the endpoint, then ask again as a new operation with a new key.",
	},
	CatalogueEntry{
		Code: CodeEventExpired, Status: http.StatusConflict, Stored: true, Outcome: NotApplied,
		Title:  "The event is no longer kept",
		When:   "A retry or a redirect was asked for a delivery whose event is past its retention: there is no body left to send.",
		Caller: "Publish the event again, or bring it back from the archive where the plan has one.",
	},
	CatalogueEntry{
		Code: CodeInspectorFull, Status: http.StatusConflict, Stored: true, Outcome: NotApplied,
		Title:  "The inspector's bin is full",
		When:   "A redirect was asked for into a bin that has stored as much today as a bin may.",
		Caller: "Use another bin, or wait until tomorrow (UTC), as a new operation with a new key.",
	},
	CatalogueEntry{
		Code: CodeNotCancellable, Status: http.StatusConflict, Stored: true, Outcome: NotApplied,
		Title:  "Too late to cancel",
		When:   "The object is past the state in which it can be cancelled.",
		Caller: "Read its status.",
	},
	CatalogueEntry{
		Code: CodeMessageNotUnknown, Status: http.StatusConflict, Stored: true, Outcome: NotApplied,
		Title:  "Nothing to settle",
		When:   "A message was to be settled that is not in the state unknown.",
		Caller: "Read its status: the platform knows what became of it, or somebody has settled it.",
	},
	CatalogueEntry{
		Code: CodeChannelNotConfigured, Status: http.StatusUnprocessableEntity, Outcome: NotApplied,
		Title:  "Channel not configured",
		When:   "The message names a channel for which the project has no credentials.",
		Caller: "Configure the channel; the key may be used again.",
	},
	CatalogueEntry{
		Code: CodeServiceUnavailable, Status: http.StatusServiceUnavailable, Retryable: true, Outcome: NotApplied,
		Title:    "Service unavailable",
		When:     "Something the request needs cannot be reached. With outcome unknown, the answer to the final commit was lost.",
		Caller:   "Wait Retry-After seconds and send the same request with the same key.",
		Operator: "Check PostgreSQL's reachability and the pool's saturation; the log has the cause under the request id.",
	},
	CatalogueEntry{
		Code: CodeInternalError, Status: http.StatusInternalServerError, Retryable: true, Outcome: NotApplied,
		Title:    "Internal error",
		When:     "A fault of ours. The operation was rolled back as a whole.",
		Caller:   "Send the same request with the same key, at most twice; then report the request id.",
		Operator: "The log has the cause under the request id.",
	},
)

func indexed(entries ...CatalogueEntry) map[Code]CatalogueEntry {
	byCode := make(map[Code]CatalogueEntry, len(entries))
	for _, entry := range entries {
		byCode[entry.Code] = entry
	}
	return byCode
}
