package localstack

import (
	"context"
	"errors"
	"fmt"
	"os"
	"syscall"
	"time"

	"github.com/alicebob/miniredis/v2"
)

// standInTick is how precisely keys expire in the stand-in.
const standInTick = 50 * time.Millisecond

// standIn serves Redis's protocol from inside this process.
type standIn struct {
	server *miniredis.Miniredis
	halt   chan struct{} // closed to stop the clock; nil while not running
}

func newStandIn(password string) *standIn {
	server := miniredis.NewMiniRedis()
	server.RequireAuth(password)
	return &standIn{server: server}
}

func (s *standIn) alive() bool { return s.halt != nil }

func (s *standIn) pid() int {
	if !s.alive() {
		return 0
	}
	return os.Getpid()
}

func (s *standIn) start(_ context.Context, port int) error {
	if err := s.server.StartAddr(address(port)); errors.Is(err, syscall.EADDRINUSE) {
		return fmt.Errorf("%w: %w", errPortTaken, err)
	} else if err != nil {
		return fmt.Errorf("start the in-process server: %w", err)
	}
	s.halt = make(chan struct{})
	go s.keepTime(s.halt)
	return nil
}

// keepTime lets keys expire: the stand-in's clock moves only when it is pushed.
func (s *standIn) keepTime(halt <-chan struct{}) {
	ticker := time.NewTicker(standInTick)
	defer ticker.Stop()
	last := time.Now()
	for {
		select {
		case <-halt:
			return
		case now := <-ticker.C:
			s.server.FastForward(now.Sub(last))
			last = now
		}
	}
}

func (s *standIn) stop(context.Context) error {
	if s.alive() {
		close(s.halt)
		s.halt = nil
		s.server.Close()
	}
	return nil
}

// kill forgets everything as well, as a crash without persistence does.
func (s *standIn) kill() error {
	s.server.FlushAll()
	return s.stop(context.Background())
}
