package requests_test

import (
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/botix-pro/platform/app/actions"
	"github.com/botix-pro/platform/app/models"
	"github.com/botix-pro/platform/app/store"
	"github.com/botix-pro/platform/internal/clock"
	"github.com/botix-pro/platform/test/dashtest"
	"github.com/botix-pro/platform/web/ui"
)

func TestEachFilterShowsWhatItSays(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	read := s.log(ago(1), "GET", "/contacts/:id", 200, "")
	made := s.log(ago(2), "POST", "/contacts", 201, "", under("k 1/..?"))
	again := s.log(ago(3), "POST", "/contacts", 201, "", under("k 1/..?"), replay)
	limited := s.log(ago(90), "GET", "/contacts", 429, models.CodeRateLimitExceeded)
	broken := s.log(ago(95), "POST", "/messages", 500, models.CodeInternalError, func(r *models.RequestRecord) { r.KeyID = "key_other" })
	all := []models.RequestRecord{read, made, again, limited, broken}
	for query, want := range map[string][]models.RequestRecord{
		"": all, "method=POST": {made, again, broken}, "route=/contacts": {made, again, limited}, "route=POST+/contacts": {made, again},
		"route=/contacts/{id}": {read}, "route=/contacts/" + models.NewID(models.PrefixContact, dashtest.Now()): {read},
		"status=2": {read, made, again}, "status=4": {limited}, "status=5": {broken}, "code=RATE_LIMIT_EXCEEDED": {limited}, "code=NOT_FOUND": nil,
		"replayed=true": {again}, "replayed=false": {read, made, limited, broken}, "key=" + s.key.ID: {read, made, again, limited},
		"since=1h0m0s": {read, made, again}, "id=" + made.RequestID: {made}, "id=" + url.QueryEscape("k 1/..?"): {made, again}, "id=nothing": nil,
		"code=INTERNAL_ERROR&method=GET": nil, "status=2&replayed=true&method=POST": {again},
	} {
		body := s.Get(path + "?" + query).Body
		for _, r := range all {
			shown := strings.Contains(body, `href="/developers/requests/`+r.RequestID+`"`)
			wanted := false
			for _, w := range want {
				wanted = wanted || w.RequestID == r.RequestID
			}
			require.Equal(t, wanted, shown, "%s: %s %s", query, r.Method, r.Route)
		}
	}
	require.Contains(t, s.Get(path+"?code=NONSENSE").Body, "A filter cannot be used.")
	require.Equal(t, http.StatusOK, s.Get(path+"?id=%00").StatusCode)
}

func TestAPageLeadsToTheNext(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	s.many(70, "GET", "/contacts", 200, "")
	first := s.Get(path).Body
	require.Equal(t, 50, strings.Count(first, `<th scope="row"`))
	_, rest, _ := strings.Cut(first, `rel="next" href="`)
	next, _, _ := strings.Cut(rest, `"`)
	second := s.Get(strings.ReplaceAll(next, "&amp;", "&")).Body
	require.Equal(t, 20, strings.Count(second, `<th scope="row"`))
	require.NotContains(t, second, `rel="next"`)
}

// A filter that matches rarely takes bounded work, and says how far it went.
func TestARareFilterSaysHowFarItSearched(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	old := s.log(ago(5), "DELETE", "/contacts/:id", 204, "")
	failed := s.log(ago(6), "GET", "/jobs/:id", 404, models.CodeNotFound)
	s.many(12_500, "GET", "/contacts", 200, "")
	body := s.Get(path + "?method=DELETE").Body
	require.NotContains(t, body, old.RequestID)
	require.Contains(t, body, "Searched back to")
	_, rest, _ := strings.Cut(body, `rel="next" href="`)
	next, _, _ := strings.Cut(rest, `"`)
	require.Contains(t, s.Get(strings.ReplaceAll(next, "&amp;", "&")).Body, old.RequestID, "it goes on from there")
	require.Contains(t, s.Get(path+"?code=NOT_FOUND").Body, failed.RequestID, "errors have an index of their own")
}

