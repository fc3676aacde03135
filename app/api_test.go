package app

import (
	"net/http"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/botix-pro/platform/api"
	"github.com/botix-pro/platform/app/models"
	"github.com/botix-pro/platform/internal/config"
)

func TestCreatedContactReadsBackAsItWasAnswered(t *testing.T) {
	t.Parallel()
	h := newHarness(t)
	created := h.do(t, call{method: http.MethodPost, path: "/contacts", body: `{
		"external_id": "crm-1", "name": "Ada <Lovelace>", "email": "ada@example.com", "phone": "+442071234567",
		"identities": {"telegram": "12345"}, "tags": ["vip", "beta"], "attributes": {"z": 1.50, "a": [1e2, null]}}`})
	require.Equal(t, http.StatusCreated, created.status, "%s", created.body)
	require.Contains(t, string(created.body), `"attributes":{"z":1.50,"a":[1e2,null]}`, "what was given is given back, digit for digit")

	read := h.do(t, call{method: http.MethodGet, path: created.header.Get("Location")})
	require.Equal(t, http.StatusOK, read.status)
	require.Equal(t, string(created.body), string(read.body))
	require.Equal(t, created.header.Get("ETag"), read.header.Get("ETag"))

	head := h.do(t, call{method: http.MethodHead, path: created.header.Get("Location")})
	require.Equal(t, http.StatusOK, head.status)
	require.Empty(t, head.body)
}

func TestRepeatedPostAnswersTheSameBytes(t *testing.T) {
	t.Parallel()
	h := newHarness(t)
	post := call{method: http.MethodPost, path: "/contacts", body: `{"name":"Ada"}`, idempotency: "k"}
	first := h.do(t, post)
	require.Equal(t, http.StatusCreated, first.status)
	require.Empty(t, first.header.Get("Idempotent-Replayed"))
	require.Len(t, h.hinted, 1)

	post.idempotency = `"k"` // the quoted form is the same key
	again := h.do(t, post)
	require.Equal(t, http.StatusCreated, again.status)
	require.Equal(t, first.body, again.body)
	for _, name := range []string{"Location", "ETag", "Content-Type"} {
		require.Equal(t, first.header.Get(name), again.header.Get(name), name)
	}
	require.Equal(t, "true", again.header.Get("Idempotent-Replayed"))
	require.Equal(t, first.header.Get("X-Request-Id"), again.header.Get("X-Original-Request-Id"))
	require.NotEqual(t, first.header.Get("X-Request-Id"), again.header.Get("X-Request-Id"))
	require.Len(t, h.hinted, 1, "a replay causes nothing")
}

func TestFiftyCopiesOfOneRequestMakeOneContact(t *testing.T) {
	t.Parallel()
	h := newHarness(t)
	var wg sync.WaitGroup
	answers := make(chan answer, 50)
	for range 50 {
		wg.Go(func() {
			answers <- h.do(t, call{method: http.MethodPost, path: "/contacts", body: `{"name":"Ada"}`, idempotency: "k"})
		})
	}
	wg.Wait()
	close(answers)
	created := 0
	for a := range answers {
		switch a.status {
		case http.StatusConflict:
			require.Equal(t, models.CodeIdempotencyKeyRunning, a.code(t))
			require.Equal(t, "5", a.header.Get("Retry-After"))
		default:
			require.Equal(t, http.StatusCreated, a.status)
			if a.header.Get("Idempotent-Replayed") == "" {
				created++
			}
		}
	}
	require.Equal(t, 1, created)
	list := h.do(t, call{method: http.MethodGet, path: "/contacts"}).object(t)
	require.Len(t, list["data"], 1)
	require.Len(t, h.hinted, 1)
}

func TestTwoKeysWithEqualBodiesMakeTwoContacts(t *testing.T) {
	t.Parallel()
	h := newHarness(t)
	for range 2 {
		made := h.do(t, call{method: http.MethodPost, path: "/contacts", body: `{"email":"ada@example.com"}`})
		require.Equal(t, http.StatusCreated, made.status)
	}
}

func post(body string) call { return call{method: http.MethodPost, path: "/contacts", body: body} }

func with(c call, change func(*call)) call { change(&c); return c }

