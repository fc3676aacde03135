package app

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/botix-pro/platform/app/jobs"
	"github.com/botix-pro/platform/app/models"
	"github.com/botix-pro/platform/app/store"
)

// bury makes a delivery a dead letter, as its fifth failure would, and returns
// the dead letter's id.
func (h *harness) bury(t *testing.T, delivery, cause string) string {
	t.Helper()
	h.exec(t, `UPDATE webhook_deliveries SET status = 'dead_letter', next_attempt_at = NULL, step = 5, attempt_count = 5 WHERE id = $1`, delivery)
	var id string
	require.NoError(t, h.base.store.DB().QueryRowContext(t.Context(), `
		INSERT INTO dead_letters (project_id, id, delivery_id, endpoint_id, event_id, event_type, cause, expires_at)
		SELECT project_id, 'dlq_' || new_ulid(), id, endpoint_id, event_id, event_type, $2, now() + interval '1 day'
		FROM webhook_deliveries WHERE id = $1 RETURNING id`, delivery, cause).Scan(&id))
	return id
}

func (h *harness) exec(t *testing.T, sql string, args ...any) {
	t.Helper()
	_, err := h.base.store.DB().ExecContext(t.Context(), sql, args...)
	require.NoError(t, err)
}

// endpointFor makes an endpoint that gets events of the type and returns its id.
func (h *harness) endpointFor(t *testing.T, kind string) string {
	t.Helper()
	return h.post(t, "/webhook-endpoints", fmt.Sprintf(`{"url":"http://127.0.0.1:9/","event_types":[%q]}`, kind)).object(t)["id"].(string)
}

// missed publishes an event and returns its delivery to the endpoint.
func (h *harness) missed(t *testing.T, endpoint, kind string) string {
	t.Helper()
	event := h.post(t, "/events", fmt.Sprintf(`{"type":%q}`, kind)).object(t)["id"].(string)
	list := h.get(t, "/webhook-deliveries?endpoint_id="+endpoint+"&event_id="+event).object(t)["data"].([]any)
	require.Len(t, list, 1)
	return list[0].(map[string]any)["id"].(string)
}

// runJobs does what a worker would until every job of the harness's project has
// ended.
func (h *harness) runJobs(t *testing.T) {
	t.Helper()
	runner := jobs.NewRunner(jobs.Config{Store: h.base.store, Steps: jobSteps(), Hint: h.hint, Concurrency: 2, Log: h.base.log})
	require.NoError(t, runner.Start(t.Context()))
	require.Eventually(t, func() bool {
		var left int
		err := h.base.store.DB().QueryRowContext(t.Context(), `SELECT count(*) FROM jobs WHERE project_id = $1 AND finished_at IS NULL`, string(h.project)).Scan(&left)
		return err == nil && left == 0
	}, 20*time.Second, 20*time.Millisecond)
	require.NoError(t, runner.Stop(t.Context()))
}

func (h *harness) status(t *testing.T, delivery string) string {
	t.Helper()
	return h.get(t, "/webhook-deliveries/"+delivery).object(t)["status"].(string)
}

