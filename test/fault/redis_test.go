//go:build fault

package fault_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	"github.com/botix-pro/platform/test/programs"
)

// Redis is killed and started empty under load: speed may suffer, nothing else.
// Nothing is done twice, nothing lost, no client sees an error.
func TestRedisLostUnderLoad(t *testing.T) {
	s := newSite(t)
	s.unlimited(t)
	a, b := programs.StartServer(t, s.env), programs.StartServer(t, s.env)
	s.underLoad(t, []string{a.URL, b.URL}, func() {
		for range 3 {
			pause(200 * time.Millisecond)
			require.NoError(t, s.redis.Kill())
			pause(200 * time.Millisecond)
			require.NoError(t, s.redis.Start(t.Context())) // empty: it keeps nothing here
		}
	})
	require.Zero(t, s.faults.Load(), "no 5xx and no lost answer")
}

// Redis is emptied under load, a hundred times: the same.
func TestRedisFlushedUnderLoad(t *testing.T) {
	s := newSite(t)
	s.unlimited(t)
	options, err := redis.ParseURL(s.redis.URL())
	require.NoError(t, err)
	client := redis.NewClient(options)
	t.Cleanup(func() { _ = client.Close() })
	a, b := programs.StartServer(t, s.env), programs.StartServer(t, s.env)
	s.underLoad(t, []string{a.URL, b.URL}, func() {
		for range 100 {
			pause(20 * time.Millisecond)
			require.NoError(t, client.FlushAll(t.Context()).Err())
		}
	})
	require.Zero(t, s.faults.Load(), "no 5xx and no lost answer")
}

// Redis is cut off: it takes connections and questions and answers nothing. The
// first time a server learns of it a request waits a little; none is lost, none
// fails, and it passes.
func TestRedisHangsUnderLoad(t *testing.T) {
	const during = 200
	s := newSite(t)
	s.unlimited(t)
	proxy := newProxy(t, hostOf(t, s.redis.URL()))
	env := programs.Environment(s.databaseURL, through(t, proxy, s.redis.URL()))
	a, b := programs.StartServer(t, env), programs.StartServer(t, env)
	urls := []string{a.URL, b.URL}
	s.underLoad(t, urls, func() {
		pause(200 * time.Millisecond)
		for _, direction := range []string{upstream, downstream} {
			poison(t, proxy, direction, "timeout", nil) // nothing passes, and nothing is closed
		}
		var slowest time.Duration
		for i := range during {
			begin := time.Now()
			key := fmt.Sprintf("hung-%d", i)
			s.insist(t, key, bodyOf(key), urls[i%2])
			slowest = max(slowest, time.Since(begin))
		}
		t.Logf("while Redis hung the slowest of %d requests took %s", during, slowest.Round(time.Millisecond))
		proxy.Toxics.ResetToxics(t.Context())
	})
	require.Zero(t, s.faults.Load(), "no 5xx and no lost answer")
}
