package middleware

import (
	"context"
	"errors"
	"log/slog"
	"math"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/labstack/echo/v4"

	"github.com/botix-pro/platform/app/models"
	"github.com/botix-pro/platform/app/store"
)

const (
	problemType = "application/problem+json"
	challenge   = `Bearer realm="botix"` // without one a 401 is none (RFC 9110 §15.5.2)
	scopeOfOne  = "request"              // the outcome speaks of this physical request only
	scopeOfAll  = "operation"            // the outcome speaks of everything done under the key
)

// problem is RFC 9457 with the contract's own members (§2).
type problem struct {
	Type      string              `json:"type"`
	Title     string              `json:"title"`
	Status    int                 `json:"status"`
	Code      models.Code         `json:"code"`
	Detail    string              `json:"detail"`
	RequestID string              `json:"request_id"`
	Retryable bool                `json:"retryable"`
	Outcome   models.Outcome      `json:"outcome"`
	Scope     string              `json:"scope"`
	Errors    []models.FieldError `json:"errors,omitempty"`
}

// Problems renders errors. It is the one place where an error becomes HTTP.
type Problems struct {
	docs string // URL of the page about error codes
	log  *slog.Logger
}

// NewProblems returns a renderer whose type URLs begin with publicURL.
func NewProblems(publicURL string, log *slog.Logger) *Problems {
	return &Problems{docs: strings.TrimSuffix(publicURL, "/") + "/docs/error-codes#", log: log}
}

// Answer renders an error as the answer of an operation: what is stored with
// the key.
func (p *Problems) Answer(err *models.Error, requestID string) models.Answer {
	return p.render(err, requestID, scopeOfAll)
}

// Handle is Echo's error handler.
func (p *Problems) Handle(err error, c echo.Context) {
	if c.Response().Committed {
		return
	}
	known := classify(err)
	if known.Code != models.CodeRequestTimeout { // nobody waits twice for the same bytes
		discardBody(c)
	}
	c.Set(keyCode, known.Entry().Code)
	// A client that hung up is nobody's fault.
	if known.ServerFault() && !errors.Is(c.Request().Context().Err(), context.Canceled) {
		c.Set(keyFault, err)
	}
	scope := scopeOfOne
	if c.Get(keyOperation) != nil && !known.Early {
		scope = scopeOfAll
	}
	if sendErr := send(c, p.render(known, RequestID(c), scope)); sendErr != nil {
		p.log.DebugContext(c.Request().Context(), "the answer could not be sent", "request_id", RequestID(c), "error", sendErr)
	}
}

func (p *Problems) render(err *models.Error, requestID, scope string) models.Answer {
	entry := err.Entry()
	body, encodeErr := json.Marshal(problem{
		Type: p.docs + string(entry.Code), Title: entry.Title, Status: entry.Status, Code: entry.Code,
		Detail: models.Cut(err.Detail, models.MaxDetail), RequestID: requestID, Retryable: entry.Retryable, Outcome: err.Applied(), Scope: scope,
		Errors: models.Bounded(err.Fields),
	})
	if encodeErr != nil {
		// Only text that is not UTF-8 cannot be encoded; the code still can.
		p.log.Error("a problem document could not be encoded", "code", entry.Code, "error", encodeErr)
		return p.render(&models.Error{Code: err.Code, Outcome: err.Outcome, RetryAfter: err.RetryAfter}, requestID, scope)
	}
	return models.Answer{Status: entry.Status, Header: problemHeaders(err), Body: append(body, '\n')}
}

func problemHeaders(err *models.Error) http.Header {
	header := http.Header{"Content-Type": {problemType}}
	if err.Status() == http.StatusUnauthorized {
		header.Set(echo.HeaderWWWAuthenticate, challenge)
	}
	if err.RetryAfter > 0 {
		header.Set("Retry-After", seconds(err.RetryAfter))
	}
	if len(err.Allow) > 0 {
		header.Set("Allow", strings.Join(err.Allow, ", "))
	}
	return header
}

// seconds renders a duration for Retry-After and its like: whole, rounded up,
// at least 1, so that nobody is told to come too early.
func seconds(d time.Duration) string {
	return strconv.Itoa(max(int(math.Ceil(d.Seconds())), 1))
}

// classify finds the platform's error in whatever a handler, the store or Echo
// returned.
func classify(err error) *models.Error {
	var known *models.Error
	var framework *echo.HTTPError
	switch {
	case errors.As(err, &known):
		return known
	case errors.As(err, &framework) && framework.Code == http.StatusNotFound:
		return models.NewError(models.CodeNotFound, "There is no such path; the API reference is at /docs.")
	case store.IsUnavailable(err):
		return models.Unavailable(err, models.NotApplied)
	default:
		return models.Internal(err)
	}
}

// send writes an answer as it is.
func send(c echo.Context, answer models.Answer) error {
	response := c.Response()
	for name, values := range answer.Header {
		response.Header()[name] = values
	}
	if len(answer.Body) > 0 {
		response.Header().Set(echo.HeaderContentLength, strconv.Itoa(len(answer.Body)))
	}
	response.WriteHeader(answer.Status)
	if c.Request().Method == http.MethodHead || len(answer.Body) == 0 {
		return nil
	}
	_, err := response.Write(answer.Body)
	return err
}
