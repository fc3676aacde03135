package localstack

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/exec"
	"runtime"
	"sync/atomic"
	"syscall"
	"time"
)

// minGrace is what every stopping signal gets to take effect, even when the
// caller's context is over already: a program stopping because of a signal
// often has nothing but a cancelled context to give.
const minGrace = time.Second

// child is one running server process of ours.
type child struct {
	process *os.Process
	done    chan struct{} // closed once the process has ended and was reaped
	err     error         // what Wait returned; read it only after done
	// stopping says that the end is ours; any other end is a fault.
	stopping atomic.Bool
}

// startChild starts cmd in a process group of its own. When this process dies
// without stopping it, the kernel sends it deathSignal where it knows how to.
func startChild(cmd *exec.Cmd, deathSignal syscall.Signal) (*child, error) {
	isolate(cmd, deathSignal)
	c := &child{done: make(chan struct{})}
	started := make(chan error, 1)
	go func() {
		// The kernel sends the death signal when the *thread* that forked ends,
		// so this thread is kept for as long as the child lives.
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		err := cmd.Start()
		c.process = cmd.Process
		started <- err
		if err == nil {
			c.err = cmd.Wait()
			close(c.done)
		}
	}()
	if err := <-started; err != nil {
		return nil, fmt.Errorf("start %s: %w", cmd.Path, err)
	}
	return c, nil
}

// alive reports whether the process has not ended yet.
func (c *child) alive() bool {
	if c == nil {
		return false
	}
	select {
	case <-c.done:
		return false
	default:
		return true
	}
}

// stopStep is one signal and how long it may take to work.
type stopStep struct {
	signal   syscall.Signal
	patience time.Duration
}

// stop sends one signal after the other until the process has ended. A done
// ctx cuts each step's patience to minGrace.
func (c *child) stop(ctx context.Context, steps ...stopStep) error {
	c.stopping.Store(true)
	for _, step := range steps {
		if err := c.process.Signal(step.signal); err != nil && !errors.Is(err, os.ErrProcessDone) {
			return fmt.Errorf("signal process %d: %w", c.process.Pid, err)
		}
		if endsWithin(ctx, step.patience, c.done) {
			return nil
		}
	}
	return fmt.Errorf("process %d does not end", c.process.Pid)
}

// report logs the process's end, as an error when nobody asked for it.
func (c *child) report(log *slog.Logger, name, logPath string) {
	<-c.done
	if c.stopping.Load() {
		log.Info(name + " has stopped")
		return
	}
	log.Error(name+" ended unexpectedly", "reason", c.err, "log", logTail(logPath))
}

// endsWithin waits for done, at most for patience, and for minGrace once ctx
// is over.
func endsWithin(ctx context.Context, patience time.Duration, done <-chan struct{}) bool {
	timer := time.NewTimer(patience)
	defer timer.Stop()
	select {
	case <-done:
		return true
	case <-timer.C:
		return false
	case <-ctx.Done():
	}
	grace := time.NewTimer(min(minGrace, patience))
	defer grace.Stop()
	select {
	case <-done:
		return true
	case <-grace.C:
		return false
	}
}

// logTail returns the last lines of a log file for an error message.
func logTail(path string) string {
	const limit = 2048
	file, err := os.Open(path) //nolint:gosec // the path is this package's own
	if err != nil {
		return ""
	}
	defer func() { _ = file.Close() }()
	if info, err := file.Stat(); err == nil && info.Size() > limit {
		_, _ = file.Seek(-limit, io.SeekEnd)
	}
	text, _ := io.ReadAll(io.LimitReader(file, limit))
	return string(bytes.TrimSpace(text))
}
