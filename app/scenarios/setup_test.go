package scenarios_test

import (
	"context"
	"encoding/json"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/botix-pro/platform/app/models"
	"github.com/botix-pro/platform/app/scenarios"
	"github.com/botix-pro/platform/app/store"
	"github.com/botix-pro/platform/internal/clock"
	"github.com/botix-pro/platform/internal/egress"
	"github.com/botix-pro/platform/internal/seal"
	"github.com/botix-pro/platform/internal/testenv"
)

func TestMain(m *testing.M) { testenv.Main(m) }

const (
	soon = 20 * time.Second
	tick = 10 * time.Millisecond
)

// site is a database of its own with a project and a receiver: an engine brings
// forward whatever is due in it.
type site struct {
	t        *testing.T
	store    *store.Store
	project  models.ProjectID
	receiver *receiver
}

// receiver counts requests by their keys and answers as it is told.
type receiver struct {
	server *httptest.Server

	mu     sync.Mutex
	answer func(n int, w http.ResponseWriter, r *http.Request) // n: of its key
	counts map[string]int
	bodies []string
}

func newSite(t *testing.T) *site {
	t.Helper()
	box, err := seal.New([]string{seal.NewKey()})
	require.NoError(t, err)
	s, err := store.Open(t.Context(), store.Config{URL: testenv.FreshDatabaseURL(t), MaxConns: 16, Application: "botix-test"}, box)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, s.Close()) })
	at := &site{t: t, store: s, project: models.ProjectID(models.NewID(models.PrefixProject, now())), receiver: newReceiver(t)}
	at.write(func(tx *store.Tx) error {
		tx.CreateProject(models.Project{Name: "Test", Mode: models.ModeLive, PlanID: "business", APIVersion: models.CurrentAPIVersion, CreatedAt: now()})
		return nil
	})
	testenv.GuardTransitions(t, at.store.DB(), "scenario_runs", models.RunStatuses())
	testenv.GuardTransitions(t, at.store.DB(), "scenario_run_steps", models.RunStepStatuses())
	return at
}

func now() time.Time { return clock.System{}.Now() }

func newReceiver(t *testing.T) *receiver {
	t.Helper()
	r := &receiver{counts: map[string]int{}, answer: func(_ int, w http.ResponseWriter, _ *http.Request) {
		_, _ = io.WriteString(w, `{"ok":true}`)
	}}
	r.server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, request *http.Request) {
		body, _ := io.ReadAll(request.Body)
		r.mu.Lock()
		key := request.Header.Get("Idempotency-Key")
		r.counts[key]++
		n, answer := r.counts[key], r.answer
		r.bodies = append(r.bodies, request.URL.RequestURI()+" "+string(body))
		r.mu.Unlock()
		answer(n, w, request)
	}))
	t.Cleanup(r.server.Close)
	return r
}

func (r *receiver) answers(fn func(n int, w http.ResponseWriter, r *http.Request)) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.answer = fn
}

func (r *receiver) count(key string) int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.counts[key]
}

func (s *site) write(fn func(*store.Tx) error) {
	s.t.Helper()
	_, err := s.store.Write(s.t.Context(), s.project, fn)
	require.NoError(s.t, err)
}

func (s *site) sql(query string, args ...any) {
	s.t.Helper()
	_, err := s.store.DB().ExecContext(s.t.Context(), query, args...)
	require.NoError(s.t, err)
}

func (s *site) number(query string, args ...any) (n int) {
	s.t.Helper()
	require.NoError(s.t, s.store.DB().QueryRowContext(s.t.Context(), query, args...).Scan(&n))
	return n
}

// engine starts one that is stopped with the test.
func (s *site) engine(change ...func(*scenarios.Config)) *scenarios.Engine {
	s.t.Helper()
	cfg := scenarios.Config{
		Store: s.store, Transport: egress.New([]netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}).Transport(egress.TransportConfig{}),
		UserAgent: "BOTIX-Scenarios/test", Clock: clock.System{}, Log: slog.New(slog.DiscardHandler), Probe: tick,
		Retries: []time.Duration{tick, tick, tick},
	}
	for _, apply := range change {
		apply(&cfg)
	}
	e := scenarios.NewEngine(cfg)
	require.NoError(s.t, e.Start(s.t.Context()))
	s.t.Cleanup(func() { require.NoError(s.t, e.Stop(context.WithoutCancel(s.t.Context()))) })
	return e
}

// scenario creates an active one; URL stands for the receiver.
func (s *site) scenario(steps string) string {
	s.t.Helper()
	id := models.NewID(models.PrefixScenario, now())
	steps = strings.ReplaceAll(steps, "URL", s.receiver.server.URL)
	_, faults := scenarios.Parse("/steps", []byte(steps))
	require.Empty(s.t, faults)
	s.write(func(tx *store.Tx) error {
		return tx.CreateScenario(&models.Scenario{
			ID: id, Name: "Test", Status: models.ScenarioActive, Version: 1, Revision: 1, Steps: []byte(steps), CreatedAt: now(), UpdatedAt: now(),
		})
	})
	return id
}

func (s *site) contact() string {
	s.t.Helper()
	id, name := models.NewID(models.PrefixContact, now()), "Ada"
	s.write(func(tx *store.Tx) error {
		return tx.CreateContact(&models.Contact{
			ID: id, Name: &name, Identities: map[string]string{}, Tags: []string{"new"}, Attributes: []byte(`{"plan":"pro"}`), Version: 1, CreatedAt: now(),
		})
	})
	return id
}

// run starts a run of the scenario for the contact.
func (s *site) run(scenario, contact, variables string) string {
	s.t.Helper()
	var id string
	s.write(func(tx *store.Tx) error {
		id = models.NewID(models.PrefixRun, tx.Now())
		tx.CreateRun(&models.ScenarioRun{
			ID: id, ScenarioID: scenario, ScenarioVersion: 1, ContactID: contact, Variables: []byte(variables),
			APIVersion: models.CurrentAPIVersion, RequestID: "req_test", CreatedAt: tx.Now(),
		})
		return nil
	})
	return id
}

// of runs the steps for a new contact.
func (s *site) of(steps string) (run string) {
	s.t.Helper()
	return s.run(s.scenario(steps), s.contact(), `{}`)
}

// view reads a run as the API shows it.
func (s *site) view(id string) models.RunView {
	s.t.Helper()
	run, records, steps, err := s.store.Run(s.t.Context(), s.project, id)
	require.NoError(s.t, err)
	var names []models.StepName
	require.NoError(s.t, json.Unmarshal(steps, &names))
	return run.ViewWith(names, records)
}

// becomes waits until the run has the state.
func (s *site) becomes(id string, status models.RunStatus) (view models.RunView) {
	s.t.Helper()
	require.Eventually(s.t, func() bool { view = s.view(id); return view.Status == status }, soon, tick, "run %s did not become %s: %+v", id, status, &view)
	return view
}

// statuses are those of the run's steps.
func statuses(view models.RunView) (list []models.RunStepStatus) {
	for _, step := range view.Steps {
		list = append(list, step.Status)
	}
	return list
}

// settle gives the run's message an end, as its worker would.
func (s *site) settle(run string, status models.MessageStatus) {
	s.t.Helper()
	s.sql(`UPDATE messages SET status = $1, next_attempt_at = NULL, error_code = CASE WHEN $1 = 'failed' THEN 'NO_SUCH_USER' END WHERE run_id = $2`,
		string(status), run)
}

func (s *site) events(kind string) int {
	s.t.Helper()
	return s.number(`SELECT count(*) FROM events WHERE type = $1`, kind)
}
