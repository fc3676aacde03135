package deliveries_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/botix-pro/platform/app/models"
	"github.com/botix-pro/platform/app/store"
	"github.com/botix-pro/platform/internal/clock"
	"github.com/botix-pro/platform/internal/testenv"
	"github.com/botix-pro/platform/internal/testenv/browser"
	"github.com/botix-pro/platform/test/dashtest"
	"github.com/botix-pro/platform/web/dashboard/deliveries"
	"github.com/botix-pro/platform/web/ui"
)

func TestMain(m *testing.M) { testenv.Main(m) }

// desk is a project with an endpoint.
type desk struct {
	*dashtest.Site

	t        *testing.T
	endpoint models.WebhookEndpoint
}

func newDesk(t *testing.T) *desk {
	t.Helper()
	d := &desk{Site: dashtest.New(t), t: t}
	require.NoError(t, d.Store.KeepPartitions(t.Context()))
	at := clock.System{}.Now()
	for days := 2; days <= 3; days++ { // the days before, which the worker once made
		day := at.UTC().Truncate(24*time.Hour).AddDate(0, 0, -days)
		d.Exec(fmt.Sprintf(`CREATE TABLE webhook_attempts_%s PARTITION OF webhook_attempts FOR VALUES FROM ('%s') TO ('%s')`,
			day.Format("20060102"), day.Format(time.RFC3339), day.AddDate(0, 0, 1).Format(time.RFC3339)))
	}
	d.endpoint = models.WebhookEndpoint{
		ProjectID: d.Project.ID, ID: models.NewID(models.PrefixEndpoint, at), URL: "https://hooks.example.com/in", EventTypes: []string{"*"},
		Status: models.EndpointActive, MaxInFlight: 10, CreatedAt: at, UpdatedAt: at,
	}
	d.Write(d.Project.ID, func(tx *store.Tx) error { return tx.CreateEndpoint(&d.endpoint) })
	return d
}

// sent is a delivery with one attempt that began at the given time.
type sent struct{ event, delivery, attempt, request, cause string }

// send makes a delivery in a state, and its attempt: status 0 is none, class ""
// is success.
func (d *desk) send(state models.DeliveryStatus, at time.Time, kind string, status int, class models.ErrorClass) sent {
	d.t.Helper()
	s := sent{
		event: models.NewID(models.PrefixEvent, at), delivery: models.NewID(models.PrefixDelivery, at), attempt: models.NewID(models.PrefixAttempt, at),
		request: models.NewID(models.PrefixRequest, at), cause: models.NewID(models.PrefixRequest, at.Add(-time.Second)),
	}
	project := string(d.Project.ID)
	d.Exec(`INSERT INTO events (project_id, id, type, source, api_version, request_id, body, created_at) VALUES ($1, $2, $3, 'api', '2026-12-01', $4, $5, $6)`,
		project, s.event, kind, s.cause, []byte(`{"id":"`+s.event+`","name":"О'Нил"}`), at)
	var due any
	if state == models.DeliveryWaiting || state == models.DeliveryPending {
		due = at.Add(time.Hour)
	}
	d.Exec(`INSERT INTO webhook_deliveries (project_id, id, event_id, event_type, endpoint_id, status, step, attempt_count, manual, next_attempt_at, created_at, updated_at)
		VALUES ($1, $2, $3, $4, $5, $6, 1, 1, false, $7, $8, $8)`, project, s.delivery, s.event, kind, d.endpoint.ID, string(state), due, at)
	var code, fault any
	if status != 0 {
		code = status
	}
	if class != "" {
		fault = string(class)
	}
	d.Exec(`INSERT INTO webhook_attempts (project_id, id, delivery_id, endpoint_id, event_id, event_type, number, step, manual, url, request_id,
		request_headers, status_code, error_class, duration_ms, started_at) VALUES ($1, $2, $3, $4, $5, $6, 1, 1, false, $7, $8, $9, $10, $11, 40, $12)`,
		project, s.attempt, s.delivery, d.endpoint.ID, s.event, kind, d.endpoint.URL, s.request, `{"X-Event-Id":["`+s.event+`"]}`, code, fault, at)
	if state == models.DeliveryDeadLetter {
		cause := "retries_exhausted"
		if status != 0 {
			cause = fmt.Sprintf("http_%d", status)
		}
		d.Exec(`INSERT INTO dead_letters (project_id, id, delivery_id, endpoint_id, event_id, event_type, cause, attempt_id, created_at, expires_at)
			VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)`, project, models.NewID(models.PrefixDeadLetter, at), s.delivery, d.endpoint.ID, s.event, kind,
			cause, s.attempt, at, at.AddDate(0, 0, 14))
	}
	return s
}

