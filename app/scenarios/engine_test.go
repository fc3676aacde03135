package scenarios_test

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/botix-pro/platform/app/models"
	"github.com/botix-pro/platform/app/scenarios"
	"github.com/botix-pro/platform/app/store"
	"github.com/botix-pro/platform/internal/egress"
)

const sixSteps = `[
	{"id":"hello","type":"send_message","channel":"sandbox","template":"Hi {{name}}, order {{order.id}}"},
	{"id":"pause","type":"wait","duration":"1s"},
	{"id":"ask","type":"http_request","method":"POST","url":"URL/leads/{{contact.id}}?o={{variables.order.id}}","headers":{"X-Source":"test"},
	 "body":{"n":"{{variables.order.id}}","big":12345678901234567890},"save_as":"lead"},
	{"id":"good","type":"condition","if":{"field":"variables.lead.body.ok","op":"eq","value":true},"then":"mark","else":"end"},
	{"id":"never","type":"emit_event","event_type":"test.never"},
	{"id":"mark","type":"update_contact","set":{"email":"ada@example.com"},"add_tags":["vip"],"remove_tags":["new"],"attributes":{"seen":true}},
	{"id":"tell","type":"emit_event","event_type":"test.done","data":{"who":"{{contact.name}}","lead":"{{variables.lead.status}}"}}
]`

// A run goes through every type of step, each having its effect once.
func TestRunGoesThroughEveryType(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	s.engine()
	contact := s.contact()
	run := s.run(s.scenario(sixSteps), contact, `{"order":{"id":7}}`)
	waiting := s.becomes(run, models.RunWaiting)
	require.Equal(t, models.StepWaiting, waiting.Steps[0].Status)
	require.Equal(t, 1, s.number(`SELECT count(*) FROM messages WHERE run_id = $1 AND text = 'Hi Ada, order 7'`, run))
	s.settle(run, models.MessageSent)

	done := s.becomes(run, models.RunCompleted)
	const c, skipped = models.StepCompleted, models.StepSkipped
	require.Equal(t, []models.RunStepStatus{c, c, c, c, skipped, c, c}, statuses(done))
	require.Equal(t, 1, s.receiver.count(run+"/ask"))
	require.Equal(t, []string{"/leads/" + contact + `?o=7 {"n":7,"big":12345678901234567890}`}, s.receiver.bodies)
	require.JSONEq(t, `{"order":{"id":7},"lead":{"status":200,"body":{"ok":true},"truncated":false}}`, string(done.Variables))
	require.Equal(t, 1, s.number(`SELECT count(*) FROM contacts WHERE email = 'ada@example.com' AND tags = '["vip"]' AND version = 2
		AND attributes::text = '{"plan":"pro","seen":true}'`))
	require.Equal(t, 1, s.number(`SELECT count(*) FROM events WHERE type = 'test.done' AND source = 'scenario'
		AND convert_from(body, 'UTF8') LIKE '%{"lead":200,"who":"Ada"}%' OR convert_from(body, 'UTF8') LIKE '%{"who":"Ada","lead":200}%'`))
	for _, kind := range []string{"message.queued", "contact.updated", "scenario.run.started", "scenario.run.completed"} {
		require.Equal(t, 1, s.events(kind), kind)
	}
	require.Zero(t, s.events("test.never"))
	require.GreaterOrEqual(t, s.number(`SELECT (extract(epoch FROM finished_at - started_at) * 1000)::int FROM scenario_run_steps WHERE step_id = 'pause'`), 1000)
}

// Two engines on one database: each step of each run has its effect once.
func TestTwoEnginesDoEachStepOnce(t *testing.T) {
	t.Parallel()
	const runs = 60
	s := newSite(t)
	scenario := s.scenario(`[
		{"id":"a","type":"update_contact","add_tags":["a"]},
		{"id":"b","type":"http_request","method":"POST","url":"URL/b"},
		{"id":"c","type":"update_contact","add_tags":["c"]},
		{"id":"d","type":"http_request","method":"GET","url":"URL/d"},
		{"id":"e","type":"emit_event","event_type":"test.e"}]`)
	list := make([]string, runs)
	for i := range list {
		list[i] = s.run(scenario, s.contact(), `{}`)
	}
	s.engine()
	s.engine()
	for _, run := range list {
		s.becomes(run, models.RunCompleted)
		require.Equal(t, 1, s.receiver.count(run+"/b"))
		require.Equal(t, 1, s.receiver.count(run+"/d"))
	}
	require.Equal(t, runs, s.events("test.e"))
	require.Equal(t, 2*runs, s.events("contact.updated"))
	require.Equal(t, runs, s.events("scenario.run.started"))
	require.Equal(t, runs, s.events("scenario.run.completed"))
	require.Equal(t, 5*runs, s.number(`SELECT count(*) FROM scenario_run_steps WHERE status = 'completed' AND attempts <= 1`))
}

