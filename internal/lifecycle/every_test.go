package lifecycle_test

import (
	"context"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/botix-pro/platform/internal/lifecycle"
)

// receive waits for a signal that must come.
func receive(t *testing.T, signal <-chan struct{}, what string) {
	t.Helper()
	select {
	case <-signal:
	case <-time.After(patience):
		t.Fatal("waited in vain for " + what)
	}
}

func TestEveryGoesOnUntilStoppedAndOnceMore(t *testing.T) {
	t.Parallel()
	calls := make(chan struct{}, 100)
	every := lifecycle.NewEvery(time.Millisecond, func(context.Context) { calls <- struct{}{} })
	require.NoError(t, every.Start(t.Context()))
	receive(t, calls, "a call")
	receive(t, calls, "another call")
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
	require.NoError(t, every.Stop(t.Context()), "and the interval is not waited for")
	require.NoError(t, last)
}

func TestEveryOutlivesTheContextOfItsStart(t *testing.T) {
	t.Parallel()
	calls := make(chan struct{})
	every := lifecycle.NewEvery(time.Millisecond, func(ctx context.Context) {
		select {
		case calls <- struct{}{}:
		case <-ctx.Done():
		case <-time.After(patience):
		}
	})
	ctx, cancel := context.WithCancel(t.Context())
	require.NoError(t, every.Start(ctx))
	cancel()
	receive(t, calls, "a call")
	receive(t, calls, "another call")
	stopped := make(chan error, 1)
	go func() { stopped <- every.Stop(context.WithoutCancel(ctx)) }()
	receive(t, calls, "the last call")
	require.NoError(t, <-stopped)
}

func TestEveryThatNeverStartedHasNothingToStop(t *testing.T) {
	t.Parallel()
	every := lifecycle.NewEvery(time.Hour, func(context.Context) { t.Error("called") })
	require.NoError(t, every.Stop(t.Context()))
}

func TestEveryCancelsTheCallUnderWayAndWaitsForIt(t *testing.T) {
	t.Parallel()
	began, release := make(chan struct{}), make(chan struct{})
	var calls atomic.Int32
	every := lifecycle.NewEvery(time.Millisecond, func(ctx context.Context) {
		if calls.Add(1) > 1 {
			return
		}
		close(began)
		<-ctx.Done() // it is told
		<-release
	})
	require.NoError(t, every.Start(t.Context()))
	receive(t, began, "the first call")
	stopped := make(chan error, 1)
	go func() { stopped <- every.Stop(context.Background()) }()
	require.Never(t, func() bool { return len(stopped) > 0 || calls.Load() > 1 }, 30*time.Millisecond, 5*time.Millisecond,
		"the last call comes after the one under way")
	close(release)
	require.NoError(t, <-stopped)
	require.EqualValues(t, 2, calls.Load())
}

func TestEverysStopIsBounded(t *testing.T) {
	t.Parallel()
	began, forever := make(chan struct{}), make(chan struct{})
	defer close(forever)
	var once atomic.Bool
	every := lifecycle.NewEvery(time.Millisecond, func(context.Context) {
		if once.CompareAndSwap(false, true) {
			close(began)
		}
		<-forever // deaf to its context
	})
	require.NoError(t, every.Start(t.Context()))
	receive(t, began, "the first call")
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	require.ErrorIs(t, every.Stop(ctx), context.DeadlineExceeded)
}