// Each kind of bad input is refused with its own code, and leaves nothing.
func TestBadInputIsRefusedWithItsCode(t *testing.T) {
	t.Parallel()
	h := newHarness(t)
	_, reader := h.newProject(t, "business", models.ScopeRead)
	mistyped := h.key[:len(h.key)-1] + "!"
	unknown, err := models.NewAPIKeySecret(models.ModeLive)
	require.NoError(t, err)
	ok := post(`{"name":"Ada"}`)
	tests := map[string]struct {
		call    call
		status  int
		code    models.Code
		pointer string
	}{
		"no API key":            {with(ok, func(c *call) { c.key = "-" }), 401, models.CodeAPIKeyMissing, ""},
		"mistyped API key":      {with(ok, func(c *call) { c.key = mistyped }), 401, models.CodeAPIKeyInvalid, ""},
		"unknown API key":       {with(ok, func(c *call) { c.key = unknown }), 401, models.CodeAPIKeyInvalid, ""},
		"basic authentication":  {with(ok, func(c *call) { c.header = map[string]string{"Authorization": "Basic YTpi"} }), 401, models.CodeAPIKeyInvalid, ""},
		"read-only key":         {with(ok, func(c *call) { c.key = reader }), 403, models.CodeScopeInsufficient, ""},
		"no idempotency key":    {with(ok, func(c *call) { c.idempotency = "-" }), 400, models.CodeIdempotencyKeyRequired, ""},
		"bad idempotency key":   {with(ok, func(c *call) { c.idempotency = "a b" }), 400, models.CodeIdempotencyKeyInvalid, ""},
		"long idempotency key":  {with(ok, func(c *call) { c.idempotency = strings.Repeat("k", 256) }), 400, models.CodeIdempotencyKeyInvalid, ""},
		"2 MiB":                 {post(`{"name":"` + strings.Repeat("a", 2<<20) + `"}`), 413, models.CodePayloadTooLarge, ""},
		"no body":               {with(post(""), func(c *call) { c.header = map[string]string{"Content-Type": "application/json"} }), 400, models.CodeMalformedJSON, ""},
		"broken JSON":           {post(`{"name":`), 400, models.CodeMalformedJSON, "/name"},
		"two values":            {post(`{} {}`), 400, models.CodeMalformedJSON, ""},
		"a name twice":          {post(`{"name":"a","name":"b"}`), 400, models.CodeMalformedJSON, "/name"},
		"a nested name twice":   {post(`{"attributes":{"a":1,"a":2}}`), 400, models.CodeMalformedJSON, "/attributes/a"},
		"NUL":                   {post(`{"name":"a\u0000b"}`), 400, models.CodeMalformedJSON, "/name"},
		"NUL in a name":         {post(`{"attributes":{"a\u0000":1}}`), 400, models.CodeMalformedJSON, ""},
		"lone surrogate":        {post(`{"name":"\ud800"}`), 400, models.CodeMalformedJSON, "/name"},
		"invalid UTF-8":         {post("{\"name\":\"\xff\"}"), 400, models.CodeMalformedJSON, "/name"},
		"an array":              {post(`[]`), 422, models.CodeValidationFailed, ""},
		"null":                  {post(`null`), 422, models.CodeValidationFailed, ""},
		"unknown field":         {post(`{"nam":"Ada"}`), 422, models.CodeValidationFailed, "/nam"},
		"wrong type":            {post(`{"name":7}`), 422, models.CodeValidationFailed, "/name"},
		"not an address":        {post(`{"email":"Ada <ada@example.com>"}`), 422, models.CodeValidationFailed, "/email"},
		"not E.164":             {post(`{"phone":"020 7123"}`), 422, models.CodeValidationFailed, "/phone"},
		"a tag twice":           {post(`{"tags":["a","a"]}`), 422, models.CodeValidationFailed, "/tags/1"},
		"attributes no object":  {post(`{"attributes":[1]}`), 422, models.CodeValidationFailed, "/attributes"},
		"large attributes":      {post(`{"attributes":{"a":"` + strings.Repeat("x", 17<<10) + `"}}`), 422, models.CodeValidationFailed, "/attributes"},
		"not JSON":              {with(ok, func(c *call) { c.header = map[string]string{"Content-Type": "text/plain"} }), 415, models.CodeUnsupportedMediaType, ""},
		"compressed":            {with(ok, func(c *call) { c.header = map[string]string{"Content-Encoding": "gzip"} }), 415, models.CodeUnsupportedMediaType, ""},
		"unknown version":       {with(ok, func(c *call) { c.header = map[string]string{"X-BOTIX-Version": "1999-01-01"} }), 400, models.CodeInvalidRequest, ""},
		"unknown path":          {call{method: http.MethodGet, path: "/nothing"}, 404, models.CodeNotFound, ""},
		"unknown path, no key":  {call{method: http.MethodGet, path: "/nothing", key: "-"}, 404, models.CodeNotFound, ""},
		"unknown contact":       {call{method: http.MethodGet, path: "/contacts/ctc_01ARZ3NDEKTSV4RRFFQ69G5FAV"}, 404, models.CodeNotFound, ""},
		"not an id":             {call{method: http.MethodGet, path: "/contacts/1%20OR%201=1"}, 404, models.CodeNotFound, ""},
		"wrong method":          {call{method: http.MethodDelete, path: "/contacts"}, 405, models.CodeMethodNotAllowed, ""},
		"unheard-of method":     {call{method: "PROPFIND", path: "/contacts"}, 405, models.CodeMethodNotAllowed, ""},
		"NUL in the path":       {call{method: http.MethodPut, path: "/contacts/by-external-id/a%00", body: `{}`}, 400, models.CodeInvalidRequest, ""},
		"invalid UTF-8 in path": {call{method: http.MethodPut, path: "/contacts/by-external-id/%ff", body: `{}`}, 400, models.CodeInvalidRequest, ""},
		"NUL in the query":      {call{method: http.MethodGet, path: "/contacts?tag=%00"}, 400, models.CodeInvalidRequest, ""},
		"invalid UTF-8 filter":  {call{method: http.MethodGet, path: "/contacts?email=%ff"}, 400, models.CodeInvalidRequest, ""},
		"broken escape":         {call{method: http.MethodGet, path: "/contacts?email=%zz"}, 400, models.CodeInvalidRequest, ""},
		"semicolon":             {call{method: http.MethodGet, path: "/contacts?limit=1;email=x"}, 400, models.CodeInvalidRequest, ""},
		"invalid UTF-8 name":    {call{method: http.MethodGet, path: "/contacts?%ff=1"}, 400, models.CodeInvalidRequest, ""},
		"thousands of tags":     {post(`{"tags":["` + strings.Repeat(`","`, 100_000) + `"]}`), 422, models.CodeValidationFailed, "/tags"},
		"nested too deep":       {post(`{"attributes":{"a":` + strings.Repeat("[", 5000) + strings.Repeat("]", 5000) + `}}`), 422, models.CodeValidationFailed, "/attributes"},
		"bad limit":             {call{method: http.MethodGet, path: "/contacts?limit=101"}, 400, models.CodeInvalidRequest, "?limit"},
		"bad cursor":            {call{method: http.MethodGet, path: "/contacts?cursor=x"}, 400, models.CodeInvalidRequest, "?cursor"},
		"unknown parameter":     {call{method: http.MethodGet, path: "/contacts?mail=a"}, 400, models.CodeInvalidRequest, "?mail"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := h.do(t, test.call)
			require.Equal(t, test.status, got.status, "%s", got.body)
			require.Equal(t, test.code, got.code(t))
			requireProblem(t, got)
			require.Less(t, len(got.body), 20_000, "a refusal is short, whatever was refused")
			if test.pointer != "" {
				errors := got.object(t)["errors"].([]any)
				require.Equal(t, test.pointer, errors[0].(map[string]any)["pointer"])
			}
		})
	}
	t.Run("nothing is left", func(t *testing.T) {
		list := h.do(t, call{method: http.MethodGet, path: "/contacts"}).object(t)
		require.Empty(t, list["data"])
	})
}

