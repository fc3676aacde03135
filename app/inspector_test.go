package app

import (
	"context"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/stretchr/testify/require"

	"github.com/botix-pro/platform/app/inspector"
	"github.com/botix-pro/platform/app/models"
	"github.com/botix-pro/platform/app/store"
	"github.com/botix-pro/platform/internal/config"
)

// newBin makes a bin of the harness's project.
func newBin(t *testing.T, h *harness) (bin *models.Bin) {
	t.Helper()
	_, err := h.base.store.Write(t.Context(), h.project, func(tx *store.Tx) (err error) {
		bin, err = newDesk(h.base).Create(t.Context(), tx, "Test")
		return err
	})
	require.NoError(t, err)
	return bin
}

// deliveryRow is every column of a delivery, of its endpoint, of its dead letter
// and of its attempts.
func deliveryRow(t *testing.T, h *harness, id string) (text string) {
	t.Helper()
	require.NoError(t, h.base.store.DB().QueryRowContext(t.Context(), `
		SELECT concat(to_json(d), to_json(e), to_json(v), (SELECT json_agg(l) FROM dead_letters l WHERE l.delivery_id = d.id),
		              (SELECT json_agg(a ORDER BY number) FROM webhook_attempts a WHERE a.delivery_id = compact_id(d.id)),
		              (SELECT json_agg(h) FROM webhook_lanes h WHERE h.endpoint_id = d.endpoint_id))
		FROM webhook_deliveries d JOIN webhook_endpoints e ON e.id = d.endpoint_id LEFT JOIN events v ON v.id = d.event_id
		WHERE d.id = $1`, id).Scan(&text))
	return text
}

// A redirect copies a delivery, in whatever state, and changes nothing of it; the
// copy is what production would get, and its signatures are valid.
func TestRedirectLeavesTheDeliveryAlone(t *testing.T) {
	t.Parallel()
	for _, status := range models.DeliveryStatuses() {
		t.Run(string(status), func(t *testing.T) {
			t.Parallel()
			h := newHarness(t, loopback) // its own: the others' events are hinted too
			id := h.deliveryIn(t, status)
			before := deliveryRow(t, h, id)
			got := h.post(t, "/webhook-deliveries/"+id+"/redirect", "")
			require.Equal(t, http.StatusCreated, got.status, "%s", got.body)
			require.Equal(t, before, deliveryRow(t, h, id))
			require.Empty(t, h.hinted, "nobody is told to send anything")

			copied := got.object(t)
			require.Equal(t, id, copied["delivery_id"])
			require.Equal(t, "/hooks", copied["path"])
			require.JSONEq(t, string(got.body), string(h.get(t, got.header.Get("Location")).body), "what was answered is what is kept")
			headers := copied["headers"].(map[string]any)
			require.Equal(t, []any{"***"}, headers["X-Token"], "the owner's values are masked")
			require.Contains(t, copied["body"], headers["X-Event-Id"].([]any)[0])
			for _, verdict := range h.verdicts(t, copied["bin_id"].(string), copied["id"].(string)) {
				require.Equal(t, models.SignatureValid, verdict.Status, verdict.Scheme)
			}
		})
	}
}

