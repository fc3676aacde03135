package middleware

import (
	"context"
	"net/url"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/labstack/echo/v4"

	"github.com/botix-pro/platform/app/idempotency"
	"github.com/botix-pro/platform/app/models"
	"github.com/botix-pro/platform/app/store"
)

const (
	headerReplayed      = "Idempotent-Replayed"
	headerFirstRequest  = "X-Original-Request-Id"
	headerAPIVersion    = "X-BOTIX-Version"
	operationTimeout    = 30 * time.Second
	maxShownPath        = 8192 // what people are shown of an operation's path and query
	replayedHeaderValue = "true"
)

// Endpoints turns routes into Echo handlers.
type Endpoints struct {
	engine *idempotency.Engine
	spools *Spools
}

// NewEndpoints returns handlers that run mutations through the engine, and keep
// large bodies in spools.
func NewEndpoints(engine *idempotency.Engine, spools *Spools) *Endpoints {
	return &Endpoints{engine: engine, spools: spools}
}

// Handler returns the innermost handler of a route.
func (e *Endpoints) Handler(route Route) echo.HandlerFunc {
	if route.Mutate != nil {
		return e.idempotent(route)
	}
	return read(route.Read)
}

func read(handle Read) echo.HandlerFunc {
	return func(c echo.Context) error {
		request, err := newRequest(c)
		if err != nil {
			return err
		}
		result, err := handle(c.Request().Context(), request)
		if err != nil {
			return err
		}
		answer, err := result.answer()
		if err != nil {
			return err
		}
		return send(c, answer)
	}
}

// idempotent is the Idempotency middleware around one mutation: key syntax, the
// whole body, then the operation.
func (e *Endpoints) idempotent(route Route) echo.HandlerFunc {
	return func(c echo.Context) error {
		key, err := idempotency.ParseKey(c.Request().Header.Values(idempotency.Header))
		if err != nil {
			return err
		}
		request, err := newRequest(c)
		if err != nil {
			return err
		}
		r := c.Request()
		fingerprint := idempotency.NewFingerprint(r.Method, r.URL, r.Header.Get(echo.HeaderContentType))
		content, err := e.spools.readBody(c, max(route.MaxBody, maxBody), fingerprint)
		if err != nil {
			return err
		}
		defer content.close()
		request.Body, request.Open = content.memory, content.reader
		c.Set(keyOperation, true)
		return e.run(c, operation(c, key, request, fingerprint.Sum(nil), route), request, route)
	}
}

// run answers one operation. It goes on when the client hangs up: what was
// started ends, and its result waits for the retry.
func (e *Endpoints) run(c echo.Context, op idempotency.Operation, request *Request, route Route) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(c.Request().Context()), operationTimeout)
	defer cancel()
	result, err := e.answer(ctx, op, request, route)
	if err != nil {
		return err
	}
	if result.Replayed {
		c.Response().Header().Set(headerReplayed, replayedHeaderValue)
		c.Response().Header().Set(headerFirstRequest, result.FirstRequestID)
	}
	return send(c, result.Answer)
}

// answer replays, or prepares and executes.
func (e *Endpoints) answer(ctx context.Context, op idempotency.Operation, request *Request, route Route) (idempotency.Result, error) {
	if route.Prepare != nil {
		if result, known, err := e.engine.Find(ctx, op); known || err != nil {
			return result, err
		}
		prepared, err := route.Prepare(ctx, request)
		if err != nil {
			return idempotency.Result{}, err
		}
		request.Prepared = prepared
	}
	return e.engine.Run(ctx, op, execution(request, route.Mutate))
}

func operation(c echo.Context, key string, request *Request, fingerprint []byte, route Route) idempotency.Operation {
	r := c.Request()
	asked, _ := c.Get(keyAsked).(*idempotency.Question)
	return idempotency.Operation{
		Project: request.Project(), Key: key, Method: r.Method, Path: models.Cut(r.URL.RequestURI(), maxShownPath), RequestID: request.ID,
		Fingerprint: fingerprint, TTL: request.Caller.Plan.Limits.IdempotencyTTL(), WriteOnly: route.WriteOnly, Asked: asked,
	}
}

func execution(request *Request, mutate Mutation) idempotency.Execution {
	return func(ctx context.Context, tx *store.Tx) (models.Answer, error) {
		result, err := mutate(ctx, tx, request)
		if err != nil {
			return models.Answer{}, err
		}
		return result.answer()
	}
}

func newRequest(c echo.Context) (*Request, error) {
	caller := callerOf(c)
	version := c.Request().Header.Get(headerAPIVersion)
	if version == "" {
		version = caller.Project.APIVersion
	}
	if !slices.Contains(models.APIVersions(), version) {
		return nil, models.NewError(models.CodeInvalidRequest, "%s %q is not a version of this API; /docs/changelog lists them.", headerAPIVersion, version)
	}
	query, err := readQuery(c)
	if err != nil {
		return nil, err
	}
	return &Request{
		ID: RequestID(c), Caller: caller, APIVersion: version,
		Query: query, Header: c.Request().Header, params: pathParameters(c),
	}, nil
}

// readQuery parses the query strictly: what cannot be read must not be ignored,
// or a filter with a mistake in it would silently widen the answer. It also
// refuses, there and in the path, what no text column can hold.
func readQuery(c echo.Context) (url.Values, error) {
	query, err := url.ParseQuery(c.Request().URL.RawQuery)
	if err != nil {
		return nil, models.NewError(models.CodeInvalidRequest, "The query is not percent-encoded as name=value pairs joined by &.")
	}
	parameter := pathParameters(c)
	texts := []string{c.Request().URL.RawQuery}
	for _, name := range c.ParamNames() {
		texts = append(texts, parameter(name))
	}
	for name, values := range query {
		texts = append(append(texts, name), values...)
	}
	for _, text := range texts {
		if !utf8.ValidString(text) || strings.ContainsRune(text, 0) {
			return nil, models.NewError(models.CodeInvalidRequest, "The path and the query are UTF-8 without the character NUL.")
		}
	}
	return query, nil
}

// pathParameters decodes path parameters, which Echo leaves encoded when the
// path holds anything that had to be.
func pathParameters(c echo.Context) func(string) string {
	encoded := c.Request().URL.RawPath != ""
	return func(name string) string {
		value := c.Param(name)
		if decoded, err := url.PathUnescape(value); encoded && err == nil {
			return decoded
		}
		return value
	}
}
