package middleware

import (
	"context"
	"log/slog"
	"net/http"
	"sync"
	"time"

	"github.com/labstack/echo/v4"

	"github.com/botix-pro/platform/app/idempotency"
	"github.com/botix-pro/platform/app/models"
	"github.com/botix-pro/platform/app/store"
)

// maxPendingRequests bounds the memory that the request log takes while
// PostgreSQL is away; what does not fit is counted and dropped.
const maxPendingRequests = 20_000

// RequestLog collects physical requests and writes them in batches, after their
// answers: no request waits for it. Flush is to be called within a second.
type RequestLog struct {
	write func(ctx context.Context, records []models.RequestRecord) error
	log   *slog.Logger

	mu      sync.Mutex
	pending []models.RequestRecord
	dropped int
}

// NewRequestLog returns an empty log that write will keep.
func NewRequestLog(write func(context.Context, []models.RequestRecord) error, log *slog.Logger) *RequestLog {
	return &RequestLog{write: write, log: log}
}

func (l *RequestLog) note(r models.RequestRecord) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.pending) >= maxPendingRequests {
		l.dropped++
		return
	}
	l.pending = append(l.pending, r)
}

// Flush writes what was collected since the last time. While the database is
// away it is kept for the next; what the database refuses is dropped.
func (l *RequestLog) Flush(ctx context.Context) {
	records, dropped := l.take()
	if dropped > 0 {
		l.log.WarnContext(ctx, "requests are missing in the request log", "count", dropped)
	}
	if len(records) == 0 {
		return
	}
	if err := l.write(ctx, records); err != nil {
		l.log.WarnContext(ctx, "the request log could not be written", "error", err)
		if store.IsUnavailable(err) {
			l.putBack(records)
		}
	}
}

func (l *RequestLog) take() (records []models.RequestRecord, dropped int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	records, dropped = l.pending, l.dropped
	l.pending, l.dropped = nil, 0
	return records, dropped
}

func (l *RequestLog) putBack(records []models.RequestRecord) {
	l.mu.Lock()
	defer l.mu.Unlock()
	room := max(maxPendingRequests-len(l.pending), 0)
	kept := records[max(len(records)-room, 0):]
	l.dropped += len(records) - len(kept)
	l.pending = append(kept, l.pending...)
}

// recordOf is a finished request as the log keeps it, false for one without a
// valid key: it belongs to no project.
func recordOf(c echo.Context, started time.Time, took time.Duration) (models.RequestRecord, bool) {
	caller := callerOf(c)
	if caller == nil {
		return models.RequestRecord{}, false
	}
	record := models.RequestRecord{
		ProjectID: caller.Project.ID, RequestID: RequestID(c), KeyID: caller.Key.ID,
		Method: c.Request().Method, Route: c.Path(), Status: c.Response().Status,
		Replayed: c.Response().Header().Get(headerReplayed) != "", DurationMs: int(took.Milliseconds()), At: started,
	}
	if key, err := idempotency.ParseKey(c.Request().Header.Values(idempotency.Header)); err == nil && mutates(c.Request().Method) {
		record.IdempotencyKey = &key // also of a request that was refused before its key was looked up
	}
	if code, ok := c.Get(keyCode).(models.Code); ok {
		record.Code = code
	}
	return record, true
}

// mutates reports whether an Idempotency-Key means anything to the method.
func mutates(method string) bool {
	switch method {
	case http.MethodPost, http.MethodPut, http.MethodPatch, http.MethodDelete:
		return true
	default:
		return false
	}
}
