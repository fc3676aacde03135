// Package lifecycle starts the parts of a process in order and stops them in
// reverse, each within a bounded time.
package lifecycle

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"time"
)

// Service is a part of a process.
type Service interface {
	// Start returns once the service works; what goes on in the background
	// outlives ctx, which only bounds the start.
	Start(ctx context.Context) error
	// Stop returns once the service has ended what it was doing, or ctx is
	// over. Stopping what is not running does nothing.
	Stop(ctx context.Context) error
}

// Failing is a service that can end by itself; that ends the process.
type Failing interface {
	// Failed delivers at most one error.
	Failed() <-chan error
}

// OnStop is a service that has nothing to start and something to end.
type OnStop func()

// Start implements [Service].
func (OnStop) Start(context.Context) error { return nil }

// Stop implements [Service].
func (end OnStop) Stop(context.Context) error { end(); return nil }

// Named is a service with the name under which it is logged.
type Named struct {
	Name    string
	Service Service
}

// Run starts the services in order, calls ready, waits until ctx is over or a
// service fails, and stops them in reverse. The error is the first failure
// together with what went wrong while stopping; a cancelled ctx is none.
func Run(ctx context.Context, log *slog.Logger, stopWithin time.Duration, ready func(), services ...Named) error {
	failed := make(chan error, len(services))
	done := make(chan struct{})
	defer close(done)
	started, err := startAll(ctx, services)
	for _, s := range started {
		watch(s, failed, done)
	}
	if err == nil {
		ready()
		select {
		case <-ctx.Done():
			log.InfoContext(ctx, "stopping")
		case err = <-failed:
			log.ErrorContext(ctx, "a service failed; stopping", "error", err)
		}
	}
	return errors.Join(err, stopAll(context.WithoutCancel(ctx), log, stopWithin, started))
}

func startAll(ctx context.Context, services []Named) ([]Named, error) {
	for i, s := range services {
		if err := s.Service.Start(ctx); err != nil {
			return services[:i], fmt.Errorf("start %s: %w", s.Name, err)
		}
	}
	return services, nil
}

func watch(s Named, failed chan<- error, done <-chan struct{}) {
	failing, ok := s.Service.(Failing)
	if !ok {
		return
	}
	go func() {
		select {
		case err := <-failing.Failed():
			failed <- fmt.Errorf("%s: %w", s.Name, err)
		case <-done:
		}
	}()
}

func stopAll(ctx context.Context, log *slog.Logger, within time.Duration, services []Named) error {
	var failures []error
	for _, s := range slices.Backward(services) {
		if err := stop(ctx, within, s); err != nil {
			log.ErrorContext(ctx, "a service did not stop well", "service", s.Name, "error", err)
			failures = append(failures, err)
		}
	}
	return errors.Join(failures...)
}

func stop(ctx context.Context, within time.Duration, s Named) error {
	ctx, cancel := context.WithTimeout(ctx, within)
	defer cancel()
	if err := s.Service.Stop(ctx); err != nil {
		return fmt.Errorf("stop %s: %w", s.Name, err)
	}
	return nil
}