func TestErrorsAreGroupedAndLeadToTheirRequests(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	require.Contains(t, s.Get(path+"/errors").Body, "No errors")
	for range 3 {
		s.log(ago(1), "POST", "/contacts", 422, models.CodeValidationFailed)
	}
	late := s.log(ago(120), "GET", "/contacts/:id", 404, models.CodeNotFound)
	s.log(ago(1), "GET", "/contacts", 200, "")
	dashtest.Languages(t, func(t *testing.T, language ui.Language, header [2]string) {
		got := s.Get(path+"/errors", header)
		dashtest.RequireStrict(t, got)
		require.Equal(t, 2, strings.Count(got.Body, `<th scope="row"`))
		require.Less(t, strings.Index(got.Body, ">VALIDATION_FAILED<"), strings.Index(got.Body, ">NOT_FOUND<"), "the most frequent first")
		require.Contains(t, got.Body, map[ui.Language]string{ui.English: "names an object that does not exist", ui.Russian: "называет объект, которого нет"}[language])
	})
	group := path + "?" + url.Values{"code": {"NOT_FOUND"}, "method": {"GET"}, "route": {"/contacts/:id"}}.Encode()
	require.Contains(t, s.Get(path+"/errors").Body, `href="`+strings.ReplaceAll(group, "&", "&amp;")+`"`)
	require.Contains(t, s.Get(group).Body, late.RequestID)
	recent := s.Get(path + "/errors?since=1h0m0s").Body
	require.NotContains(t, recent, ">NOT_FOUND<")
	require.Contains(t, recent, "since=1h0m0s", "the group's list is over the same time")
}

func TestARequestSaysWhatHappenedAndWhatItCaused(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	s.NewEndpoint("https://hooks.example.com/in", "CRM")
	made, _ := s.contact("k1")
	dashtest.Languages(t, func(t *testing.T, language ui.Language, header [2]string) {
		got := s.Get(path+"/"+made.RequestID, header)
		dashtest.RequireStrict(t, got)
		for _, text := range []string{
			map[ui.Language]string{ui.English: "What it asked for was applied.", ui.Russian: "Запрошенное применено."}[language],
			"contact.created", `href="/developers/deliveries/whd_`, `href="/developers/operations?key=k1"`, "Сайт &lt;script&gt;",
		} {
			require.Contains(t, got.Body, text)
		}
	})
	for r, text := range map[models.RequestRecord]string{
		s.log(0, "POST", "/contacts", 201, "", replay):                                               "an earlier one did the work",
		s.log(0, "POST", "/contacts", 422, models.CodeValidationFailed):                              "Nothing was applied.",
		s.log(0, "POST", "/contacts", 409, models.CodeIdempotencyKeyExpired):                         "Do not repeat it with a new key.",
		s.log(0, "POST", "/contacts", 503, models.CodeServiceUnavailable, under("k2")):               "the page of its Idempotency-Key does",
		s.log(0, "GET", "/contacts", 200, "", func(r *models.RequestRecord) { r.KeyID = "key_old" }): "Nothing was changed.",
	} {
		body := s.Get(path + "/" + r.RequestID).Body
		require.Contains(t, body, text)
		if r.Code != "" {
			require.Contains(t, body, `href="/docs/error-codes#`+string(r.Code)+`"`)
		}
	}
}

func TestTheRequestOfAnAttemptLeadsToIt(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	e := s.NewEndpoint("https://hooks.example.com/in", "CRM")
	s.contact("k1")
	at := clock.System{}.Now()
	attempt := models.NewID(models.PrefixAttempt, at)
	s.Exec(`INSERT INTO webhook_attempts (project_id, id, delivery_id, endpoint_id, event_type, number, step, manual, url, duration_ms, started_at)
		SELECT project_id, compact_id($2), compact_id(id), compact_id(endpoint_id), event_type, 1, 1, false, $3, 40, $4 FROM webhook_deliveries WHERE project_id = $1`,
		string(s.Project.ID), attempt, e.URL, at)
	require.Equal(t, ui.Root+"/attempts/"+attempt, s.Get(path+"/"+models.RequestIDOf(attempt)).Header.Get("Location"))
}

func TestOthersRequestsAndOperationsDoNotExist(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	made, _ := s.contact("k1")
	s.settle(models.DeliveryDeadLetter)
	_, email := s.NewProject("Other")
	other := s.As(email)
	none := other.Get(path + "/" + models.NewID(models.PrefixRequest, dashtest.Now()))
	got := other.Get(path + "/" + made.RequestID)
	require.Equal(t, http.StatusNotFound, got.StatusCode)
	require.Equal(t, strings.ReplaceAll(none.Body, models.NewID("", dashtest.Now()), ""), strings.ReplaceAll(got.Body, made.RequestID, requestIn(none.Body)))
	for _, at := range []string{operationOf("k1"), operations + "/live?key=k1", operations + "/retry?key=k1", operations, path + "/req_1", operations + "?key=%00"} {
		require.Equal(t, http.StatusNotFound, other.Get(at).StatusCode, at)
	}
	for _, at := range []string{operations + "/retry?key=k1", operations + "/note?key=k1"} {
		require.Equal(t, http.StatusNotFound, other.Post(at, url.Values{"note": {"x"}}).StatusCode, at)
		require.Equal(t, http.StatusForbidden, s.Post(at, url.Values{"note": {"x"}}, [2]string{"Sec-Fetch-Site", "cross-site"}).StatusCode, at)
	}
	for _, at := range []string{path, path + "?id=k1", path + "?id=" + made.RequestID, path + "/errors"} {
		require.NotContains(t, other.Get(at).Body, "/requests/"+made.RequestID, at)
	}
}

