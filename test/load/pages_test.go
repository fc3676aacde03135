//go:build bench

package load_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"github.com/botix-pro/platform/app/models"
	"github.com/botix-pro/platform/app/store"
	"github.com/botix-pro/platform/internal/clock"
	"github.com/botix-pro/platform/internal/localstack"
	"github.com/botix-pro/platform/internal/seal"
	"github.com/botix-pro/platform/migrations"
	"github.com/botix-pro/platform/test/dashtest"
)

const (
	pageRounds     = 20
	pageBudget     = 100 * time.Millisecond
	unfoldedBudget = 50 * time.Millisecond
	overviewBudget = 150 * time.Millisecond
	// No page may make the server look at more rows of attempts than a search's
	// bound and what its pages' own rows need.
	maxRowsRead = 40_000
)

// TestPages measures the pages about deliveries at the server, over five million
// attempts of one project, and looks at the plans of what they asked.
func TestPages(t *testing.T) {
	server := explainingPostgres(t)
	s, h := historySite(t, server)
	ids := h.find(t, s)
	pages := h.pages(ids)
	for _, page := range pages {
		s.Get(page.path) // once for the caches
	}
	for _, page := range pages {
		took := make([]time.Duration, pageRounds)
		for i := range took {
			began := clock.System{}.Now()
			got := s.Get(page.path)
			took[i] = clock.System{}.Now().Sub(began)
			require.Equal(t, http.StatusOK, got.StatusCode, page.path)
		}
		slices.Sort(took)
		p50, p95 := took[pageRounds/2], took[pageRounds*95/100]
		verdict := ""
		if p95 > page.budget {
			verdict = fmt.Sprintf("  OVER %s", page.budget)
		}
		t.Logf("%-34s p50 %7.1f ms   p95 %7.1f ms%s", page.name, p50.Seconds()*1000, p95.Seconds()*1000, verdict)
	}
	h.requirePlans(t, s, server, pages)
}

type measuredPage struct {
	name, path string
	budget     time.Duration
}

// things are ids in the middle of the history.
type things struct{ attempt, delivery, event, request, cause, logged, old string }

func (h *history) find(t *testing.T, s *dashtest.Site) (found things) {
	t.Helper()
	from := models.FirstID(models.PrefixAttempt, clock.System{}.Now().Add(-5*24*time.Hour))
	err := s.Store.DB().QueryRowContext(t.Context(), `
		SELECT 'att_' || ulid_of(a.id), d.id, v.id, 'req_' || ulid_of(a.id), v.request_id FROM webhook_attempts a
		JOIN webhook_deliveries d ON d.project_id = a.project_id AND d.id = 'whd_' || ulid_of(a.delivery_id)
		JOIN events v ON v.project_id = d.project_id AND v.id = d.event_id
		WHERE a.project_id = $1 AND a.id > compact_id($2) AND a.error_class IS NOT NULL ORDER BY a.id LIMIT 1`, string(s.Project.ID), from).
		Scan(&found.attempt, &found.delivery, &found.event, &found.request, &found.cause)
	require.NoError(t, err)
	require.NoError(t, s.Store.DB().QueryRowContext(t.Context(), `SELECT request_id FROM request_log WHERE project_id = $1 AND idempotency_key = 'order-30003'`,
		string(s.Project.ID)).Scan(&found.logged))
	found.old = models.FirstID(models.PrefixAttempt, clock.System{}.Now().Add(-9*24*time.Hour))
	return found
}