// requireProblem holds an error against the contract's §2 and §4.
func requireProblem(t *testing.T, got answer) {
	t.Helper()
	require.Equal(t, "application/problem+json", got.header.Get("Content-Type"))
	object := got.object(t)
	require.Equal(t, "https://api.example.com/docs/error-codes#"+object["code"].(string), object["type"])
	require.EqualValues(t, got.status, object["status"])
	require.Equal(t, got.header.Get("X-Request-Id"), object["request_id"])
	require.Equal(t, "not_applied", object["outcome"])
	for _, name := range []string{"X-RateLimit-Limit", "X-RateLimit-Remaining", "X-RateLimit-Reset", "RateLimit-Policy", "RateLimit"} {
		require.NotEmpty(t, got.header.Get(name), name)
	}
	if got.status == http.StatusMethodNotAllowed {
		require.Equal(t, "GET, HEAD, OPTIONS, POST", got.header.Get("Allow"))
	}
}

func TestContactsOfOtherProjectsDoNotExist(t *testing.T) {
	t.Parallel()
	h := newHarness(t)
	_, stranger := h.newProject(t, "business")
	made := h.do(t, call{method: http.MethodPost, path: "/contacts", body: `{"name":"Ada"}`})
	read := h.do(t, call{method: http.MethodGet, path: made.header.Get("Location"), key: stranger})
	require.Equal(t, http.StatusNotFound, read.status)
	list := h.do(t, call{method: http.MethodGet, path: "/contacts", key: stranger})
	require.Empty(t, list.object(t)["data"])
}