func (d *desk) delivery(id string) models.WebhookDelivery {
	d.t.Helper()
	found, _, err := d.Store.Delivery(d.t.Context(), d.Project.ID, id)
	require.NoError(d.t, err)
	return *found
}

func TestEachFilterShowsWhatItSays(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	now := clock.System{}.Now()
	ok := d.send(models.DeliveryDelivered, now.Add(-time.Minute), "contact.created", 204, "")
	bad := d.send(models.DeliveryWaiting, now.Add(-2*time.Hour), "contact.created", 503, models.ErrorHTTP5xx)
	dead := d.send(models.DeliveryDeadLetter, now.Add(-50*time.Hour), "order.paid", 0, models.ErrorDNS)
	for query, want := range map[string][]sent{
		"": {ok, bad, dead}, "status=delivered": {ok}, "status=failed": {bad, dead}, "type=order.paid": {dead}, "class=dns": {dead},
		"http=5": {bad}, "since=1h0m0s": {ok}, "since=24h0m0s": {ok, bad}, "endpoint=" + d.endpoint.ID: {ok, bad, dead},
		"id=" + bad.event: {bad}, "id=" + dead.delivery: {dead}, "id=" + ok.request: {ok}, "id=" + bad.cause: {bad}, "id=nothing": nil,
		"status=failed&type=contact.created": {bad},
	} {
		got := d.Get(deliveries.Path + "?" + query)
		require.Equal(t, http.StatusOK, got.StatusCode, query)
		dashtest.RequireStrict(t, got)
		for _, s := range []sent{ok, bad, dead} {
			shown := strings.Contains(got.Body, `id="`+s.attempt+`"`)
			require.Equal(t, contains(want, s), shown, "%s: %v", query, s)
		}
	}
	require.Contains(t, d.Get(deliveries.Path+"?status=nonsense").Body, "problem", "what no filter offers is said to be wrong")
	for _, name := range []string{"status", "endpoint", "type", "class", "http", "since", "id"} {
		for _, value := range []string{"%00", "%ff", strings.Repeat("x", 5000)} {
			require.Equal(t, http.StatusOK, d.Get(deliveries.Path+"?"+name+"="+value).StatusCode, "%s=%.9s", name, value)
		}
	}
	_, foreign := d.NewProject("Foreign")
	require.NotContains(t, d.As(foreign).Get(deliveries.Path+"?id="+bad.event).Body, bad.attempt)
}

func contains(list []sent, s sent) bool {
	for _, one := range list {
		if one == s {
			return true
		}
	}
	return false
}

