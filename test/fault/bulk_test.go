//go:build fault

package fault_test

import (
	"fmt"
	"math/rand/v2"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/botix-pro/platform/test/programs"
)

const (
	bulkJobs = 20
	bulkRows = 2000
	// A worker lives at most so long once it has taken a job, every fifth one five
	// times as long: ten lives in a row in which a job gets nowhere would rightly
	// end it.
	shortLife = 100 * time.Millisecond
)

// A worker is killed again and again at any instant of 20 imports of 2,000 rows.
// No row has an external_id, so nothing but the job's own position keeps one from
// being done twice. In the end each row is one contact with one event and one
// delivery, which arrives; each has its result, and each job its end.
func TestBulkSurvivesKilledWorkers(t *testing.T) {
	s := newSite(t)
	s.unlimited(t)
	arrivals := newReceiver(t)
	_, err := s.db.ExecContext(t.Context(), `UPDATE webhook_endpoints SET event_types = '["contact.created"]'`)
	require.NoError(t, err)
	server := programs.StartServer(t, s.env)
	s.insistAt(t, "/webhook-endpoints", "receiver", fmt.Sprintf(`{"url":%q,"event_types":["contact.*"],"max_in_flight":100}`, arrivals.url()), server.URL)
	_, err = s.db.ExecContext(t.Context(), `UPDATE webhook_endpoints SET status = 'deleted' WHERE event_types = '["contact.created"]'`)
	require.NoError(t, err)
	for job := range bulkJobs {
		s.startBulk(t, server.URL, job)
	}
	kills, caught := 0, 0
	for s.count(t, `SELECT count(*) FROM jobs WHERE finished_at IS NULL`) > 0 {
		worker := programs.StartWorker(t, s.env)
		require.Eventually(t, func() bool {
			return s.count(t, `SELECT count(*) FROM jobs WHERE holder IS NOT NULL`) > 0 || s.count(t, `SELECT count(*) FROM jobs WHERE finished_at IS NULL`) == 0
		}, programs.Patience, time.Millisecond)
		pause(time.Duration(rand.Int64N(int64(shortLife) * int64(1+kills%5))))
		worker.Kill(t)
		kills++
		caught += s.count(t, `SELECT count(*) FROM jobs WHERE holder IS NOT NULL`)
		// As the lease's 60 s would pass: whoever held it is gone.
		_, err := s.db.ExecContext(t.Context(), `UPDATE jobs SET lease_expires_at = now() - interval '1 second' WHERE holder IS NOT NULL`)
		require.NoError(t, err)
	}
	t.Logf("%d kills, which caught %d jobs", kills, caught)
	require.Greater(t, caught, bulkJobs/2, "jobs were caught in the middle")
	s.requireEachRowOnce(t)
	programs.StartWorker(t, s.env)
	require.Eventually(t, func() bool { return len(arrivals.all()) == bulkJobs*bulkRows }, 5*programs.Patience, 100*time.Millisecond)
}

func (s *site) startBulk(t *testing.T, url string, job int) {
	t.Helper()
	var body strings.Builder
	for row := range bulkRows {
		fmt.Fprintf(&body, "{\"name\":\"job %d row %d\"}\n", job, row)
	}
	request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, url+"/contacts/bulk", strings.NewReader(body.String()))
	require.NoError(t, err)
	request.Header.Set("Authorization", "Bearer "+s.demo.APIKey)
	request.Header.Set("Idempotency-Key", fmt.Sprintf("bulk-%d", job))
	request.Header.Set("Content-Type", "application/x-ndjson")
	answer, err := programs.Send(request)
	require.NoError(t, err)
	require.Equal(t, http.StatusAccepted, answer.Status, "%s", answer.Body)
}

func (s *site) count(t *testing.T, sql string) (count int) {
	t.Helper()
	require.NoError(t, s.db.QueryRowContext(t.Context(), sql).Scan(&count))
	return count
}

// requireEachRowOnce counts in the tables that the rows stand for.
func (s *site) requireEachRowOnce(t *testing.T) {
	t.Helper()
	_, err := s.db.ExecContext(t.Context(), `ANALYZE`)
	require.NoError(t, err)
	for name, sql := range map[string]string{
		"contacts":       `SELECT count(*) FROM contacts WHERE name LIKE 'job % row %'`,
		"different ones": `SELECT count(DISTINCT name) FROM contacts WHERE name LIKE 'job % row %'`,
		"events":         `SELECT count(*) FROM events WHERE type = 'contact.created'`,
		"their contacts": `SELECT count(DISTINCT c.name) FROM events e
			JOIN contacts c ON c.project_id = e.project_id AND c.id = convert_from(e.body, 'UTF8')::json->'data'->>'id'
			WHERE e.type = 'contact.created'`,
		"results": `SELECT count(DISTINCT c.name) FROM job_results r CROSS JOIN LATERAL jsonb_array_elements(r.results) WITH ORDINALITY AS e(result, at)
			JOIN contacts c ON c.project_id = r.project_id AND c.id = e.result->>'id'
			WHERE split_part(c.name, ' ', 4)::int = r.first + e.at - 1`,
		"succeeded": `SELECT sum(succeeded) FROM jobs WHERE status = 'completed'`,
	} {
		require.Equal(t, bulkJobs*bulkRows, s.count(t, sql), name)
	}
	require.Equal(t, bulkJobs, s.count(t, `SELECT count(*) FROM events WHERE type = 'job.completed'`))
	require.Zero(t, s.count(t, `SELECT count(*) FROM job_rows`))
}
