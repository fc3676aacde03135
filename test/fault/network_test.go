//go:build fault

package fault_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http"
	"slices"
	"sync"
	"testing"
	"time"

	toxiproxy "github.com/Shopify/toxiproxy/v2"
	"github.com/stretchr/testify/require"

	"github.com/botix-pro/platform/test/programs"
)

// The connection between client and server ends after the request was sent: at
// any byte of the answer, at its first one, by a reset, and at any instant while
// the server is still at work. The client repeats with the same key through
// another server. Always exactly one contact, one event, one delivery, and one
// answer to the byte.
func TestClientLosesItsAnswer(t *testing.T) {
	const runs = 100 // of each way
	ways := []struct {
		name   string
		poison func(t *testing.T, proxy *toxiproxy.Proxy, run int)
		// committed: the answer was on its way, so the operation was done.
		committed bool
	}{
		{"nothing of the answer arrives", func(t *testing.T, proxy *toxiproxy.Proxy, _ int) {
			poison(t, proxy, downstream, "limit_data", attributes{"bytes": 0})
		}, true},
		{"a part of the answer arrives", func(t *testing.T, proxy *toxiproxy.Proxy, run int) {
			poison(t, proxy, downstream, "limit_data", attributes{"bytes": int64(1 + 20*run)})
		}, true},
		{"reset when the answer is there", func(t *testing.T, proxy *toxiproxy.Proxy, _ int) {
			poison(t, proxy, upstream, "latency", attributes{"latency": rand.Int64N(10), "jitter": 3})
			poison(t, proxy, downstream, "reset_peer", attributes{"timeout": rand.Int64N(3)})
		}, true},
		{"reset at any instant", func(t *testing.T, proxy *toxiproxy.Proxy, run int) {
			poison(t, proxy, downstream, "timeout", attributes{"timeout": int64(1 + run%15)})
			poison(t, proxy, downstream, "reset_peer", nil)
		}, false},
	}
	s := newSite(t)
	s.unlimited(t)
	server, steady := programs.StartServer(t, s.env), programs.StartServer(t, s.env)
	for i, way := range ways {
		var tally tally
		for run := range runs {
			proxy := newProxy(t, hostOf(t, server.URL))
			way.poison(t, proxy, run)
			key := fmt.Sprintf("answer-%d-%d", i, run)
			first, ok := s.try(t.Context(), through(t, proxy, server.URL), key, bodyOf(key))
			again := s.insist(t, key, bodyOf(key), steady.URL)
			tally.verdict(t, first, ok, again)
			if way.committed {
				require.Equal(t, "true", again.Header.Get("Idempotent-Replayed"), way.name)
			}
			proxy.Stop()
		}
		t.Logf("%s: %s", way.name, &tally)
		require.NotZero(t, tally.lost, way.name)
	}
	s.requireOneEffectEach(t, runs*len(ways))
}

// tally counts what first tries were answered, and what their repeats found.
type tally struct {
	mu                                                   sync.Mutex
	created, notApplied, unknown, lost                   int
	unknownButApplied, unknownNotApplied, lostButApplied int
}

func (y *tally) String() string {
	return fmt.Sprintf("%d created, %d not applied, %d unknown (%d of them applied, %d not), %d without an answer (%d of them applied)",
		y.created, y.notApplied, y.unknown, y.unknownButApplied, y.unknownNotApplied, y.lost, y.lostButApplied)
}

// verdict holds a first try against what its repeat found: a promised answer
// replays to the byte, and what was "not applied" was not.
func (y *tally) verdict(t *testing.T, first programs.Answer, ok bool, again programs.Answer) {
	t.Helper()
	y.mu.Lock()
	defer y.mu.Unlock()
	replayed := again.Header.Get("Idempotent-Replayed") == "true"
	if !ok {
		y.lost++
		y.lostButApplied += one(replayed)
		return
	}
	if first.Status == http.StatusCreated {
		y.created++
		require.True(t, replayed, "what was answered was there for the repeat")
		require.Equal(t, first.Body, again.Body, "one answer to the byte")
		require.Equal(t, first.Header.Get("Location"), again.Header.Get("Location"))
		return
	}
	require.Equal(t, http.StatusServiceUnavailable, first.Status, "%s", first.Body)
	require.NotEmpty(t, first.Header.Get("Retry-After"))
	problem := problemOf(t, first)
	require.True(t, problem.Retryable, "%s", first.Body)
	switch problem.Outcome {
	case "not_applied":
		y.notApplied++
		require.False(t, replayed, "said to be not applied, and was: %s", first.Body)
	case "unknown":
		y.unknown++
		y.unknownButApplied += one(replayed)
		y.unknownNotApplied += one(!replayed)
	default:
		require.Fail(t, "an outcome that a 503 cannot have", "%s", first.Body)
	}
}

