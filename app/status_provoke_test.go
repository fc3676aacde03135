package app

import (
	"context"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/botix-pro/platform/app/middleware"
	"github.com/botix-pro/platform/app/models"
	"github.com/botix-pro/platform/internal/config"
	"github.com/botix-pro/platform/internal/localstack"
	"github.com/botix-pro/platform/internal/testenv"
)

// sites are the servers on which refusals are provoked, all of them real: one
// that works, one whose tables are gone and one whose database is dead.
type sites struct {
	whole, broken, dead   *harness
	reader, writer, trial string // keys of the whole one's projects
}

func newSites(t *testing.T) *sites {
	t.Helper()
	s := &sites{whole: newHarness(t, loopback)}
	s.whole.project, s.whole.key = s.whole.newProject(t, "enterprise")
	_, s.reader = s.whole.newProject(t, "business", models.ScopeRead)
	_, s.writer = s.whole.newProject(t, "business", models.ScopeWrite)
	_, s.trial = s.whole.newProject(t, "trial")
	s.broken, s.dead = brokenHarness(t), deadHarness(t)
	return s
}

// brokenHarness has lost the tables that routes stand on, but not those that
// come before them. GET /me asks no table: it panics.
func brokenHarness(t *testing.T) *harness {
	t.Helper()
	h := newHarness(t, loopback, alone(t))
	routes := apiRoutes(h.base)
	for i := range routes {
		if routes[i].Path == "/me" {
			routes[i].Read = func(context.Context, *middleware.Request) (middleware.Result, error) { panic("broken") }
		}
	}
	h.serve(t, routes)
	for _, table := range []string{"contacts", "events", "webhook_endpoints", "webhook_deliveries", "dead_letters", "jobs", "job_rows", "messages", "scenarios", "scenario_runs", "request_log", "inspector_requests"} {
		_, err := h.base.store.DB().ExecContext(t.Context(), "ALTER TABLE "+table+" RENAME TO "+table+"_gone")
		require.NoError(t, err)
	}
	return h
}

func deadHarness(t *testing.T) *harness {
	t.Helper()
	postgres := testenv.PrivatePostgres(t)
	h := newHarness(t, loopback, func(c *config.Config) { c.DatabaseURL = postgres.URL(localstack.DefaultDatabase) })
	require.Equal(t, http.StatusOK, h.get(t, "/me").status) // for some seconds the key is known without asking
	require.NoError(t, postgres.Kill())
	return h
}

// refusal asks the route for an answer with the code.
func (s *sites) refusal(t *testing.T, r routeCase, code models.Code) answer {
	t.Helper()
	switch code {
	case models.CodeInternalError:
		return s.broken.do(t, r.call(r.absent()))
	case models.CodeServiceUnavailable:
		return s.unreachable(t, r)
	case models.CodeNotFound:
		return s.whole.do(t, r.call(r.absent()))
	case models.CodeRateLimitExceeded:
		return s.exhausted(t, r)
	case models.CodeRequestTimeout:
		return s.whole.cutShort(t, r.call(r.absent()))
	case models.CodeIdempotencyKeyReuse, models.CodeIdempotencyKeyRunning, models.CodeIdempotencyKeyExpired:
		return s.keyRefusal(t, r, code)
	default:
		c := r.request(t, s.whole, r.grants[0])
		s.spoil(t, r, &c, code)
		return s.whole.do(t, c)
	}
}

// spoil makes a request that would be granted one that is refused with the code.
func (s *sites) spoil(t *testing.T, r routeCase, c *call, code models.Code) {
	t.Helper()
	c.header = map[string]string{}
	spoilers := map[models.Code]func(){
		models.CodeAPIKeyMissing: func() { c.key = "-" },
		models.CodeAPIKeyInvalid: func() { c.key = newSecret(t) },
		models.CodeScopeInsufficient: func() {
			if c.key = s.reader; r.reads() {
				c.key = s.writer
			}
		},
		models.CodeInvalidRequest:         func() { c.header["X-BOTIX-Version"] = "1999-01-01" },
		models.CodeIdempotencyKeyRequired: func() { c.idempotency = "-" },
		models.CodeIdempotencyKeyInvalid: func() {
			if c.idempotency = "a b"; r.reads() {
				c.path = "/idempotency-keys/a%20b"
			}
		},
		models.CodeMalformedJSON:        func() { c.body = or(c.body[:len(c.body)/2], "{") },
		models.CodeValidationFailed:     func() { c.body = `{"no_such_field":1}` },
		models.CodePayloadTooLarge:      func() { c.body = strings.Repeat(" ", bodyLimit(r)+1) },
		models.CodeUnsupportedMediaType: func() { c.body, c.header["Content-Type"] = "{}", "text/plain" },
		models.CodePreconditionFailed:   func() { c.header["If-Match"] = `"999"` },
		models.CodeChannelNotConfigured: func() { c.body = strings.Replace(messageBody, "email", "telegram", 1) },
		models.CodeMessageNotUnknown:    func() { require.Equal(t, http.StatusOK, s.whole.do(t, *c).status) },
		models.CodeContactExists: func() {
			_, taken, _ := strings.Cut(byExternalID(t, s.whole), "by-external-id/")
			c.body = `{"external_id":"` + taken + `"}`
		},
	}
	for further, spoil := range s.stateSpoilers(t, c) {
		spoilers[further] = spoil
	}
	require.Contains(t, spoilers, code, "nobody knows how to provoke it")
	spoilers[code]()
}