// lose claims the run as a worker that then dies.
func (s *site) lose(run string, lease time.Duration) store.ClaimedRun {
	s.t.Helper()
	claimed, err := s.store.ClaimRuns(s.t.Context(), uuid.NewString(), 10, lease)
	require.NoError(s.t, err)
	require.Len(s.t, claimed, 1)
	require.Equal(s.t, run, claimed[0].ID)
	return claimed[0]
}

// A worker that died between two steps is continued by another when its lease is
// over, not earlier.
func TestLostWorkerIsContinuedByAnother(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	run := s.of(`[{"id":"a","type":"emit_event","event_type":"test.a"}]`)
	began := time.Now()
	s.lose(run, time.Second)
	s.engine()
	s.becomes(run, models.RunCompleted)
	require.GreaterOrEqual(t, time.Since(began), time.Second)
	require.Equal(t, 1, s.events("test.a"))
}

// A worker that was only frozen past its lease finds another one at work, and
// writes nothing.
func TestClaimOfAFrozenWorkerIsWorthNothing(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	run := s.of(`[{"id":"a","type":"emit_event","event_type":"test.a"}]`)
	frozen := s.lose(run, time.Millisecond)
	require.Eventually(t, func() bool { return s.number(`SELECT count(*) FROM scenario_runs WHERE due_at <= now()`) == 1 }, soon, tick)
	current := s.lose(run, time.Minute)
	for claim, want := range map[*store.ClaimedRun]error{&frozen: store.ErrNotFound, &current: nil} {
		_, err := s.store.Write(t.Context(), s.project, func(tx *store.Tx) error {
			_, err := tx.LockClaimedRun(t.Context(), *claim)
			return err
		})
		require.ErrorIs(t, err, want)
	}
}

// A worker died with its request under way: nobody knows whether it arrived. It
// is repeated with the same key, and counted.
func TestRequestOfALostWorkerIsRepeatedWithItsKey(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	run := s.of(`[{"id":"a","type":"http_request","method":"POST","url":"URL/a"}]`)
	s.lose(run, time.Millisecond)
	s.sql(`INSERT INTO scenario_run_steps (project_id, run_id, step_id, status, attempts, started_at) VALUES ($1, $2, 'a', 'running', 1, now())`, string(s.project), run)
	s.engine()
	done := s.becomes(run, models.RunCompleted)
	require.Equal(t, 2, done.Steps[0].Attempts, "the lost one and its repeat")
	require.Equal(t, 1, s.receiver.count(run+"/a"))
}

