package app

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/botix-pro/platform/app/contacts"
	"github.com/botix-pro/platform/app/jobs"
	"github.com/botix-pro/platform/app/models"
	"github.com/botix-pro/platform/app/store"
)

const ndjson = "application/x-ndjson"

// numbered is so many rows with the external_ids r0, r1 and so on.
func numbered(count int) []string {
	rows := make([]string, count)
	for i := range rows {
		rows[i] = `{"external_id":"r` + strconv.Itoa(i) + `","name":"Row","tags":["bulk"]}`
	}
	return rows
}

func array(rows []string) string { return "[" + strings.Join(rows, ",\n") + "]" }

func lines(rows []string) string { return strings.Join(rows, "\n") + "\n" }

// bulk asks for an import.
func (h *harness) bulk(t *testing.T, query, kind, body string, change ...func(*call)) answer {
	t.Helper()
	c := call{method: http.MethodPost, path: "/contacts/bulk" + query, body: body, header: map[string]string{"Content-Type": kind}}
	for _, apply := range change {
		apply(&c)
	}
	return h.do(t, c)
}

// imported asks for one, waits for its end and returns the job.
func (h *harness) imported(t *testing.T, query, kind, body string) map[string]any {
	t.Helper()
	got := h.bulk(t, query, kind, body)
	require.Equal(t, http.StatusAccepted, got.status, "%s", got.body)
	h.runJobs(t)
	return h.get(t, got.header.Get("Location")).object(t)
}

// results are those of a job, page by page.
func (h *harness) results(t *testing.T, job map[string]any, query string) (all []map[string]any) {
	t.Helper()
	for cursor := ""; ; {
		page := h.get(t, fmt.Sprintf("/jobs/%s/results?limit=100&%s%s", job["id"], query, cursor)).object(t)
		for _, row := range page["data"].([]any) {
			all = append(all, row.(map[string]any))
		}
		if page["next_cursor"] == nil {
			return all
		}
		cursor = "&cursor=" + page["next_cursor"].(string)
	}
}

func (h *harness) count(t *testing.T, sql string) (count int) {
	t.Helper()
	require.NoError(t, h.base.store.DB().QueryRowContext(t.Context(), sql, string(h.project)).Scan(&count))
	return count
}

const (
	countContacts = `SELECT count(*) FROM contacts WHERE project_id = $1`
	countJobs     = `SELECT count(*) FROM jobs WHERE project_id = $1`
	countRows     = `SELECT count(*) FROM job_rows WHERE project_id = $1`
	countEvents   = `SELECT count(*) FROM events WHERE project_id = $1 AND type LIKE 'contact.%'`
	// Each table is read once, whatever the planner believes about tables that have just grown.
	countOnce = `
		WITH made AS MATERIALIZED (
			SELECT id, convert_from(body, 'UTF8')::json->'data'->>'id' AS contact FROM events WHERE project_id = $1 AND type = 'contact.created'
		), sent AS MATERIALIZED (SELECT event_id FROM webhook_deliveries WHERE project_id = $1)
		SELECT count(*) FROM contacts c JOIN made ON made.contact = c.id JOIN sent ON sent.event_id = made.id WHERE c.project_id = $1`
)

// Each row is a contact with its event and delivery, and has its result, in the
// order of the rows.
func TestBulkMakesAContactOfEachRow(t *testing.T) {
	t.Parallel()
	for kind, body := range map[string]string{"application/json": array(numbered(2203)), ndjson: lines(numbered(2203))} {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			h := newHarness(t)
			job := h.imported(t, "", kind, body)
			require.Equal(t, []any{"contacts_bulk", "completed", 2203.0, 2203.0, 2203.0, 0.0},
				[]any{job["type"], job["status"], job["total"], job["processed"], job["succeeded"], job["failed"]})
			require.Equal(t, map[string]any{"mode": "create", "events": true}, job["params"])
			require.Positive(t, job["rate_per_second"])
			require.Equal(t, 2203, h.count(t, countContacts))
			require.Equal(t, 2203, h.count(t, countEvents))
			require.Equal(t, 2203, h.count(t, countOnce), "one event each, one delivery each")
			require.Zero(t, h.count(t, countRows), "what was sent is not kept")
			require.Len(t, h.get(t, "/events?type=job.completed").object(t)["data"], 1)
			results := h.results(t, job, "")
			require.Len(t, results, 2203)
			for i, result := range results {
				require.EqualValues(t, i, result["index"])
				require.Equal(t, "created", result["status"])
			}
			contact := h.get(t, "/contacts/"+results[777]["id"].(string)).object(t)
			require.Equal(t, "r777", contact["external_id"])
			h.mu.Lock()
			defer h.mu.Unlock()
			require.NotEmpty(t, h.hinted)
		})
	}
}

