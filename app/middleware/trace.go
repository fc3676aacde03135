package middleware

import (
	"context"
	"log/slog"
	"time"

	"github.com/labstack/echo/v4"
	echomw "github.com/labstack/echo/v4/middleware"

	"github.com/botix-pro/platform/app/models"
	"github.com/botix-pro/platform/internal/clock"
)

// HeaderRequestID carries the id of the physical request (contract §1). It is
// always ours: a caller's own value is not trusted to be unique.
const HeaderRequestID = "X-Request-Id"

// Trace gives every request its id, writes its one log line, and notes it in the
// request log. It renders the error that comes back, so that both have the
// status that was sent.
func Trace(clk clock.Clock, log *slog.Logger, requests *RequestLog) echo.MiddlewareFunc {
	return func(next echo.HandlerFunc) echo.HandlerFunc {
		return func(c echo.Context) error {
			started := clk.Now()
			id := models.NewID(models.PrefixRequest, started)
			c.Set(keyRequestID, id)
			c.Response().Header().Set(HeaderRequestID, id)
			if err := next(c); err != nil {
				c.Error(err)
			}
			took := clk.Now().Sub(started)
			logRequest(c, log, took)
			if record, ok := recordOf(c, started, took); ok {
				requests.note(record)
			}
			return nil
		}
	}
}

// logRequest writes what an operator needs to follow a request, and nothing of
// what it carried: no query, body, token or idempotency key.
func logRequest(c echo.Context, log *slog.Logger, took time.Duration) {
	level, attrs := slog.LevelInfo, []slog.Attr{
		slog.String("request_id", RequestID(c)),
		slog.String("method", c.Request().Method),
		slog.String("route", c.Path()),
		slog.Int("status", c.Response().Status),
		slog.Duration("took", took),
	}
	if caller := callerOf(c); caller != nil {
		attrs = append(attrs, slog.String("project", string(caller.Project.ID)), slog.String("key", caller.Key.Prefix))
	}
	if c.Response().Header().Get(headerReplayed) != "" {
		attrs = append(attrs, slog.Bool("replayed", true))
	}
	if fault, ok := c.Get(keyFault).(error); ok {
		level, attrs = slog.LevelError, append(attrs, slog.String("error", fault.Error()))
	}
	log.LogAttrs(context.WithoutCancel(c.Request().Context()), level, "request", attrs...)
}

// Recover turns a panic into an error, which becomes INTERNAL_ERROR.
func Recover() echo.MiddlewareFunc {
	return echomw.RecoverWithConfig(echomw.RecoverConfig{
		DisablePrintStack: true, // the log line carries the error once
		LogErrorFunc:      func(_ echo.Context, err error, _ []byte) error { return err },
	})
}

// SecureHeaders forbids every answer to be sniffed, framed or kept by a shared
// cache: answers are per key and hold personal data.
func SecureHeaders(next echo.HandlerFunc) echo.HandlerFunc {
	return func(c echo.Context) error {
		header := c.Response().Header()
		header.Set("X-Content-Type-Options", "nosniff")
		header.Set("Cache-Control", "no-store")
		header.Set("Content-Security-Policy", "default-src 'none'; frame-ancestors 'none'")
		if c.Request().TLS != nil {
			header.Set("Strict-Transport-Security", "max-age=31536000")
		}
		return next(c)
	}
}
