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
		cause: models.NewID(models.PrefixRequest, at.Add(-time.Second)),
	}
	s.request = models.RequestIDOf(s.attempt)
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
	d.Exec(`INSERT INTO webhook_attempts (project_id, id, delivery_id, endpoint_id, event_type, number, step, manual, url,
		signatures, status_code, error_class, duration_ms, started_at)
		VALUES ($1, compact_id($2), compact_id($3), compact_id($4), $5, 1, 1, false, $6, sha512('x'), $7, $8, 40, $9)`,
		project, s.attempt, s.delivery, d.endpoint.ID, kind, d.endpoint.URL, code, fault, at)
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
		"http=5xx": {bad}, "http=none": {dead}, "http=2xx": {ok}, "http=4xx": nil, "range=1h": {ok}, "range=24h": {ok, bad}, "status=lost": nil,
		"from=" + url.QueryEscape(now.Add(-3*time.Hour).Format(time.RFC3339)) + "&to=" + url.QueryEscape(now.Add(-time.Hour).Format(time.RFC3339)): {bad},
		"class=dns&http=5xx": nil, "class=http_5xx&endpoint=" + d.endpoint.ID: {bad}, "status=delivered&class=dns": nil, "endpoint=" + d.endpoint.ID: {ok, bad, dead},
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
	d.Exec(`UPDATE webhook_deliveries SET status = 'in_flight', next_attempt_at = NULL, claim_token = gen_random_uuid(), lease_expires_at = now() + interval '1 minute', attempt_id = new_compact_id()
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
	require.Contains(t, page.Body, "Retry queued. It will be attempt 2.")
	require.Contains(t, page.Body, "A retry is queued already")
	require.Contains(t, page.Body, "data-live", "what is about to be sent is followed")
	require.Contains(t, d.Get(ui.Root+"/members").Body, "Retried a delivery")

	refused := d.Post(deliveries.Path+"/"+flying.delivery+"/retry", nil)
	require.Equal(t, http.StatusConflict, refused.StatusCode)
	require.Contains(t, refused.Body, "See how that ends before you retry it.")
	part := d.Post(deliveries.Path+"/"+flying.delivery+"/retry", url.Values{"attempt": {flying.attempt}}, [2]string{"Hx-Request", "true"})
	require.Equal(t, http.StatusOK, part.StatusCode)
	require.Contains(t, part.Body, `<section class="state" id="`+flying.attempt+`-state"`)
	require.Contains(t, part.Body, `data-say="It is being sent right now.`)
	require.NotContains(t, part.Body, "<html")
	require.Contains(t, d.Get(deliveries.Path+"/"+flying.delivery).Body, "disabled")
}