func TestRetryByHandStartsAnewAndKeepsTheNumber(t *testing.T) {
	t.Parallel()
	for _, from := range []string{"waiting", "held", "dead_letter", "delivered"} {
		t.Run(from, func(t *testing.T) {
			t.Parallel()
			h := newHarness(t, loopback, alone(t))
			endpoint := h.endpointFor(t, "order.*")
			id := h.missed(t, endpoint, "order.paid")
			letter := h.bury(t, id, "retries_exhausted")
			if from != "dead_letter" {
				h.exec(t, `DELETE FROM dead_letters WHERE id = $1`, letter)
				h.exec(t, `UPDATE webhook_deliveries SET status = $2, worker_losses = 4,
					next_attempt_at = CASE WHEN $2 = 'waiting' THEN now() + interval '1 day' END WHERE id = $1`, id, from)
			}
			h.mu.Lock()
			h.hinted = nil
			h.mu.Unlock()
			got := h.post(t, "/webhook-deliveries/"+id+"/retry", "")
			require.Equal(t, http.StatusAccepted, got.status, "%s", got.body)
			require.Equal(t, "/webhook-deliveries/"+id, got.header.Get("Location"))
			answered := got.object(t)
			require.Equal(t, "pending", answered["status"])
			require.EqualValues(t, 1, answered["step"])
			require.EqualValues(t, 5, answered["attempt_count"], "the number goes on")
			read := h.get(t, "/webhook-deliveries/"+id).object(t)
			delete(read, "attempts")
			require.Equal(t, answered, read, "what was answered is what is")
			var due, manual bool
			var losses int
			require.NoError(t, h.base.store.DB().QueryRowContext(t.Context(),
				`SELECT next_attempt_at <= now(), manual, worker_losses FROM webhook_deliveries WHERE id = $1`, id).Scan(&due, &manual, &losses))
			require.True(t, due && manual)
			require.Zero(t, losses)
			require.Equal(t, models.CodeNotFound, h.get(t, "/dead-letters/"+letter).code(t), "the dead letter is gone")
			h.mu.Lock()
			defer h.mu.Unlock()
			require.Equal(t, []store.Lane{{ProjectID: h.project, EndpointID: endpoint}}, h.hinted)
		})
	}
}

func TestRetryByHandIsRefusedWithAReason(t *testing.T) {
	t.Parallel()
	h := newHarness(t, loopback, alone(t))
	endpoint := h.endpointFor(t, "order.*")
	retry := func(id string) answer { return h.post(t, "/webhook-deliveries/"+id+"/retry", "") }

	pending := h.missed(t, endpoint, "order.paid")
	before := h.get(t, "/webhook-deliveries/"+pending)
	require.Equal(t, http.StatusAccepted, retry(pending).status, "it is due anyway")
	require.Equal(t, before.body, h.get(t, "/webhook-deliveries/"+pending).body, "and nothing changes")

	flying := h.missed(t, endpoint, "order.paid")
	h.exec(t, `UPDATE webhook_deliveries SET status = 'in_flight', next_attempt_at = NULL, claim_token = gen_random_uuid(),
		attempt_id = new_compact_id(), lease_expires_at = now() + interval '1 minute' WHERE id = $1`, flying)
	require.Equal(t, models.CodeDeliveryInFlight, retry(flying).code(t))

	expired := h.missed(t, endpoint, "order.paid")
	h.bury(t, expired, "http_401")
	h.exec(t, `DELETE FROM events WHERE id = (SELECT event_id FROM webhook_deliveries WHERE id = $1)`, expired)
	require.Equal(t, models.CodeEventExpired, retry(expired).code(t))
	require.Equal(t, "dead_letter", h.status(t, expired))

	orphan := h.missed(t, endpoint, "order.paid")
	letter := h.bury(t, orphan, "http_401")
	cancelled := h.missed(t, endpoint, "order.paid")
	require.Equal(t, http.StatusNoContent, h.do(t, call{method: http.MethodDelete, path: "/webhook-endpoints/" + endpoint}).status)
	require.Equal(t, "cancelled", h.status(t, cancelled))
	require.Equal(t, models.CodeEndpointDeleted, retry(cancelled).code(t))
	require.Equal(t, models.CodeEndpointDeleted, retry(orphan).code(t))
	require.Equal(t, http.StatusOK, h.get(t, "/dead-letters/"+letter).status, "a refusal buries nothing and digs nothing out")
	require.Equal(t, models.CodeNotFound, retry("whd_01KBC4E8XW5C7G9K1P3S6V8Y0Z").code(t))
}

