//go:build fault

package fault_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net/http"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/botix-pro/platform/test/programs"
)

// A server is killed at any instant of a request: before it arrives, at every
// step of the operation, after the commit, after the answer. The client repeats
// with the same key through another server. Always exactly one contact, one
// event, one delivery, and one answer to the byte.
func TestServerKilledAtAnyInstant(t *testing.T) {
	const runs = 400
	s := newSite(t)
	s.unlimited(t)
	steady := programs.StartServer(t, s.env)
	victim := programs.StartServer(t, s.env)
	addr := victim.URL[len("http://"):]
	s.insist(t, "warm-up", `{}`, victim.URL)
	whole := s.typical(t, victim.URL)
	var lost, answered, replayed int
	for i := range runs {
		key := fmt.Sprintf("kill-%d", i)
		body := bodyOf(key)
		s.insist(t, "warm-"+key, `{}`, victim.URL) // its connections and statements are ready
		first := make(chan programs.Answer, 1)
		go func() {
			if answer, ok := s.try(context.Background(), victim.URL, key, body); ok && answer.Status == http.StatusCreated {
				first <- answer
			}
			close(first)
		}()
		// Spread over the whole request and a little beyond.
		pause(time.Duration(rand.Int64N(int64(whole * 3 / 2))))
		victim.Kill(t)
		before, ok := <-first
		after := s.insist(t, key, body, steady.URL)
		if ok {
			answered++
			require.Equal(t, before.Body, after.Body, "one answer to the byte")
			require.Equal(t, "true", after.Header.Get("Idempotent-Replayed"))
		} else {
			lost++
			if after.Header.Get("Idempotent-Replayed") == "true" {
				replayed++ // it was committed, and its answer lost
			}
		}
		victim = programs.StartServerAt(t, s.env, addr)
	}
	t.Logf("%d runs: %d answered before the kill, %d lost their answer, %d of those had been committed", runs, answered, lost, replayed)
	require.NotZero(t, answered, "some kills came after the answer")
	require.NotZero(t, lost, "some kills came before it")
	require.NotZero(t, replayed, "and some between the commit and it")
	s.requireOneEffectEach(t, 2*runs+1+typicalRuns)
}

const typicalRuns = 20

// typical is how long a request to a server usually takes.
func (s *site) typical(t *testing.T, url string) time.Duration {
	t.Helper()
	begin := time.Now()
	for i := range typicalRuns {
		s.insist(t, fmt.Sprintf("typical-%d", i), `{}`, url)
	}
	return time.Since(begin) / typicalRuns
}

// A server is frozen in the middle of an operation, with its transaction open.
// The key is in progress everywhere, and free again within 35 seconds, though
// the server never lets go.
func TestServerFrozenMidOperationFreesItsKeys(t *testing.T) {
	t.Parallel() // with the server that is cut off: both mostly wait
	s := newSite(t)
	s.upserts = true
	s.unlimited(t)
	steady, victim := programs.StartServer(t, s.env), programs.StartServer(t, s.env)
	s.insist(t, "warm-up", `{}`, victim.URL)
	thaw := func() { victim.Signal(t, syscall.SIGCONT) }
	t.Cleanup(thaw)
	round := s.catchMidOperation(t, victim.URL, func() { victim.Signal(t, syscall.SIGSTOP) }, thaw)
	frozen := time.Now()
	s.repeatRound(t, round, steady.URL)
	require.Greater(t, time.Since(frozen), 10*time.Second, "a key was in progress, and nobody executed it a second time meanwhile")
	require.Less(t, time.Since(frozen), 40*time.Second, "free within 35 seconds, and the retry's own time")
	thaw()
	s.requireConsistent(t)
}

const roundClients = 8

func roundKey(round, client, i int) string { return fmt.Sprintf("round-%d-%d-%d", round, client, i) }

// catchMidOperation stops a server under load, and lets it go on, again and
// again, until one of its transactions is open between two statements.
func (s *site) catchMidOperation(t *testing.T, url string, stop, release func()) (round int) {
	t.Helper()
	for round := range 200 {
		ctx, cancel := context.WithCancel(t.Context())
		var sent atomic.Int64
		var wg sync.WaitGroup
		for client := range roundClients {
			wg.Go(func() {
				for i := 0; ctx.Err() == nil; i++ {
					sent.Add(1)
					key := roundKey(round, client, i)
					_, _ = s.try(ctx, url, key, bodyOf(key))
				}
			})
		}
		require.Eventually(t, func() bool { return sent.Load() > 50 }, programs.Patience, time.Millisecond)
		stop()
		cancel()
		wg.Wait()
		if s.idleInTransaction(t) > 0 {
			return round
		}
		release()
	}
	require.Fail(t, "the server was never caught in the middle of an operation")
	return 0
}

// repeatRound gets the answer of every key that was in the middle, and of its
// neighbours, from another server.
func (s *site) repeatRound(t *testing.T, round int, url string) {
	t.Helper()
	for client := range roundClients {
		last := s.lastKey(t, round, client)
		for i := max(last-1, 0); i <= last+1; i++ {
			key := roundKey(round, client, i)
			s.insist(t, key, bodyOf(key), url)
		}
	}
}

