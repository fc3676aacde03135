package lifecycle_test

import (
	"context"
	"errors"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/botix-pro/platform/internal/lifecycle"
)

// meeting is a service whose Stop returns once all of them are stopping.
type meeting struct {
	refuse  error
	here    chan<- struct{}
	all     <-chan struct{}
	stopped bool
}

func (m *meeting) Start(context.Context) error { return m.refuse }

func (m *meeting) Stop(ctx context.Context) error {
	m.stopped = true
	m.here <- struct{}{}
	select {
	case <-m.all:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// None waits for another to end, and a failed start leaves nothing running.
func TestTogetherEndsAtTheSameTime(t *testing.T) {
	t.Parallel()
	here, all := make(chan struct{}, 2), make(chan struct{})
	a, b := &meeting{here: here, all: all}, &meeting{here: here, all: all}
	both := lifecycle.Together{{Name: "a", Service: a}, {Name: "b", Service: b}}
	require.NoError(t, both.Start(t.Context()))
	go func() {
		<-here
		<-here
		close(all)
	}()
	require.NoError(t, both.Stop(t.Context()))

	broken := errors.New("broken")
	a, b = &meeting{here: here, all: all}, &meeting{refuse: broken}
	require.ErrorIs(t, lifecycle.Together{{Name: "a", Service: a}, {Name: "b", Service: b}}.Start(t.Context()), broken)
	require.True(t, a.stopped)
	require.False(t, b.stopped)
}
