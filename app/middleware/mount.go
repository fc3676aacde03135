package middleware

import (
	"net/http"
	"slices"
	"strings"

	"github.com/labstack/echo/v4"

	"github.com/botix-pro/platform/app/models"
)

// Mount registers the routes behind authentication. GET brings HEAD, every path
// answers OPTIONS with 204 and Allow, its other methods answer 405 with Allow,
// and a path that nobody registered answers 404: all of them with the limit's
// headers.
func Mount(e *echo.Echo, auth *Auth, endpoints *Endpoints, routes []Route) {
	known := allowed{}
	unmatched := auth.Unmatched(known.refuse)
	for _, route := range routes {
		handler := endpoints.Handler(route)
		for _, method := range methodsOf(route) {
			e.Add(method, route.Path, handler, SecureHeaders, segments(unmatched), auth.PublicAPI, RequireScope(route.Scope))
			known[route.Path] = append(known[route.Path], method)
		}
	}
	for path := range known {
		known[path] = append(known[path], http.MethodOptions)
		slices.Sort(known[path])
		e.OPTIONS(path, options(known[path]), SecureHeaders, segments(unmatched), auth.Unmatched)
		known.shadow(e, path, unmatched)
	}
	e.RouteNotFound("/*", unmatched, SecureHeaders)
}

// Public registers a path that needs no key and is not counted, for GET and
// HEAD. It answers OPTIONS with its methods and refuses all others with 405.
func Public(e *echo.Echo, path string, answer echo.HandlerFunc) {
	methods := []string{http.MethodGet, http.MethodHead, http.MethodOptions}
	e.Any(path, func(echo.Context) error { return models.MethodNotAllowed(methods...) }, SecureHeaders)
	e.GET(path, answer)
	e.HEAD(path, answer)
	e.OPTIONS(path, options(methods), SecureHeaders)
}

// segments hands paths with more segments than their route has to unmatched:
// Echo lets the last parameter of a route swallow them.
func segments(unmatched echo.HandlerFunc) echo.MiddlewareFunc {
	return func(next echo.HandlerFunc) echo.HandlerFunc {
		return func(c echo.Context) error {
			for _, value := range c.ParamValues() {
				if strings.Contains(value, "/") { // a slash in a value comes as %2F
					return unmatched(c)
				}
			}
			return next(c)
		}
	}
}

func methodsOf(route Route) []string {
	if route.Method == http.MethodGet {
		return []string{http.MethodGet, http.MethodHead}
	}
	return []string{route.Method}
}

func options(methods []string) echo.HandlerFunc {
	return func(c echo.Context) error {
		c.Response().Header().Set(echo.HeaderAllow, strings.Join(methods, ", "))
		return c.NoContent(http.StatusNoContent)
	}
}

// allowed is the methods of each path, by its template.
type allowed map[string][]string

// shadow keeps a path that is written out from being taken for the id in another
// one, by the methods that only the other has.
func (a allowed) shadow(e *echo.Echo, path string, unmatched echo.HandlerFunc) {
	if strings.Contains(path, ":") {
		return
	}
	for _, method := range []string{http.MethodGet, http.MethodHead, http.MethodPost, http.MethodPut, http.MethodPatch, http.MethodDelete} {
		if !slices.Contains(a[path], method) {
			e.Add(method, path, unmatched, SecureHeaders)
		}
	}
}

// refuse answers what no route matches: 405 when the path exists with another
// method, unheard-of ones included, else 404.
func (a allowed) refuse(c echo.Context) error {
	path := c.Request().URL.EscapedPath()
	for template, methods := range a {
		if _, exact := a[path]; template == path || (!exact && matches(template, path)) {
			return models.MethodNotAllowed(methods...)
		}
	}
	return echo.ErrNotFound
}

// matches reports whether a path has the template's form.
func matches(template, path string) bool {
	want, got := strings.Split(template, "/"), strings.Split(path, "/")
	return slices.EqualFunc(want, got, func(want, got string) bool {
		return want == got || (strings.HasPrefix(want, ":") && got != "")
	})
}