// What a receiver answers decides by the matrix; every physical request has the
// step's one key and is in its count.
func TestAnswersDecideByTheMatrix(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	s.engine()
	status := func(code int, header ...string) func(http.ResponseWriter) {
		return func(w http.ResponseWriter) {
			for _, value := range header {
				w.Header().Set("Retry-After", value)
			}
			w.WriteHeader(code)
		}
	}
	drop := func(w http.ResponseWriter) {
		conn, _, err := http.NewResponseController(w).Hijack()
		if err == nil {
			_ = conn.Close()
		}
	}
	for name, c := range map[string]struct {
		answers  []func(http.ResponseWriter) // the last one again and again
		requests int
		code     string // of the failure; empty: completed
	}{
		"done":             {[]func(http.ResponseWriter){status(204)}, 1, ""},
		"refused":          {[]func(http.ResponseWriter){status(422)}, 1, "HTTP_REQUEST_FAILED"},
		"business":         {[]func(http.ResponseWriter){status(409)}, 1, "HTTP_REQUEST_FAILED"},
		"redirect":         {[]func(http.ResponseWriter){status(302)}, 1, "HTTP_REQUEST_FAILED"},
		"still running":    {[]func(http.ResponseWriter){status(409, "1"), status(200)}, 2, ""},
		"throttled":        {[]func(http.ResponseWriter){status(429), status(200)}, 2, ""},
		"always throttled": {[]func(http.ResponseWriter){status(429)}, 4, "HTTP_REQUEST_FAILED"},
		"bad moment":       {[]func(http.ResponseWriter){status(503), status(502), status(200)}, 3, ""},
		"broken":           {[]func(http.ResponseWriter){status(500)}, 3, "HTTP_REQUEST_UNKNOWN"},
		"lost answer":      {[]func(http.ResponseWriter){drop, status(200)}, 2, ""},
		"always lost":      {[]func(http.ResponseWriter){drop}, 4, "HTTP_REQUEST_UNKNOWN"},
		"lost, then no":    {[]func(http.ResponseWriter){drop, status(404)}, 2, "HTTP_REQUEST_UNKNOWN"},
	} {
		s.receiver.answers(func(n int, w http.ResponseWriter, _ *http.Request) { c.answers[min(n, len(c.answers))-1](w) })
		for _, method := range []string{"GET", "POST"} {
			run := s.of(`[{"id":"a","type":"http_request","method":"` + method + `","url":"URL/a"}]`)
			want := models.RunCompleted
			if c.code != "" {
				want = models.RunFailed
			}
			view := s.becomes(run, want)
			require.Equal(t, c.requests, s.receiver.count(run+"/a"), "%s %s", name, method)
			require.Equal(t, c.requests, view.Steps[0].Attempts, "%s %s: none was sent uncounted", name, method)
			if c.code != "" {
				require.Equal(t, c.code, view.Error.Code, name)
				require.Equal(t, view.Error, view.Steps[0].Error)
			}
		}
	}
}

// A private address is not called, and the failure says so.
func TestRequestsPassTheGuard(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	s.engine(func(c *scenarios.Config) { c.Transport = egress.New(nil).Transport(egress.TransportConfig{}) })
	failed := s.becomes(s.of(`[{"id":"a","type":"http_request","method":"GET","url":"URL/a"}]`), models.RunFailed)
	require.Equal(t, "HTTP_REQUEST_FAILED", failed.Error.Code)
	require.Contains(t, failed.Error.Detail, "loopback")
	require.Empty(t, s.receiver.counts)
}

// A project whose receiver hangs keeps nobody else from going on.
func TestHungReceiverKeepsNobodyElse(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	release := make(chan struct{})
	s.receiver.answers(func(int, http.ResponseWriter, *http.Request) { <-release })
	s.engine(func(c *scenarios.Config) { c.Concurrency, c.CallsPerProject = 2, 3 })
	hung := make([]string, 8)
	scenario := s.scenario(`[{"id":"a","type":"http_request","method":"GET","url":"URL/a"}]`)
	for i := range hung {
		hung[i] = s.run(scenario, s.contact(), `{}`)
	}
	s.becomes(s.of(`[{"id":"a","type":"emit_event","event_type":"test.a"}]`), models.RunCompleted)
	require.LessOrEqual(t, s.number(`SELECT count(*) FROM scenario_run_steps WHERE status = 'running'`), 3)
	close(release)
	s.receiver.answers(func(int, http.ResponseWriter, *http.Request) {})
	for _, run := range hung {
		s.becomes(run, models.RunCompleted)
		require.Equal(t, 1, s.receiver.count(run+"/a"))
	}
}

// A message's end, whoever records it, brings up the run that waits for it.
func TestMessageEndsDecide(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	s.engine()
	for name, c := range map[string]struct {
		onUnknown string
		end       models.MessageStatus
		code      string
	}{
		"sent": {"fail", models.MessageSent, ""}, "delivered": {"fail", models.MessageDelivered, ""},
		"failed": {"continue", models.MessageFailed, "MESSAGE_FAILED"}, "cancelled": {"continue", models.MessageCancelled, "MESSAGE_CANCELLED"},
		"unknown, go on": {"continue", models.MessageUnknown, ""}, "unknown, stop": {"fail", models.MessageUnknown, "MESSAGE_UNKNOWN"},
	} {
		run := s.of(fmt.Sprintf(`[{"id":"a","type":"send_message","channel":"sandbox","text":"x","on_unknown":%q}]`, c.onUnknown))
		s.becomes(run, models.RunWaiting)
		s.settle(run, c.end)
		if c.code == "" {
			s.becomes(run, models.RunCompleted)
			continue
		}
		require.Equal(t, c.code, s.becomes(run, models.RunFailed).Error.Code, name)
	}
	require.Equal(t, 6, s.events("message.queued"), "one message a run")
}

