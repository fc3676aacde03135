package lifecycle_test

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"net"
	"net/http"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/botix-pro/platform/internal/lifecycle"
)

var quiet = slog.New(slog.DiscardHandler)

// diary records what happened to the services, in order.
type diary struct {
	mu    sync.Mutex
	lines []string
}

func (d *diary) write(line string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.lines = append(d.lines, line)
}

type service struct {
	name     string
	diary    *diary
	startErr error
	failed   chan error
}

func (s *service) Start(context.Context) error { s.diary.write("start " + s.name); return s.startErr }
func (s *service) Failed() <-chan error        { return s.failed }
func (s *service) Stop(ctx context.Context) error {
	if _, bounded := ctx.Deadline(); !bounded {
		return errors.New("stop is not bounded")
	}
	s.diary.write("stop " + s.name)
	return ctx.Err()
}

func named(d *diary, names ...string) []lifecycle.Named {
	list := make([]lifecycle.Named, len(names))
	for i, name := range names {
		list[i] = lifecycle.Named{Name: name, Service: &service{name: name, diary: d, failed: make(chan error, 1)}}
	}
	return list
}

func TestStopsInReverseWhenAsked(t *testing.T) {
	t.Parallel()
	var d diary
	ctx, cancel := context.WithCancel(t.Context())
	err := lifecycle.Run(ctx, quiet, time.Second, cancel, named(&d, "a", "b")...)
	require.NoError(t, err)
	require.Equal(t, []string{"start a", "start b", "stop b", "stop a"}, d.lines)
}

func TestFailedStartStopsWhatRan(t *testing.T) {
	t.Parallel()
	var d diary
	services := named(&d, "a", "b", "c")
	broken := errors.New("port taken")
	services[1].Service.(*service).startErr = broken
	err := lifecycle.Run(t.Context(), quiet, time.Second, func() { d.write("ready") }, services...)
	require.ErrorIs(t, err, broken)
	require.Equal(t, []string{"start a", "start b", "stop a"}, d.lines)
}

func TestServiceThatFailsEndsTheProcess(t *testing.T) {
	t.Parallel()
	var d diary
	services := named(&d, "a", "b")
	broken := errors.New("listener died")
	err := lifecycle.Run(t.Context(), quiet, time.Second,
		func() { services[0].Service.(*service).failed <- broken }, services...)
	require.ErrorIs(t, err, broken)
	require.ErrorContains(t, err, "a: ")
	require.Equal(t, []string{"start a", "start b", "stop b", "stop a"}, d.lines)
}

func TestHTTPServerAnswersWhatIsInFlight(t *testing.T) {
	t.Parallel()
	listener, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	require.NoError(t, err)
	entered, release := make(chan struct{}), make(chan struct{})
	server := lifecycle.NewHTTPServer(listener, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		close(entered)
		<-release
		_, _ = io.WriteString(w, "done")
	}), quiet)
	require.NoError(t, server.Start(t.Context()))

	answer := make(chan string, 1)
	go func() {
		request, _ := http.NewRequestWithContext(context.Background(), http.MethodGet, "http://"+listener.Addr().String(), nil)
		response, err := http.DefaultClient.Do(request)
		if err != nil {
			answer <- err.Error()
			return
		}
		defer func() { _ = response.Body.Close() }()
		body, _ := io.ReadAll(response.Body)
		answer <- string(body)
	}()
	<-entered
	stopped := make(chan error, 1)
	go func() { stopped <- server.Stop(context.Background()) }()
	close(release)
	require.Equal(t, "done", <-answer)
	require.NoError(t, <-stopped)
	require.NoError(t, server.Stop(t.Context()), "stopping twice does nothing")
}

func TestEveryGoesOnUntilStoppedAndOnceMore(t *testing.T) {
	t.Parallel()
	calls := make(chan struct{}, 100)
	every := lifecycle.NewEvery(time.Millisecond, func(context.Context) { calls <- struct{}{} })
	require.NoError(t, every.Start(t.Context()))
	<-calls
	<-calls
	require.NoError(t, every.Stop(t.Context()))
	for len(calls) > 0 {
		<-calls
	}
	require.NoError(t, every.Stop(t.Context()), "stopping twice does nothing")
	require.Empty(t, calls, "nothing is called after the stop")
}

func TestEverysLastCallIsNotCancelled(t *testing.T) {
	t.Parallel()
	var last error
	every := lifecycle.NewEvery(time.Hour, func(ctx context.Context) { last = ctx.Err() })
	require.NoError(t, every.Start(t.Context()))
	last = context.Canceled
	require.NoError(t, every.Stop(t.Context()))
	require.NoError(t, last)
}
