package middleware

import (
	"net/http"
	"slices"
	"strings"

	"github.com/labstack/echo/v4"

	"github.com/botix-pro/platform/app/models"
)

// Mount registers the routes behind authentication. A path's other methods
// answer 405 with Allow, OPTIONS answers 204 with Allow, GET brings HEAD, and a
// path that nobody registered answers 404: all of them with the limit's headers.
func Mount(e *echo.Echo, auth *Auth, endpoints *Endpoints, routes []Route) {
	allowed := map[string][]string{}
	for _, route := range routes {
		handler := endpoints.Handler(route)
		for _, method := range methodsOf(route) {
			e.Add(method, route.Path, handler, SecureHeaders, auth.PublicAPI, RequireScope(route.Scope))
			allowed[route.Path] = append(allowed[route.Path], method)
		}
	}
	for path, methods := range allowed {
		mountOthers(e, auth, path, append(methods, http.MethodOptions))
	}
	e.RouteNotFound("/*", notFound, SecureHeaders, auth.Unmatched)
}

func methodsOf(route Route) []string {
	if route.Method == http.MethodGet {
		return []string{http.MethodGet, http.MethodHead}
	}
	return []string{route.Method}
}

// mountOthers answers the methods that a path does not have.
func mountOthers(e *echo.Echo, auth *Auth, path string, allowed []string) {
	slices.Sort(allowed)
	refuse := func(echo.Context) error {
		err := models.NewError(models.CodeMethodNotAllowed, "This path answers %s.", strings.Join(allowed, ", "))
		err.Allow = allowed
		return err
	}
	e.OPTIONS(path, func(c echo.Context) error {
		c.Response().Header().Set(echo.HeaderAllow, strings.Join(allowed, ", "))
		return c.NoContent(http.StatusNoContent)
	}, SecureHeaders, auth.Unmatched)
	for _, method := range []string{
		http.MethodGet, http.MethodHead, http.MethodPost, http.MethodPut, http.MethodPatch, http.MethodDelete,
		http.MethodTrace, http.MethodConnect,
	} {
		if !slices.Contains(allowed, method) {
			e.Add(method, path, refuse, SecureHeaders, auth.Unmatched)
		}
	}
}

func notFound(echo.Context) error { return echo.ErrNotFound }