// What cannot be done for this contact fails with a reason, and the run with it.
func TestStepsThatCannotBeDoneFailTheRun(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	s.engine()
	s.write(func(tx *store.Tx) error {
		taken := "taken"
		return tx.CreateContact(&models.Contact{ID: models.NewID(models.PrefixContact, now()), ExternalID: &taken, Attributes: []byte("{}"), CreatedAt: now()})
	})
	for steps, code := range map[string]string{
		`{"id":"a","type":"send_message","channel":"email","text":"x"}`:                    "MESSAGE_INVALID",
		`{"id":"a","type":"send_message","channel":"sandbox","template":"{{nothing}}"}`:    "MESSAGE_INVALID",
		`{"id":"a","type":"emit_event","event_type":"a.b","data":{"x":"{{variables.y}}"}}`: "VARIABLE_MISSING",
		`{"id":"a","type":"http_request","method":"GET","url":"URL/{{contact.email}}"}`:    "VARIABLE_MISSING",
		`{"id":"a","type":"update_contact","set":{"external_id":"taken"}}`:                 "CONTACT_ALREADY_EXISTS",
		`{"id":"a","type":"update_contact","attributes":{` + many(99) + `,"one":1}}`:       "CONTACT_INVALID",
	} {
		failed := s.becomes(s.of(`[`+steps+`,{"id":"z","type":"emit_event","event_type":"test.z"}]`), models.RunFailed)
		require.Equal(t, code, failed.Error.Code, steps)
		require.Equal(t, []models.RunStepStatus{models.StepFailed, models.StepSkipped}, statuses(failed))
	}
	require.Zero(t, s.events("test.z"))
	require.Equal(t, 6, s.events("scenario.run.failed"))
}

// many is so many members; one more than a contact may have, with its own.
func many(n int) string {
	members := make([]string, n)
	for i := range members {
		members[i] = fmt.Sprintf(`"m%d":1`, i)
	}
	return strings.Join(members, ",")
}

// The contact is deleted while its run waits for a month, for a message, or
// before it begins: the run ends at once, saying so.
func TestDeletedContactEndsItsRuns(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	contact := s.contact()
	waits := []string{
		s.run(s.scenario(`[{"id":"a","type":"wait","duration":"30d"},{"id":"z","type":"emit_event","event_type":"test.z"}]`), contact, `{}`),
		s.run(s.scenario(`[{"id":"a","type":"send_message","channel":"sandbox","text":"x"},{"id":"z","type":"emit_event","event_type":"test.z"}]`), contact, `{}`),
	}
	s.engine()
	for _, run := range waits {
		s.becomes(run, models.RunWaiting)
	}
	s.write(func(tx *store.Tx) error { tx.DeleteContact(contact); return nil })
	waits = append(waits, s.run(s.scenario(`[{"id":"a","type":"http_request","method":"GET","url":"URL/a"}]`), contact, `{}`))
	for _, run := range waits {
		require.Equal(t, "CONTACT_DELETED", s.becomes(run, models.RunFailed).Error.Code)
	}
	require.Zero(t, s.events("test.z"))
	require.Empty(t, s.receiver.counts)
}

// A month's wait is one entry of an index, and looking for what is due does not
// look at it: ten thousand of them do not make it read more.
func TestLongWaitsCostOneRow(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	run := s.of(`[{"id":"a","type":"wait","duration":"30d"}]`)
	stop := s.engine()
	s.becomes(run, models.RunWaiting)
	require.NoError(t, stop.Stop(t.Context()))
	require.Equal(t, 30*24*60*60, s.number(`SELECT round(extract(epoch FROM due_at - started_at)) FROM scenario_runs`))
	s.sql(`INSERT INTO scenario_runs SELECT r.project_id, r.id || n, r.scenario_id, r.scenario_version, r.contact_id, r.variables, r.status, r.position, r.due_at,
		r.claim_token, r.message_id, r.error_code, r.error_detail, r.api_version, r.request_id, r.revision, r.started_at, r.finished_at, r.created_at, r.updated_at
		FROM scenario_runs r, generate_series(1, 10000) n`)
	s.sql(`ANALYZE scenario_runs`)
	rows, err := s.store.DB().QueryContext(t.Context(), `EXPLAIN (ANALYZE, COSTS OFF, TIMING OFF, SUMMARY OFF)
		SELECT id FROM scenario_runs WHERE due_at <= now() ORDER BY due_at LIMIT 16 FOR UPDATE SKIP LOCKED`)
	require.NoError(t, err)
	defer func() { _ = rows.Close() }()
	var plan []string
	for rows.Next() {
		var line string
		require.NoError(t, rows.Scan(&line))
		plan = append(plan, line)
	}
	require.NoError(t, rows.Err())
	require.Contains(t, strings.Join(plan, "\n"), "scenario_runs_to_do")
	require.NotContains(t, strings.Join(plan, "\n"), "Seq Scan")
}

