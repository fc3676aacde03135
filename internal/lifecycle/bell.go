package lifecycle

// Bell wakes a loop ahead of its time. Any number of rings before the loop looks
// are one.
type Bell chan struct{}

// NewBell returns a bell that has not been rung. The loop receives from it.
func NewBell() Bell { return make(Bell, 1) }

// Ring never blocks, and may be called by anybody at any time.
func (b Bell) Ring() {
	select {
	case b <- struct{}{}:
	default: // it has been rung already
	}
}
