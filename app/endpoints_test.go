package app

import (
	"net/http"
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/botix-pro/platform/app/models"
	"github.com/botix-pro/platform/app/webhooks"
	"github.com/botix-pro/platform/internal/config"
)

// loopback opens 127.0.0.1 for the endpoints of a test: names need no DNS then.
func loopback(c *config.Config) { c.EgressAllow = []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")} }

func (h *harness) post(t *testing.T, path, body string) answer {
	t.Helper()
	return h.do(t, call{method: http.MethodPost, path: path, body: body})
}

func (h *harness) get(t *testing.T, path string) answer {
	t.Helper()
	return h.do(t, call{method: http.MethodGet, path: path})
}

const endpointBody = `{"url":"http://127.0.0.1:9/hook","event_types":["contact.*"],"headers":{"X-Token":"hunter2"},"description":"CRM"}`

func TestEndpointShowsItsSecretOnceAndToARepeat(t *testing.T) {
	t.Parallel()
	h := newHarness(t, loopback)
	create := call{method: http.MethodPost, path: "/webhook-endpoints", body: endpointBody, idempotency: "k"}
	made := h.do(t, create)
	require.Equal(t, http.StatusCreated, made.status, "%s", made.body)
	secret := made.object(t)["secret"].(string)
	_, err := webhooks.ParseSecret(secret)
	require.NoError(t, err)
	require.Equal(t, made.body, h.do(t, create).body, "a repeat of the same request shows it again")

	path := made.header.Get("Location")
	read := h.get(t, path)
	require.NotContains(t, string(read.body), "whsec_")
	require.NotContains(t, string(read.body), "hunter2")
	require.Equal(t, map[string]any{"X-Token": "***"}, read.object(t)["headers"])

	status := h.get(t, "/idempotency-keys/k")
	require.Contains(t, string(status.body), `"secret":"***"`)
	var inRows string
	require.NoError(t, h.base.store.DB().QueryRowContext(t.Context(), `
		SELECT concat(encode(k.body, 'escape'), encode(e.secrets, 'escape'), encode(e.headers, 'escape'))
		FROM idempotency_keys k, webhook_endpoints e WHERE k.project_id = $1 AND e.project_id = $1 AND k.key = 'k' LIMIT 1`, string(h.project)).Scan(&inRows))
	require.NotContains(t, inRows, secret, "encrypted at rest")
	require.NotContains(t, inRows, "hunter2")
}

func TestEndpointIsChangedPausedResumedRotatedDeleted(t *testing.T) {
	t.Parallel()
	h := newHarness(t, loopback)
	path := h.post(t, "/webhook-endpoints", endpointBody).header.Get("Location")
	patched := h.do(t, call{method: http.MethodPatch, path: path, body: `{"headers":{"X-Token":null,"X-Other":"1"},"max_in_flight":3,"rate_per_second":5,"description":null}`})
	require.Equal(t, http.StatusOK, patched.status, "%s", patched.body)
	require.Equal(t, map[string]any{"X-Other": "***"}, patched.object(t)["headers"])
	require.EqualValues(t, 3, patched.object(t)["max_in_flight"])
	require.Equal(t, "", patched.object(t)["description"])
	require.Equal(t, models.CodePreconditionFailed, h.do(t, call{
		method: http.MethodPatch, path: path, body: `{"max_in_flight":4}`, header: map[string]string{"If-Match": `"1"`},
	}).code(t))

	require.Equal(t, "paused", h.post(t, path+"/pause", "").object(t)["status"])
	require.Equal(t, "paused", h.post(t, path+"/pause", "").object(t)["status"])
	require.Equal(t, "active", h.post(t, path+"/resume", `{"held":"keep"}`).object(t)["status"])

	rotated := h.post(t, path+"/rotate-secret", `{"overlap_hours":1}`)
	require.NotNil(t, rotated.object(t)["previous_secret_expires_at"])
	leak := h.post(t, path+"/rotate-secret", `{"overlap_hours":0}`)
	require.Nil(t, leak.object(t)["previous_secret_expires_at"])
	require.NotEqual(t, rotated.object(t)["secret"], leak.object(t)["secret"])

	require.Equal(t, http.StatusNoContent, h.do(t, call{method: http.MethodDelete, path: path}).status)
	require.Equal(t, http.StatusNotFound, h.get(t, path).status)
	require.Equal(t, http.StatusNotFound, h.post(t, path+"/resume", "").status)
}

// Events of a paused endpoint are held; resuming says what becomes of them.
func TestResumeDecidesAboutHeldDeliveries(t *testing.T) {
	t.Parallel()
	for held, want := range map[string]string{"deliver": "pending", "keep": "held", "discard": "cancelled"} {
		t.Run(held, func(t *testing.T) {
			t.Parallel()
			h := newHarness(t, loopback)
			path := h.post(t, "/webhook-endpoints", `{"url":"http://127.0.0.1:9/","event_types":["order.*"]}`).header.Get("Location")
			require.Equal(t, http.StatusCreated, h.post(t, "/events", `{"type":"order.paid"}`).status)
			_, err := h.base.store.DB().ExecContext(t.Context(),
				`UPDATE webhook_deliveries SET status = 'held', next_attempt_at = NULL WHERE project_id = $1`, string(h.project))
			require.NoError(t, err)
			require.Equal(t, http.StatusOK, h.post(t, path+"/resume", `{"held":"`+held+`"}`).status)
			list := h.get(t, "/webhook-deliveries?endpoint_id="+strings.TrimPrefix(path, "/webhook-endpoints/")).object(t)["data"].([]any)
			require.Len(t, list, 1)
			require.Equal(t, want, list[0].(map[string]any)["status"])
		})
	}
}

func TestBadEndpointsAreRefusedWithTheReason(t *testing.T) {
	t.Parallel()
	h := newHarness(t)
	for body, pointer := range map[string]string{
		`{"url":"http://127.0.0.1/","event_types":["*"]}`:                                        "/url",
		`{"url":"http://169.254.169.254/latest","event_types":["*"]}`:                            "/url",
		`{"url":"http://[::ffff:10.0.0.1]/","event_types":["*"]}`:                                "/url",
		`{"url":"ftp://example.com/","event_types":["*"]}`:                                       "/url",
		`{"url":"/relative","event_types":["*"]}`:                                                "/url",
		`{"url":"https://user:pw@example.com/","event_types":["*"]}`:                             "/url",
		`{"url":"https://93.184.216.34/","event_types":[]}`:                                      "/event_types",
		`{"url":"https://93.184.216.34/","event_types":["Contact"]}`:                             "/event_types/0",
		`{"url":"https://93.184.216.34/","event_types":["contact"]}`:                             "/event_types/0",
		`{"url":"https://93.184.216.34/","event_types":["*"],"headers":{"X-Event-Id":"forged"}}`: "/headers/X-Event-Id",
		`{"url":"https://93.184.216.34/","event_types":["*"],"headers":{"X-A":"a\r\nX-B: b"}}`:   "/headers/X-A",
		`{"url":"https://93.184.216.34/","event_types":["*"],"headers":{"X-A":null}}`:            "/headers/X-A",
		`{"url":"https://93.184.216.34/","event_types":["*"],"max_in_flight":101}`:               "/max_in_flight",
	} {
		refused := h.post(t, "/webhook-endpoints", body)
		require.Equal(t, models.CodeValidationFailed, refused.code(t), body)
		require.Equal(t, pointer, refused.object(t)["errors"].([]any)[0].(map[string]any)["pointer"], body)
	}
	require.Equal(t, http.StatusCreated, h.post(t, "/webhook-endpoints", `{"url":"https://93.184.216.34/","event_types":["*"]}`).status)
	unresolved := h.post(t, "/webhook-endpoints", `{"url":"https://does-not-exist.invalid/","event_types":["*"]}`)
	require.Equal(t, http.StatusCreated, unresolved.status)
	require.NotEmpty(t, unresolved.object(t)["warnings"], "a name that does not resolve is accepted with a warning")
}

func TestOwnEvents(t *testing.T) {
	t.Parallel()
	h := newHarness(t)
	made := h.post(t, "/events", `{"type":"payment.succeeded","data":{"amount":4990.0}}`)
	require.Equal(t, http.StatusCreated, made.status, "%s", made.body)
	require.Equal(t, string(made.body), string(h.get(t, made.header.Get("Location")).body))
	require.Contains(t, string(made.body), `"data":{"amount":4990.0}`)

	large := h.post(t, "/events", `{"type":"file.stored","data":{"text":"`+strings.Repeat("x", 70<<10)+`"}}`)
	require.Equal(t, http.StatusCreated, large.status)
	require.Equal(t, string(large.body), string(h.get(t, large.header.Get("Location")).body), "the full data are kept")
	bodies := h.events(t)
	require.Less(t, len(bodies[1].Body), 1000, "and the webhook carries the ids")

	list := h.get(t, "/events?type=payment.succeeded").object(t)["data"].([]any)
	require.Len(t, list, 1)
	require.Empty(t, h.get(t, "/events?until=2020-01-01T00:00:00Z").object(t)["data"])
	for body, pointer := range map[string]string{
		`{"type":"contact.created"}`: "/type", `{"type":"job.x.y"}`: "/type", `{"type":"payment"}`: "/type", `{"type":"a.b","data":[1]}`: "/data",
	} {
		refused := h.post(t, "/events", body)
		require.Equal(t, models.CodeValidationFailed, refused.code(t), body)
		require.Equal(t, pointer, refused.object(t)["errors"].([]any)[0].(map[string]any)["pointer"])
	}
}

func TestDeliveriesAreListedAndRead(t *testing.T) {
	t.Parallel()
	h := newHarness(t)
	event := h.post(t, "/events", `{"type":"order.paid"}`).object(t)["id"].(string)
	list := h.get(t, "/webhook-deliveries?status=pending&event_id="+event).object(t)["data"].([]any)
	require.Len(t, list, 1)
	id := list[0].(map[string]any)["id"].(string)
	read := h.get(t, "/webhook-deliveries/"+id).object(t)
	require.Equal(t, event, read["event_id"])
	require.Empty(t, read["attempts"])
	require.Equal(t, models.CodeInvalidRequest, h.get(t, "/webhook-deliveries?status=lost").code(t))
}

func TestStatusOfAnOperation(t *testing.T) {
	t.Parallel()
	h := newHarness(t)
	require.Equal(t, models.CodeNotFound, h.get(t, "/idempotency-keys/none").code(t))

	key := `odd/"key"%41`
	made := h.do(t, call{method: http.MethodPost, path: "/contacts", body: `{}`, idempotency: key})
	status := h.get(t, "/idempotency-keys/odd%2F%22key%22%2541").object(t)
	require.Equal(t, "completed", status["status"])
	require.Equal(t, made.header.Get("X-Request-Id"), status["first_request_id"])
	require.Equal(t, made.header.Get("Location"), status["resource"])
	require.Equal(t, made.object(t), status["response"].(map[string]any)["body"])

	attempts := func() []any { return h.get(t, "/idempotency-keys/odd%2F%22key%22%2541").object(t)["attempts"].([]any) }
	require.Len(t, attempts(), 1, "the executing one is known at once")
	replay := h.do(t, call{method: http.MethodPost, path: "/contacts", body: `{}`, idempotency: key})
	conflict := h.do(t, call{method: http.MethodPost, path: "/contacts", body: `{"name":"x"}`, idempotency: key})
	h.notes.requests.Flush(t.Context())
	require.Len(t, attempts(), 3)
	for i, want := range []answer{made, replay, conflict} {
		got := attempts()[i].(map[string]any)
		require.Equal(t, want.header.Get("X-Request-Id"), got["request_id"])
		require.EqualValues(t, want.status, got["status"])
		require.Equal(t, i == 1, got["replayed"])
	}
	require.Equal(t, attempts()[0].(map[string]any)["at"], status["created_at"], "the operation began with the try that executed it")

	before := h.base.clock.Now()
	running, _, err := h.base.store.BeginOperation(t.Context(), h.project, "running")
	require.NoError(t, err)
	progress := h.get(t, "/idempotency-keys/running").object(t)
	require.Equal(t, "in_progress", progress["status"])
	began, err := time.Parse(time.RFC3339, progress["created_at"].(string))
	require.NoError(t, err)
	require.WithinRange(t, began, before.Add(-time.Second), h.base.clock.Now().Add(time.Second))
	running.Rollback(t.Context())
	require.Equal(t, models.CodeNotFound, h.get(t, "/idempotency-keys/running").code(t))

	_, err = h.base.store.DB().ExecContext(t.Context(), `UPDATE idempotency_keys SET expires_at = now() - interval '1 minute' WHERE project_id = $1`, string(h.project))
	require.NoError(t, err)
	require.Equal(t, "expired", h.get(t, "/idempotency-keys/odd%2F%22key%22%2541").object(t)["status"])
}

// What is bounded is characters, as the description counts them.
func TestURLIsBoundedInCharacters(t *testing.T) {
	t.Parallel()
	h := newHarness(t, loopback)
	const start = "http://127.0.0.1:9/"
	for length, want := range map[int]int{2048: http.StatusCreated, 2049: http.StatusUnprocessableEntity} {
		address := start + strings.Repeat("ü", length-len(start))
		got := h.post(t, "/webhook-endpoints", `{"url":"`+address+`","event_types":["*"]}`)
		require.Equal(t, want, got.status, "%s", got.body)
		got = h.post(t, "/scenarios", `{"name":"x","steps":[{"id":"a","type":"http_request","method":"GET","url":"`+address+`"}]}`)
		require.Equal(t, want, got.status, "%s", got.body)
	}
}

// A try that was refused before the key was looked up is one of the operation's
// as well; what no key belongs to is none.
func TestRefusedTriesAreShownWithTheOperation(t *testing.T) {
	t.Parallel()
	h := newHarness(t)
	h.project, h.key = h.newProject(t, "trial")
	large := with(post(strings.Repeat(" ", 1<<20+1)), func(c *call) { c.idempotency = "cut" })
	require.Equal(t, http.StatusRequestEntityTooLarge, h.do(t, large).status)
	require.Equal(t, http.StatusRequestTimeout, h.cutShort(t, post("")).status)
	require.Equal(t, http.StatusCreated, h.do(t, with(post(`{}`), func(c *call) { c.idempotency = "cut" })).status)
	shown := func() (statuses []any) {
		for _, attempt := range h.get(t, "/idempotency-keys/cut").object(t)["attempts"].([]any) {
			statuses = append(statuses, attempt.(map[string]any)["status"])
		}
		return statuses
	}
	h.notes.requests.Flush(t.Context())
	require.Equal(t, []any{413.0, 408.0, 201.0}, shown())

	for h.get(t, "/me").status != http.StatusTooManyRequests {
		continue
	}
	late := h.do(t, with(post(`{}`), func(c *call) { c.idempotency = "cut" }))
	h.notes.requests.Flush(t.Context())
	rows, err := h.base.store.RequestsOfOperation(t.Context(), h.project, "cut")
	require.NoError(t, err)
	require.Len(t, rows, 4)
	require.Equal(t, late.status, rows[3].Status)
}

// However often an operation is repeated, the try that executed it is shown with
// the last of the others.
func TestExecutingTryIsShownWhateverComesAfterIt(t *testing.T) {
	t.Parallel()
	h := newHarness(t)
	made := h.do(t, with(post(`{}`), func(c *call) { c.idempotency = "k" }))
	h.notes.requests.Flush(t.Context())
	h.exec(t, `INSERT INTO request_log (project_id, request_id, key_id, method, route, status, code, idempotency_key, replayed, duration_ms, at)
		SELECT $1, 'req_' || new_ulid(), 'key', 'POST', '/contacts', 201, '', 'k', true, 1, now() + n * interval '1 ms' FROM generate_series(1, 150) n`, string(h.project))
	attempts := h.get(t, "/idempotency-keys/k").object(t)["attempts"].([]any)
	require.Len(t, attempts, 100)
	require.Equal(t, made.header.Get("X-Request-Id"), attempts[0].(map[string]any)["request_id"])
	require.Equal(t, false, attempts[0].(map[string]any)["replayed"])
}

func TestMeShowsThePlan(t *testing.T) {
	t.Parallel()
	h := newHarness(t)
	me := h.get(t, "/me").object(t)
	require.Equal(t, "business", me["plan"])
	require.Equal(t, "live", me["mode"])
	require.Equal(t, string(h.project), me["project"].(map[string]any)["id"])
	require.EqualValues(t, 2000, me["limits"].(map[string]any)["api_rate_per_minute"])
}
