//go:build bench

package load_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/botix-pro/platform/app/models"
	"github.com/botix-pro/platform/internal/clock"
	"github.com/botix-pro/platform/internal/localstack"
	"github.com/botix-pro/platform/internal/testenv"
	"github.com/botix-pro/platform/test/programs"
)

const (
	connections = 16
	rounds      = 5
	interval    = 3 * time.Second
	body        = `{"name":"Ada Lovelace","email":"ada@example.com"}`
	// maxSteal is the share of the CPU taken by others above which a round is
	// repeated.
	maxSteal = 0.05
)

// contender is one side of a comparison.
type contender struct {
	name      string
	request   func(ctx context.Context) *http.Request
	processes []process // whose CPU time it costs
}

// A protected POST against the same insert without protection; a replay against
// an answer that asks nobody.
func TestPosts(t *testing.T) {
	postgres, redis := durablePostgres(t), testenv.PrivateRedis(t)
	databaseURL := postgres.URL(localstack.DefaultDatabase)
	server := programs.StartServer(t, programs.Environment(databaseURL, redis.URL()))
	demo := programs.Plant(t, databaseURL, "http://127.0.0.1:9/")
	unlimited(t, databaseURL)
	bare, barePID := startBare(t, databaseURL)
	database := process{"PostgreSQL", postgres.PID()}
	whole := []process{{"server", server.Command.Process.Pid}, database, {"Redis", redis.PID()}}
	alone := []process{{"bare", barePID}, database}

	post := func(url, key string) func(context.Context) *http.Request {
		return func(ctx context.Context) *http.Request {
			request, err := http.NewRequestWithContext(ctx, http.MethodPost, url, strings.NewReader(body))
			require.NoError(t, err)
			request.Header.Set("Content-Type", "application/json")
			request.Header.Set("Authorization", "Bearer "+demo.APIKey)
			request.Header.Set("Idempotency-Key", or(key, models.NewID("", clock.System{}.Now())))
			return request
		}
	}
	t.Logf("%d CPUs, %s, %d connections, medians of %d rounds of %s, load generator beside", runtime.NumCPU(), runtime.Version(), connections, rounds, interval)
	protected := compare(t, "protected POST /contacts (key, limit, one matching endpoint) ÷ bare Echo + GORM insert",
		contender{"protected", post(server.URL+"/contacts", ""), whole}, contender{"bare insert", post(bare+"/insert", ""), alone})
	logged := logCost(t, databaseURL, database)
	t.Logf("CPU time that the request log takes ÷ a protected POST's: %.3f (%s, %s)", logged.Seconds()/protected.Seconds(),
		logged.Round(100*time.Nanosecond), protected.Round(time.Microsecond))
	first, err := programs.Post(t.Context(), server.URL, demo.APIKey, "same", body)
	require.NoError(t, err)
	require.Equal(t, http.StatusCreated, first.Status)
	compare(t, "replay ÷ bare Echo answer",
		contender{"replay", post(server.URL+"/contacts", "same"), whole}, contender{"bare answer", post(bare+"/answer", ""), alone})
}

func or(value, otherwise string) string {
	if value == "" {
		return otherwise
	}
	return value
}

// compare runs both sides in turn and prints the ratio of their medians, and what
// one request of each costs in CPU time. It returns what one of the first side
// does, of all its processes.
func compare(t *testing.T, title string, a, b contender) (cost time.Duration) {
	t.Helper()
	sides := []contender{a, b}
	var rates [2][]float64
	var answered [2]int64
	var used [2][]time.Duration
	for range rounds {
		for side, c := range sides {
			before := costs(t, c.processes)
			count := round(t, c)
			used[side] = spent(used[side], before, costs(t, c.processes))
			answered[side] += count
			rates[side] = append(rates[side], float64(count)/interval.Seconds())
		}
	}
	first, second := median(rates[0]), median(rates[1])
	t.Logf("%s: %.2f (%s %.0f/s, %s %.0f/s)", title, first/second, a.name, first, b.name, second)
	for side, c := range sides {
		for i, p := range c.processes {
			t.Logf("  CPU time a request, %s: %s %s", c.name, p.name, (used[side][i] / time.Duration(answered[side])).Round(time.Microsecond))
		}
	}
	for _, its := range used[0] {
		cost += its / time.Duration(answered[0])
	}
	return cost
}

// spent adds what was used between two looks.
func spent(sum, before, after []time.Duration) []time.Duration {
	if sum == nil {
		sum = make([]time.Duration, len(before))
	}
	for i := range before {
		sum[i] += after[i] - before[i]
	}
	return sum
}

func median(values []float64) float64 {
	slices.Sort(values)
	return values[len(values)/2]
}

// round is how many requests of one interval a contender answers with 201.
func round(t *testing.T, c contender) int64 {
	t.Helper()
	for {
		before := steal(t)
		answered := answeredWithin(t, c)
		if taken := steal(t) - before; taken <= maxSteal*interval.Seconds()*float64(runtime.NumCPU()) {
			return answered
		}
		t.Log("a round is repeated: the machine was busy with others")
	}
}

func answeredWithin(t *testing.T, c contender) int64 {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), interval)
	defer cancel()
	transport := &http.Transport{MaxConnsPerHost: connections, MaxIdleConnsPerHost: connections}
	defer transport.CloseIdleConnections()
	var answered, failed atomic.Int64
	var wg sync.WaitGroup
	for range connections {
		wg.Go(func() {
			for ctx.Err() == nil {
				response, err := transport.RoundTrip(c.request(ctx))
				if err != nil {
					continue // the interval is over
				}
				_, _ = io.Copy(io.Discard, response.Body)
				_ = response.Body.Close()
				if response.StatusCode == http.StatusCreated {
					answered.Add(1)
				} else {
					failed.Add(1)
				}
			}
		})
	}
	wg.Wait()
	require.Zero(t, failed.Load(), "%s answered something else than 201", c.name)
	return answered.Load()
}

// steal is the CPU time, in seconds, that the hypervisor gave to others.
func steal(t *testing.T) float64 {
	t.Helper()
	raw, err := os.ReadFile("/proc/stat")
	require.NoError(t, err)
	var user, nice, system, idle, iowait, irq, softirq, stolen float64
	_, err = fmt.Sscanf(string(raw), "cpu %f %f %f %f %f %f %f %f", &user, &nice, &system, &idle, &iowait, &irq, &softirq, &stolen)
	require.NoError(t, err)
	return stolen / 100
}

func startBare(t *testing.T, databaseURL string) (url string, pid int) {
	t.Helper()
	addr := programs.FreeAddr(t)
	command := exec.CommandContext(context.WithoutCancel(t.Context()), os.Args[0])
	command.Env = append(os.Environ(), bareVariable+"="+addr, "DATABASE_URL="+databaseURL)
	require.NoError(t, command.Start())
	t.Cleanup(func() { _ = command.Process.Kill(); _ = command.Wait() })
	require.Eventually(t, func() bool {
		answer, err := programs.Get(t.Context(), "http://"+addr, "")
		return err == nil && answer.Status == http.StatusNotFound
	}, programs.Patience, 20*time.Millisecond)
	return "http://" + addr, command.Process.Pid
}
