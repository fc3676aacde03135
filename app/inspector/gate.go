package inspector

import (
	"sync"
	"time"
)

// Limits bound what one process takes in. Every zero field means the value named
// beside it.
type Limits struct {
	PerMinute     int // requests of one bin in a minute: 600
	AtOnce        int // requests being received: 512
	AtOncePerBin  int // of one bin: 64
	Waiting       int // answers being delayed or dripped: 512
	WaitingPerBin int // of one bin: 32
}

func (l *Limits) fill() {
	for _, one := range []struct {
		value     *int
		otherwise int
	}{
		{&l.PerMinute, 600}, {&l.AtOnce, 512}, {&l.AtOncePerBin, 64}, {&l.Waiting, 512}, {&l.WaitingPerBin, 32},
	} {
		if *one.value == 0 {
			*one.value = one.otherwise
		}
	}
}

// gate counts what is under way. It knows only bins that exist, so that what it
// holds is bounded by what the platform holds.
type gate struct {
	limits  Limits
	mu      sync.Mutex
	bins    map[string]*counts
	atOnce  int
	waiting int
}

// counts are one bin's.
type counts struct {
	minute  time.Time
	taken   int   // in that minute
	refused int64 // not yet written down
	atOnce  int
	waiting int
}

func newGate(limits Limits) *gate {
	limits.fill()
	return &gate{limits: limits, bins: map[string]*counts{}}
}

// room takes a place for receiving a request of whatever bin; false: there is
// none.
func (g *gate) room() bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.atOnce >= g.limits.AtOnce {
		return false
	}
	g.atOnce++
	return true
}

// leaveRoom gives such a place back.
func (g *gate) leaveRoom() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.atOnce--
}

// flooded reports whether a bin that is known has used up its minute, and counts
// the refusal.
func (g *gate) flooded(bin string, now time.Time) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	c, known := g.bins[bin]
	if !known || c.of(now) < g.limits.PerMinute {
		return false
	}
	c.refused++
	return true
}

// of returns what the bin took in the minute of now.
func (c *counts) of(now time.Time) int {
	if minute := now.Truncate(time.Minute); !c.minute.Equal(minute) {
		c.minute, c.taken = minute, 0
	}
	return c.taken
}

// enter takes a place of a bin that exists, or counts the refusal.
func (g *gate) enter(bin string, now time.Time) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	c, known := g.bins[bin]
	if !known {
		c = &counts{}
		g.bins[bin] = c
	}
	if c.of(now) >= g.limits.PerMinute || c.atOnce >= g.limits.AtOncePerBin {
		c.refused++
		return false
	}
	c.taken++
	c.atOnce++
	return true
}

// leave gives that place back.
func (g *gate) leave(bin string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.bins[bin].atOnce--
}

// refuse counts a refusal of a bin whose place is taken.
func (g *gate) refuse(bin string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.bins[bin].refused++
}

// wait takes a place for a slow answer of a bin that was entered.
func (g *gate) wait(bin string) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	c := g.bins[bin]
	if g.waiting >= g.limits.Waiting || c.waiting >= g.limits.WaitingPerBin {
		return false
	}
	g.waiting++
	c.waiting++
	return true
}

// stopWaiting gives that place back.
func (g *gate) stopWaiting(bin string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.waiting--
	g.bins[bin].waiting--
}

// takeRefused hands over the refusals that are to be written down, and forgets
// bins that have nothing under way.
func (g *gate) takeRefused(now time.Time) map[string]int64 {
	g.mu.Lock()
	defer g.mu.Unlock()
	refused := map[string]int64{}
	for bin, c := range g.bins {
		if c.refused > 0 {
			refused[bin] = c.refused
			c.refused = 0
		}
		if c.atOnce == 0 && c.waiting == 0 && c.of(now) == 0 {
			delete(g.bins, bin)
		}
	}
	return refused
}
