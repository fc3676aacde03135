//go:build fault

package fault_test

import (
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/botix-pro/platform/app/models"
	"github.com/botix-pro/platform/internal/clock"
	"github.com/botix-pro/platform/test/programs"
)

// ledger is the receivers: of http_request steps, which know a request again by
// its key, and of webhooks, which know an event again by its id.
type ledger struct {
	server *httptest.Server

	mu       sync.Mutex
	physical map[string]int             // requests by key
	asked    map[string]string          // what was asked under the key
	differ   []string                   // keys under which two things were asked
	events   map[string]map[string]bool // ids of test.told by run
}

func newLedger(t *testing.T) *ledger {
	t.Helper()
	l := &ledger{physical: map[string]int{}, asked: map[string]string{}, events: map[string]map[string]bool{}}
	l.server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			return // broken off: its sender was killed, nothing was done
		}
		if r.Header.Get("X-Event-Id") != "" {
			l.told(r.Header.Get("X-Event-Id"), r.Header.Get("X-Event-Type"), body)
		} else {
			l.done(r.Header.Get("Idempotency-Key"), r.Method+" "+r.URL.Path+" "+string(body))
			pause(time.Duration(rand.IntN(60)) * time.Millisecond) // some senders die meanwhile
		}
		_, _ = io.WriteString(w, `{"ok":true}`)
	}))
	t.Cleanup(l.server.Close)
	return l
}

func (l *ledger) done(key, what string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.physical[key]++
	if before, known := l.asked[key]; known && before != what {
		l.differ = append(l.differ, key)
	}
	l.asked[key] = what
}

func (l *ledger) told(id, kind string, body []byte) {
	var event struct {
		Data struct{ Run string }
	}
	if kind != "test.told" || json.Unmarshal(body, &event) != nil {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.events[event.Data.Run] == nil {
		l.events[event.Data.Run] = map[string]bool{}
	}
	l.events[event.Data.Run][id] = true
}

const sixSteps = `{"name":"Six","steps":[
	{"id":"mark","type":"update_contact","add_tags":["seen"]},
	{"id":"ask","type":"http_request","method":"POST","url":"URL/ask","body":{"run":"{{run.id}}"},"save_as":"answer"},
	{"id":"hello","type":"send_message","channel":"sandbox","text":"hello"},
	{"id":"pause","type":"wait","duration":"1s"},
	{"id":"tell","type":"emit_event","event_type":"test.told","data":{"run":"{{run.id}}","status":"{{variables.answer.status}}"}},
	{"id":"close","type":"http_request","method":"PUT","url":"URL/close","body":{"run":"{{run.id}}"}}]}`

// Workers are killed at random during 500 runs of six steps. Every run comes to
// its end; at the receivers each step has had one effect, whoever did it.
func TestWorkersKilledDuringRuns(t *testing.T) {
	const runs, workers, kills = 500, 3, 20
	l := newLedger(t)
	s := newRunSite(t, l.server.URL)
	server := programs.StartServer(t, s.env)
	scenario := s.post(t, server.URL, "/scenarios", strings.ReplaceAll(sixSteps, "URL", l.server.URL))["id"].(string)
	s.post(t, server.URL, "/scenarios/"+scenario+"/activate", "")

	pool := make([]*programs.Process, workers)
	for i := range pool {
		pool[i] = programs.StartWorker(t, s.env)
	}
	var killing sync.WaitGroup
	killing.Go(func() {
		for range kills {
			pause(time.Duration(500+rand.IntN(1500)) * time.Millisecond)
			i := rand.IntN(workers)
			pool[i].Kill(t)
			pool[i] = programs.StartWorker(t, s.env)
		}
	})
	list := make([]string, runs)
	for i := range list {
		contact := s.post(t, server.URL, "/contacts", fmt.Sprintf(`{"external_id":"run-%d"}`, i))["id"].(string)
		list[i] = s.post(t, server.URL, "/scenarios/"+scenario+"/run", `{"contact_id":"`+contact+`"}`)["id"].(string)
		pause(time.Duration(rand.IntN(60)) * time.Millisecond) // spread over the kills
	}
	killing.Wait()
	s.requireAllOver(t)
	lost := s.requireOneEffectPerStep(t, server.URL, l, list)
	t.Logf("%d runs, %d workers killed, %d requests were repeated with their key", runs, kills, lost)
	require.NotZero(t, lost, "some workers died with a request under way")
}

// newRunSite is a site whose endpoint is the ledger.
func newRunSite(t *testing.T, receiver string) *site {
	t.Helper()
	s := newSite(t)
	s.unlimited(t)
	_, err := s.db.ExecContext(t.Context(), `UPDATE webhook_endpoints SET url = $1`, receiver+"/webhooks")
	require.NoError(t, err)
	return s
}

// post sends a POST that must succeed.
func (s *site) post(t *testing.T, url, path, body string) (object map[string]any) {
	t.Helper()
	return s.ask(t, http.MethodPost, url+path, body)
}

func (s *site) ask(t *testing.T, method, url, body string) (object map[string]any) {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), method, url, strings.NewReader(body))
	require.NoError(t, err)
	request.Header.Set("Authorization", "Bearer "+s.demo.APIKey)
	if method != http.MethodGet {
		request.Header.Set("Idempotency-Key", models.NewID("", clock.System{}.Now()))
		request.Header.Set("Content-Type", "application/json")
	}
	answer, err := programs.Send(request)
	require.NoError(t, err)
	require.Less(t, answer.Status, http.StatusBadRequest, "%s", answer.Body)
	require.NoError(t, json.Unmarshal([]byte(answer.Body), &object))
	return object
}

