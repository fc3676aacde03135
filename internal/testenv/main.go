package testenv

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"slices"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/botix-pro/platform/internal/localstack"
)

// closeTimeout bounds the tear-down after a package's last test.
const closeTimeout = time.Minute

// pkg is what the running test binary shares between its tests.
var pkg = newPackage()

// testPackage holds one test binary's shared servers and databases, each made
// when it is first asked for. A failure is remembered: it is reported to every
// test that asks, at once.
type testPackage struct {
	admin    func() (adminURL string, err error)
	database func() (databaseURL string, err error)
	redis    func() (*localstack.Redis, error)

	mu      sync.Mutex
	entered bool
	undo    []func(context.Context) error
}

func newPackage() *testPackage {
	p := &testPackage{}
	p.admin = sync.OnceValues(p.findServer)
	p.database = sync.OnceValues(p.makeDatabase)
	p.redis = sync.OnceValues(p.startRedis)
	return p
}

// Main runs a package's tests and takes down what they shared. It is the whole
// of a TestMain, and does not return.
func Main(m *testing.M) {
	pkg.enter()
	stop := pkg.closeOnSignal()
	code := m.Run()
	stop()
	if err := pkg.close(); err != nil {
		fmt.Fprintln(os.Stderr, "testenv: tear down:", err)
		code = max(code, 1)
	}
	os.Exit(code)
}

func (p *testPackage) enter() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.entered = true
}

// require fails the test of a package that would leave its servers running.
func (p *testPackage) require(t testing.TB) {
	t.Helper()
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.entered {
		t.Fatal("testenv: this package needs: func TestMain(m *testing.M) { testenv.Main(m) }")
	}
}

// later registers a step of the tear-down; the last one goes first.
func (p *testPackage) later(step func(context.Context) error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.undo = append(p.undo, step)
}

// close takes everything down, in the reverse order of its making.
func (p *testPackage) close() error {
	ctx, cancel := context.WithTimeout(context.Background(), closeTimeout)
	defer cancel()
	p.mu.Lock()
	steps := slices.Clone(p.undo)
	p.undo = nil
	p.mu.Unlock()
	var failures []error
	for _, step := range slices.Backward(steps) {
		failures = append(failures, step(ctx))
	}
	return errors.Join(failures...)
}

// closeOnSignal takes everything down when the run is interrupted, until the
// returned function is called.
func (p *testPackage) closeOnSignal() (stop func()) {
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	go func() {
		if _, interrupted := <-signals; interrupted {
			_ = p.close()
			os.Exit(1)
		}
	}()
	return func() { signal.Stop(signals); close(signals) }
}