func TestRetrySendsTheSameEventAgainAndSaysSo(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	now := clock.System{}.Now()
	dead := d.send(models.DeliveryDeadLetter, now.Add(-time.Hour), "contact.created", 401, models.ErrorHTTP4xx)
	flying := d.send(models.DeliveryWaiting, now.Add(-time.Hour), "contact.created", 503, models.ErrorHTTP5xx)
	d.Exec(`UPDATE webhook_deliveries SET status = 'in_flight', next_attempt_at = NULL, claim_token = gen_random_uuid(), lease_expires_at = now() + interval '1 minute', attempt_id = 'att_x'
		WHERE id = $1`, flying.delivery)
	path := deliveries.Path + "/" + dead.delivery

	_, foreign := d.NewProject("Foreign")
	require.Equal(t, http.StatusNotFound, d.As(foreign).Get(path).StatusCode)
	require.Equal(t, http.StatusNotFound, d.As(foreign).Post(path+"/retry", nil).StatusCode)
	require.Equal(t, http.StatusForbidden, d.Post(path+"/retry", nil, [2]string{"Sec-Fetch-Site", "cross-site"}).StatusCode)
	require.Equal(t, models.DeliveryDeadLetter, d.delivery(dead.delivery).Status)

	require.Equal(t, http.StatusSeeOther, d.Post(path+"/retry", nil).StatusCode)
	moved := d.delivery(dead.delivery)
	require.Equal(t, models.DeliveryPending, moved.Status)
	require.True(t, moved.Manual)
	require.Equal(t, []store.Lane{{ProjectID: d.Project.ID, EndpointID: d.endpoint.ID}}, d.Hinted.All(), "the worker is told")
	page := d.Get(path)
	dashtest.RequireStrict(t, page)
	require.Contains(t, page.Body, "The retry is queued")
	require.Contains(t, page.Body, "A try is queued already.")
	require.Contains(t, d.Get(ui.Root+"/members").Body, "Retried a delivery")

	refused := d.Post(deliveries.Path+"/"+flying.delivery+"/retry", nil)
	require.Equal(t, http.StatusConflict, refused.StatusCode)
	require.Contains(t, refused.Body, "being sent right now")
	require.Contains(t, d.Get(deliveries.Path+"/"+flying.delivery).Body, "disabled")
}

func TestAGroupOfDeadLettersIsRetriedByAJob(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	now := clock.System{}.Now()
	for i := range 3 {
		d.send(models.DeliveryDeadLetter, now.Add(-time.Duration(i+1)*time.Hour), "contact.created", 401, models.ErrorHTTP4xx)
	}
	d.send(models.DeliveryDeadLetter, now.Add(-time.Hour), "contact.created", 0, models.ErrorDNS)
	page := d.Get(deliveries.PathDeadLetters)
	dashtest.RequireStrict(t, page)
	for _, text := range []string{"The endpoint answered 401", "3 deliveries", "All retries were used up", "hooks.example.com"} {
		require.Contains(t, page.Body, text)
	}
	group := "?" + url.Values{"endpoint": {d.endpoint.ID}, "cause": {"http_401"}}.Encode()
	require.Contains(t, d.Get(deliveries.PathDeadLetters+"/retry"+group).Body, "Retry 3 deliveries?")
	require.Equal(t, http.StatusUnprocessableEntity, d.Post(deliveries.PathDeadLetters+"/retry"+group, url.Values{"rate": {"0"}}).StatusCode)
	_, foreign := d.NewProject("Foreign")
	require.Equal(t, http.StatusNotFound, d.As(foreign).Post(deliveries.PathDeadLetters+"/retry"+group, nil).StatusCode)
	require.Equal(t, http.StatusNotFound, d.Get(deliveries.PathDeadLetters+"/list?endpoint=x").StatusCode)
	for _, page := range []string{"/list", "/retry"} {
		require.Equal(t, http.StatusNotFound, d.Get(deliveries.PathDeadLetters+page+"?cause=%00&endpoint="+d.endpoint.ID).StatusCode)
	}
	require.Equal(t, 3, strings.Count(d.Get(deliveries.PathDeadLetters+"/list"+group).Body, `data-label="Delivery"`))

	form := url.Values{"rate": {"5"}, "once": {models.NewID("", now)}}
	started := d.Post(deliveries.PathDeadLetters+"/retry"+group, form)
	require.Equal(t, started.Header.Get("Location"), d.Post(deliveries.PathDeadLetters+"/retry"+group, form).Header.Get("Location"), "one job for one form")
	require.Equal(t, http.StatusSeeOther, started.StatusCode)
	job, err := d.Store.Job(t.Context(), d.Project.ID, strings.TrimPrefix(started.Header.Get("Location"), ui.Root+"/jobs/"))
	require.NoError(t, err)
	require.Equal(t, models.JobWebhookRecovery, job.Type)
	require.Equal(t, 3, job.Total)
	var asked models.Recovery
	require.NoError(t, json.Unmarshal(job.Params, &asked))
	require.Equal(t, 5, *asked.RatePerSecond)
	require.Contains(t, d.Get(started.Header.Get("Location")).Body, "Retrying 3 deliveries.")
}