// A line that is no JSON is that row's error; all the others are done.
func TestBulkMalformedLineFailsAlone(t *testing.T) {
	t.Parallel()
	h := newHarness(t)
	rows := numbered(models.MaxBulkRows)
	rows[7341] = `{"external_id":"r7341","name":`
	rows[7342] = "\r\n\n " + rows[7342] + " \r" // empty lines are no rows
	job := h.imported(t, "?events=false", ndjson, lines(rows))
	require.Equal(t, []any{10000.0, 9999.0, 1.0}, []any{job["total"], job["succeeded"], job["failed"]})
	require.Equal(t, 9999, h.count(t, countContacts))
	require.Zero(t, h.count(t, countEvents), "none were wanted")
	failed := h.results(t, job, "status=failed")
	require.Len(t, failed, 1)
	require.EqualValues(t, 7341, failed[0]["index"])
	require.Equal(t, "MALFORMED_JSON", failed[0]["error"].(map[string]any)["code"])
	all := h.results(t, job, "")
	require.Len(t, all, models.MaxBulkRows)
	require.Equal(t, "r7342", h.get(t, "/contacts/"+all[7342]["id"].(string)).object(t)["external_id"])
}

// Whatever is wrong with a row is said as POST /contacts would, with pointers into
// the row, and no other row minds.
func TestBulkRowsFailAsRequestsWould(t *testing.T) {
	t.Parallel()
	h := newHarness(t)
	require.Equal(t, http.StatusCreated, h.post(t, "/contacts", `{"external_id":"taken"}`).status)
	rows := append(numbered(1100),
		`{"external_id":"taken"}`, `{"external_id":"r3"}`, `{"external_id":"r1099"}`,
		`{"email":"no address","phone":"12"}`, `{"no_such_field":1}`, `[]`, `null`, `{"name":"\u0000"}`, `{"name":7}`, `{"tags":[null]}`,
		`{"attributes":`+strings.Repeat(`{"a":`, 70)+"1"+strings.Repeat("}", 71),
		`{"name":"`+strings.Repeat("x", models.MaxRowBytes)+`"}`,
		`{"name":"last"}`)
	job := h.imported(t, "?mode=create", "application/json", array(rows))
	require.EqualValues(t, 12, job["failed"])
	want := [][]string{
		{"CONTACT_ALREADY_EXISTS"}, {"CONTACT_ALREADY_EXISTS"}, {"CONTACT_ALREADY_EXISTS"},
		{"VALIDATION_FAILED", "/email INVALID_FORMAT", "/phone INVALID_FORMAT"}, {"VALIDATION_FAILED", "/no_such_field UNKNOWN_FIELD"},
		{"VALIDATION_FAILED", " INVALID_TYPE"}, {"VALIDATION_FAILED", " INVALID_TYPE"}, {"MALFORMED_JSON", "/name SYNTAX"},
		{"VALIDATION_FAILED", "/name INVALID_TYPE"}, {"VALIDATION_FAILED", "/tags/0 INVALID_TYPE"},
		{"VALIDATION_FAILED", "/attributes TOO_DEEP"}, {"PAYLOAD_TOO_LARGE"},
	}
	for i, result := range h.results(t, job, "status=failed") {
		require.EqualValues(t, 1100+i, result["index"])
		require.Nil(t, result["id"])
		fault := result["error"].(map[string]any)
		got := []string{fault["code"].(string)}
		for _, field := range fault["errors"].([]any) {
			got = append(got, field.(map[string]any)["pointer"].(string)+" "+field.(map[string]any)["code"].(string))
		}
		require.Equal(t, want[i], got)
	}
	require.Equal(t, 1102, h.count(t, countContacts), "the one before, the rows, the last")
}