// deliveryIn is a delivery in the state, to an endpoint of its own.
func (h *harness) deliveryIn(t *testing.T, status models.DeliveryStatus) string {
	t.Helper()
	kind := "state." + string(status)
	endpoint := h.post(t, "/webhook-endpoints", `{"url":"http://127.0.0.1:9/hooks","event_types":["`+kind+`"],"headers":{"X-Token":"secret"}}`)
	require.Equal(t, http.StatusCreated, endpoint.status, "%s", endpoint.body)
	event := h.post(t, "/events", `{"type":"`+kind+`"}`).object(t)["id"].(string)
	list := h.get(t, "/webhook-deliveries?event_type="+kind+"&event_id="+event).object(t)["data"].([]any)
	var id string
	for _, row := range list {
		if row.(map[string]any)["endpoint_id"] == endpoint.object(t)["id"] {
			id = row.(map[string]any)["id"].(string)
		}
	}
	require.NotEmpty(t, id)
	switch status {
	case models.DeliveryPending:
	case models.DeliveryInFlight:
		h.exec(t, `UPDATE webhook_deliveries SET status = 'in_flight', next_attempt_at = NULL, claim_token = gen_random_uuid(),
			attempt_id = new_compact_id(), lease_expires_at = now() + interval '1 minute' WHERE id = $1`, id)
	case models.DeliveryWaiting:
		h.exec(t, `UPDATE webhook_deliveries SET status = 'waiting', next_attempt_at = now() + interval '1 hour' WHERE id = $1`, id)
	case models.DeliveryDeadLetter:
		h.bury(t, id, "http_401")
	default:
		h.exec(t, `UPDATE webhook_deliveries SET status = $2, next_attempt_at = NULL WHERE id = $1`, id, string(status))
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.hinted = nil
	return id
}

func (h *harness) verdicts(t *testing.T, bin, captured string) []models.SignatureVerdict {
	t.Helper()
	where, err := h.base.store.Bin(t.Context(), h.project, bin)
	require.NoError(t, err)
	request, err := h.base.store.CapturedRequest(t.Context(), h.project, captured)
	require.NoError(t, err)
	verdicts, err := newDesk(h.base).Verdicts(t.Context(), where, request)
	require.NoError(t, err)
	return verdicts
}

// The same key gives the same copy; another one a second copy, in the same default
// bin, however many ask at once.
func TestRedirectIsOneOperation(t *testing.T) {
	t.Parallel()
	h := newHarness(t, loopback)
	path := delivery(t, h) + "/redirect"
	first := h.do(t, call{method: http.MethodPost, path: path, idempotency: "copy-one"})
	again := h.do(t, call{method: http.MethodPost, path: path, idempotency: "copy-one"})
	require.Equal(t, first.body, again.body)
	require.Equal(t, "true", again.header.Get("Idempotent-Replayed"))
	const callers = 8
	var group sync.WaitGroup
	for range callers {
		group.Go(func() { require.Equal(t, http.StatusCreated, h.post(t, path, `{}`).status) })
	}
	group.Wait()
	bins, err := h.base.store.Bins(t.Context(), h.project)
	require.NoError(t, err)
	require.Len(t, bins, 1)
	require.True(t, bins[0].Default)
	require.EqualValues(t, callers+1, bins[0].Captured)
	list, err := h.base.store.CapturedRequests(t.Context(), &bins[0], 0, 100)
	require.NoError(t, err)
	require.Len(t, list, callers+1)
}

// A bin that the body names is the project's own.
func TestRedirectIntoANamedBin(t *testing.T) {
	t.Parallel()
	h := newHarness(t, loopback)
	path, bin := delivery(t, h)+"/redirect", newBin(t, h)
	got := h.post(t, path, `{"bin_id":"`+bin.ID+`"}`)
	require.Equal(t, bin.ID, got.object(t)["bin_id"])
	mine := h.project
	h.project, _ = h.newProject(t, "business")
	foreign := newBin(t, h)
	h.project = mine
	for _, id := range []string{foreign.ID, "bin_7ZZZZZZZZZZZZZZZZZZZZZZZZZ", "nonsense"} {
		got := h.post(t, path, `{"bin_id":"`+id+`"}`)
		require.Equal(t, models.CodeValidationFailed, got.code(t), id)
	}
	found, err := h.base.store.CapturedRequests(t.Context(), foreign, 0, 10)
	require.NoError(t, err)
	require.Empty(t, found)
}

// Once the endpoint is gone the bin's own secret signs the copy.
func TestRedirectOfADeletedEndpointsDelivery(t *testing.T) {
	t.Parallel()
	h := newHarness(t, loopback)
	id := h.deliveryIn(t, models.DeliveryWaiting)
	row := h.get(t, "/webhook-deliveries/"+id).object(t)
	require.Equal(t, http.StatusNoContent, h.do(t, call{method: http.MethodDelete, path: "/webhook-endpoints/" + row["endpoint_id"].(string)}).status)
	got := h.post(t, "/webhook-deliveries/"+id+"/redirect", "").object(t)
	for _, verdict := range h.verdicts(t, got["bin_id"].(string), got["id"].(string)) {
		require.Equal(t, models.SignatureValid, verdict.Status)
		require.Equal(t, got["bin_id"], verdict.Matched)
	}
}

// The worker delivers to a bin on loopback, which is closed to every other
// webhook, and the bin finds its signatures valid.
func TestWorkerDeliversToABin(t *testing.T) {
	t.Parallel()
	listener := httptest.NewUnstartedServer(nil)
	url := "http://" + listener.Listener.Addr().String()
	h := newHarness(t, alone(t), func(c *config.Config) {
		c.InspectorURL, c.InspectorAddr = "http://inspect.example.test", listener.Listener.Addr().String()
	})
	listener.Config.Handler = inspector.NewCapture(inspector.CaptureConfig{
		Store: h.base.store, Clock: h.base.clock, Log: h.base.log, Registry: prometheus.NewRegistry(),
	})
	listener.Start()
	t.Cleanup(listener.Close)
	bin := newBin(t, h)
	refused := h.post(t, "/webhook-endpoints", `{"url":"`+url+`/`+bin.ID+`","event_types":["order.paid"]}`)
	require.Equal(t, models.CodeValidationFailed, refused.code(t), "the listener's own address is as closed as any")
	endpoint := h.post(t, "/webhook-endpoints", `{"url":"`+newDesk(h.base).URL(bin.ID)+`/hooks?a=1","event_types":["order.paid"]}`)
	require.Equal(t, http.StatusCreated, endpoint.status, "%s", endpoint.body)
	require.Equal(t, http.StatusCreated, h.post(t, "/events", `{"type":"order.paid"}`).status)

	services, err := workServices(t.Context(), h.base)
	require.NoError(t, err)
	for _, s := range services {
		require.NoError(t, s.Service.Start(t.Context()))
		t.Cleanup(func() { require.NoError(t, s.Service.Stop(context.WithoutCancel(t.Context()))) })
	}
	var seen []models.CapturedRequest
	require.Eventually(t, func() bool {
		seen, err = h.base.store.CapturedSince(t.Context(), bin0(t, h, bin.ID), 0, 10)
		return err == nil && len(seen) == 1 && seen[0].AnswerOutcome == models.AnswerGiven
	}, 20*time.Second, 20*time.Millisecond)
	require.Equal(t, "/"+bin.ID+"/hooks", seen[0].Path)
	require.Equal(t, "a=1", seen[0].Query)
	require.Contains(t, string(seen[0].Headers), `"Host":["inspect.example.test"]`)
	for _, verdict := range h.verdicts(t, bin.ID, seen[0].ID) {
		require.Equal(t, models.SignatureValid, verdict.Status, verdict.Scheme)
		require.Equal(t, endpoint.object(t)["id"], verdict.Matched)
	}
	require.Eventually(t, func() bool {
		return strings.Contains(string(h.get(t, "/webhook-deliveries?event_type=order.paid&status=delivered").body), endpoint.object(t)["id"].(string))
	}, 10*time.Second, 20*time.Millisecond)
}

func bin0(t *testing.T, h *harness, id string) *models.Bin {
	t.Helper()
	bin, err := h.base.store.Bin(t.Context(), h.project, id)
	require.NoError(t, err)
	return bin
}
