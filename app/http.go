package app

import (
	"context"
	"errors"
	"net"
	"net/http"
	"net/netip"

	"github.com/labstack/echo/v4"

	"github.com/botix-pro/platform/api"
	"github.com/botix-pro/platform/app/handlers"
	"github.com/botix-pro/platform/app/idempotency"
	"github.com/botix-pro/platform/app/middleware"
	"github.com/botix-pro/platform/app/models"
	"github.com/botix-pro/platform/app/ratelimit"
	"github.com/botix-pro/platform/app/store"
	"github.com/botix-pro/platform/internal/redispipe"
	"github.com/botix-pro/platform/internal/telemetry"
)

var errNotReady = errors.New("a vital dependency does not answer")

// newEcho returns everything the public address answers except the pages. hint
// is told which endpoints have something due.
func newEcho(b *base, notes *notes, hint func([]store.Lane)) *echo.Echo {
	return newEchoWith(b, notes, hint, apiRoutes(b))
}

func apiRoutes(b *base) []middleware.Route {
	return handlers.New(b.store, newGuard(b.cfg)).WithCopies(newDesk(b)).Routes()
}

// newEchoWith is newEcho with other routes behind authentication.
func newEchoWith(b *base, notes *notes, hint func([]store.Lane), routes []middleware.Route) *echo.Echo {
	problems := middleware.NewProblems(b.cfg.PublicURL, b.log)
	pipe := redispipe.New(b.redis, b.clock)
	limiter := ratelimit.New(ratelimit.Config{Redis: pipe, Servers: b.cfg.ServerCount, Clock: b.clock, Log: b.log})
	cache := idempotency.NewCache(pipe, b.store.Incarnation, b.store, b.log)
	auth := middleware.NewAuth(b.store, limiter, notes.uses, cache, b.clock, b.cfg.UnauthenticatedRate)
	engine := idempotency.NewEngine(b.store, cache, problems.Answer, hint, b.log)

	e := echo.New()
	e.HTTPErrorHandler = problems.Handle
	e.IPExtractor = clientAddress(b.cfg.TrustedProxies)
	e.Use(middleware.Trace(b.clock, b.log, notes.requests), middleware.Recover())
	mountPublic(e, b.checks())
	middleware.Mount(e, auth, middleware.NewEndpoints(engine, middleware.NewSpools(b.cfg.SpoolDir)), routes)
	return e
}

// mountPublic registers what needs no key and is not counted.
func mountPublic(e *echo.Echo, checks []telemetry.Check) {
	for path, answer := range map[string]echo.HandlerFunc{
		"/healthz":      func(c echo.Context) error { return c.JSON(http.StatusOK, map[string]string{"status": telemetry.OK}) },
		"/readyz":       func(c echo.Context) error { return answerReadiness(c, checks) },
		"/openapi.yaml": func(c echo.Context) error { return c.Blob(http.StatusOK, "application/yaml", api.Spec) },
	} {
		middleware.Public(e, path, middleware.SecureHeaders(answer))
	}
}

func answerReadiness(c echo.Context, checks []telemetry.Check) error {
	ctx, cancel := context.WithTimeout(c.Request().Context(), telemetry.ReadyTimeout)
	defer cancel()
	found := telemetry.Readiness(ctx, checks)
	if found.Status == telemetry.Unavailable {
		return models.Unavailable(errNotReady, models.NotApplied)
	}
	return c.JSON(http.StatusOK, found)
}

// clientAddress believes X-Forwarded-For only from the proxies that the
// configuration names; Echo's default would believe anybody.
func clientAddress(proxies []netip.Prefix) echo.IPExtractor {
	if len(proxies) == 0 {
		return echo.ExtractIPDirect()
	}
	trust := []echo.TrustOption{echo.TrustLoopback(false), echo.TrustLinkLocal(false), echo.TrustPrivateNet(false)}
	for _, prefix := range proxies {
		trust = append(trust, echo.TrustIPRange(&net.IPNet{
			IP: prefix.Masked().Addr().AsSlice(), Mask: net.CIDRMask(prefix.Bits(), prefix.Addr().BitLen()),
		}))
	}
	return echo.ExtractIPFromXFFHeader(trust...)
}
