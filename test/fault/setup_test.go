//go:build fault

package fault_test

import (
	"context"
	"database/sql"
	"fmt"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	_ "github.com/jackc/pgx/v5/stdlib" // the "pgx" driver
	"github.com/stretchr/testify/require"

	"github.com/botix-pro/platform/app/demo"
	"github.com/botix-pro/platform/internal/localstack"
	"github.com/botix-pro/platform/internal/testenv"
	"github.com/botix-pro/platform/test/programs"
)

func TestMain(m *testing.M) {
	registerToxics()
	testenv.Main(m)
}

// site is a PostgreSQL and a Redis of a test's own, with a project whose endpoint
// is a black hole: no worker runs, so what is due stays countable.
type site struct {
	postgres *localstack.Postgres
	redis    *localstack.Redis
	db       *sql.DB
	env      []string
	demo     demo.Credentials

	// upserts: operations on contacts are upserts instead of creations. Their keys
	// are looked up in a round trip of its own.
	upserts     bool
	databaseURL string
	faults      atomic.Int64 // answers of 500 and more, and answers lost
}

func newSite(t *testing.T) *site {
	t.Helper()
	s := &site{postgres: testenv.PrivatePostgres(t), redis: testenv.PrivateRedis(t)}
	s.databaseURL = s.postgres.URL(localstack.DefaultDatabase)
	s.env = programs.Environment(s.databaseURL, s.redis.URL())
	s.demo = programs.Plant(t, s.databaseURL, "http://127.0.0.1:9/")
	var err error
	s.db, err = sql.Open("pgx", s.databaseURL)
	require.NoError(t, err)
	t.Cleanup(func() { _ = s.db.Close() })
	return s
}

// effects is what operations left behind.
type effects struct{ Contacts, Events, Deliveries, Keys int }

func (s *site) effects(t *testing.T) effects {
	t.Helper()
	var e effects
	require.Eventually(t, func() bool {
		return s.db.QueryRowContext(t.Context(), `
			SELECT (SELECT count(*) FROM contacts), (SELECT count(*) FROM events),
			       (SELECT count(*) FROM webhook_deliveries), (SELECT count(*) FROM idempotency_keys)`).
			Scan(&e.Contacts, &e.Events, &e.Deliveries, &e.Keys) == nil
	}, programs.Patience, 50*time.Millisecond)
	return e
}

// bodyOf is a request that makes a contact which only its key may make.
func bodyOf(key string) string { return fmt.Sprintf(`{"external_id":%q}`, key) }

// requireOneEffectEach checks that so many operations left one of each behind,
// and none of them two.
func (s *site) requireOneEffectEach(t *testing.T, operations int) {
	t.Helper()
	require.Equal(t, effects{operations, operations, operations, operations}, s.effects(t))
}

// try is one physical POST /contacts, or upsert; ok is false when its answer was
// lost.
func (s *site) try(ctx context.Context, url, key, body string) (answer programs.Answer, ok bool) {
	return s.tryAt(ctx, url+contactsPath, key, body)
}

func (s *site) tryAt(ctx context.Context, target, key, body string) (answer programs.Answer, ok bool) {
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	answer, err := s.send(ctx, target, key, body)
	if err != nil || answer.Status >= http.StatusInternalServerError {
		s.faults.Add(1)
	}
	return answer, err == nil
}

const contactsPath = "/contacts"

func (s *site) send(ctx context.Context, target, key, body string) (programs.Answer, error) {
	if !s.upserts || !strings.HasSuffix(target, contactsPath) {
		return programs.PostTo(ctx, target, s.demo.APIKey, key, body)
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodPut, target+"/by-external-id/"+key, strings.NewReader(`{}`))
	if err != nil {
		return programs.Answer{}, err
	}
	request.Header.Set("Authorization", "Bearer "+s.demo.APIKey)
	request.Header.Set("Idempotency-Key", key)
	request.Header.Set("Content-Type", "application/json")
	return programs.Send(request)
}

// insist repeats POST /contacts with its key, at one server after the other, as
// an SDK does, until it gets an answer that is not "try again".
func (s *site) insist(t *testing.T, key, body string, urls ...string) programs.Answer {
	t.Helper()
	return s.insistAt(t, contactsPath, key, body, urls...)
}

func (s *site) insistAt(t *testing.T, path, key, body string, urls ...string) programs.Answer {
	t.Helper()
	deadline := time.Now().Add(programs.Patience)
	for i := 0; time.Now().Before(deadline); i++ {
		answer, ok := s.tryAt(t.Context(), urls[i%len(urls)]+path, key, body)
		switch {
		case ok && answer.Status == http.StatusCreated:
			return answer
		case ok && answer.Status < http.StatusInternalServerError &&
			answer.Status != http.StatusConflict && answer.Status != http.StatusTooManyRequests:
			require.Fail(t, "an answer that no retry can help", "%d %s", answer.Status, answer.Body)
		}
		pause(20 * time.Millisecond)
	}
	require.Fail(t, "no answer in time")
	return programs.Answer{}
}

// pause is the client's own wait between two tries.
func pause(d time.Duration) { <-time.After(d) }

// unlimited takes the rate limit out of the way: these tests send thousands.
func (s *site) unlimited(t *testing.T) {
	t.Helper()
	_, err := s.db.ExecContext(t.Context(), `UPDATE plans SET limits = jsonb_set(limits, '{api_rate_per_minute}', '1000000')`)
	require.NoError(t, err)
}
