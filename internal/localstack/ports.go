package localstack

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"strconv"
	"time"
)

const (
	loopback = "127.0.0.1"
	// Ports are taken from below the ranges that systems hand to outgoing
	// connections (Linux from 32768, others from 49152): a server that is
	// restarted must find its own port free again.
	lowestPort, highestPort = 15000, 32000
	portTries               = 100

	startTries = 8
	startPause = 250 * time.Millisecond
)

// errPortTaken says that somebody else took the port between choosing it and
// binding it; another one is worth a try.
var errPortTaken = errors.New("the chosen port was taken by another process")

// freePort returns a TCP port of 127.0.0.1 that is free at this moment.
func freePort(ctx context.Context) (int, error) {
	var config net.ListenConfig
	for range portTries {
		port := lowestPort + rand.IntN(highestPort-lowestPort) //nolint:gosec // no secret
		listener, err := config.Listen(ctx, "tcp", address(port))
		if err != nil {
			continue
		}
		if err := listener.Close(); err != nil {
			return 0, fmt.Errorf("release the chosen port: %w", err)
		}
		return port, nil
	}
	return 0, fmt.Errorf("no free port found on %s between %d and %d", loopback, lowestPort, highestPort)
}

// tryPorts starts a server on the fixed port, or, when that is 0, on a free one,
// and returns the port. It tries a few times: another process may take the port
// first, or what remains of a killed server may still hold it.
func tryPorts(ctx context.Context, fixed int, start func(ctx context.Context, port int) error) (port int, err error) {
	for range startTries {
		if port = fixed; fixed == 0 {
			if port, err = freePort(ctx); err != nil {
				return 0, err
			}
		}
		if err = start(ctx, port); err == nil {
			return port, nil
		}
		if !errors.Is(err, errPortTaken) || !pause(ctx, startPause) {
			break
		}
	}
	return fixed, err
}

// pause waits, and reports whether ctx let it.
func pause(ctx context.Context, length time.Duration) bool {
	select {
	case <-ctx.Done():
		return false
	case <-time.After(length):
		return true
	}
}

func address(port int) string {
	return net.JoinHostPort(loopback, strconv.Itoa(port))
}