// requestIn is the id of the request that a page names, which differs each time.
func requestIn(body string) string {
	_, rest, _ := strings.Cut(body, "req_")
	return "req_" + rest[:26]
}

func TestTheTimelineHasEveryRequestWithTheKey(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	s.NewEndpoint("https://hooks.example.com/in", "CRM")
	early := s.log(time.Minute, "POST", "/contacts", 429, models.CodeRateLimitExceeded, under("k1"))
	_, contact := s.contact("k1")
	s.log(-time.Second, "POST", "/contacts", 409, models.CodeIdempotencyKeyRunning, under("k1"))
	s.log(-2*time.Second, "POST", "/contacts", 201, "", under("k1"), replay)
	s.log(-3*time.Second, "POST", "/contacts", 409, models.CodeIdempotencyKeyReuse, under("k1"))
	dashtest.Languages(t, func(t *testing.T, language ui.Language, header [2]string) {
		got := s.Get(operationOf("k1"), header)
		dashtest.RequireStrict(t, got)
		after := 0
		for _, text := range map[ui.Language][]string{
			ui.English: {"Completed", "gets it again; nothing is done twice", contact.ID, early.RequestID, "Executed and committed.", "was still running", "the stored answer was given again", "belongs to another request"},
			ui.Russian: {"Выполнена", "дважды ничего не делается", contact.ID, early.RequestID, "Выполнен и зафиксирован.", "ещё выполнялся", "ещё раз выдан сохранённый ответ", "принадлежит другому запросу"},
		}[language] {
			at := strings.Index(got.Body[after:], text)
			if strings.HasPrefix(text, "req_") { // it stands at the row's end
				at = 0
			}
			require.GreaterOrEqual(t, at, 0, "%s comes after what is before it", text)
			after += at
		}
		require.Contains(t, got.Body, `href="/developers/contacts/`+contact.ID+`"`)
		require.Contains(t, got.Body, "&lt;/pre&gt;&lt;script&gt;")
		require.Contains(t, got.Body, "contact.created")
	})
	require.Contains(t, s.Get(ui.Root+"/find?id=k1").Header.Get("Location"), operationOf("k1"))
}

func TestASecretInAStoredAnswerIsMasked(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	id := models.NewID(models.PrefixEndpoint, dashtest.Now())
	s.run("k1", models.IdempotencyRecord{Method: http.MethodPost, Path: "/webhook-endpoints", Answer: models.Answer{
		Status: http.StatusCreated, Secret: true, Body: []byte(`{"id":"` + id + `","secret":"whsec_very_secret"}`),
		Header: http.Header{"Location": {"/webhook-endpoints/" + id}},
	}}, nil)
	body := s.Get(operationOf("k1")).Body
	require.NotContains(t, body, "whsec_")
	require.Contains(t, body, "&#34;secret&#34;: &#34;***&#34;")
	require.Contains(t, body, "Only a repeat of the same request shows it.")
}

func TestEachStateSaysWhatItMeans(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	s.log(ago(1), "POST", "/contacts", 422, models.CodeValidationFailed, under("free"))
	s.run("refused", models.IdempotencyRecord{Method: http.MethodPost, Path: "/contacts", Answer: models.Answer{Status: http.StatusConflict, Body: []byte(`{}`)}}, nil)
	s.contact("expired")
	s.Exec(`UPDATE idempotency_keys SET expires_at = now() - interval '1 hour' WHERE key = 'expired'`)
	s.contact("forgotten")
	s.Exec(`UPDATE idempotency_keys SET expires_at = now() - interval '8 days' WHERE key = 'forgotten'`)
	tx, _, err := s.Store.BeginOperation(s.Context(), s.Project.ID, "running")
	require.NoError(t, err)
	defer tx.Rollback(s.Context())
	for key, texts := range map[string][2]string{
		"free": {"the key may be used for the corrected request", "Stored answer"}, "refused": {"send a new operation with a new key", "data-live"},
		"expired": {"Do not repeat it with a new key", "Stored answer"}, "forgotten": {"Nothing with this key has been completed so far", "Stored answer"},
		"running": {"It ends within 30 seconds", "Stored answer"},
	} {
		got := s.Get(operationOf(key))
		require.Equal(t, http.StatusOK, got.StatusCode, key)
		require.Contains(t, got.Body, texts[0], key)
		require.NotContains(t, got.Body, texts[1]+"<", key)
		require.Equal(t, key == "running", strings.Contains(got.Body, "data-live"), key)
	}
	require.Equal(t, http.StatusNotFound, s.Get(operationOf("never")).StatusCode)
	require.Contains(t, s.Get(operationOf("never")).Body, "it is safe to repeat it with the same key")
}

