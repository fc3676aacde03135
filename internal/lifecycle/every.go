package lifecycle

import (
	"context"
	"fmt"
	"sync"
	"time"
)

// Every is a service that does something again and again.
type Every struct {
	interval time.Duration
	do       func(ctx context.Context)
	cancel   context.CancelFunc
	done     sync.WaitGroup
}

// NewEvery returns a service that calls do after every interval, and once more
// when it is stopped. do must end soon after its context does.
func NewEvery(interval time.Duration, do func(ctx context.Context)) *Every {
	return &Every{interval: interval, do: do}
}

// Start implements [Service].
func (e *Every) Start(ctx context.Context) error {
	ctx, e.cancel = context.WithCancel(context.WithoutCancel(ctx))
	e.done.Go(func() {
		ticker := time.NewTicker(e.interval)
		defer ticker.Stop()
		for {
			select {
			case <-ticker.C:
				if ctx.Err() != nil {
					return // both were ready: stopped while a call was under way
				}
				e.do(ctx)
			case <-ctx.Done():
				return
			}
		}
	})
	return nil
}

// Stop implements [Service]: a call that is under way is cancelled and waited
// for, then there is a last one, so that nothing collected is lost.
func (e *Every) Stop(ctx context.Context) error {
	if e.cancel == nil {
		return nil
	}
	e.cancel()
	e.cancel = nil
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		e.done.Wait()
		e.do(ctx)
	}()
	select {
	case <-ended:
		return nil
	case <-ctx.Done():
		return fmt.Errorf("did not end in time: %w", ctx.Err())
	}
}