func TestDeadLettersAreListedFilteredAndGrouped(t *testing.T) {
	t.Parallel()
	h := newHarness(t, loopback, alone(t))
	one, two := h.endpointFor(t, "a.*"), h.endpointFor(t, "b.*")
	var letters []string
	for range 3 {
		letters = append(letters, h.bury(t, h.missed(t, one, "a.x"), "http_401"))
	}
	letters = append(letters, h.bury(t, h.missed(t, one, "a.y"), "retries_exhausted"), h.bury(t, h.missed(t, two, "b.x"), "http_401"))
	ids := func(query string) (list []string) {
		for _, row := range h.get(t, "/dead-letters"+query).object(t)["data"].([]any) {
			list = append(list, row.(map[string]any)["id"].(string))
		}
		return list
	}
	require.Equal(t, []string{letters[4], letters[3], letters[2], letters[1], letters[0]}, ids(""), "newest first")
	require.Equal(t, letters[4:], ids("?endpoint_id="+two))
	require.Equal(t, letters[3:4], ids("?cause=retries_exhausted"))
	require.Equal(t, letters[3:4], ids("?event_type=a.y"))
	require.Empty(t, ids("?until=2020-01-01T00:00:00Z"))
	page := h.get(t, "/dead-letters?limit=2").object(t)
	require.Equal(t, letters[1:3], reversed(ids("?limit=2&cursor="+page["next_cursor"].(string))))
	read := h.get(t, "/dead-letters/"+letters[0]).object(t)
	require.Equal(t, "http_401", read["cause"])
	require.Nil(t, read["attempt_id"])
	require.Equal(t, models.CodeInvalidRequest, h.get(t, "/dead-letters?casue=x").code(t))

	groups := h.get(t, "/dead-letters/groups").object(t)["data"].([]any)
	require.Len(t, groups, 3)
	first := groups[0].(map[string]any)
	require.Equal(t, []any{one, "http_401", 3.0}, []any{first["endpoint_id"], first["cause"], first["count"]})
	require.LessOrEqual(t, first["first_at"], first["last_at"])
	require.Equal(t, letterTime(t, letters[0]), first["first_at"])
	require.Equal(t, letterTime(t, letters[2]), first["last_at"])
	require.Len(t, h.get(t, "/dead-letters/groups?endpoint_id="+two).object(t)["data"], 1)
	page = h.get(t, "/dead-letters/groups?limit=1").object(t)
	rest := h.get(t, "/dead-letters/groups?cursor="+page["next_cursor"].(string)).object(t)
	require.Equal(t, groups[1:], rest["data"])
	require.Nil(t, rest["next_cursor"])
	require.Equal(t, models.CodeInvalidRequest, h.get(t, "/dead-letters/groups?cursor=AAAA").code(t))
}

func letterTime(t *testing.T, id string) string {
	t.Helper()
	at, err := models.TimeOfID(models.PrefixDeadLetter, id)
	require.NoError(t, err)
	return models.FormatTime(at)
}

func reversed(list []string) []string {
	out := make([]string, 0, len(list))
	for i := range list {
		out = append(out, list[len(list)-1-i])
	}
	return out
}

