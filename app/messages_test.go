package app

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/stretchr/testify/require"

	"github.com/botix-pro/platform/app/models"
	"github.com/botix-pro/platform/app/store"
)

// The contact that the description's examples name; [someMessages] makes it.
const exampleContact = "ctc_01KBC4D2M9T3V7X1Z5B8E0G4J6"

const (
	messageBody = `{"contact_id":"` + exampleContact + `","channel":"email","text":"Hello"}`
	settleBody  = `{"status":"sent","reason":"The provider's log shows it."}`
)

// someMessages is the list of a project that has the examples' contact and can send
// e-mail.
func someMessages(t *testing.T, h *harness) string {
	t.Helper()
	_, err := h.base.store.DB().ExecContext(t.Context(), `
		INSERT INTO contacts (project_id, id, name, email, identities, created_at, updated_at)
		VALUES ($1, $2, 'Anna Petrova', 'anna@example.com', '{"telegram": "48151623"}', now(), now()) ON CONFLICT DO NOTHING`,
		string(h.project), exampleContact)
	require.NoError(t, err)
	_, err = h.base.store.Write(t.Context(), h.project, func(tx *store.Tx) error {
		return tx.SetChannel(models.ChannelEmail, struct{}{})
	})
	require.NoError(t, err)
	return "/messages"
}

// message is one that is queued. No worker runs here.
func message(t *testing.T, h *harness) string {
	t.Helper()
	got := h.post(t, someMessages(t, h), messageBody)
	require.Equal(t, http.StatusAccepted, got.status, "%s", got.body)
	return got.header.Get("Location")
}

// unknownMessage is one whose channel's answer was lost.
func unknownMessage(t *testing.T, h *harness) string {
	t.Helper()
	path := message(t, h)
	_, err := h.base.store.DB().ExecContext(t.Context(), `
		UPDATE messages SET status = 'unknown', next_attempt_at = NULL, attempt_count = 1, maybe_sent = true,
		       error_code = 'ANSWER_LOST', error_detail = 'The answer was lost.' WHERE project_id = $1 AND id = $2`,
		string(h.project), strings.TrimPrefix(path, "/messages/"))
	require.NoError(t, err)
	return path
}

// A message is answered before it is sent, reads back as it was answered, and
// its event, written with it, has the same shape.
func TestAcceptedMessageReadsBackAndIsTold(t *testing.T) {
	t.Parallel()
	h := newHarness(t)
	made := h.post(t, someMessages(t, h), `{"contact_id":"`+exampleContact+`","channel":"email","template":"Hello {{name}}: {{n}}",
		"variables":{"n":1.50},"send_at":"2026-12-24T08:00:00+01:00"}`)
	require.Equal(t, http.StatusAccepted, made.status, "%s", made.body)
	object := made.object(t)
	require.Equal(t, "Hello Anna Petrova: 1.50", object["text"])
	require.Contains(t, string(made.body), `"variables":{"n":1.50}`)
	require.Equal(t, "2026-12-24T07:00:00.000Z", object["send_at"])
	require.Equal(t, "queued", object["status"])

	read := h.get(t, made.header.Get("Location"))
	require.Equal(t, made.header.Get("ETag"), read.header.Get("ETag"))
	shown := read.object(t)
	require.Equal(t, []any{}, shown["settlements"])
	delete(shown, "settlements")
	require.Equal(t, object, shown)
	require.Equal(t, []string{"message.queued"}, h.messageEvents(t, object["id"].(string)))
}

// messageEvents are the types of a message's events, in order; their data are
// held against the description.
func (h *harness) messageEvents(t *testing.T, id string) (types []string) {
	t.Helper()
	rows := h.get(t, "/events?limit=100").object(t)["data"].([]any)
	schema := description(t).Components.Schemas["Message"].Value
	for i := len(rows) - 1; i >= 0; i-- {
		event := rows[i].(map[string]any)
		if data := event["data"].(map[string]any); data["id"] == id {
			require.NoError(t, schema.VisitJSON(data, openapi3.EnableFormatValidation()), event["type"])
			require.Equal(t, "message."+data["status"].(string), event["type"])
			require.Equal(t, "platform", event["source"])
			types = append(types, event["type"].(string))
		}
	}
	return types
}

