package app

import (
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/botix-pro/platform/app/models"
)

// held makes so many held deliveries of the endpoint.
func (h *harness) held(t *testing.T, endpoint string, count int) {
	t.Helper()
	h.exec(t, `INSERT INTO events (project_id, id, type, source, api_version, request_id, body, created_at)
		SELECT $1, 'evt_' || new_ulid(), 'a.x', 'api', '2026-12-01', '', '{}', now() FROM generate_series(1, $2)`, string(h.project), count)
	h.exec(t, `INSERT INTO webhook_deliveries (project_id, id, event_id, event_type, endpoint_id, status, step)
		SELECT project_id, 'whd_' || new_ulid(), id, type, $2, 'held', 3 FROM events WHERE project_id = $1`, string(h.project), endpoint)
}

// states counts the endpoint's deliveries by state.
func (h *harness) states(t *testing.T, endpoint string) map[string]int {
	t.Helper()
	rows, err := h.base.store.DB().QueryContext(t.Context(), `SELECT status, count(*) FROM webhook_deliveries WHERE endpoint_id = $1 GROUP BY status`, endpoint)
	require.NoError(t, err)
	defer func() { _ = rows.Close() }()
	list := map[string]int{}
	for rows.Next() {
		var status string
		var count int
		require.NoError(t, rows.Scan(&status, &count))
		list[status] = count
	}
	require.NoError(t, rows.Err())
	return list
}

// However many deliveries were held, the request moves a bounded number and a
// job the rest; they go on at the step where they stood.
func TestVeryManyHeldDeliveriesAreReleasedByAJob(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		change func(h *harness, t *testing.T, path string) int
		want   string
	}{
		"deliver": {func(h *harness, t *testing.T, path string) int { return h.post(t, path+"/resume", "").status }, "pending"},
		"discard": {func(h *harness, t *testing.T, path string) int {
			return h.post(t, path+"/resume", `{"held":"discard"}`).status
		}, "cancelled"},
		"delete": {func(h *harness, t *testing.T, path string) int {
			return h.do(t, call{method: http.MethodDelete, path: path}).status
		}, "cancelled"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := newHarness(t, loopback, alone(t))
			endpoint := h.endpointFor(t, "a.*")
			h.held(t, endpoint, 1600)
			require.Less(t, test.change(h, t, "/webhook-endpoints/"+endpoint), 300)
			require.Equal(t, map[string]int{test.want: 1000, "held": 600}, h.states(t, endpoint))
			list := h.get(t, "/jobs?type=webhook_release").object(t)["data"].([]any)
			require.Len(t, list, 1)
			require.EqualValues(t, 600, list[0].(map[string]any)["total"])
			// As a worker would that has sent what was due.
			h.exec(t, `UPDATE webhook_deliveries SET status = 'delivered', next_attempt_at = NULL WHERE endpoint_id = $1 AND status = 'pending'`, endpoint)
			if test.want == "pending" {
				h.exec(t, `UPDATE webhook_deliveries SET status = 'delivered' WHERE id IN (
					SELECT id FROM webhook_deliveries WHERE endpoint_id = $1 AND status = 'held' ORDER BY id DESC LIMIT 200)`, endpoint)
			}
			h.runJobs(t)
			job := h.get(t, "/jobs/"+list[0].(map[string]any)["id"].(string)).object(t)
			require.Equal(t, "completed", job["status"], "%v", job["error"])
			require.Zero(t, h.states(t, endpoint)["held"])
			var elsewhere int
			require.NoError(t, h.base.store.DB().QueryRowContext(t.Context(),
				`SELECT count(*) FROM webhook_deliveries WHERE endpoint_id = $1 AND (step <> 3 OR manual)`, endpoint).Scan(&elsewhere))
			require.Zero(t, elsewhere, "this is no retry by hand")
		})
	}
}

// Fewer are moved at once, without a job.
func TestFewHeldDeliveriesNeedNoJob(t *testing.T) {
	t.Parallel()
	h := newHarness(t, loopback, alone(t))
	endpoint := h.endpointFor(t, "a.*")
	h.held(t, endpoint, 20)
	require.Equal(t, http.StatusOK, h.post(t, "/webhook-endpoints/"+endpoint+"/resume", "").status)
	require.Equal(t, map[string]int{string(models.DeliveryPending): 20}, h.states(t, endpoint))
	require.Empty(t, h.get(t, "/jobs").object(t)["data"])
}
