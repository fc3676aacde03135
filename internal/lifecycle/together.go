package lifecycle

import (
	"context"
	"errors"
	"fmt"
	"sync"
)

// Together is a service made of several that end at the same time, so that none
// of them has to wait for what the others still have under way.
type Together []Named

// Start implements [Service]: one after the other. When one fails, those before
// it are stopped again.
func (t Together) Start(ctx context.Context) error {
	for i, s := range t {
		if err := s.Service.Start(ctx); err != nil {
			return errors.Join(fmt.Errorf("start %s: %w", s.Name, err), t[:i].Stop(context.WithoutCancel(ctx)))
		}
	}
	return nil
}

// Stop implements [Service].
func (t Together) Stop(ctx context.Context) error {
	failures := make([]error, len(t))
	var ending sync.WaitGroup
	for i, s := range t {
		ending.Go(func() {
			if err := s.Service.Stop(ctx); err != nil {
				failures[i] = fmt.Errorf("stop %s: %w", s.Name, err)
			}
		})
	}
	ending.Wait()
	return errors.Join(failures...)
}
