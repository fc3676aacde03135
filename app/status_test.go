package app

import (
	"net/http"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/botix-pro/platform/app/models"
)

// Every route answers with every status that its description names, and with no
// other: a request that is granted and one for each code that refuses it.
func TestEveryRouteAnswersWithEveryStatus(t *testing.T) {
	t.Parallel()
	s := newSites(t)
	t.Run("public", func(t *testing.T) { t.Parallel(); requirePublic(t, s) })
	for _, route := range routeCases() {
		for _, grant := range route.grants {
			t.Run(route.route+" "+strconv.Itoa(grant.status), func(t *testing.T) {
				t.Parallel()
				got := s.whole.do(t, route.request(t, s.whole, grant))
				require.Equal(t, grant.status, got.status, "%s", got.body)
				requireAnnounced(t, got)
			})
		}
		for _, code := range route.refuses {
			t.Run(route.route+" "+string(code), func(t *testing.T) {
				t.Parallel()
				got := s.refusal(t, route, code)
				require.Equal(t, code, got.code(t), "%s", got.body)
				requireRefusal(t, got)
				if route.reads() {
					requireSameHead(t, s, route, code, got)
				}
			})
		}
	}
}

// requirePublic asks what needs no key and is not counted, of a server that works
// and of one without its database.
func requirePublic(t *testing.T, s *sites) {
	t.Helper()
	for _, path := range []string{"/healthz", "/readyz", "/openapi.yaml"} {
		for _, method := range []string{http.MethodGet, http.MethodHead} {
			c := call{method: method, path: path, key: "-"}
			got, without := s.whole.do(t, c), s.dead.do(t, c)
			require.Equal(t, http.StatusOK, got.status, path)
			require.Empty(t, got.header.Get("X-RateLimit-Limit"), path)
			if path != "/readyz" {
				require.Equal(t, http.StatusOK, without.status, path)
				continue
			}
			require.Equal(t, http.StatusServiceUnavailable, without.status)
			require.Positive(t, number(t, without, "Retry-After"))
		}
		options := s.whole.do(t, call{method: http.MethodOptions, path: path, key: "-"})
		require.Equal(t, []any{http.StatusNoContent, "GET, HEAD, OPTIONS"}, []any{options.status, options.header.Get("Allow")}, path)
		for _, method := range []string{"POST", "PUT", "PATCH", "DELETE", "TRACE", "PROPFIND"} {
			got := s.whole.do(t, call{method: method, path: path, key: "-"})
			require.Equal(t, models.CodeMethodNotAllowed, got.code(t), "%s %s", method, path)
			require.Equal(t, "GET, HEAD, OPTIONS", got.header.Get("Allow"))
			require.Equal(t, "application/problem+json", got.header.Get("Content-Type"))
			require.Empty(t, got.header.Get("X-RateLimit-Limit"), "it is not counted, like the path's own methods")
		}
	}
}

// HEAD is GET without the body, refusals included.
func requireSameHead(t *testing.T, s *sites, r routeCase, code models.Code, want answer) {
	t.Helper()
	r.route = "HEAD " + strings.TrimPrefix(r.route, "GET ")
	got := s.refusal(t, r, code)
	require.Equal(t, want.status, got.status)
	require.Empty(t, got.body)
	requireAnnounced(t, got)
	for name := range want.header {
		require.Contains(t, got.header, name)
	}
}

// requireAnnounced holds an answer against what every one carries (contract §1,
// §4).
func requireAnnounced(t *testing.T, got answer) {
	t.Helper()
	require.Regexp(t, `^req_[0-7][0-9A-HJKMNP-TV-Z]{25}$`, got.header.Get("X-Request-Id"))
	limit, remaining := number(t, got, "X-RateLimit-Limit"), number(t, got, "X-RateLimit-Remaining")
	require.Positive(t, limit)
	require.Less(t, remaining, limit)
	require.Positive(t, number(t, got, "X-RateLimit-Reset"))
	require.Equal(t, `"default";q=`+strconv.Itoa(limit)+`;w=60`, got.header.Get("RateLimit-Policy"))
	require.Regexp(t, `^"default";r=`+strconv.Itoa(remaining)+`;t=[1-9][0-9]?$`, got.header.Get("RateLimit"))
	switch got.status {
	case http.StatusTooManyRequests, http.StatusServiceUnavailable:
		require.Positive(t, number(t, got, "Retry-After"))
	}
}

func number(t *testing.T, got answer, name string) int {
	t.Helper()
	n, err := strconv.Atoi(got.header.Get(name))
	require.NoError(t, err, name)
	return n
}

// requireRefusal holds a problem against its entry in the catalogue.
func requireRefusal(t *testing.T, got answer) {
	t.Helper()
	requireAnnounced(t, got)
	require.Equal(t, "application/problem+json", got.header.Get("Content-Type"))
	problem := got.object(t)
	at := slices.IndexFunc(models.Catalogue(), func(e models.CatalogueEntry) bool { return e.Code == got.code(t) })
	require.NotEqual(t, -1, at, "%s is in the catalogue", got.code(t))
	entry := models.Catalogue()[at]
	require.Equal(t, entry.Status, got.status)
	require.Equal(t, entry.Retryable, problem["retryable"])
	require.EqualValues(t, entry.Outcome, problem["outcome"])
	require.Equal(t, entry.Title, problem["title"])
	require.Equal(t, got.header.Get("X-Request-Id"), problem["request_id"])
	require.Empty(t, got.header.Get("Idempotent-Replayed"))
	if entry.Code == models.CodeIdempotencyKeyRunning {
		require.Equal(t, "5", got.header.Get("Retry-After"))
	}
}