// What is wrong with a message is said with a pointer, and nothing is left.
func TestRefusedMessages(t *testing.T) {
	t.Parallel()
	h := newHarness(t)
	someMessages(t, h)
	bare := h.contact(t, `{"name":"Bare"}`).object(t)["id"].(string)
	with := func(rest string) string { return `{"contact_id":"` + exampleContact + `",` + rest + `}` }
	for name, c := range map[string]struct{ body, code, pointer string }{
		"no contact":         {`{"contact_id":"ctc_01ARZ3NDEKTSV4RRFFQ69G5FAV","channel":"email","text":"x"}`, "NOT_FOUND", "/contact_id"},
		"not an id":          {`{"contact_id":"1","channel":"email","text":"x"}`, "NOT_FOUND", "/contact_id"},
		"contact left out":   {`{"channel":"email","text":"x"}`, "NOT_FOUND", "/contact_id"},
		"no such channel":    {with(`"channel":"pigeon","text":"x"`), "UNKNOWN_CHANNEL", "/channel"},
		"no text":            {with(`"channel":"email"`), "MISSING", "/text"},
		"nothing to send":    {with(`"channel":"email","text":" "`), "TOO_SHORT", "/text"},
		"both":               {with(`"channel":"email","text":"x","template":"y"`), "INVALID_FORMAT", "/template"},
		"too long":           {with(`"channel":"email","text":"` + strings.Repeat("x", 10_001) + `"`), "TOO_LONG", "/text"},
		"too long there":     {with(`"channel":"telegram","text":"` + strings.Repeat("x", 4_097) + `"`), "TOO_LONG", "/text"},
		"missing variable":   {with(`"channel":"email","template":"{{order}}"`), "MISSING", "/variables/order"},
		"contact lacks it":   {with(`"channel":"email","template":"{{phone}}"`), "MISSING", "/variables/phone"},
		"broken placeholder": {with(`"channel":"email","template":"{{a b}}"`), "INVALID_FORMAT", "/template"},
		"a variable's type":  {with(`"channel":"email","template":"x","variables":{"a":{}}`), "INVALID_TYPE", "/variables/a"},
		"variables no map":   {with(`"channel":"email","template":"x","variables":[1]`), "INVALID_TYPE", "/variables"},
		"too late":           {with(`"channel":"email","text":"x","send_at":"2126-01-01T00:00:00Z"`), "OUT_OF_RANGE", "/send_at"},
		"no address":         {`{"contact_id":"` + bare + `","channel":"email","text":"x"}`, "NO_ADDRESS", "/contact_id"},
		"not set up":         {with(`"channel":"telegram","text":"x"`), "NOT_CONFIGURED", "/channel"},
	} {
		got := h.post(t, "/messages", c.body)
		require.Equal(t, http.StatusUnprocessableEntity, got.status, "%s: %s", name, got.body)
		fault := got.object(t)["errors"].([]any)[0].(map[string]any)
		require.Equal(t, []any{c.pointer, c.code}, []any{fault["pointer"], fault["code"]}, name)
	}
	require.Empty(t, h.get(t, "/messages").object(t)["data"])
}

// A list shows what its filters ask for, page by page.
func TestMessagesAreFiltered(t *testing.T) {
	t.Parallel()
	h := newHarness(t)
	someMessages(t, h)
	other := h.contact(t, `{"email":"b@example.com"}`).object(t)["id"].(string)
	for _, body := range []string{messageBody, strings.Replace(messageBody, "email", "sandbox", 1), strings.Replace(messageBody, exampleContact, other, 1)} {
		require.Equal(t, http.StatusAccepted, h.post(t, "/messages", body).status)
	}
	unknownMessage(t, h)
	for query, want := range map[string]int{
		"": 4, "contact_id=" + other: 1, "channel=email": 3, "channel=sandbox": 1, "status=unknown": 1, "status=queued&channel=email": 2,
		"since=2020-01-01T00:00:00Z": 4, "until=2020-01-01T00:00:00Z": 0, "contact_id=x": 0,
	} {
		require.Len(t, h.get(t, "/messages?"+query).object(t)["data"], want, query)
	}
	require.Equal(t, http.StatusBadRequest, h.get(t, "/messages?status=lost").status)
	require.Equal(t, http.StatusBadRequest, h.get(t, "/messages?channel=pigeon").status)
	page := h.get(t, "/messages?limit=3").object(t)
	require.Len(t, h.get(t, "/messages?limit=3&cursor="+page["next_cursor"].(string)).object(t)["data"], 1)
}