// bodyLimit is how many bytes the route's body may have.
func bodyLimit(r routeCase) int {
	if r.route == "POST /contacts/bulk" {
		return models.MaxBulkBytes
	}
	return 1 << 20
}

// stateSpoilers bring what the request is about into the state that refuses it.
func (s *sites) stateSpoilers(t *testing.T, c *call) map[models.Code]func() {
	t.Helper()
	object, _, _ := strings.Cut(strings.TrimPrefix(c.path, "/webhook-deliveries/"), "/")
	return map[models.Code]func(){
		models.CodeEndpointNotActive: func() {
			path, _ := strings.CutSuffix(c.path, "/test")
			if path == c.path { // a recovery, whose body names the endpoint
				path = made("/webhook-endpoints", endpointBody)(t, s.whole)
				c.body = `{"endpoint_id":"` + strings.TrimPrefix(path, "/webhook-endpoints/") + `"}`
			}
			require.Equal(t, http.StatusOK, s.whole.post(t, path+"/pause", "").status)
		},
		models.CodeDeliveryInFlight: func() {
			s.whole.exec(t, `UPDATE webhook_deliveries SET status = 'in_flight', next_attempt_at = NULL, claim_token = gen_random_uuid(),
				attempt_id = new_compact_id(), lease_expires_at = now() + interval '1 minute' WHERE id = $1`, object)
		},
		models.CodeEndpointDeleted: func() {
			s.whole.exec(t, `UPDATE webhook_deliveries SET status = 'cancelled', next_attempt_at = NULL WHERE id = $1`, object)
		},
		models.CodeEventExpired: func() {
			s.whole.exec(t, `DELETE FROM events WHERE id = (SELECT event_id FROM webhook_deliveries WHERE id = $1)`, object)
		},
		models.CodeInspectorFull: func() {
			bin := newBin(t, s.whole)
			s.whole.exec(t, `UPDATE inspector_bins SET stored_bytes = $2, stored_on = (now() AT TIME ZONE 'UTC')::date WHERE id = $1`, bin.ID, models.MaxBinBytes)
			c.body = `{"bin_id":"` + bin.ID + `"}`
		},
		models.CodeNotCancellable: func() { require.Less(t, s.whole.post(t, c.path, "").status, http.StatusBadRequest) },
		models.CodeScenarioNotActive: func() {
			require.Equal(t, http.StatusOK, s.whole.post(t, strings.TrimSuffix(c.path, "/run")+"/archive", "").status)
		},
	}
}

// unreachable asks with a key that is known and with one of which nobody can find
// out whether it is valid.
func (s *sites) unreachable(t *testing.T, r routeCase) answer {
	t.Helper()
	c := r.call(r.absent())
	if r.absent() != "/me" { // which asks nobody else
		require.Equal(t, http.StatusServiceUnavailable, s.dead.do(t, c).status)
	}
	c.key = newSecret(t)
	return s.dead.do(t, c)
}

// exhausted sends the request until the plan's limit refuses it, which takes two
// windows at most.
func (s *sites) exhausted(t *testing.T, r routeCase) (got answer) {
	t.Helper()
	c := r.call(r.absent())
	c.key = s.trial
	for range 62 {
		if got = s.whole.do(t, c); got.status == http.StatusTooManyRequests {
			break
		}
	}
	return got
}

// keyRefusal uses the request's key before the request does.
func (s *sites) keyRefusal(t *testing.T, r routeCase, code models.Code) answer {
	t.Helper()
	c := r.request(t, s.whole, r.grants[0])
	c.idempotency = models.NewID("", s.whole.base.clock.Now())
	if code == models.CodeIdempotencyKeyRunning {
		tx, claim, err := s.whole.base.store.BeginOperation(t.Context(), s.whole.project, c.idempotency)
		require.NoError(t, err)
		require.True(t, claim.Locked)
		defer tx.Rollback(t.Context())
		return s.whole.do(t, c)
	}
	require.Less(t, s.whole.do(t, c).status, http.StatusBadRequest)
	if code == models.CodeIdempotencyKeyReuse {
		c.path += "?other"
		return s.whole.do(t, c)
	}
	_, err := s.whole.base.store.DB().ExecContext(t.Context(),
		`UPDATE idempotency_keys SET expires_at = now() WHERE project_id = $1 AND key = $2`, string(s.whole.project), c.idempotency)
	require.NoError(t, err)
	return s.whole.do(t, c)
}

func newSecret(t *testing.T) string {
	t.Helper()
	secret, err := models.NewAPIKeySecret(models.ModeLive)
	require.NoError(t, err)
	return secret
}