const recovering = deliveries.Path + "/recover"

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
	for _, text := range []string{"Rejected with HTTP 401", "3 deliveries", "All attempts failed", "hooks.example.com"} {
		require.Contains(t, page.Body, text)
	}
	group := "?" + url.Values{"endpoint": {d.endpoint.ID}, "cause": {"http_401"}}.Encode()
	require.Contains(t, d.Get(recovering+group).Body, "Send 3 deliveries again?")
	require.Equal(t, http.StatusUnprocessableEntity, d.Post(recovering+group, url.Values{"rate": {"0"}}).StatusCode)
	_, foreign := d.NewProject("Foreign")
	require.Equal(t, http.StatusNotFound, d.As(foreign).Get(recovering+group).StatusCode)
	require.Equal(t, http.StatusNotFound, d.As(foreign).Post(recovering+group, nil).StatusCode)
	require.Equal(t, http.StatusNotFound, d.As(foreign).Get(deliveries.PathDeadLetters+group).StatusCode)
	require.Equal(t, http.StatusNotFound, d.Get(deliveries.PathDeadLetters+"?endpoint=x").StatusCode)
	require.Equal(t, http.StatusNotFound, d.Get(recovering+"?cause=%00&endpoint="+d.endpoint.ID).StatusCode)
	require.Equal(t, http.StatusNotFound, d.Get(deliveries.PathDeadLetters+"?cause=%00&endpoint="+d.endpoint.ID).StatusCode)
	require.Equal(t, 3, strings.Count(d.Get(deliveries.PathDeadLetters+group).Body, `data-label="Delivery"`))

	form := url.Values{"rate": {"5"}, "once": {models.NewID("", now)}}
	started := d.Post(recovering+group, form)
	require.Equal(t, started.Header.Get("Location"), d.Post(recovering+group, form).Header.Get("Location"), "one job for one form")
	require.Equal(t, http.StatusSeeOther, started.StatusCode)
	job, err := d.Store.Job(t.Context(), d.Project.ID, strings.TrimPrefix(started.Header.Get("Location"), ui.Root+"/jobs/"))
	require.NoError(t, err)
	require.Equal(t, models.JobWebhookRecovery, job.Type)
	require.Equal(t, 3, job.Total)
	var asked models.Recovery
	require.NoError(t, json.Unmarshal(job.Params, &asked))
	require.Equal(t, 5, *asked.RatePerSecond)
	require.Contains(t, d.Get(started.Header.Get("Location")).Body, "3 deliveries will be sent again.")
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
			tab.Open(d.URL + recovering + "?endpoint=" + d.endpoint.ID + "&cause=retries_exhausted")
			tab.Inspect("dead-letters-retry-" + string(language))
			tab.Open(d.URL + deliveries.PathDeadLetters + "?endpoint=" + d.endpoint.ID)
			tab.Inspect("dead-letters-list-" + string(language))
			tab.Open(d.URL + deliveries.Path + "?status=failed")
			tab.Click("a[data-dialog]")
			tab.WaitText("#recover-plan", "23")
			tab.Inspect("deliveries-retry-" + string(language))
			tab.Open(d.URL + deliveries.Path + "/" + dead.delivery)
			tab.Inspect("delivery-" + string(language))
			tab.RequireQuiet(d.URL)
		})
	}
	//nolint:paralleltest // as above
	t.Run("sends the chosen again", func(t *testing.T) {
		tab := d.Tab(t, running, ui.English, deliveries.Path+"?status=failed")
		tab.Click("tbody:nth-of-type(n+3) .cell-toggle input")
		tab.Click("button[data-dialog]")
		tab.WaitText("#recover-plan", "Send 1 delivery again?")
		tab.Click("#recover-plan .primary")
		tab.WaitText("h1", "job_")
		job, err := d.Store.Job(t.Context(), d.Project.ID, tab.Read("location.pathname.split('/').pop()"))
		require.NoError(t, err)
		require.Equal(t, 1, job.Total)
		var recovery models.Recovery
		require.NoError(t, json.Unmarshal(job.Params, &recovery))
		require.Len(t, recovery.DeliveryIDs, 1)
		tab.RequireQuiet(d.URL)
	})
	//nolint:paralleltest // as above
	t.Run("retries by keyboard", func(t *testing.T) {
		tab := d.Tab(t, running, ui.English, deliveries.Path+"/"+dead.delivery)
		tab.TabTo("main .state .primary")
		tab.Press("\r")
		tab.WaitText("main", "A retry is queued already")
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
	d.Exec(`INSERT INTO webhook_attempts (project_id, id, delivery_id, endpoint_id, event_type, number, step, manual, url,
			status_code, duration_ms, started_at)
		SELECT $1, compact_id('att_' || upper(substr($2, 5, 10)) || lpad(n::text, 16, '0')), a.delivery_id, a.endpoint_id, 'common', n + 1, 1, false, a.url,
			204, 1, a.started_at + interval '1 hour'
		FROM webhook_attempts a, generate_series(1, 20001) n WHERE a.project_id = $1 AND a.id = compact_id($2)`, string(d.Project.ID), d.send(
		models.DeliveryDelivered, clock.System{}.Now().Add(-time.Hour), "common", 204, "").attempt)
	found := false
	path := deliveries.Path + "?type=rare.one"
	for steps := 0; path != "" && steps < 5 && !found; steps++ {
		body := d.Get(path).Body
		found = strings.Contains(body, `id="`+rare.attempt+`"`)
		_, next, more := strings.Cut(body, `<a class="button" rel="next" href="`)
		next, _, _ = strings.Cut(next, `"`)
		if path = ""; more {
			path = strings.ReplaceAll(next, "&amp;", "&")
			require.Contains(t, body, "Searched back to")
		}
	}
	require.True(t, found)
}

// What matches, and what was chosen, is sent again by one job, after its numbers
// were shown.
func TestAllThatMatchIsRetriedByAJob(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	now := clock.System{}.Now()
	d.send(models.DeliveryDelivered, now.Add(-time.Minute), "contact.created", 204, "")
	d.send(models.DeliveryPending, now.Add(-time.Minute), "contact.created", 0, models.ErrorDNS)
	waiting := d.send(models.DeliveryWaiting, now.Add(-2*time.Minute), "contact.created", 503, models.ErrorHTTP5xx)
	dead := d.send(models.DeliveryDeadLetter, now.Add(-3*time.Minute), "order.paid", 0, models.ErrorDNS)
	d.Exec(`UPDATE webhook_deliveries SET last_error_class = 'http_5xx' WHERE id = $1`, waiting.delivery)
	d.Exec(`UPDATE webhook_deliveries SET last_error_class = 'dns' WHERE id = $1`, dead.delivery)
	dashtest.Languages(t, func(t *testing.T, language ui.Language, header [2]string) {
		for _, at := range []string{recovering + "?status=failed", recovering + "?selection=&delivery=" + dead.delivery, recovering + "?selection="} {
			got := d.Get(at, header)
			require.Equal(t, http.StatusOK, got.StatusCode)
			dashtest.RequireStrict(t, got)
		}
		part := d.Get(recovering+"?status=failed", header, [2]string{"Hx-Request", "true"})
		require.NotContains(t, part.Body, "<html")
		require.Contains(t, part.Body, map[ui.Language]string{ui.English: "Send 2 deliveries again?", ui.Russian: "Отправить ещё раз 2 доставки?"}[language])
		require.Contains(t, part.Body, map[ui.Language]string{ui.English: "1 is queued", ui.Russian: "1 уже в очереди"}[language])
	})
	require.Contains(t, d.Get(recovering+"?class=dns").Body, "Send 1 delivery again?")
	require.Equal(t, http.StatusNotFound, d.Get(recovering+"?status=delivered").StatusCode)

	asked := func(path string, form url.Values) (recovery models.Recovery, total int) {
		started := d.Post(path, form)
		require.Equal(t, http.StatusSeeOther, started.StatusCode, path)
		job, err := d.Store.Job(t.Context(), d.Project.ID, strings.TrimPrefix(started.Header.Get("Location"), ui.Root+"/jobs/"))
		require.NoError(t, err)
		require.NoError(t, json.Unmarshal(job.Params, &recovery))
		return recovery, job.Total
	}
	all, total := asked(recovering+"?status=failed", nil)
	require.True(t, all.Everywhere && all.Waiting)
	require.Equal(t, 2, total)
	some, total := asked(recovering+"?class=dns&type=order.paid", nil)
	require.Equal(t, []models.ErrorClass{models.ErrorDNS}, some.ErrorClasses)
	require.Equal(t, "order.paid", some.EventType)
	require.Equal(t, 1, total)
	chosen, _ := asked(recovering+"?selection=", url.Values{"delivery": {dead.delivery, waiting.delivery, dead.delivery}})
	require.ElementsMatch(t, []string{dead.delivery, waiting.delivery}, chosen.DeliveryIDs)

	require.Equal(t, http.StatusForbidden, d.Post(recovering+"?status=failed", nil, [2]string{"Sec-Fetch-Site", "cross-site"}).StatusCode)
	_, foreign := d.NewProject("Foreign")
	theirs := d.As(foreign)
	require.Equal(t, http.StatusNotFound, theirs.Post(recovering+"?selection=", url.Values{"delivery": {dead.delivery}}).StatusCode)
	require.Equal(t, http.StatusNotFound, theirs.Post(deliveries.PathDeadLetters+"/test", url.Values{"endpoint": {d.endpoint.ID}, "cause": {"retries_exhausted"}}).StatusCode)
	for _, path := range []string{deliveries.Path + "/" + dead.delivery + "/state", ui.Root + "/attempts/" + dead.attempt + "/payload", ui.Root + "/attempts/" + dead.attempt + "/answer"} {
		require.Equal(t, http.StatusOK, d.Get(path).StatusCode, path)
		require.Equal(t, http.StatusNotFound, theirs.Get(path).StatusCode, path)
	}
	require.Equal(t, `{"id":"`+dead.event+`","name":"О'Нил"}`, d.Get(ui.Root+"/attempts/"+dead.attempt+"/payload").Body, "to the byte")
	fresh := d.Get(deliveries.Path + "/new?after=" + dead.attempt)
	dashtest.RequireStrict(t, fresh)
	require.Contains(t, fresh.Body, "3 new")
	require.NotContains(t, theirs.Get(deliveries.Path+"/new?after="+dead.attempt).Body, "3 new")

	require.Equal(t, http.StatusSeeOther, d.Post(deliveries.PathDeadLetters+"/test", url.Values{"endpoint": {d.endpoint.ID}, "cause": {"retries_exhausted"}}).StatusCode)
	require.Equal(t, models.DeliveryPending, d.delivery(dead.delivery).Status)
}