// An upsert creates or replaces, row by row in their order, over the borders of
// chunks too; a contact that was deleted meanwhile is made anew.
func TestBulkUpsertGoesRowByRow(t *testing.T) {
	t.Parallel()
	h := newHarness(t)
	before := h.post(t, "/contacts", `{"external_id":"r1","name":"Row","email":"a@example.com"}`).object(t)
	same := h.post(t, "/contacts", `{"external_id":"r2","name":"Row","tags":["bulk"]}`).object(t)
	gone := h.post(t, "/contacts", `{"external_id":"r3","name":"Gone"}`).object(t)
	rows := append(numbered(1100), `{"external_id":"r0","name":"Second"}`, `{"external_id":"r1099","name":"Second"}`,
		`{"external_id":"r1099","name":"Third"}`, `{"name":"nobody"}`, `{"external_id":"r0","phone":"1"}`)
	got := h.bulk(t, "?mode=upsert", ndjson, lines(rows))
	require.Equal(t, http.StatusNoContent, h.do(t, call{method: http.MethodDelete, path: "/contacts/" + gone["id"].(string)}).status)
	h.runJobs(t)
	job := h.get(t, got.header.Get("Location")).object(t)
	results := h.results(t, job, "")
	require.EqualValues(t, 2, job["failed"])
	for index, status := range map[int]string{
		0: "created", 1: "updated", 2: "unchanged", 3: "created", 1099: "created", 1100: "updated", 1101: "updated", 1102: "updated", 1103: "failed", 1104: "failed",
	} {
		require.Equal(t, status, results[index]["status"], index)
	}
	require.Equal(t, before["id"], results[1]["id"])
	require.Equal(t, same["id"], results[2]["id"])
	require.NotEqual(t, gone["id"], results[3]["id"])
	require.Equal(t, results[0]["id"], results[1100]["id"])
	updated := h.get(t, "/contacts/"+before["id"].(string))
	require.Equal(t, []any{nil, "Row", []any{"bulk"}}, []any{updated.object(t)["email"], updated.object(t)["name"], updated.object(t)["tags"]}, "replaced as a whole")
	require.Equal(t, `"2"`, updated.header.Get("ETag"))
	third := h.get(t, "/contacts/"+results[1099]["id"].(string))
	require.Equal(t, "Third", third.object(t)["name"])
	require.Equal(t, `"3"`, third.header.Get("ETag"), "each row was a change")
	require.Equal(t, 1101, h.count(t, countEvents+` AND type = 'contact.created'`), "three before, and all rows but two")
	require.Equal(t, 4, h.count(t, countEvents+` AND type = 'contact.updated'`))
}