// A parameter is one segment of the path: what has more is another path, and a
// slash in a value is written as %2F.
func TestParameterIsOneSegment(t *testing.T) {
	t.Parallel()
	h := newHarness(t)
	made := h.do(t, call{method: http.MethodPut, path: "/contacts/by-external-id/a%2Fb", body: `{}`})
	require.Equal(t, "a/b", made.object(t)["external_id"])
	for _, c := range []call{
		{method: http.MethodPut, path: "/contacts/by-external-id/a/b", body: `{"name":"Ada"}`},
		{method: http.MethodGet, path: made.header.Get("Location") + "/"},
		{method: http.MethodDelete, path: made.header.Get("Location") + "/x", idempotency: "k"},
		{method: http.MethodOptions, path: "/contacts/a/b"},
	} {
		got := h.do(t, c)
		require.Equal(t, models.CodeNotFound, got.code(t), "%s %s", c.method, c.path)
		require.Contains(t, got.object(t)["detail"], "no such path")
	}
	require.Equal(t, models.CodeNotFound, h.get(t, "/idempotency-keys/k").code(t), "no operation has begun")
	require.Equal(t, made.body, h.get(t, made.header.Get("Location")).body)
}

func TestListIsPagedNewestFirst(t *testing.T) {
	t.Parallel()
	h := newHarness(t)
	var made []string
	for range 5 {
		made = append([]string{h.do(t, call{method: http.MethodPost, path: "/contacts", body: `{}`}).object(t)["id"].(string)}, made...)
	}
	var seen []string
	for cursor := ""; ; {
		page := h.do(t, call{method: http.MethodGet, path: "/contacts?limit=2&cursor=" + cursor}).object(t)
		for _, row := range page["data"].([]any) {
			seen = append(seen, row.(map[string]any)["id"].(string))
		}
		if page["next_cursor"] == nil {
			break
		}
		cursor = page["next_cursor"].(string)
	}
	require.ElementsMatch(t, made, seen, "every contact once")
	require.IsDecreasing(t, seen)
}

func TestLimitIsThePlansAndRefusalsDoNotCount(t *testing.T) {
	t.Parallel()
	h := newHarness(t)
	_, trial := h.newProject(t, "trial")
	passed, refused := 0, 0
	for range 70 { // two windows at most, so the limit is reached wherever the minute turns
		got := h.do(t, call{method: http.MethodGet, path: "/contacts", key: trial})
		require.Equal(t, "30", got.header.Get("X-RateLimit-Limit"))
		if got.status == http.StatusTooManyRequests {
			requireProblem(t, got)
			require.NotEmpty(t, got.header.Get("Retry-After"))
			require.Equal(t, "0", got.header.Get("X-RateLimit-Remaining"))
			refused++
			continue
		}
		require.Equal(t, http.StatusOK, got.status)
		passed++
	}
	require.GreaterOrEqual(t, passed, 30)
	require.LessOrEqual(t, passed, 60)
	require.Equal(t, 70, passed+refused)
}

func TestStrangersAreLimitedByAddress(t *testing.T) {
	t.Parallel()
	h := newHarness(t, func(c *config.Config) { c.UnauthenticatedRate = 3 })
	statuses := map[int]int{}
	for range 8 {
		statuses[h.do(t, call{method: http.MethodGet, path: "/contacts", key: "-", header: map[string]string{"X-Forwarded-For": models.NewID("", h.base.clock.Now())}}).status]++
	}
	require.NotZero(t, statuses[http.StatusTooManyRequests], "a forged X-Forwarded-For does not help")
	require.Equal(t, http.StatusOK, h.do(t, call{method: http.MethodGet, path: "/contacts"}).status, "a valid key is not a stranger")
}

func TestEveryErrorCodeHasItsEntryInTheDescription(t *testing.T) {
	t.Parallel()
	for _, entry := range models.Catalogue() {
		require.Contains(t, string(api.Spec), string(entry.Code))
		require.NotEmpty(t, entry.Title)
		require.NotEmpty(t, entry.When)
		require.NotEmpty(t, entry.Caller)
	}
}

// A request may name every version of the changelog, and learns where they are
// when it names another.
func TestVersionsAreThoseOfTheChangelog(t *testing.T) {
	t.Parallel()
	document := description(t)
	require.Equal(t, models.CurrentAPIVersion, document.Info.Version)
	require.Contains(t, document.Info.Description, "/docs/changelog")
	h := newHarness(t)
	for _, version := range models.APIVersions() {
		got := h.do(t, call{method: http.MethodGet, path: "/me", header: map[string]string{"X-BOTIX-Version": version}})
		require.Equal(t, http.StatusOK, got.status, version)
	}
	unknown := h.do(t, call{method: http.MethodGet, path: "/me", header: map[string]string{"X-BOTIX-Version": "2026-12-02"}})
	require.Equal(t, models.CodeInvalidRequest, unknown.code(t))
	require.Contains(t, unknown.object(t)["detail"], "/docs/changelog")
}