func TestWebhooksThatDidNotArriveAreSentAgain(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	s.NewEndpoint("https://hooks.example.com/in", "CRM")
	s.contact("k1")
	retry := operations + "/retry?key=k1"
	s.settle(models.DeliveryDelivered)
	require.NotContains(t, s.Get(operationOf("k1")).Body, retry, "what arrived is not sent again")
	require.Equal(t, http.StatusSeeOther, s.Get(retry).StatusCode)
	require.Equal(t, http.StatusSeeOther, s.Post(retry, nil).StatusCode)
	require.Equal(t, []string{"delivered"}, s.statuses())
	s.settle(models.DeliveryDeadLetter)
	dashtest.RequireStrict(t, s.Get(retry))
	require.Contains(t, s.Get(retry).Body, "1 webhook that did not arrive will be sent again now.")
	require.Equal(t, []string{"dead_letter"}, s.statuses(), "asking does nothing")
	require.Equal(t, operationOf("k1"), s.Post(retry, nil).Header.Get("Location"))
	require.Equal(t, []string{"pending"}, s.statuses())
	require.Len(t, s.Hinted.All(), 1, "the worker is told")
	body := s.Get(operationOf("k1")).Body
	require.Contains(t, body, "1 webhook was queued.")
	require.Contains(t, body, s.Email, "who did it is kept")
	require.Contains(t, s.Get(ui.Root+"/members").Body, "Retried an operation")
}

func TestANoteIsKeptInTheTrail(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	s.contact("k1")
	note, once := operations+"/note?key=k1", models.NewID("", dashtest.Now())
	refused := s.Post(note, url.Values{"note": {strings.Repeat("я", 501)}})
	require.Equal(t, http.StatusUnprocessableEntity, refused.StatusCode)
	require.Contains(t, refused.Body, strings.Repeat("я", 501), "nothing typed is lost")
	for _, none := range []string{"a\x00b", "\xff", "\xed\xa0\x80"} {
		require.Equal(t, http.StatusUnprocessableEntity, s.Post(note, url.Values{"note": {none}}).StatusCode, "%q is no text", none)
	}
	for range 2 { // a double click
		got := s.Post(note, url.Values{"note": {"<b>Checked with the bank</b>"}, "once": {once}})
		require.Equal(t, operationOf("k1"), got.Header.Get("Location"))
	}
	body := s.Get(operationOf("k1")).Body
	require.Equal(t, 1, strings.Count(body, "&lt;b&gt;Checked with the bank&lt;/b&gt;"))
	require.Contains(t, body, s.Email)
}

func TestAMessageOfUnknownOutcomeLeadsToItsDecision(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	_, contact := s.contact("k0")
	var id string
	s.run("k1", models.IdempotencyRecord{Method: http.MethodPost, Path: "/messages", Answer: models.Answer{Status: http.StatusAccepted, Body: []byte(`{}`)}},
		func(tx *store.Tx, cause actions.Cause) error {
			m, err := actions.CreateMessage(s.Context(), tx, cause, contact.ID, models.MessageDraft{Channel: models.ChannelSandbox, Text: ptr("hello")})
			id = m.ID
			return err
		})
	s.Exec(`UPDATE idempotency_keys SET headers = $1 WHERE key = 'k1'`, `{"Location":["/messages/`+id+`"]}`)
	require.NotContains(t, s.Get(operationOf("k1")).Body, "Say what became of the message")
	s.Exec(`UPDATE messages SET status = 'unknown', next_attempt_at = NULL, attempt_count = 1 WHERE id = $1`, id)
	body := s.Get(operationOf("k1")).Body
	require.Contains(t, body, `<a class="button" href="/developers/messages/`+id+`">Say what became of the message</a>`)
}
