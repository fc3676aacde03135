//go:build bench

package load_test

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"github.com/botix-pro/platform/app/models"
	"github.com/botix-pro/platform/app/store"
	"github.com/botix-pro/platform/internal/clock"
)

const (
	defaultAttempts = 5_000_000
	historyDays     = 14
	// One delivery in so many fails once before it is delivered.
	retriedEvery = 9
	// Something that matches so rarely that a search has to give up looking for it.
	rareEvery = 700_000
	// One event in so many was caused by an API request, and one of so many of these
	// failed.
	requestedEvery, refusedEvery = 3, 50
)

// historyAttempts is how many attempts there are; BOTIX_HISTORY_ATTEMPTS makes a
// smaller history, for trying out.
func historyAttempts(t *testing.T) int {
	t.Helper()
	given := os.Getenv("BOTIX_HISTORY_ATTEMPTS")
	if given == "" {
		return defaultAttempts
	}
	n, err := strconv.Atoi(given)
	require.NoError(t, err)
	return n
}

// history is a project's fourteen days of webhooks: an event each third of a
// second, one delivery an event, most of them delivered at once.
type history struct {
	project   models.ProjectID
	began     time.Time
	endpoints []string // the first gets most, the last only what is rare
	rows      int

	deliveries, events [][]any
	attempts           [][]any
	letters            [][]any
	requests           [][]any
}

var historyTypes = []string{ //nolint:gochecknoglobals // a constant table
	"contact.created", "contact.updated", "contact.updated", "message.sent", "message.failed", "run.completed", "contact.deleted", "job.completed",
}

var historyClasses = []models.ErrorClass{ //nolint:gochecknoglobals // a constant table
	models.ErrorHTTP5xx, models.ErrorHTTP5xx, models.ErrorReadTimeout, models.ErrorHTTP4xx, models.ErrorRefused,
}

const rareType = "scenario.archived"

// fillHistory writes the history of a project by COPY. Its partitions and
// endpoints must be there.
func fillHistory(t *testing.T, c *pgx.Conn, h *history) {
	t.Helper()
	want := historyAttempts(t)
	step := historyDays * 24 * time.Hour / time.Duration(want)
	for n := 0; h.rows < want; n++ {
		h.delivery(n, h.began.Add(time.Duration(h.rows)*step))
		if len(h.events) == 20_000 {
			h.flush(t, c)
		}
	}
	h.flush(t, c)
	for _, sql := range []string{
		`INSERT INTO request_rollups SELECT project_id, date_trunc('hour', at), count(*) FILTER (WHERE status < 400), 0, count(*) FILTER (WHERE status >= 400), 0, 0
			FROM request_log GROUP BY 1, 2`,
		`INSERT INTO request_minutes SELECT project_id, key_id, date_trunc('minute', at), count(*), 0 FROM request_log GROUP BY 1, 2, 3`,
		`VACUUM (ANALYZE) webhook_attempts, webhook_deliveries, events, dead_letters, request_log, request_rollups, request_minutes`,
	} {
		_, err := c.Exec(t.Context(), sql)
		require.NoError(t, err)
	}
}

// rollUp sums the history up, as workers do every hour.
func rollUp(t *testing.T, s *store.Store) {
	t.Helper()
	for {
		hours, err := s.RollUp(t.Context(), 24)
		require.NoError(t, err)
		if hours == 0 {
			return
		}
	}
}

// request is the API request that caused an event.
func (h *history) request(n int, id string, at time.Time) {
	status, code := 201, models.Code("")
	if n%(requestedEvery*refusedEvery) == 0 {
		status, code = 422, models.CodeValidationFailed
	}
	h.requests = append(h.requests, []any{
		h.project, id, fmt.Sprintf("key_%026d", n%3), "POST", "/contacts", status, code, fmt.Sprintf("order-%d", n), false, 3 + n%40, at,
	})
}

