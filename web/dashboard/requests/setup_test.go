package requests_test

import (
	"fmt"
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/botix-pro/platform/api"
	"github.com/botix-pro/platform/app/actions"
	"github.com/botix-pro/platform/app/models"
	"github.com/botix-pro/platform/app/store"
	"github.com/botix-pro/platform/internal/clock"
	"github.com/botix-pro/platform/internal/testenv"
	"github.com/botix-pro/platform/test/dashtest"
	"github.com/botix-pro/platform/web/dashboard/requests"
	"github.com/botix-pro/platform/web/ui"
)

func TestMain(m *testing.M) { testenv.Main(m) }

const (
	path       = requests.Path
	operations = ui.Root + "/operations"
)

func ptr[T any](v T) *T { return &v }

// site is a project with an API key and an endpoint.
type site struct {
	*dashtest.Site

	t   testing.TB
	key models.APIKey
}

func newSite(t testing.TB) *site {
	t.Helper()
	s := &site{Site: dashtest.New(t), t: t}
	require.NoError(t, s.Store.KeepPartitions(t.Context()))
	id := models.NewID(models.PrefixKey, clock.System{}.Now())
	s.key = models.APIKey{
		ID: id, ProjectID: s.Project.ID, Name: "Сайт <script>", Prefix: "btx_test_12", Hash: models.HashAPIKey(id), Scopes: models.Scopes(), CreatedAt: clock.System{}.Now(),
	}
	s.Write(s.Project.ID, func(tx *store.Tx) error { return tx.CreateAPIKey(s.Context(), s.key) })
	return s
}

// log writes a request that came so long ago, and returns it.
func (s *site) log(ago time.Duration, method, route string, status int, code models.Code, change ...func(*models.RequestRecord)) models.RequestRecord {
	s.t.Helper()
	at := clock.System{}.Now().Add(-ago)
	r := models.RequestRecord{
		ProjectID: s.Project.ID, RequestID: models.NewID(models.PrefixRequest, at), KeyID: s.key.ID, Method: method, Route: route,
		Status: status, Code: code, DurationMs: 12, At: at,
	}
	for _, c := range change {
		c(&r)
	}
	require.NoError(s.t, s.Store.RecordRequests(s.Context(), []models.RequestRecord{r}))
	return r
}

func under(key string) func(*models.RequestRecord) {
	return func(r *models.RequestRecord) { r.IdempotencyKey = &key }
}

func replay(r *models.RequestRecord) { r.Replayed = true }

// run executes an operation as the API does, and logs its request. work may be nil.
func (s *site) run(key string, record models.IdempotencyRecord, work func(tx *store.Tx, cause actions.Cause) error) models.RequestRecord {
	s.t.Helper()
	at := clock.System{}.Now()
	request := models.NewID(models.PrefixRequest, at)
	tx, claim, err := s.Store.BeginOperation(s.Context(), s.Project.ID, key)
	require.NoError(s.t, err)
	require.True(s.t, claim.Locked)
	defer tx.Rollback(s.Context())
	if work != nil {
		require.NoError(s.t, work(tx, actions.Cause{Project: s.Project, APIVersion: s.Project.APIVersion, RequestID: request}))
	}
	record.ProjectID, record.Key, record.RequestID, record.Fingerprint = s.Project.ID, key, request, make([]byte, 32)
	require.NoError(s.t, tx.CommitOperation(s.Context(), &record, 24*time.Hour))
	r := models.RequestRecord{
		ProjectID: s.Project.ID, RequestID: request, KeyID: s.key.ID, Method: record.Method, Route: record.Path, Status: record.Answer.Status,
		IdempotencyKey: &key, DurationMs: 31, At: at,
	}
	if r.Status >= http.StatusBadRequest {
		r.Code = models.CodeContactExists
	}
	require.NoError(s.t, s.Store.RecordRequests(s.Context(), []models.RequestRecord{r}))
	return r
}

// contact executes the operation of creating a contact.
func (s *site) contact(key string) (models.RequestRecord, *models.Contact) {
	s.t.Helper()
	var made *models.Contact
	at := models.NewID(models.PrefixContact, clock.System{}.Now())
	record := models.IdempotencyRecord{Method: http.MethodPost, Path: "/contacts", Answer: models.Answer{Status: http.StatusCreated, Header: http.Header{"Content-Type": {"application/json"}}}}
	r := s.run(key, record, func(tx *store.Tx, cause actions.Cause) (err error) {
		made, err = actions.CreateContact(tx, cause, api.ContactCreate{Name: ptr("Юлия " + at), Email: ptr("julia@example.com")})
		return err
	})
	s.Exec(`UPDATE idempotency_keys SET headers = $3, body = $4 WHERE project_id = $1 AND key = $2`, string(s.Project.ID), key,
		`{"Content-Type":["application/json"],"Location":["/contacts/`+made.ID+`"]}`, []byte(`{"id":"`+made.ID+`","name":"</pre><script>alert(1)</script>"}`))
	return r, made
}

// settle puts the deliveries of a project's events into a state.
func (s *site) settle(status models.DeliveryStatus) {
	s.Exec(`UPDATE webhook_deliveries SET status = $2::text, next_attempt_at = CASE WHEN $2::text = 'waiting' THEN now() + interval '1 hour' END,
		attempt_count = 5, last_status_code = 503 WHERE project_id = $1`, string(s.Project.ID), string(status))
}

func (s *site) statuses() (list []string) {
	s.t.Helper()
	rows, err := s.Store.DB().QueryContext(s.Context(), `SELECT status FROM webhook_deliveries WHERE project_id = $1`, string(s.Project.ID))
	require.NoError(s.t, err)
	defer func() { require.NoError(s.t, rows.Close()) }()
	for rows.Next() {
		var status string
		require.NoError(s.t, rows.Scan(&status))
		list = append(list, status)
	}
	require.NoError(s.t, rows.Err())
	return list
}

func operationOf(key string) string { return operations + "?key=" + key }

// ago is a time so many minutes back.
func ago(minutes int) time.Duration { return time.Duration(minutes) * time.Minute }

// many writes so many requests of one kind.
func (s *site) many(n int, method, route string, status int, code models.Code) {
	s.t.Helper()
	s.Exec(fmt.Sprintf(`INSERT INTO request_log (project_id, request_id, key_id, method, route, status, code, replayed, duration_ms, at)
		SELECT $1, 'req_' || new_ulid(), $2, $3, $4, $5, $6, false, 5, clock_timestamp() FROM generate_series(1, %d)`, n),
		string(s.Project.ID), s.key.ID, method, route, status, string(code))
}