// requireConsistent checks that every operation that had an effect had one of
// each, however many there were.
func (s *site) requireConsistent(t *testing.T) {
	t.Helper()
	e := s.effects(t)
	s.requireOneEffectEach(t, e.Contacts)
	var twice int
	require.NoError(t, s.db.QueryRowContext(t.Context(), `SELECT count(external_id) - count(DISTINCT external_id) FROM contacts`).Scan(&twice))
	require.Zero(t, twice)
}

// idleInTransaction counts servers' transactions that wait for their server.
func (s *site) idleInTransaction(t *testing.T) (count int) {
	t.Helper()
	require.NoError(t, s.db.QueryRowContext(t.Context(), `
		SELECT count(*) FROM pg_stat_activity WHERE application_name = 'botix-server' AND state = 'idle in transaction'`).Scan(&count))
	return count
}

// lastKey is the highest number of a client's keys in the round that was stored.
func (s *site) lastKey(t *testing.T, round, client int) (last int) {
	t.Helper()
	require.NoError(t, s.db.QueryRowContext(t.Context(), `
		SELECT coalesce(max(split_part(key, '-', 4)::int), 0) FROM idempotency_keys WHERE key LIKE $1`,
		fmt.Sprintf("round-%d-%d-%%", round, client)).Scan(&last))
	return last
}

// PostgreSQL restarts under load, again and again; every client repeats until it
// has its answer.
func TestPostgresRestartedUnderLoad(t *testing.T) {
	s := newSite(t)
	s.unlimited(t)
	a, b := programs.StartServer(t, s.env), programs.StartServer(t, s.env)
	s.underLoad(t, []string{a.URL, b.URL}, func() {
		for range 5 {
			pause(400 * time.Millisecond)
			require.NoError(t, s.postgres.Restart(t.Context()))
		}
	})
}

// underLoad sends operations from eight clients for as long as something breaks,
// each repeated until it is answered. Each had one effect, and repeated once more
// it has the same answer.
func (s *site) underLoad(t *testing.T, urls []string, fault func()) {
	t.Helper()
	const clients = 8
	var over atomic.Bool
	var wg sync.WaitGroup
	answers := make([][]programs.Answer, clients)
	key := func(client, i int) string { return fmt.Sprintf("op-%d-%d", client, i) }
	for client := range clients {
		wg.Go(func() {
			for i := 0; !over.Load(); i++ {
				answers[client] = append(answers[client], s.insist(t, key(client, i), bodyOf(key(client, i)), urls...))
			}
		})
	}
	fault()
	over.Store(true)
	wg.Wait()
	total := 0
	for client := range clients {
		total += len(answers[client])
		for i := 0; i < len(answers[client]); i += 10 {
			again := s.insist(t, key(client, i), bodyOf(key(client, i)), urls...)
			require.Equal(t, answers[client][i].Body, again.Body)
			require.Equal(t, "true", again.Header.Get("Idempotent-Replayed"))
		}
	}
	t.Logf("%d operations meanwhile", total)
	require.Greater(t, total, 100, "there was a load")
	s.requireConsistent(t)
	var made int
	require.NoError(t, s.db.QueryRowContext(t.Context(), `SELECT count(*) FROM contacts WHERE external_id LIKE 'op-%'`).Scan(&made))
	require.Equal(t, total, made)
}

// 200 requests with one key over two servers: one is executed. 200 keys at once:
// 200 are.
func TestTwoHundredAtOnceOverTwoServers(t *testing.T) {
	s := newSite(t)
	s.unlimited(t)
	urls := []string{programs.StartServer(t, s.env).URL, programs.StartServer(t, s.env).URL}
	created, replayed, running := s.burst(t, urls, 200, func(int) string { return "one" })
	require.Equal(t, 1, created)
	require.Equal(t, 200, created+replayed+running)
	require.Equal(t, effects{1, 1, 1, 1}, s.effects(t))

	created, _, _ = s.burst(t, urls, 200, func(i int) string { return fmt.Sprintf("many-%d", i) })
	require.Equal(t, 200, created)
	require.Equal(t, effects{201, 201, 201, 201}, s.effects(t))
}

// burst sends so many requests at once and counts what they were answered.
func (s *site) burst(t *testing.T, urls []string, requests int, key func(int) string) (created, replayed, running int) {
	t.Helper()
	var mu sync.Mutex
	var wg sync.WaitGroup
	for i := range requests {
		wg.Go(func() {
			answer, ok := s.try(t.Context(), urls[i%len(urls)], key(i), `{"name":"Ada"}`)
			mu.Lock()
			defer mu.Unlock()
			switch {
			case ok && answer.Status == http.StatusConflict:
				running++
			case ok && answer.Header.Get("Idempotent-Replayed") == "true":
				replayed++
			case ok && answer.Status == http.StatusCreated:
				created++
			}
		})
	}
	wg.Wait()
	return created, replayed, running
}