func TestDeliveriesInTheBrowser(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	now := clock.System{}.Now()
	d.send(models.DeliveryDelivered, now.Add(-time.Minute), "contact.created", 204, "")
	d.send(models.DeliveryWaiting, now.Add(-2*time.Minute), "subscription_management.payment_method.automatic_renewal.attempt_failed", 503, models.ErrorHTTP5xx)
	dead := d.send(models.DeliveryDeadLetter, now.Add(-3*time.Minute), "contact.created", 401, models.ErrorHTTP4xx)
	for range 21 {
		d.send(models.DeliveryDeadLetter, now.Add(-50*time.Hour), "order.paid", 0, models.ErrorReadTimeout)
	}
	running := browser.Start(t)
	for _, language := range ui.Languages() { //nolint:paralleltest // one browser, one site
		t.Run(string(language), func(t *testing.T) {
			tab := d.Tab(t, running, language, deliveries.Path+"?open="+dead.attempt)
			tab.Inspect("deliveries-" + string(language))
			tab.Open(d.URL + deliveries.PathDeadLetters)
			tab.Inspect("dead-letters-" + string(language))
			tab.Click("[data-dialog]")
			tab.Wait("dialog[open]")
			tab.Inspect("dead-letters-retry-" + string(language))
			tab.Open(d.URL + deliveries.Path + "/" + dead.delivery)
			tab.Inspect("delivery-" + string(language))
			tab.RequireQuiet(d.URL)
		})
	}
	t.Run("retries by keyboard", func(t *testing.T) {
		tab := d.Tab(t, running, ui.English, deliveries.Path+"/"+dead.delivery)
		tab.TabTo("main form .primary")
		tab.Press("\r")
		tab.WaitText("main", "The retry is queued")
		require.Equal(t, models.DeliveryPending, d.delivery(dead.delivery).Status)
		tab.RequireQuiet(d.URL)
	})
}

// A filter that matches rarely is searched for in bounded steps, each of which
// says how far it went.
func TestARareFilterIsSearchedInSteps(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	rare := d.send(models.DeliveryDelivered, clock.System{}.Now().Add(-2*time.Hour), "rare.one", 204, "")
	d.Exec(`INSERT INTO webhook_attempts (project_id, id, delivery_id, endpoint_id, event_id, event_type, number, step, manual, url, request_id,
			request_headers, status_code, duration_ms, started_at)
		SELECT $1, 'att_' || upper(substr(a.id, 5, 10)) || lpad(n::text, 16, '0'), a.delivery_id, a.endpoint_id, a.event_id, 'common', n + 1, 1, false, a.url, a.request_id,
			'{}', 204, 1, a.started_at + interval '1 hour'
		FROM webhook_attempts a, generate_series(1, 20001) n WHERE a.project_id = $1 AND a.id = $2`, string(d.Project.ID), d.send(
		models.DeliveryDelivered, clock.System{}.Now().Add(-time.Hour), "common", 204, "").attempt)
	found := false
	path := deliveries.Path + "?type=rare.one"
	for steps := 0; path != "" && steps < 5 && !found; steps++ {
		body := d.Get(path).Body
		found = strings.Contains(body, `id="`+rare.attempt+`"`)
		_, next, more := strings.Cut(body, `rel="next" href="`)
		next, _, _ = strings.Cut(next, `"`)
		if path = ""; more {
			path = strings.ReplaceAll(next, "&amp;", "&")
			require.Contains(t, body, "Searched back to")
		}
	}
	require.True(t, found)
}