// What cannot be split into rows is refused as a whole, stores nothing and leaves
// the key free.
func TestBulkRefusesWhatItCannotSplit(t *testing.T) {
	t.Parallel()
	h := newHarness(t)
	many := numbered(models.MaxBulkRows + 1)
	broken := array(numbered(1200))
	wide := strings.Repeat(" ", models.MaxBulkBytes)
	for name, test := range map[string]struct {
		query, kind, body string
		want              models.Code
		pointer           string
	}{
		"cut off":             {"", "application/json", broken[:len(broken)-1], models.CodeMalformedJSON, ""},
		"broken in a row":     {"", "application/json", strings.Replace(broken, `"r1100",`, `"r1100"`, 1), models.CodeMalformedJSON, "/1100"},
		"a name twice":        {"", "application/json", `[{"name":"a","name":"b"}]`, models.CodeMalformedJSON, "/0/name"},
		"more behind it":      {"", "application/json", `[{}] {}`, models.CodeMalformedJSON, ""},
		"no comma":            {"", "application/json", `[{} {}]`, models.CodeMalformedJSON, ""},
		"no array":            {"", "application/json", `{"name":"a"}`, models.CodeValidationFailed, ""},
		"no rows":             {"", "application/json", ` [ ] `, models.CodeValidationFailed, ""},
		"no lines":            {"", ndjson, " \n\n", models.CodeValidationFailed, ""},
		"too many rows":       {"", "application/json", array(many), models.CodeValidationFailed, ""},
		"too many lines":      {"", ndjson, lines(many), models.CodeValidationFailed, ""},
		"over 16 MiB":         {"", "application/json", "[{}]" + wide, models.CodePayloadTooLarge, ""},
		"of another type":     {"", "text/csv", "name", models.CodeUnsupportedMediaType, ""},
		"mode unheard of":     {"?mode=delete", "application/json", "[{}]", models.CodeInvalidRequest, "?mode"},
		"events unheard of":   {"?events=1", "application/json", "[{}]", models.CodeInvalidRequest, "?events"},
		"parameter not known": {"?dry_run=true", "application/json", "[{}]", models.CodeInvalidRequest, "?dry_run"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			key := "refused-" + uuid.NewString()
			got := h.bulk(t, test.query, test.kind, test.body, func(c *call) { c.idempotency = key })
			require.Equal(t, test.want, got.code(t), "%s", got.body)
			if test.pointer != "" {
				require.Contains(t, got.object(t)["errors"].([]any)[0].(map[string]any)["pointer"], test.pointer)
			}
			require.Zero(t, h.count(t, countRows))
			require.Zero(t, h.count(t, countJobs))
			require.Equal(t, models.CodeNotFound, h.get(t, "/idempotency-keys/"+key).code(t), "nothing was stored")
		})
	}
}

// As much as is allowed is taken.
func TestBulkTakesSixteenMebibytes(t *testing.T) {
	t.Parallel()
	h := newHarness(t)
	body := lines(numbered(10))
	got := h.bulk(t, "", ndjson, body+strings.Repeat("\n", models.MaxBulkBytes-len(body)))
	require.Equal(t, http.StatusAccepted, got.status, "%s", got.body)
	require.EqualValues(t, 10, got.object(t)["total"])
}

// One key is one job, however large the body, and its fingerprint is over every
// byte of it.
func TestBulkIsReplayedAndToldFromAnother(t *testing.T) {
	t.Parallel()
	h := newHarness(t)
	row := `{"external_id":"r%d","attributes":{"a":"` + strings.Repeat("x", 3000) + `"}}`
	rows := make([]string, 1000)
	for i := range rows {
		rows[i] = fmt.Sprintf(row, i)
	}
	body := array(rows)
	require.Greater(t, len(body), 2<<20)
	key := func(c *call) { c.idempotency = "large" }
	first := h.bulk(t, "?events=false", "application/json", body, key)
	require.Equal(t, http.StatusAccepted, first.status, "%s", first.body)
	h.runJobs(t)
	again := h.bulk(t, "?events=false", "application/json", body, key)
	require.Equal(t, first.body, again.body, "to the byte")
	require.Equal(t, "true", again.header.Get("Idempotent-Replayed"))
	require.Equal(t, first.header.Get("Location"), again.header.Get("Location"))
	other := []byte(body)
	other[len(other)-10] = 'y'
	require.Equal(t, models.CodeIdempotencyKeyReuse, h.bulk(t, "?events=false", "application/json", string(other), key).code(t))
	require.Equal(t, models.CodeIdempotencyKeyReuse, h.bulk(t, "?events=false", ndjson, body, key).code(t))
	require.Equal(t, models.CodeIdempotencyKeyReuse, h.bulk(t, "", "application/json", body, key).code(t))
	require.Equal(t, 1, h.count(t, countJobs))
	require.Equal(t, 1000, h.count(t, countContacts))
}

