//go:build bench

package load_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"github.com/botix-pro/platform/app/models"
	"github.com/botix-pro/platform/internal/clock"
	"github.com/botix-pro/platform/test/programs"
)

const bulkRows = models.MaxBulkRows

// bulkRow is what a customer's export has about somebody.
func bulkRow(tag string, i int) map[string]any {
	return map[string]any{
		"external_id": fmt.Sprintf("crm-%s-%d", tag, i), "name": fmt.Sprintf("Anna Petrova %d", i),
		"email": fmt.Sprintf("anna.%s.%d@example.com", tag, i), "phone": fmt.Sprintf("+49151%08d", i),
		"tags": []string{"vip", "berlin"}, "attributes": map[string]any{"plan": "pro", "orders": i},
	}
}

func bulkBody(t *testing.T, tag string, pad int) string {
	t.Helper()
	var body strings.Builder
	for i := range bulkRows {
		row := bulkRow(tag, i)
		if pad > 0 {
			row["attributes"] = map[string]any{"note": strings.Repeat("x", pad)}
		}
		line, err := json.Marshal(row)
		require.NoError(t, err)
		body.Write(append(line, '\n'))
	}
	return body.String()
}

// 10,000 rows in one call, from the request to the end of the job, against the
// same rows copied into the same table by plain pgx.
func TestBulk(t *testing.T) {
	f := newFleet(t, 1, instant)
	p := f.start(t)
	for _, events := range []bool{false, true} {
		var ours, plain []float64
		for i := range rounds + 1 {
			tag := fmt.Sprintf("%t%d", events, i)
			body := bulkBody(t, tag, 0)
			took, accepted, ran := p.bulk(t, body, events)
			copied := f.copyRows(t, tag)
			t.Logf("accepted after %s, ran for %s, done after %s; copied in %s",
				accepted.Round(time.Millisecond), ran.Round(time.Millisecond), took.Round(time.Millisecond), copied.Round(time.Millisecond))
			if i > 0 { // connections, caches, plans
				ours, plain = append(ours, bulkRows/took.Seconds()), append(plain, bulkRows/copied.Seconds())
			}
		}
		t.Logf("bulk rows ÷ rows copied by plain pgx, events=%t: %.2f (%.0f/s, %.0f/s)", events, median(ours)/median(plain), median(ours), median(plain))
		require.Greater(t, median(ours), bulkRows/10.0, "10,000 rows take less than 10 s")
	}
}

// bulk imports a body and returns how long that took: all of it, until it was
// accepted, and the job by its own account.
func (p *publisher) bulk(t *testing.T, body string, events bool) (took, accepted, ran time.Duration) {
	t.Helper()
	begin := clock.System{}.Now()
	answer := p.accept(t, body, events)
	accepted = clock.System{}.Now().Sub(begin)
	var status string
	require.Eventually(t, func() bool {
		err := p.fleet.store.DB().QueryRowContext(t.Context(), `SELECT status FROM jobs WHERE '/jobs/' || id = $1`, answer.Header.Get("Location")).Scan(&status)
		return err == nil && models.JobStatus(status).Ended()
	}, programs.Patience, 5*time.Millisecond)
	took = clock.System{}.Now().Sub(begin)
	require.EqualValues(t, models.JobCompleted, status)
	var seconds float64
	var succeeded int
	require.NoError(t, p.fleet.store.DB().QueryRowContext(t.Context(),
		`SELECT succeeded, extract(epoch FROM finished_at - started_at)::float8 FROM jobs WHERE '/jobs/' || id = $1`, answer.Header.Get("Location")).Scan(&succeeded, &seconds))
	require.Equal(t, bulkRows, succeeded)
	return took, accepted, time.Duration(seconds * float64(time.Second))
}

// copyRows copies the same rows into contacts, of another project, and commits.
func (f *fleet) copyRows(t *testing.T, tag string) time.Duration {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), f.databaseURL())
	require.NoError(t, err)
	defer func() { _ = conn.Close(context.Background()) }()
	now := clock.System{}.Now()
	rows := make([][]any, bulkRows)
	for i := range rows {
		row := bulkRow(tag, i)
		rows[i] = []any{
			"prj_bare", models.NewID(models.PrefixContact, now), row["external_id"], row["name"], row["email"], row["phone"],
			map[string]string{}, row["tags"], row["attributes"], now, now,
		}
	}
	begin := clock.System{}.Now()
	_, err = conn.CopyFrom(t.Context(), pgx.Identifier{"contacts"},
		[]string{"project_id", "id", "external_id", "name", "email", "phone", "identities", "tags", "attributes", "created_at", "updated_at"},
		pgx.CopyFromRows(rows))
	require.NoError(t, err)
	return clock.System{}.Now().Sub(begin)
}

func (f *fleet) databaseURL() string {
	for _, variable := range f.env {
		if url, ok := strings.CutPrefix(variable, "DATABASE_URL="); ok {
			return url
		}
	}
	return ""
}

// What a server needs above idle while it takes bulk calls of 16 MiB, one at a
// time.
func TestBulkMemory(t *testing.T) {
	f := newFleet(t, 1, instant)
	server := programs.StartServer(t, f.env)
	p := &publisher{url: server.URL, fleet: f}
	pid := server.Command.Process.Pid
	p.accept(t, bulkBody(t, "warm", 0), true)
	idle := residentMiB(t, pid)
	// From now on the peak is counted anew: proc(5), clear_refs.
	require.NoError(t, os.WriteFile(filepath.Join("/proc", strconv.Itoa(pid), "clear_refs"), []byte("5"), 0o600))
	body := bulkBody(t, "memory", 1400)
	require.Greater(t, len(body), 15<<20)
	for range 5 {
		p.accept(t, body, true)
	}
	peak := statusMiB(t, pid, "VmHWM:")
	t.Logf("peak memory of a server above idle, bulk calls of %d MiB one at a time: %d MiB (%d, %d)", len(body)>>20, peak-idle, peak, idle)
	require.Less(t, peak-idle, 64)
}

// accept asks for an import and does not wait for its end.
func (p *publisher) accept(t *testing.T, body string, events bool) programs.Answer {
	t.Helper()
	target := p.url + "/contacts/bulk?events=" + strconv.FormatBool(events)
	request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, target, strings.NewReader(body))
	require.NoError(t, err)
	request.Header.Set("Authorization", "Bearer "+p.fleet.demo.APIKey)
	request.Header.Set("Idempotency-Key", models.NewID("", clock.System{}.Now()))
	request.Header.Set("Content-Type", "application/x-ndjson")
	answer, err := programs.Send(request)
	require.NoError(t, err)
	require.Equal(t, http.StatusAccepted, answer.Status, "%s", answer.Body)
	return answer
}