func (h *history) pages(ids things) []measuredPage {
	const list = "/developers/deliveries"
	var pages []measuredPage
	add := func(name string, query url.Values) {
		pages = append(pages, measuredPage{name: name, path: list + "?" + query.Encode(), budget: pageBudget})
	}
	with := func(pairs ...string) url.Values {
		query := url.Values{}
		for i := 0; i < len(pairs); i += 2 {
			query.Set(pairs[i], pairs[i+1])
		}
		return query
	}
	busy, rare := h.endpoints[0], h.endpoints[len(h.endpoints)-1]
	from := clock.System{}.Now().Add(-8 * 24 * time.Hour).UTC().Format("2006-01-02T15:04")
	add("all, newest", nil)
	add("all, nine days back", with("before", ids.old))
	add("delivered", with("status", "delivered"))
	add("failed", with("status", "failed"))
	add("failed, nine days back", with("status", "failed", "before", ids.old))
	add("lost", with("status", "lost"))
	add("endpoint, busy", with("endpoint", busy))
	add("endpoint, rare", with("endpoint", rare))
	add("endpoint, busy, failed", with("endpoint", busy, "status", "failed"))
	add("endpoint, rare, failed", with("endpoint", rare, "status", "failed"))
	add("type, common", with("type", "contact.updated"))
	add("type, rare", with("type", rareType))
	add("type, of nothing", with("type", "no.such"))
	add("type, rare, failed", with("type", rareType, "status", "failed"))
	add("HTTP 4xx", with("http", "4xx"))
	add("HTTP 5xx, endpoint, type", with("http", "5xx", "endpoint", busy, "type", "contact.created"))
	add("no answer", with("http", "none"))
	add("class, common", with("class", "read_timeout"))
	add("class, rare", with("class", "tls_expired"))
	add("class, of nothing", with("class", "dns"))
	add("last hour", with("range", "1h"))
	add("failed, a span 8 days ago", with("status", "failed", "from", from))
	add("event id", with("id", ids.event))
	add("delivery id", with("id", ids.delivery))
	add("request id, of an attempt", with("id", ids.request))
	add("request id, of the API", with("id", ids.cause))
	add("one row unfolded", with("open", ids.attempt))
	return append(pages,
		measuredPage{"what is new", list + "/new?after=" + ids.attempt, pageBudget},
		measuredPage{"an unfolded row", "/developers/attempts/" + ids.attempt + "/detail", unfoldedBudget},
		measuredPage{"a delivery", list + "/" + ids.delivery, unfoldedBudget},
		measuredPage{"dead letters", "/developers/dead-letters", pageBudget},
		measuredPage{"dead letters of a group", "/developers/dead-letters?endpoint=" + busy + "&cause=retries_exhausted", pageBudget},
		measuredPage{"overview, 24 hours", "/developers/overview?range=24h", overviewBudget},
		measuredPage{"overview, 7 days", "/developers/overview?range=7d", overviewBudget},
		measuredPage{"overview, 14 days", "/developers/overview?range=14d", overviewBudget},
		measuredPage{"an endpoint", "/developers/endpoints/" + busy + "?range=14d", overviewBudget},
		measuredPage{"usage", "/developers/usage", overviewBudget},
		measuredPage{"API requests", "/developers/requests", pageBudget},
		measuredPage{"API requests, failed", "/developers/requests?status=4", pageBudget},
		measuredPage{"API requests, a code", "/developers/requests?code=VALIDATION_FAILED", pageBudget},
		measuredPage{"API requests, errors grouped", "/developers/requests/errors", pageBudget},
		measuredPage{"an API request", "/developers/requests/" + ids.logged, pageBudget},
		measuredPage{"an operation", "/developers/operations?key=order-30003", pageBudget},
		measuredPage{"retry all that match", list + "/recover?status=failed", 500 * time.Millisecond},
	)
}

// plan is what EXPLAIN (FORMAT JSON) says of a step; only what is looked at.
type plan struct {
	Kind     string  `json:"Node Type"`
	Relation string  `json:"Relation Name"`
	Index    string  `json:"Index Name"`
	Cond     string  `json:"Index Cond"`
	Rows     float64 `json:"Actual Rows"`
	Removed  float64 `json:"Rows Removed by Filter"`
	Loops    float64 `json:"Actual Loops"`
	Plans    []plan  `json:"Plans"`
}

// requirePlans asks for each page once more while the server writes down the plan
// of every statement, and fails where one reads a table of attempts or deliveries
// otherwise than along an index of what is the project's, or reads too many rows.
func (h *history) requirePlans(t *testing.T, s *dashtest.Site, server *localstack.Postgres, pages []measuredPage) {
	t.Helper()
	log := server.LogPath()
	s.Exec(`ALTER SYSTEM SET auto_explain.log_min_duration = 0`)
	s.Exec(`SELECT pg_reload_conf()`)
	require.Eventually(t, func() bool {
		var value string
		return s.Store.DB().QueryRowContext(t.Context(), `SHOW auto_explain.log_min_duration`).Scan(&value) == nil && value == "0"
	}, 5*time.Second, 20*time.Millisecond)
	looked := 0
	for _, page := range pages {
		before, err := os.ReadFile(log)
		require.NoError(t, err)
		s.Get(page.path)
		after, err := os.ReadFile(log)
		require.NoError(t, err)
		rows := 0.0
		for _, root := range plansIn(t, string(after[len(before):])) {
			rows += root.requireBounded(t, page.name)
			looked++
		}
		require.LessOrEqual(t, rows, float64(maxRowsRead), "%s reads too many rows", page.name)
		t.Logf("%-34s reads %6.0f rows", page.name, rows)
	}
	require.Greater(t, looked, len(pages), "the plans were found in the log")
}

func plansIn(t *testing.T, log string) []plan {
	t.Helper()
	var found []plan
	for _, part := range strings.Split(log, "plan:\n")[1:] {
		var entry struct {
			Plan plan `json:"Plan"`
		}
		require.NoError(t, json.NewDecoder(strings.NewReader(part)).Decode(&entry), part)
		found = append(found, entry.Plan)
	}
	return found
}

// whose is what an index must be entered by. An endpoint and a delivery are a
// project's own, so the project is not kept beside their ids.
var whose = regexp.MustCompile(`project_id|endpoint_id|delivery_id`)

// large are the tables that grow with every webhook.
var large = regexp.MustCompile(`^(webhook_attempts|webhook_deliveries|events|request_log)(_|$)`)

