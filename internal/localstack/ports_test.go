package localstack

import (
	"context"
	"errors"
	"net"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestFreePortCanBeBound(t *testing.T) {
	t.Parallel()
	port, err := freePort(t.Context())
	require.NoError(t, err)
	require.GreaterOrEqual(t, port, lowestPort)
	require.Less(t, port, highestPort)
	listener, err := net.Listen("tcp", address(port))
	require.NoError(t, err)
	require.NoError(t, listener.Close())
}

func TestTryPortsTakesAnotherPortWhenOneIsTaken(t *testing.T) {
	t.Parallel()
	var tried []int
	port, err := tryPorts(t.Context(), 0, func(_ context.Context, port int) error {
		if tried = append(tried, port); len(tried) == 1 {
			return errPortTaken
		}
		return nil
	})
	require.NoError(t, err)
	require.Len(t, tried, 2)
	require.Equal(t, tried[1], port)
	require.NotEqual(t, tried[0], tried[1])
}

func TestTryPortsKeepsAFixedPort(t *testing.T) {
	t.Parallel()
	tries := 0
	port, err := tryPorts(t.Context(), 20000, func(_ context.Context, port int) error {
		require.Equal(t, 20000, port)
		if tries++; tries == 1 {
			return errPortTaken
		}
		return nil
	})
	require.NoError(t, err)
	require.Equal(t, 20000, port)
}

func TestTryPortsGivesUpOnAnythingElse(t *testing.T) {
	t.Parallel()
	broken := errors.New("broken")
	tries := 0
	_, err := tryPorts(t.Context(), 0, func(context.Context, int) error { tries++; return broken })
	require.ErrorIs(t, err, broken)
	require.Equal(t, 1, tries)
}
