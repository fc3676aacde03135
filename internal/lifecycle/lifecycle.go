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

// lastChance is what a service gets to stop when those before it used up the
// time: enough to close what it holds, too little to be noticed.
const lastChance = 500 * time.Millisecond

// errDidNotReturn is about a Stop that ignored the end of its context. The
// process goes on without it.
var errDidNotReturn = errors.New("did not return when its time was over")

// Run starts the services in order, calls ready, waits until ctx is over or a
// service fails, and stops them in reverse. stopWithin bounds the whole stop:
// each service may use what the ones before it left, and at least half a second.
//
// The error is the first failure together with what went wrong while stopping;
// a cancelled ctx is none, even during the start.
func Run(ctx context.Context, log *slog.Logger, stopWithin time.Duration, ready func(), services ...Named) error {
	failed := make(chan error, len(services))
	done := make(chan struct{})
	defer close(done)
	started, err := startAll(ctx, services, failed, done)
	if err == nil {
		ready()
		err = wait(ctx, failed)
	}
	if ctx.Err() != nil && errors.Is(err, ctx.Err()) {
		err = nil
	}
	if err != nil {
		log.ErrorContext(ctx, "stopping after a failure", "error", err)
	} else {
		log.InfoContext(ctx, "stopping")
	}
	return errors.Join(err, stopAll(context.WithoutCancel(ctx), log, stopWithin, started))
}

// startAll returns the services that run, all of them unless there is an error.
func startAll(ctx context.Context, services []Named, failed chan error, done <-chan struct{}) ([]Named, error) {
	for i, s := range services {
		if err := ctx.Err(); err != nil {
			return services[:i], err //nolint:wrapcheck // Run compares it
		}
		if err := s.Service.Start(ctx); err != nil {
			return services[:i], fmt.Errorf("start %s: %w", s.Name, err)
		}
		watch(s, failed, done)
	}
	return services, nil
}

func wait(ctx context.Context, failed <-chan error) error {
	select {
	case <-ctx.Done():
		return nil
	case err := <-failed:
		return err
	}
}

// watch passes a service's failure on. A closed channel is none.
func watch(s Named, failed chan<- error, done <-chan struct{}) {
	failing, ok := s.Service.(Failing)
	if !ok {
		return
	}
	go func() {
		select {
		case err, broke := <-failing.Failed():
			if broke {
				failed <- fmt.Errorf("%s: %w", s.Name, err)
			}
		case <-done:
		}
	}()
}

func stopAll(ctx context.Context, log *slog.Logger, within time.Duration, services []Named) error {
	shared, cancel := context.WithTimeout(ctx, within)
	defer cancel()
	ends, _ := shared.Deadline()
	var failures []error
	for _, s := range slices.Backward(services) {
		if err := stop(ctx, max(time.Until(ends), lastChance), s); err != nil {
			err = fmt.Errorf("stop %s: %w", s.Name, err)
			log.ErrorContext(ctx, "a service did not stop well", "service", s.Name, "error", err)
			failures = append(failures, err)
		}
	}
	return errors.Join(failures...)
}

// stop returns when the service has stopped, or a moment after its time is
// over: one that heeds its context needs that moment to return.
func stop(ctx context.Context, within time.Duration, s Named) error {
	ctx, cancel := context.WithTimeout(ctx, within)
	defer cancel()
	stopped := make(chan error, 1)
	go func() { stopped <- s.Service.Stop(ctx) }()
	select {
	case err := <-stopped:
		return err
	case <-ctx.Done():
	}
	select {
	case err := <-stopped:
		return err
	case <-time.After(lastChance):
		return errDidNotReturn
	}
}