// Runs are cancelled while engines work on them: each ends cancelled or
// completed, and no step follows a cancellation.
func TestCancelRaces(t *testing.T) {
	t.Parallel()
	const runs = 60
	s := newSite(t)
	s.receiver.answers(func(_ int, w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "ok") })
	s.engine()
	s.engine()
	scenario := s.scenario(`[
		{"id":"a","type":"update_contact","add_tags":["a"]},
		{"id":"b","type":"http_request","method":"POST","url":"URL/b"},
		{"id":"c","type":"emit_event","event_type":"test.c"}]`)
	cancelled := 0
	for i := range runs {
		run := s.run(scenario, s.contact(), `{}`)
		<-time.After(time.Duration(i%12) * 2 * time.Millisecond) // spread over a run's life
		s.write(func(tx *store.Tx) error {
			row, err := tx.LockRun(t.Context(), run)
			if err != nil || row.Status.Over() {
				return err
			}
			cancelled++
			return tx.CancelRun(row)
		})
		before := s.view(run)
		require.True(t, before.Status.Over())
		for _, step := range before.Steps {
			require.True(t, step.Status.Over(), "%s is %s", step.ID, step.Status)
		}
	}
	require.Eventually(t, func() bool { return s.events("test.c") == runs-cancelled }, soon, tick)
	require.Equal(t, cancelled, s.events("scenario.run.cancelled"))
	require.Equal(t, runs-cancelled, s.events("scenario.run.completed"))
	require.Zero(t, s.number(`SELECT count(*) FROM scenario_runs WHERE due_at IS NOT NULL OR claim_token IS NOT NULL`))
	require.NotZero(t, cancelled)
}

// A run keeps to the version it began with.
func TestRunKeepsItsVersion(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	scenario := s.scenario(`[{"id":"a","type":"emit_event","event_type":"test.first"}]`)
	run := s.run(scenario, s.contact(), `{}`)
	s.write(func(tx *store.Tx) error {
		before, err := tx.LockScenario(t.Context(), scenario)
		if err != nil {
			return err
		}
		after := *before
		after.Version, after.Revision, after.Steps = 2, 2, []byte(`[{"id":"a","type":"emit_event","event_type":"test.second"}]`)
		return tx.UpdateScenario(before, &after)
	})
	s.engine()
	s.becomes(run, models.RunCompleted)
	require.Equal(t, 1, s.events("test.first"))
	require.Zero(t, s.events("test.second"))
}

// A stopped engine gives back what it had; another goes on at once.
func TestStoppedEngineGivesBack(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	entered, release := make(chan struct{}, 1), make(chan struct{})
	s.receiver.answers(func(int, http.ResponseWriter, *http.Request) { entered <- struct{}{}; <-release })
	first := s.engine()
	run := s.of(`[{"id":"a","type":"http_request","method":"POST","url":"URL/a"},{"id":"b","type":"emit_event","event_type":"test.b"}]`)
	<-entered
	stopped := make(chan error, 1)
	go func() { stopped <- first.Stop(t.Context()) }()
	require.Never(t, func() bool { return len(stopped) > 0 }, 100*time.Millisecond, tick, "it waits for the request under way")
	close(release)
	require.NoError(t, <-stopped)
	view := s.view(run)
	require.Equal(t, models.RunWaiting, view.Status)
	require.Equal(t, models.StepCompleted, view.Steps[0].Status, "and has it recorded")
	s.engine()
	s.becomes(run, models.RunCompleted)
	require.Equal(t, 1, s.receiver.count(run+"/a"))
	require.Equal(t, 1, s.events("test.b"))
}

// An engine that is woken does not wait for its next look.
func TestWokenEngineGoesOnAtOnce(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	engine := s.engine(func(c *scenarios.Config) { c.Probe = time.Hour })
	run := s.of(`[{"id":"a","type":"emit_event","event_type":"test.a"}]`)
	engine.Wake()
	s.becomes(run, models.RunCompleted)
}
