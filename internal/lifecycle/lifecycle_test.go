package lifecycle_test

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/botix-pro/platform/internal/lifecycle"
)

// patience is how long a test waits for what must come; nothing waits for it
// when all is well.
const patience = 10 * time.Second

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

func (d *diary) read() []string {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.lines
}

type service struct {
	name   string
	diary  *diary
	start  func(ctx context.Context) error
	stop   func(ctx context.Context) error
	failed chan error
}

func (s *service) Failed() <-chan error { return s.failed }

func (s *service) Start(ctx context.Context) error {
	s.diary.write("start " + s.name)
	return s.start(ctx)
}

func (s *service) Stop(ctx context.Context) error {
	if _, bounded := ctx.Deadline(); !bounded || ctx.Err() != nil {
		return errors.New("stop is not bounded, or has no time at all")
	}
	s.diary.write("stop " + s.name)
	return s.stop(ctx)
}

// named returns services that do what they are told; tests change one of them.
func named(d *diary, names ...string) []*service {
	well := func(context.Context) error { return nil }
	list := make([]*service, len(names))
	for i, name := range names {
		list[i] = &service{name: name, diary: d, start: well, stop: well, failed: make(chan error, 1)}
	}
	return list
}

func run(ctx context.Context, within time.Duration, ready func(), services []*service) error {
	list := make([]lifecycle.Named, len(services))
	for i, s := range services {
		list[i] = lifecycle.Named{Name: s.name, Service: s}
	}
	return lifecycle.Run(ctx, quiet, within, ready, list...)
}

func nothing() {}

func TestStopsInReverseWhenAsked(t *testing.T) {
	t.Parallel()
	var d diary
	ctx, cancel := context.WithCancel(t.Context())
	require.NoError(t, run(ctx, time.Second, cancel, named(&d, "a", "b")))
	require.Equal(t, []string{"start a", "start b", "stop b", "stop a"}, d.read())
}

func TestFailedStartStopsWhatRan(t *testing.T) {
	t.Parallel()
	var d diary
	services := named(&d, "a", "b", "c")
	broken := errors.New("port taken")
	services[1].start = func(context.Context) error { return broken }
	err := run(t.Context(), time.Second, func() { d.write("ready") }, services)
	require.ErrorIs(t, err, broken)
	require.ErrorContains(t, err, "start b")
	require.Equal(t, []string{"start a", "start b", "stop a"}, d.read())
}

func TestCancelledStartIsNoFailure(t *testing.T) {
	t.Parallel()
	var d diary
	services := named(&d, "a", "b", "c")
	ctx, cancel := context.WithCancel(t.Context())
	services[1].start = func(ctx context.Context) error { // a start that heeds its context
		cancel()
		return ctx.Err()
	}
	require.NoError(t, run(ctx, time.Second, func() { d.write("ready") }, services))
	require.Equal(t, []string{"start a", "start b", "stop a"}, d.read())
}

func TestNothingMoreStartsOnceCancelled(t *testing.T) {
	t.Parallel()
	var d diary
	services := named(&d, "a", "b")
	ctx, cancel := context.WithCancel(t.Context())
	services[0].start = func(context.Context) error { cancel(); return nil } // one that does not
	require.NoError(t, run(ctx, time.Second, func() { d.write("ready") }, services))
	require.Equal(t, []string{"start a", "stop a"}, d.read())
}

func TestServiceThatFailsEndsTheProcess(t *testing.T) {
	t.Parallel()
	var d diary
	services := named(&d, "a", "b")
	broken := errors.New("listener died")
	err := run(t.Context(), time.Second, func() { services[0].failed <- broken }, services)
	require.ErrorIs(t, err, broken)
	require.ErrorContains(t, err, "a: ")
	require.Equal(t, []string{"start a", "start b", "stop b", "stop a"}, d.read())
}

func TestFailureWhileOthersStartIsSeen(t *testing.T) {
	t.Parallel()
	var d diary
	services := named(&d, "a", "b")
	broken := errors.New("listener died")
	services[1].start = func(context.Context) error { services[0].failed <- broken; return nil }
	require.ErrorIs(t, run(t.Context(), time.Second, nothing, services), broken)
}

func TestClosedFailureChannelIsNoFailure(t *testing.T) {
	t.Parallel()
	var d diary
	services := named(&d, "a")
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	close(services[0].failed)
	require.NoError(t, run(ctx, time.Second, nothing, services))
	require.ErrorIs(t, ctx.Err(), context.DeadlineExceeded, "it went on until the context ended")
}

func TestFailedStopDoesNotKeepTheOthersFromStopping(t *testing.T) {
	t.Parallel()
	var d diary
	services := named(&d, "a", "b")
	stuck, broken := errors.New("could not flush"), errors.New("listener died")
	services[1].stop = func(context.Context) error { return stuck }
	err := run(t.Context(), time.Second, func() { services[0].failed <- broken }, services)
	require.ErrorIs(t, err, broken, "why the process ended")
	require.ErrorIs(t, err, stuck, "and what went wrong then")
	require.ErrorContains(t, err, "stop b")
	require.Contains(t, d.read(), "stop a")
}

func TestServiceThatUsesUpTheTimeLeavesTheOthersTheirChance(t *testing.T) {
	t.Parallel()
	var d diary
	services := named(&d, "a", "b")
	ctx, cancel := context.WithCancel(t.Context())
	services[1].stop = func(ctx context.Context) error { <-ctx.Done(); return ctx.Err() }
	err := run(ctx, 20*time.Millisecond, cancel, services)
	require.ErrorIs(t, err, context.DeadlineExceeded)
	require.Contains(t, d.read(), "stop a", "its context was not over yet")
}

func TestServiceThatNeverStopsDoesNotHoldTheProcess(t *testing.T) {
	t.Parallel()
	var d diary
	services := named(&d, "a", "b")
	ctx, cancel := context.WithCancel(t.Context())
	forever := make(chan struct{})
	defer close(forever)
	services[1].stop = func(context.Context) error { <-forever; return nil } // deaf to its context
	ended := make(chan error, 1)
	go func() { ended <- run(ctx, 20*time.Millisecond, cancel, services) }()
	select {
	case err := <-ended:
		require.ErrorContains(t, err, "stop b: did not return")
		require.Contains(t, d.read(), "stop a")
	case <-time.After(patience):
		t.Fatal("Run waits for a service that never stops")
	}
}

func TestOnStopEndsWhatNeededNoStart(t *testing.T) {
	t.Parallel()
	ended := 0
	service := lifecycle.OnStop(func() { ended++ })
	require.NoError(t, service.Start(t.Context()))
	require.Zero(t, ended)
	require.NoError(t, service.Stop(t.Context()))
	require.Equal(t, 1, ended)
}