// A status that the description names has a case, a case's status is described,
// and so is each code where it is answered; nobody can add one without the other.
func TestEveryDescribedStatusHasACaseAndTheOtherWayRound(t *testing.T) {
	t.Parallel()
	document := description(t)
	var described, tried []string
	for path, item := range document.Paths.Map() {
		for method, operation := range item.Operations() {
			if operation.Security != nil {
				continue // public
			}
			for status := range operation.Responses.Map() {
				described = append(described, method+" "+path+" "+status)
			}
		}
	}
	for _, route := range routeCases() {
		_, path, _ := strings.Cut(route.route, " ")
		operation := document.Paths.Value(path).GetOperation(route.method())
		for _, grant := range route.grants {
			tried = append(tried, route.route+" "+strconv.Itoa(grant.status))
		}
		for _, code := range route.refuses {
			status := strconv.Itoa((&models.Error{Code: code}).Status())
			tried = append(tried, route.route+" "+status)
			response := operation.Responses.Value(status)
			require.NotNil(t, response, "%s %s", route.route, status)
			require.NotEmpty(t, response.Ref, "%s %s is a shared component", route.route, status)
			require.Contains(t, response.Value.Content["application/problem+json"].Examples, string(code), route.route)
		}
	}
	slices.Sort(described)
	slices.Sort(tried)
	require.Equal(t, described, slices.Compact(tried))
}

// Each path answers OPTIONS with its methods and refuses all others with 405,
// whether or not the request has a key.
func TestEveryPathSaysWhichMethodsItHas(t *testing.T) {
	t.Parallel()
	h := newHarness(t, loopback)
	methods := map[string][]string{}
	for _, route := range routeCases() {
		methods[route.absent()] = append(methods[route.absent()], route.method())
		if route.reads() {
			methods[route.absent()] = append(methods[route.absent()], http.MethodHead)
		}
	}
	for path, has := range methods {
		has = append(has, http.MethodOptions)
		slices.Sort(has)
		for _, key := range []string{"", "-"} {
			got := h.do(t, call{method: http.MethodOptions, path: path, key: key})
			require.Equal(t, http.StatusNoContent, got.status)
			require.Equal(t, strings.Join(has, ", "), got.header.Get("Allow"), path)
			requireAnnounced(t, got)
			for _, method := range []string{"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "TRACE", "PROPFIND"} {
				if slices.Contains(has, method) {
					continue
				}
				got := h.do(t, call{method: method, path: path, key: key})
				require.Equal(t, http.StatusMethodNotAllowed, got.status, "%s %s: %s", method, path, got.body)
				require.Equal(t, strings.Join(has, ", "), got.header.Get("Allow"), path)
				if requireAnnounced(t, got); method != http.MethodHead {
					requireRefusal(t, got)
				}
			}
		}
	}
}

// What a caller sent too long comes back cut: an answer stays within the bounds
// that its description gives, whatever was refused.
func TestRefusalsStayShort(t *testing.T) {
	t.Parallel()
	h := newHarness(t)
	long := strings.Repeat("é", 100_000)
	for name, c := range map[string]call{
		"unknown field":  post(`{"` + long + `":1}`),
		"nested name":    post(`{"identities":{"` + long + `":"x"}}`),
		"name twice":     post(`{"attributes":{"` + long + `":1,"` + long + `":2}}`),
		"wrong type":     post(`{"identities":{"` + long + `":1}}`),
		"broken deep in": post(`{"attributes":{"` + long + `":{"x":tru}}}`),
		"parameter":      {method: http.MethodGet, path: "/contacts?" + long[:10_000] + "=1"},
		"version":        with(post(`{}`), func(c *call) { c.header = map[string]string{"X-BOTIX-Version": long[:10_000]} }),
		"encoding":       with(post(`{}`), func(c *call) { c.header = map[string]string{"Content-Encoding": long[:10_000]} }),
		"event type":     {method: http.MethodPost, path: "/events", body: `{"type":"` + long + `"}`},
	} {
		got := h.do(t, c)
		require.Less(t, got.status, http.StatusInternalServerError, name)
		require.Less(t, len(got.body), 5000, name)
	}
}

// So does what is shown of an operation.
func TestShownPathOfAnOperationStaysShort(t *testing.T) {
	t.Parallel()
	h := newHarness(t)
	c := call{method: http.MethodPost, path: "/contacts?" + strings.Repeat("x", 20_000), body: `{}`, idempotency: "k"}
	require.Equal(t, http.StatusCreated, h.do(t, c).status)
	require.Less(t, len(h.get(t, "/idempotency-keys/k").body), 10_000)
	c.path += "y"
	require.Equal(t, models.CodeIdempotencyKeyReuse, h.do(t, c).code(t), "all of it makes the operation what it is")
}
