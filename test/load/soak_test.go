//go:build bench && soak

package load_test

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/botix-pro/platform/internal/clock"
	"github.com/botix-pro/platform/test/programs"
)

const (
	soakVariable  = "SOAK_MINUTES"
	soakMinutes   = 10
	soakEndpoints = 20
	soakASecond   = 100 // events, 5 an endpoint
	sampleEvery   = 5 * time.Second
	slowAnswer    = 3 * time.Second
	soakSchedule  = "2s,4s,6s,8s" // so that retries and dead letters flow, too
)

// A worker under a steady load, with endpoints that fail, hang, break off, ask for
// a pause and talk too much among those that do well, takes no more memory,
// goroutines or file descriptors at the end than at the beginning.
func TestSoak(t *testing.T) {
	length := soakLength(t)
	f := newFleet(t, soakEndpoints, misbehave)
	addr := programs.FreeAddr(t)
	worker := programs.StartWorkerAt(t, append(f.env, "WEBHOOK_RETRY_SCHEDULE="+soakSchedule), addr)
	end := now().Add(length)
	warm := now().Add(length / 5) // pools fill, lanes with retries reach their level
	published := f.publishUntil(t, end)
	var samples []sample
	for now().Before(end) {
		<-time.After(sampleEvery)
		require.True(t, worker.Running(), "%s", worker.Log)
		if now().After(warm) {
			samples = append(samples, takeSample(t, addr))
		}
	}
	t.Logf("%d events in %s, %d requests received", <-published, length, f.received.Load())
	for i, what := range sampled {
		requireFlat(t, what, samples, i)
	}
}

func now() time.Time { return clock.System{}.Now() }

// soakLength is bounded: a soak ends by itself.
func soakLength(t *testing.T) time.Duration {
	t.Helper()
	minutes := soakMinutes
	if text := os.Getenv(soakVariable); text != "" {
		var err error
		minutes, err = strconv.Atoi(text)
		require.NoError(t, err, soakVariable)
	}
	require.True(t, minutes >= 1 && minutes <= 24*60, "%s is 1 to 1440", soakVariable)
	return time.Duration(minutes) * time.Minute
}

// misbehave answers as the endpoint does whose number the event's type carries.
func misbehave(w http.ResponseWriter, r *http.Request) {
	_, _ = io.Copy(io.Discard, r.Body)
	switch r.Header.Get("X-Event-Type") {
	case eventType(0):
		w.WriteHeader(http.StatusInternalServerError)
	case eventType(1):
		select {
		case <-time.After(slowAnswer):
		case <-r.Context().Done():
		}
	case eventType(2):
		panic(http.ErrAbortHandler) // the connection breaks
	case eventType(3):
		w.Header().Set("Retry-After", "1")
		w.WriteHeader(http.StatusTooManyRequests)
	case eventType(4):
		_, _ = w.Write(bytes.Repeat([]byte("x"), 64<<10)) // more than is kept
	case eventType(5):
		w.WriteHeader(http.StatusBadRequest)
	}
}

// publishUntil publishes evenly until the end. What it returns tells how much.
func (f *fleet) publishUntil(t *testing.T, end time.Time) <-chan int {
	t.Helper()
	count := make(chan int, 1)
	go func() {
		published := 0
		ticker := time.NewTicker(time.Second)
		defer ticker.Stop()
		for now().Before(end) {
			f.publish(t, soakASecond)
			published += soakASecond
			<-ticker.C
		}
		count <- published
	}()
	return count
}

// sample is one look inside, in the order of sampled.
type sample [4]float64

// figure is what is looked at, with how much of it may come and go by chance.
type figure struct {
	name  string
	noise float64
}

// sampled are the figures of a sample.
var sampled = [len(sample{})]figure{
	{"heap after a collection, KiB", 2 << 10}, {"goroutines", 60}, {"open files", 40}, {"resident memory, KiB", 8 << 10},
}

func takeSample(t *testing.T, addr string) sample {
	t.Helper()
	heap := figures(t, "http://"+addr+"/debug/pprof/heap?gc=1&debug=1", " = ")
	metrics := figures(t, "http://"+addr+"/metrics", " ")
	return sample{heap["# HeapAlloc"] / 1024, metrics["go_goroutines"], metrics["process_open_fds"], metrics["process_resident_memory_bytes"] / 1024}
}

// figures are the lines of a page that are a name and a number.
func figures(t *testing.T, url, between string) map[string]float64 {
	t.Helper()
	request, err := http.NewRequestWithContext(context.WithoutCancel(t.Context()), http.MethodGet, url, http.NoBody)
	require.NoError(t, err)
	response, err := http.DefaultClient.Do(request)
	require.NoError(t, err)
	defer func() { _ = response.Body.Close() }()
	found := map[string]float64{}
	for lines := bufio.NewScanner(response.Body); lines.Scan(); {
		if name, value, ok := strings.Cut(lines.Text(), between); ok {
			if number, err := strconv.ParseFloat(value, 64); err == nil {
				found[name] = number
			}
		}
	}
	return found
}

// requireFlat compares the medians of the first and the last third.
func requireFlat(t *testing.T, what figure, samples []sample, i int) {
	t.Helper()
	third := len(samples) / 3
	require.GreaterOrEqual(t, third, 3, "too short to tell")
	values := make([]float64, len(samples))
	for n, s := range samples {
		values[n] = s[i]
		require.Positive(t, s[i], what.name)
	}
	first, last := median(append([]float64{}, values[:third]...)), median(append([]float64{}, values[len(values)-third:]...))
	t.Logf("%s: %.0f in the first third, %.0f in the last (%s)", what.name, first, last, spark(values))
	require.LessOrEqual(t, last-first, max(first/10, what.noise), "%s rises", what.name)
}

// spark is a series as a few of its values.
func spark(values []float64) string {
	var few []string
	for i := 0; i < len(values); i += max(1, len(values)/12) {
		few = append(few, fmt.Sprintf("%.0f", values[i]))
	}
	return strings.Join(few, " ")
}