// What dry_run counts is what the job then does: the span and the cause hold,
// and nothing else is touched.
func TestRecoveryDoesWhatItsCountSaid(t *testing.T) {
	t.Parallel()
	h := newHarness(t, loopback, alone(t))
	one, two := h.endpointFor(t, "a.*"), h.endpointFor(t, "b.*")
	early := h.missed(t, one, "a.x")
	h.bury(t, early, "http_401")
	h.exec(t, `UPDATE events SET created_at = now() - interval '1 hour' WHERE id = (SELECT event_id FROM webhook_deliveries WHERE id = $1)`, early)
	since := models.FormatTime(time.Now().Add(-time.Minute))
	dead, other, held := h.missed(t, one, "a.x"), h.missed(t, one, "a.x"), h.missed(t, one, "a.x")
	h.bury(t, dead, "http_401")
	h.bury(t, other, "retries_exhausted")
	h.exec(t, `UPDATE webhook_deliveries SET status = 'held', next_attempt_at = NULL WHERE id = $1`, held)
	delivered := h.missed(t, one, "a.x")
	h.exec(t, `UPDATE webhook_deliveries SET status = 'delivered', next_attempt_at = NULL WHERE id = $1`, delivered)
	foreign := h.missed(t, two, "b.x")
	h.bury(t, foreign, "http_401")
	count := func(filter string) any {
		got := h.post(t, "/recoveries", fmt.Sprintf(`{"endpoint_id":%q%s,"dry_run":true}`, one, filter))
		require.Equal(t, http.StatusOK, got.status, "%s", got.body)
		require.Len(t, got.object(t), 1)
		return got.object(t)["count"]
	}
	require.EqualValues(t, 4, count(""))
	require.EqualValues(t, 3, count(`,"since":"`+since+`"`))
	require.EqualValues(t, 1, count(`,"until":"`+since+`"`))
	require.EqualValues(t, 1, count(`,"cause":"http_401","since":"`+since+`"`))
	require.EqualValues(t, 0, count(`,"cause":"http_403"`))
	run := func(body string) map[string]any {
		got := h.post(t, "/recoveries", body)
		require.Equal(t, http.StatusAccepted, got.status, "%s", got.body)
		require.Equal(t, "queued", got.object(t)["status"])
		h.runJobs(t)
		return h.get(t, got.header.Get("Location")).object(t)
	}
	job := run(fmt.Sprintf(`{"endpoint_id":%q,"cause":"http_401","since":%q}`, one, since))
	require.Equal(t, []any{"completed", 1.0, 1.0, 1.0, 0.0}, []any{job["status"], job["total"], job["processed"], job["succeeded"], job["failed"]})
	require.Equal(t, "pending", h.status(t, dead))
	require.Equal(t, "dead_letter", h.status(t, early), "not in the span")
	require.Equal(t, "dead_letter", h.status(t, other), "another cause")
	require.Equal(t, "held", h.status(t, held), "has no cause")
	require.Equal(t, "delivered", h.status(t, delivered))
	require.Equal(t, "dead_letter", h.status(t, foreign))

	job = run(fmt.Sprintf(`{"endpoint_id":%q,"since":%q}`, one, since))
	require.EqualValues(t, 2, job["succeeded"])
	require.Equal(t, []string{"pending", "pending"}, []string{h.status(t, other), h.status(t, held)})
	ended := h.get(t, "/events?type=job.completed").object(t)["data"].([]any)
	require.Len(t, ended, 2, "each end is an event")
	data := ended[0].(map[string]any)["data"].(map[string]any)
	for _, field := range []string{"id", "object", "type", "status", "total", "processed", "succeeded", "failed", "error", "created_at", "finished_at"} {
		require.Equal(t, job[field], data[field], field)
	}
}

func TestSelectionIsRecovered(t *testing.T) {
	t.Parallel()
	h := newHarness(t, loopback, alone(t))
	endpoint := h.endpointFor(t, "a.*")
	dead, delivered, flying := h.missed(t, endpoint, "a.x"), h.missed(t, endpoint, "a.x"), h.missed(t, endpoint, "a.x")
	h.bury(t, dead, "http_401")
	h.exec(t, `UPDATE webhook_deliveries SET status = 'delivered', next_attempt_at = NULL WHERE id = $1`, delivered)
	h.exec(t, `UPDATE webhook_deliveries SET status = 'in_flight', next_attempt_at = NULL, claim_token = gen_random_uuid(),
		attempt_id = new_compact_id(), lease_expires_at = now() + interval '1 minute' WHERE id = $1`, flying)
	list := `{"delivery_ids":["` + strings.Join([]string{dead, delivered, flying}, `","`) + `"]`
	require.EqualValues(t, 2, h.post(t, "/recoveries", list+`,"dry_run":true}`).object(t)["count"])
	accepted := h.post(t, "/recoveries", list+`}`)
	require.Equal(t, http.StatusAccepted, accepted.status, "%s", accepted.body)
	h.runJobs(t)
	job := h.get(t, accepted.header.Get("Location")).object(t)
	require.Equal(t, []any{"completed", 3.0, 2.0, 1.0}, []any{job["status"], job["total"], job["succeeded"], job["failed"]})
	require.Equal(t, []string{"pending", "pending", "in_flight"}, []string{h.status(t, dead), h.status(t, delivered), h.status(t, flying)})
}