// requireBounded holds a step and all below it, and returns how many rows of large
// tables they looked at.
func (p plan) requireBounded(t *testing.T, page string) float64 {
	t.Helper()
	rows := 0.0
	if large.MatchString(p.Relation) {
		require.NotEqual(t, "Seq Scan", p.Kind, "%s scans %s", page, p.Relation)
		if p.Index != "" {
			require.Regexp(t, whose, p.Cond, "%s walks along %s", page, p.Index)
		}
		rows = (p.Rows + p.Removed) * p.Loops
	}
	for _, below := range p.Plans {
		rows += below.requireBounded(t, page)
	}
	return rows
}

// explainingPostgres is a server that can write down plans. It does not wait for
// its disk: what is measured reads. BOTIX_HISTORY names a folder in which the
// history is kept from run to run.
func explainingPostgres(t *testing.T) *localstack.Postgres {
	t.Helper()
	dir := os.Getenv("BOTIX_HISTORY")
	if dir == "" {
		dir = t.TempDir()
	}
	server, err := localstack.StartPostgres(t.Context(), localstack.Options{Dir: dir, Ephemeral: true, Settings: map[string]string{
		"shared_buffers": "512MB", "max_wal_size": "1GB", "wal_level": "minimal", "max_wal_senders": "0", "session_preload_libraries": "auto_explain",
		"auto_explain.log_analyze": "on", "auto_explain.log_timing": "off", "auto_explain.log_format": "json",
	}})
	require.NoError(t, err)
	t.Cleanup(func() {
		if os.Getenv("BOTIX_HISTORY") == "" {
			require.NoError(t, server.Remove(context.WithoutCancel(t.Context())))
			return
		}
		require.NoError(t, server.Stop(context.WithoutCancel(t.Context())))
	})
	return server
}

// historySite is a dashboard whose member's project has the history.
func historySite(t *testing.T, server *localstack.Postgres) (*dashtest.Site, *history) {
	t.Helper()
	c, err := pgx.Connect(t.Context(), server.URL(localstack.DefaultDatabase))
	require.NoError(t, err)
	t.Cleanup(func() { _ = c.Close(context.WithoutCancel(t.Context())) })
	db, err := store.OpenUnbounded(server.URL(localstack.DefaultDatabase))
	require.NoError(t, err)
	defer func() { _ = db.Close() }()
	require.NoError(t, migrations.Up(t.Context(), db))
	box, err := seal.New([]string{seal.NewKey()})
	require.NoError(t, err)
	opened, err := store.Open(t.Context(), store.Config{URL: server.URL(localstack.DefaultDatabase), MaxConns: 8, Application: "botix-bench"}, box)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, opened.Close()) })
	_, err = c.Exec(t.Context(), `ALTER SYSTEM SET auto_explain.log_min_duration = -1`)
	require.NoError(t, err)
	_, err = c.Exec(t.Context(), `SELECT pg_reload_conf()`)
	require.NoError(t, err)
	h := &history{began: clock.System{}.Now().UTC().Add(-historyDays * 24 * time.Hour).Truncate(time.Millisecond)}
	s := dashtest.Over(t, opened)
	h.project = s.Project.ID
	h.adopt(t, s, c)
	return s, h
}

// adopt fills the history in, or gives the one that is there to this run's member.
func (h *history) adopt(t *testing.T, s *dashtest.Site, c *pgx.Conn) {
	t.Helper()
	var kept string
	err := c.QueryRow(t.Context(), `SELECT project_id FROM webhook_attempts LIMIT 1`).Scan(&kept)
	if !errors.Is(err, pgx.ErrNoRows) {
		require.NoError(t, err)
		s.Exec(`UPDATE project_members SET project_id = $2 WHERE project_id = $1`, string(h.project), kept)
		s.Project.ID, h.project = models.ProjectID(kept), models.ProjectID(kept)
	}
	if kept == "" {
		for i := range 13 {
			at := h.began.Add(time.Duration(i) * time.Second)
			e := models.WebhookEndpoint{
				ProjectID: h.project, ID: models.NewID(models.PrefixEndpoint, at), URL: fmt.Sprintf("https://hooks.example.com/%d", i),
				EventTypes: []string{"*"}, Status: models.EndpointActive, MaxInFlight: 10, CreatedAt: at, UpdatedAt: at,
			}
			s.Write(h.project, func(tx *store.Tx) error { return tx.CreateEndpoint(&e) })
		}
	}
	rows, err := c.Query(t.Context(), `SELECT id FROM webhook_endpoints WHERE project_id = $1 ORDER BY id`, string(h.project))
	require.NoError(t, err)
	h.endpoints, err = pgx.CollectRows(rows, pgx.RowTo[string])
	require.NoError(t, err)
	if kept != "" {
		return
	}
	began := clock.System{}.Now()
	pastPartitions(t, c)
	fillHistory(t, c, h)
	rollUp(t, s.Store)
	t.Logf("%d attempts over %d days written in %s", h.rows, historyDays, clock.System{}.Now().Sub(began).Round(time.Second))
}