func one(yes bool) int {
	if yes {
		return 1
	}
	return 0
}

// problem is what a client reads in an error (contract §2).
type problem struct {
	Code      string `json:"code"`
	Outcome   string `json:"outcome"`
	Scope     string `json:"scope"`
	Retryable bool   `json:"retryable"`
}

func problemOf(t *testing.T, answer programs.Answer) (p problem) {
	t.Helper()
	require.NoError(t, json.Unmarshal([]byte(answer.Body), &p), "%s", answer.Body)
	return p
}

// The connection between server and PostgreSQL ends at every byte of what
// PostgreSQL answers in an operation, and at every tenth or so of what it is
// asked, whether the operation takes one round trip or two: before the
// transaction, between its statements, within the batch that ends in COMMIT, and
// after COMMIT was sent and before its answer. The server finds out or says that
// it does not know; what it says is true, and the repeat through another server
// finds or makes exactly one effect.
func TestPostgresConnectionCutAtEveryByte(t *testing.T) {
	for _, upserts := range []bool{false, true} {
		for _, direction := range []string{upstream, downstream} {
			s := newSite(t)
			s.upserts = upserts
			s.unlimited(t)
			s.cutAtEveryByte(t, direction)
		}
	}
}

func (s *site) cutAtEveryByte(t *testing.T, direction string) {
	t.Helper()
	const most = 350
	proxy, env := s.ownWayToPostgres(t)
	scissors, ok := poison(t, proxy, direction, kindCut, nil).(*cut)
	require.True(t, ok)
	victim, steady := programs.StartServer(t, env), programs.StartServer(t, s.env)
	whole := s.bytesOfAnOperation(t, victim, scissors)
	var tally tally
	settled, rolledBack := 0, 0
	runs := min(whole, most)
	for run := range runs {
		key := fmt.Sprintf("byte-%d", run)
		s.insist(t, "warm-"+key, `{}`, victim.URL) // its connection and statements are ready
		scissors.arm(1 + run*whole/runs)
		first, ok := s.try(t.Context(), victim.URL, key, bodyOf(key))
		_, fired := scissors.disarm()
		require.True(t, ok, "the client's own connection was whole")
		settled += one(fired && first.Status == http.StatusCreated)
		rolledBack += one(first.Status != http.StatusCreated && problemOf(t, first).Scope == "operation")
		tally.verdict(t, first, ok, s.insist(t, key, bodyOf(key), steady.URL))
	}
	t.Logf("upserts: %t, %s, %d bytes: %s; %d cut and found committed, %d found rolled back", s.upserts, direction, whole, &tally, settled, rolledBack)
	if s.upserts {
		require.NotZero(t, tally.notApplied-rolledBack, "some cuts came before the transaction")
	}
	require.NotZero(t, rolledBack, "some came within it")
	if direction == downstream {
		require.NotZero(t, settled, "and some took COMMIT's answer")
	}
	s.requireOneEffectEach(t, 2*runs+warmUps)
}

// ownWayToPostgres is a proxy to the site's PostgreSQL, and the environment of
// a server that uses it.
func (s *site) ownWayToPostgres(t *testing.T) (proxy *toxiproxy.Proxy, env []string) {
	t.Helper()
	proxy = newProxy(t, hostOf(t, s.databaseURL))
	return proxy, programs.Environment(through(t, proxy, s.databaseURL), s.redis.URL())
}

const warmUps = 20

// bytesOfAnOperation is how many bytes a request to the server usually costs
// between it and PostgreSQL.
func (s *site) bytesOfAnOperation(t *testing.T, server *programs.Server, scissors *cut) int {
	t.Helper()
	most := 0
	for i := range warmUps {
		scissors.arm(1 << 30)
		key := fmt.Sprintf("measure-%d", i)
		s.insist(t, key, bodyOf(key), server.URL)
		spent, _ := scissors.disarm()
		if i >= warmUps/2 { // its statements are prepared
			most = max(most, spent)
		}
	}
	return most
}