func TestRecoveryIsCheckedBeforeItIsAccepted(t *testing.T) {
	t.Parallel()
	h := newHarness(t, loopback, alone(t))
	endpoint := h.endpointFor(t, "a.*")
	for body, pointer := range map[string]string{
		`{}`:                                  "/endpoint_id",
		`{"endpoint_id":"whe_x"}`:             "/endpoint_id",
		`{"delivery_ids":[]}`:                 "/delivery_ids",
		`{"delivery_ids":["whd_x"]}`:          "/delivery_ids/0",
		`{"delivery_ids":["x","x"]}`:          "/delivery_ids/1",
		`{"delivery_ids":["x"],"cause":"a"}`:  "/cause",
		`{"endpoint_id":"E","cause":"No"}`:    "/cause",
		`{"endpoint_id":"E","since":"today"}`: "/since",
		`{"endpoint_id":"E","since":"2026-01-02T00:00:00Z","until":"2026-01-01T00:00:00Z"}`: "/until",
		`{"endpoint_id":"E","rate_per_second":0}`:                                           "/rate_per_second",
		`{"endpoint_id":"E","delivery_ids":["x"]}`:                                          "/delivery_ids",
	} {
		got := h.post(t, "/recoveries", strings.ReplaceAll(body, `"E"`, `"`+endpoint+`"`))
		require.Equal(t, models.CodeValidationFailed, got.code(t), body)
		require.Equal(t, pointer, got.object(t)["errors"].([]any)[0].(map[string]any)["pointer"], body)
	}
	require.Equal(t, "paused", h.post(t, "/webhook-endpoints/"+endpoint+"/pause", "").object(t)["status"])
	got := h.post(t, "/recoveries", `{"endpoint_id":"`+endpoint+`"}`)
	require.Equal(t, models.CodeEndpointNotActive, got.code(t))
	require.Empty(t, h.get(t, "/jobs").object(t)["data"])
	got = h.post(t, "/recoveries", `{"endpoint_id":"`+endpoint+`","dry_run":true}`)
	require.Equal(t, http.StatusOK, got.status, "counting is allowed")
}

func TestJobsAreListedAndCancelled(t *testing.T) {
	t.Parallel()
	h := newHarness(t, loopback, alone(t))
	endpoint := h.endpointFor(t, "a.*")
	dead := h.missed(t, endpoint, "a.x")
	h.bury(t, dead, "http_401")
	start := func() string {
		return h.post(t, "/recoveries", `{"endpoint_id":"`+endpoint+`"}`).header.Get("Location")
	}
	path := start()
	cancelled := h.post(t, path+"/cancel", "")
	require.Equal(t, http.StatusAccepted, cancelled.status, "%s", cancelled.body)
	require.Equal(t, "cancelled", cancelled.object(t)["status"])
	require.Equal(t, path, cancelled.header.Get("Location"))
	require.Len(t, h.get(t, "/events?type=job.cancelled").object(t)["data"], 1)
	require.Equal(t, models.CodeNotCancellable, h.post(t, path+"/cancel", "").code(t))
	h.runJobs(t)
	require.Equal(t, "dead_letter", h.status(t, dead), "it was stopped before it began")

	start()
	require.Len(t, h.get(t, "/jobs").object(t)["data"], 2)
	require.Len(t, h.get(t, "/jobs?status=cancelled&type=webhook_recovery").object(t)["data"], 1)
	require.Empty(t, h.get(t, "/jobs?type=other").object(t)["data"])
	require.Equal(t, models.CodeInvalidRequest, h.get(t, "/jobs?status=other").code(t))
}