// A cancelled import stops before its next chunk: the rows done stay done and keep
// their results, the others leave no trace.
func TestBulkCancelledMidWayKeepsWhatIsDone(t *testing.T) {
	t.Parallel()
	h := newHarness(t, alone(t))
	location := h.bulk(t, "", "application/json", array(numbered(2700))).header.Get("Location")
	runner := jobs.NewRunner(jobs.Config{Store: h.base.store, Steps: jobSteps(), Hint: h.hint, Concurrency: 1, Log: h.base.log})
	claimed, err := h.base.store.ClaimJob(t.Context(), uuid.NewString(), time.Minute, []models.JobType{models.JobContactsBulk})
	require.NoError(t, err)
	_, err = runner.Batch(t.Context(), claimed)
	require.NoError(t, err)
	require.Equal(t, http.StatusAccepted, h.post(t, location+"/cancel", "").status)
	turn, err := runner.Batch(t.Context(), claimed)
	require.NoError(t, err)
	require.True(t, turn.Ended)
	job := h.get(t, location).object(t)
	require.Equal(t, []any{"cancelled", 2700.0, 1000.0}, []any{job["status"], job["total"], job["processed"]})
	require.Len(t, h.results(t, job, ""), 1000)
	require.Equal(t, 1000, h.count(t, countContacts))
	require.Equal(t, 1000, h.count(t, countOnce))
	require.Zero(t, h.count(t, countRows))
	require.Len(t, h.get(t, "/events?type=job.cancelled").object(t)["data"], 1)
}

// A worker that dies with a whole chunk queued has done none of it.
func TestBulkChunkIsDoneAsAWhole(t *testing.T) {
	t.Parallel()
	h := newHarness(t, alone(t))
	location := h.bulk(t, "", "application/json", array(numbered(1700))).header.Get("Location")
	claimed, err := h.base.store.ClaimJob(t.Context(), uuid.NewString(), time.Minute, []models.JobType{models.JobContactsBulk})
	require.NoError(t, err)
	dying, die := context.WithCancel(t.Context())
	steps := jobSteps()
	steps[models.JobContactsBulk] = func(ctx context.Context, tx *store.Tx, job *models.Job) (models.JobStep, error) {
		did, err := contacts.Import(ctx, tx, job)
		die()
		return did, err
	}
	_, err = jobs.NewRunner(jobs.Config{Store: h.base.store, Steps: steps, Hint: h.hint, Concurrency: 1, Log: h.base.log}).Batch(dying, claimed)
	require.Error(t, err)
	require.Zero(t, h.count(t, countContacts)+h.count(t, countEvents))
	require.NoError(t, h.base.store.LeaveJob(t.Context(), claimed, true, 0))
	h.runJobs(t)
	require.EqualValues(t, 1700, h.get(t, location).object(t)["succeeded"])
	require.Equal(t, 1700, h.count(t, countContacts))
	require.Equal(t, 1700, h.count(t, countOnce))
}

// What became of the rows goes when the job does.
func TestBulkResultsGoWithTheirJob(t *testing.T) {
	t.Parallel()
	h := newHarness(t, alone(t))
	h.imported(t, "", "application/json", array(numbered(3)))
	const countResults = `SELECT count(*) FROM job_results WHERE project_id = $1`
	require.Equal(t, 1, h.count(t, countResults))
	h.exec(t, `UPDATE jobs SET finished_at = finished_at - interval '31 days'`)
	_, err := h.base.store.PurgeJobs(t.Context(), 10)
	require.NoError(t, err)
	require.Zero(t, h.count(t, countResults)+h.count(t, countJobs))
}

// The cursor of a page is the last row's number and nothing else.
func TestBulkResultsRefuseForeignCursors(t *testing.T) {
	t.Parallel()
	h := newHarness(t)
	location := h.bulk(t, "", "application/json", "[{}]").header.Get("Location")
	for _, mark := range []string{"-1", "007", "10000", "x", "1; DROP"} {
		cursor := base64.RawURLEncoding.EncodeToString([]byte(mark))
		require.Equal(t, models.CodeInvalidRequest, h.get(t, location+"/results?cursor="+cursor).code(t), mark)
	}
	require.Equal(t, models.CodeInvalidRequest, h.get(t, location+"/results?status=done").code(t))
	var none struct{ Data []any }
	require.NoError(t, json.Unmarshal(h.get(t, location+"/results?status=failed").body, &none))
	require.Empty(t, none.Data)
}