// Only what is queued, and was certainly never sent, can be called off.
func TestCancelBeforeItIsSent(t *testing.T) {
	t.Parallel()
	h := newHarness(t)
	path := message(t, h)
	got := h.post(t, path+"/cancel", "")
	require.Equal(t, http.StatusOK, got.status, "%s", got.body)
	require.Equal(t, "cancelled", got.object(t)["status"])
	require.Equal(t, []string{"message.queued", "message.cancelled"}, h.messageEvents(t, got.object(t)["id"].(string)))
	repeated := message(t, h)
	_, err := h.base.store.DB().ExecContext(t.Context(), `UPDATE messages SET maybe_sent = true WHERE project_id = $1 AND id = $2`,
		string(h.project), strings.TrimPrefix(repeated, "/messages/"))
	require.NoError(t, err)
	require.Equal(t, models.CodeNotCancellable, h.post(t, repeated+"/cancel", "").code(t))
	require.Equal(t, models.CodeNotCancellable, h.post(t, unknownMessage(t, h)+"/cancel", "").code(t))
}

// A person's decision is kept with who, when and why, is told, and is the only
// one.
func TestSettleIsAudited(t *testing.T) {
	t.Parallel()
	h := newHarness(t)
	for _, to := range []string{"sent", "delivered", "failed"} {
		path := unknownMessage(t, h)
		got := h.post(t, path+"/settle", `{"status":"`+to+`","reason":"I asked them."}`)
		require.Equal(t, http.StatusOK, got.status, "%s", got.body)
		shown := got.object(t)
		require.Equal(t, to, shown["status"])
		decision := shown["settlements"].([]any)[0].(map[string]any)
		require.Equal(t, h.get(t, "/me").object(t)["id"], decision["key_id"])
		require.Equal(t, []any{"unknown", to, "I asked them."}, []any{decision["from"], decision["to"], decision["reason"]})
		require.Equal(t, got.header.Get("X-Request-Id"), decision["request_id"])
		require.Equal(t, string(got.body), string(h.get(t, path).body))
		require.Equal(t, "message."+to, h.messageEvents(t, shown["id"].(string))[1])
		require.Equal(t, models.CodeMessageNotUnknown, h.post(t, path+"/settle", settleBody).code(t))
	}
	for body, pointer := range map[string]string{
		`{"status":"queued","reason":"x"}`: "/status", `{"status":"sent","reason":""}`: "/reason", `{"reason":"x"}`: "/status",
		fmt.Sprintf(`{"status":"sent","reason":%q}`, strings.Repeat("x", 501)): "/reason",
	} {
		got := h.post(t, unknownMessage(t, h)+"/settle", body)
		require.Equal(t, http.StatusUnprocessableEntity, got.status)
		require.Equal(t, pointer, got.object(t)["errors"].([]any)[0].(map[string]any)["pointer"])
	}
}

// Who commits work for a worker tells of it, so that nobody waits for a look; a
// replay, and what is for later, tell of nothing.
func TestNewWorkIsHintedAt(t *testing.T) {
	t.Parallel()
	h := newHarness(t)
	scenario := activeScenario(t, h)
	later := strings.Replace(messageBody, "{", `{"send_at":"`+models.FormatTime(h.base.clock.Now().Add(time.Hour))+`",`, 1)
	for name, test := range map[string]struct {
		path, body string
		want       []store.Work
	}{
		"message": {"/messages", messageBody, []store.Work{store.WorkMessages}},
		"later":   {"/messages", later, nil},
		"run":     {scenario + "/run", runBody, []store.Work{store.WorkRuns}},
		"bulk":    {"/contacts/bulk", `[{"name":"Ada"}]`, []store.Work{store.WorkJobs}},
	} {
		request := call{method: http.MethodPost, path: test.path, body: test.body, idempotency: name}
		for _, want := range [][]store.Work{test.want, nil} { // the request, and its replay
			h.hinted = nil
			require.Less(t, h.do(t, request).status, http.StatusBadRequest, name)
			var told []store.Work
			for _, lane := range h.hinted {
				if work, other := lane.Work(); other {
					told = append(told, work)
				}
			}
			require.Equal(t, want, told, name)
		}
	}
}
