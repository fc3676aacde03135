package providers

import (
	"context"
	"maps"
	"net"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/botix-pro/platform/internal/clock"
)

// Reaction is what a provider does with one message. The zero value takes it in
// and says so.
type Reaction struct {
	// Refuse is the status of a refusal: an SMTP code, or an HTTP status.
	Refuse int
	// RetryAfter, in seconds, goes with a 429.
	RetryAfter int
	// Lose takes the message in and cuts the connection instead of answering.
	Lose bool
	// Until, if set, is waited for before the answer, after the message was
	// taken in.
	Until <-chan struct{}
	// Delay is waited before the answer.
	Delay time.Duration
}

// Script decides what happens to a message that is offered for the nth time,
// from 1.
type Script func(key string, nth int) Reaction

// book is what a provider remembers, by the messages' keys.
type book struct {
	mu      sync.Mutex
	script  Script
	offered map[string]int
	taken   map[string]int
	times   map[string][]time.Time // of the offers
}

func newBook(script Script) *book {
	return &book{script: script, offered: map[string]int{}, taken: map[string]int{}, times: map[string][]time.Time{}}
}

// offer notes that a message was offered, and taken in if the script says so.
func (b *book) offer(key string) Reaction {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.offered[key]++
	b.times[key] = append(b.times[key], clock.System{}.Now())
	var reaction Reaction
	if b.script != nil {
		reaction = b.script(key, b.offered[key])
	}
	if reaction.Refuse == 0 {
		b.taken[key]++
	}
	return reaction
}

// wait lets pass what comes before the answer.
func (r Reaction) wait() {
	if r.Until != nil {
		<-r.Until
	}
	<-time.After(r.Delay)
}

// Taken is how often each message was taken in.
func (b *book) Taken() map[string]int {
	b.mu.Lock()
	defer b.mu.Unlock()
	return maps.Clone(b.taken)
}

// Offered is how often each message was offered, refusals included.
func (b *book) Offered() map[string]int {
	b.mu.Lock()
	defer b.mu.Unlock()
	return maps.Clone(b.offered)
}

// Times are when a message was offered.
func (b *book) Times(key string) []time.Time {
	b.mu.Lock()
	defer b.mu.Unlock()
	return append([]time.Time(nil), b.times[key]...)
}

func listen(t testing.TB, address string) net.Listener {
	t.Helper()
	listener, err := (&net.ListenConfig{}).Listen(context.Background(), "tcp", address)
	require.NoError(t, err)
	return listener
}