// A test event goes to the endpoint that was named, although its filters do not
// want it, and to no other.
func TestTestEventGoesToOneEndpoint(t *testing.T) {
	t.Parallel()
	h := newHarness(t, loopback, alone(t))
	endpoint := h.endpointFor(t, "a.*") // the harness has another, which wants everything
	got := h.post(t, "/webhook-endpoints/"+endpoint+"/test", "")
	require.Equal(t, http.StatusAccepted, got.status, "%s", got.body)
	answered := got.object(t)
	require.Equal(t, "webhook_endpoint.test", answered["event_type"])
	read := h.get(t, got.header.Get("Location")).object(t)
	delete(read, "attempts")
	require.Equal(t, answered, read)
	event := h.get(t, "/events/"+answered["event_id"].(string)).object(t)
	require.Equal(t, "platform", event["source"])
	require.Equal(t, endpoint, event["data"].(map[string]any)["endpoint_id"])
	all := h.get(t, "/webhook-deliveries?event_id="+answered["event_id"].(string)).object(t)["data"].([]any)
	require.Len(t, all, 1)
	require.Contains(t, h.hinted, store.Lane{ProjectID: h.project, EndpointID: endpoint})

	h.post(t, "/webhook-endpoints/"+endpoint+"/pause", "")
	require.Equal(t, models.CodeEndpointNotActive, h.post(t, "/webhook-endpoints/"+endpoint+"/test", "").code(t))
}

// Operators repair by the same rules, without a key and without SQL.
func TestOperatorsRecover(t *testing.T) {
	t.Parallel()
	h := newHarness(t, loopback, alone(t))
	a := newAdmin(t, h)
	endpoint := h.endpointFor(t, "a.*")
	one, two := h.missed(t, endpoint, "a.x"), h.missed(t, endpoint, "a.x")
	h.bury(t, one, "http_401")
	h.bury(t, two, "http_403")
	letters, err := a.DeadLetters(t.Context(), h.project, store.DeadLetterFilter{}, 10)
	require.NoError(t, err)
	require.Len(t, letters, 2)
	groups, err := a.DeadLetterGroups(t.Context(), h.project)
	require.NoError(t, err)
	require.Len(t, groups, 2)

	retried, err := a.RetryDelivery(t.Context(), h.project, one)
	require.NoError(t, err)
	require.Equal(t, models.DeliveryPending, retried.Status)
	require.Equal(t, "pending", h.status(t, one))
	_, err = a.RetryDelivery(t.Context(), h.project, "whd_01KBC4E8XW5C7G9K1P3S6V8Y0Z")
	require.ErrorIs(t, err, store.ErrNotFound)

	recovery := models.Recovery{EndpointID: endpoint}
	count, err := a.CountRecovery(t.Context(), h.project, recovery)
	require.NoError(t, err)
	require.Equal(t, 1, count)
	job, err := a.Recover(t.Context(), h.project, recovery)
	require.NoError(t, err)
	stopped, err := a.CancelJob(t.Context(), h.project, job.ID)
	require.NoError(t, err)
	require.Equal(t, models.JobCancelled, stopped.Status)
	job, err = a.Recover(t.Context(), h.project, recovery)
	require.NoError(t, err)
	h.runJobs(t)
	job, err = a.Job(t.Context(), h.project, job.ID)
	require.NoError(t, err)
	require.Equal(t, models.JobCompleted, job.Status)
	all, err := a.Jobs(t.Context(), h.project, 10)
	require.NoError(t, err)
	require.Len(t, all, 2)
	require.Equal(t, "pending", h.status(t, two))
}

// Jobs that ended long ago are forgotten; no other is, however old.
func TestJobsAreKeptThirtyDaysAfterTheirEnd(t *testing.T) {
	t.Parallel()
	h := newHarness(t, loopback, alone(t))
	endpoint := h.endpointFor(t, "a.*")
	start := func() string {
		return h.post(t, "/recoveries", `{"endpoint_id":"`+endpoint+`"}`).header.Get("Location")
	}
	old, recent, open := start(), start(), start()
	for path, age := range map[string]string{old: "31 days", recent: "29 days"} {
		require.Equal(t, http.StatusAccepted, h.post(t, path+"/cancel", "").status)
		h.exec(t, `UPDATE jobs SET finished_at = now() - $2::interval WHERE id = $1`, strings.TrimPrefix(path, "/jobs/"), age)
	}
	h.exec(t, `UPDATE jobs SET created_at = now() - interval '90 days' WHERE id = $1`, strings.TrimPrefix(open, "/jobs/"))
	purge(t.Context(), h.base)
	require.Equal(t, []int{http.StatusNotFound, http.StatusOK, http.StatusOK}, []int{h.get(t, old).status, h.get(t, recent).status, h.get(t, open).status})
}