// A server loses PostgreSQL in the middle of many operations and does not get it
// back: those whose COMMIT was on its way are unknown, and it says so. Whatever
// it says is true, and repeats through another server have one effect each.
func TestServerLosesPostgresForGood(t *testing.T) {
	const rounds, clients, spread = 3, 32, 120 * time.Millisecond
	s := newSite(t)
	s.upserts = true // has two round trips to be in the middle of
	s.unlimited(t)
	proxy, env := s.ownWayToPostgres(t)
	victim, steady := programs.StartServer(t, env), programs.StartServer(t, s.env)
	poison(t, proxy, downstream, "latency", attributes{"latency": 20}) // most of an operation is waiting for PostgreSQL
	var tally tally
	for round := range rounds {
		var wg sync.WaitGroup
		firsts := make([]programs.Answer, clients)
		s.burst(t, []string{victim.URL}, clients, func(i int) string { return fmt.Sprintf("warm-%d-%d", round, i) })
		for client := range clients {
			wg.Go(func() {
				pause(time.Duration(client) * spread / clients)
				key := fmt.Sprintf("good-%d-%d", round, client)
				firsts[client], _ = s.try(t.Context(), victim.URL, key, bodyOf(key))
			})
		}
		pause(spread) // the first are done, the last have just begun
		proxy.Stop()
		wg.Wait()
		for client, first := range firsts {
			key := fmt.Sprintf("good-%d-%d", round, client)
			require.NotZero(t, first.Status, "every client got an answer")
			tally.verdict(t, first, true, s.insist(t, key, bodyOf(key), steady.URL))
		}
		require.NoError(t, proxy.Start())
	}
	t.Log(&tally)
	require.NotZero(t, tally.unknown)
	require.NotZero(t, tally.notApplied)
	s.requireOneEffectEach(t, 2*rounds*clients)
}

// A server is cut off from PostgreSQL in the middle of operations: no packet
// passes, nor the end of a connection. Its keys are free again within 35 seconds
// and another server executes or replays; its own clients are told the truth.
func TestServerCutOffMidOperationFreesItsKeys(t *testing.T) {
	t.Parallel() // with the frozen server: both mostly wait
	const clients, spread = 16, 120 * time.Millisecond
	s := newSite(t)
	s.upserts = true
	s.unlimited(t)
	proxy, env := s.ownWayToPostgres(t)
	victim, steady := programs.StartServer(t, env), programs.StartServer(t, s.env)
	pull := cables(t, proxy)
	poison(t, proxy, downstream, "latency", attributes{"latency": 20}) // most of an operation is waiting for PostgreSQL
	s.burst(t, []string{victim.URL}, clients, func(i int) string { return fmt.Sprintf("warm-%d", i) })
	key := func(client int) string { return fmt.Sprintf("off-%d", client) }
	firsts, took := make([]programs.Answer, clients), make([]time.Duration, clients)
	var wg sync.WaitGroup
	for client := range clients {
		wg.Go(func() {
			pause(time.Duration(client) * spread / clients)
			begin := time.Now() // this client has no deadline of its own
			firsts[client], _ = s.send(t.Context(), victim.URL+contactsPath, key(client), bodyOf(key(client)))
			took[client] = time.Since(begin)
		})
	}
	pause(spread) // the first are done, the last have just begun
	pull(true)
	begin := time.Now()
	require.NotZero(t, s.idleInTransaction(t), "some are in the middle")
	agains := make([]programs.Answer, clients)
	for client := range clients {
		agains[client] = s.insist(t, key(client), bodyOf(key(client)), steady.URL)
	}
	free := time.Since(begin)
	require.Greater(t, free, 10*time.Second, "a key was in progress, and nobody executed it a second time meanwhile")
	require.Less(t, free, 36*time.Second, "free within 35 seconds, and the retry's own time")
	wg.Wait()
	var tally tally
	for client, first := range firsts {
		require.NotZero(t, first.Status, "every client got an answer")
		tally.verdict(t, first, true, agains[client])
	}
	t.Logf("the last key was free after %s, the last client answered after %s: %s", free, slices.Max(took), &tally)
	require.Less(t, slices.Max(took), 40*time.Second, "an operation's 30 seconds, 5 to find out, and a little")
	pull(false)
	proxy.Stop() // what was lost stays lost: these connections are of no use
	require.NoError(t, proxy.Start())
	s.insist(t, "back", `{}`, victim.URL) // by itself
	s.requireOneEffectEach(t, 2*clients+1)
}

// cables returns what pulls the proxy's cables out and puts them in again.
func cables(t *testing.T, proxy *toxiproxy.Proxy) (pull func(out bool)) {
	t.Helper()
	var both []*silence
	for _, direction := range []string{upstream, downstream} {
		cable, ok := poison(t, proxy, direction, kindSilence, nil).(*silence)
		require.True(t, ok)
		both = append(both, cable)
	}
	return func(out bool) {
		for _, cable := range both {
			cable.on.Store(out)
		}
	}
}