// delivery is one event on its way, with its attempts.
func (h *history) delivery(n int, at time.Time) {
	event := models.NewID(models.PrefixEvent, at)
	id := models.NewDeliveryID(event, at)
	kind, endpoint := historyTypes[n%len(historyTypes)], h.endpoints[min(n%11, len(h.endpoints)-2)]
	class := historyClasses[n/retriedEvery%len(historyClasses)]
	if n%rareEvery == rareEvery/2 {
		kind, endpoint, class = rareType, h.endpoints[len(h.endpoints)-1], models.ErrorTLSExpired
	}
	failing, dead := n%retriedEvery == 0 || kind == rareType, n%(100*retriedEvery) == 0
	cause := models.NewID(models.PrefixRequest, at)
	if n%requestedEvery == 0 {
		h.request(n, cause, at)
	}
	h.events = append(h.events, []any{
		h.project, event, kind, "api", models.CurrentAPIVersion, cause,
		[]byte(`{"id":"` + event + `","type":"` + kind + `","data":{"object":"contact"}}`), at,
	})
	count, status := 1, models.DeliveryDelivered
	if failing {
		h.attempt(id, kind, endpoint, 1, at, class)
		count = 2
	}
	if dead {
		status = models.DeliveryDeadLetter
		h.letters = append(h.letters, []any{
			h.project, models.NewID(models.PrefixDeadLetter, at), id, endpoint, event, kind, models.CauseRetriesExhausted, at, at.AddDate(0, 3, 0),
		})
	} else {
		h.attempt(id, kind, endpoint, count, at.Add(time.Duration(count-1)*time.Second), "")
	}
	h.deliveries = append(h.deliveries, []any{h.project, id, event, kind, endpoint, status, count, at, at})
}

func (h *history) attempt(delivery, kind, endpoint string, number int, at time.Time, class models.ErrorClass) {
	status, failed := any(200), any(nil)
	if class != "" {
		status, failed = nil, class
	}
	if strings.HasPrefix(string(class), "http_") {
		status = int(class[5]-'0')*100 + 3
	}
	h.rows++
	h.attempts = append(h.attempts, []any{
		h.project, compact(models.PrefixAttempt, models.NewID(models.PrefixAttempt, at)), compact(models.PrefixDelivery, delivery),
		compact(models.PrefixEndpoint, endpoint), kind, number, number, false, "https://hooks.example.com/" + endpoint, make([]byte, 64),
		status, failed, `{"Server":["nginx"]}`, []byte("thank you"), 2, 11, 23, 60 + h.rows%300, 80 + h.rows%300, at,
	})
}

// compact is an id as the table of attempts keeps it.
func compact(prefix, id string) [16]byte {
	short, _ := models.CompactID(prefix, id)
	return short
}

func (h *history) flush(t *testing.T, c *pgx.Conn) {
	t.Helper()
	put := func(table string, rows *[][]any, columns string) {
		_, err := c.CopyFrom(t.Context(), pgx.Identifier{table}, strings.Split(columns, ","), pgx.CopyFromRows(*rows))
		require.NoError(t, err)
		*rows = nil
	}
	put("events", &h.events, "project_id,id,type,source,api_version,request_id,body,created_at")
	put("webhook_deliveries", &h.deliveries, "project_id,id,event_id,event_type,endpoint_id,status,attempt_count,created_at,updated_at")
	put("webhook_attempts", &h.attempts, "project_id,id,delivery_id,endpoint_id,event_type,number,step,manual,url,signatures,"+
		"status_code,error_class,response_headers,response_body,dns_ms,connect_ms,tls_ms,first_byte_ms,duration_ms,started_at")
	put("request_log", &h.requests, "project_id,request_id,key_id,method,route,status,code,idempotency_key,replayed,duration_ms,at")
	put("dead_letters", &h.letters, "project_id,id,delivery_id,endpoint_id,event_id,event_type,cause,created_at,expires_at")
}

// pastPartitions makes the partitions of the days that are over.
func pastPartitions(t *testing.T, c *pgx.Conn) {
	t.Helper()
	today := clock.System{}.Now().UTC().Truncate(24 * time.Hour)
	for ago := range historyDays + 1 {
		from := today.AddDate(0, 0, -ago)
		for _, table := range []string{"webhook_attempts", "request_log", "request_minutes"} {
			_, err := c.Exec(t.Context(), fmt.Sprintf(`CREATE TABLE IF NOT EXISTS %[1]s_%[2]s PARTITION OF %[1]s FOR VALUES FROM ('%[3]s') TO ('%[4]s')`,
				table, from.Format("20060102"), from.Format(time.RFC3339), from.AddDate(0, 0, 1).Format(time.RFC3339)))
			require.NoError(t, err)
		}
	}
}