// requireAllOver waits for the end of every run and of every webhook about them:
// a lost worker's lease takes a minute to end.
func (s *site) requireAllOver(t *testing.T) {
	t.Helper()
	var open, last string
	require.Eventually(t, func() bool {
		require.NoError(t, s.db.QueryRowContext(t.Context(), `
			SELECT coalesce(string_agg(what || ': ' || n, ', '), '') FROM (
				SELECT concat('run ', r.status, ' at ', r.position, ' message ', m.status, ' due ', r.due_at <= now()) AS what, count(*) AS n
				FROM scenario_runs r LEFT JOIN messages m ON m.project_id = r.project_id AND m.id = r.message_id
				WHERE r.status NOT IN ('completed', 'failed', 'cancelled') GROUP BY 1
				UNION ALL
				SELECT 'webhook ' || status, count(*) FROM webhook_deliveries WHERE event_type = 'test.told' AND status <> 'delivered' GROUP BY 1) left_over`).Scan(&open))
		if open != last {
			t.Log(open)
			last = open
		}
		return open == ""
	}, 4*time.Minute, 250*time.Millisecond, "what is not over, when it ended")
}

// requireOneEffectPerStep counts at the receivers, and returns how many requests
// were repeats.
func (s *site) requireOneEffectPerStep(t *testing.T, url string, l *ledger, runs []string) (repeats int) {
	t.Helper()
	l.mu.Lock()
	defer l.mu.Unlock()
	require.Empty(t, l.differ, "a repeat asks for the same under its key")
	require.Len(t, l.physical, 2*len(runs), "one key for each step of each run, and no other")
	for _, run := range runs {
		got := s.ask(t, http.MethodGet, url+"/runs/"+run, "")
		require.Equal(t, "completed", got["status"], "%v", got["error"])
		for _, step := range got["steps"].([]any) {
			step := step.(map[string]any)
			require.Equal(t, "completed", step["status"])
			if step["type"] != "http_request" {
				continue
			}
			key := run + "/" + step["id"].(string)
			require.GreaterOrEqual(t, l.physical[key], 1, "recorded as done, so it was asked")
			require.LessOrEqual(t, l.physical[key], int(step["attempts"].(float64)), "nothing was sent uncounted")
			repeats += int(step["attempts"].(float64)) - 1
			require.Contains(t, l.asked[key], `{"run":"`+run+`"}`)
		}
		require.Len(t, l.events[run], 1, "one event, whatever its webhook's attempts")
		s.requireOneInside(t, run)
	}
	return repeats
}

// requireOneInside counts what the platform itself is the receiver of: the
// contact's change and the sandbox's outbox.
func (s *site) requireOneInside(t *testing.T, run string) {
	t.Helper()
	var changes, sent int
	require.NoError(t, s.db.QueryRowContext(t.Context(), `
		SELECT c.version - 1, (SELECT count(*) FROM sandbox_messages b JOIN messages m ON m.id = b.message_id WHERE m.run_id = r.id AND m.status = 'sent')
		FROM scenario_runs r JOIN contacts c ON c.id = r.contact_id WHERE r.id = $1 AND c.tags = '["seen"]'`, run).Scan(&changes, &sent))
	require.Equal(t, []int{1, 1}, []int{changes, sent})
}
