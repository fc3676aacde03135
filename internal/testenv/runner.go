package testenv

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"os/exec"
	"os/signal"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/botix-pro/platform/internal/localstack"
)

// interruptPatience is how long an interrupted command may take to end.
const interruptPatience = 20 * time.Second

// stopSignals are passed on to the command.
var stopSignals = []os.Signal{os.Interrupt, syscall.SIGTERM, syscall.SIGHUP}

// need is something that tests use, and how to come by it.
type need struct {
	present  func(context.Context) bool
	packages []string // Debian's
	// hint says what happens without it, and what to install elsewhere.
	hint string
	// vital ends the run when it cannot be had.
	vital bool
}

// Runner runs a command, normally "go test", with the servers it needs.
type Runner struct {
	// Browser asks for a Chromium as well.
	Browser bool
	// Languages asks for what runs the documentation's code: curl, OpenSSL,
	// Python, Node.js and PHP.
	Languages bool
	// Log receives what is started and installed.
	Log *slog.Logger

	// install replaces the package manager in tests of this package.
	install func(ctx context.Context, log *slog.Logger, packages ...string) error
}

// Run installs what is missing where it can, starts one PostgreSQL with the
// migrated template, runs the command with the server's URL in its environment,
// and stops everything. It returns the command's exit code, 128 + the signal's
// number when a signal ended it. SIGINT, SIGTERM and SIGHUP are passed on to
// the command and all its children.
func (r Runner) Run(ctx context.Context, command []string) (exitCode int, err error) {
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, stopSignals...)
	defer signal.Stop(signals)
	setUp, stop := signal.NotifyContext(ctx, stopSignals...)
	defer stop()
	shared, err := r.setUp(setUp, slices.Contains(command, "-race"))
	if err != nil {
		return 1, err
	}
	defer func() {
		err = errors.Join(err, shared.stop(context.WithoutCancel(ctx)))
	}()
	return runCommand(command, []string{AdminURLVariable + "=" + shared.adminURL()}, signals)
}

// setUp does what has to be there before the command runs.
func (r Runner) setUp(ctx context.Context, race bool) (*server, error) {
	if err := r.provide(ctx, r.needs(race)); err != nil {
		return nil, err
	}
	shared, err := startServer(ctx, true, r.Log)
	if err != nil {
		return nil, err
	}
	if err := buildTemplate(ctx, shared.adminURL()); err != nil {
		return nil, errors.Join(err, shared.stop(ctx))
	}
	return shared, nil
}

// needs lists what the run takes besides PostgreSQL.
func (r Runner) needs(race bool) []need {
	list := []need{{
		present: installed("redis-server"), packages: []string{"redis-server"},
		hint: "tests run on an in-process stand-in for Redis; install redis-server to run them on Redis itself",
	}}
	if race {
		list = append(list, need{
			present: compilesC, packages: []string{"gcc", "libc6-dev"}, vital: true,
			hint: "the race detector needs a C compiler; install gcc and the C library's headers (Debian: apt-get install gcc libc6-dev)",
		})
	}
	if r.Browser {
		list = append(list, need{
			present: installed(browserNames...), packages: []string{"chromium"},
			hint: "browser tests will fail; install chromium",
		})
	}
	if r.Languages {
		list = append(list, languageNeeds()...)
	}
	return list
}

// installed tells whether one of the programs is there.
func installed(names ...string) func(context.Context) bool {
	return func(context.Context) bool { return firstProgram(names...) != "" }
}

// compilesC tells whether Go's C compiler is there and finds the C library's
// headers, which come in a package of their own.
func compilesC(ctx context.Context) bool {
	compiler, err := exec.CommandContext(ctx, "go", "env", "CC").Output()
	words := strings.Fields(string(compiler))
	if err != nil || len(words) == 0 {
		return false
	}
	cmd := exec.CommandContext(ctx, words[0], append(words[1:], "-E", "-x", "c", "-")...) //nolint:gosec // Go's own choice
	cmd.Stdin = strings.NewReader("#include <stdlib.h>\n")
	return cmd.Run() == nil
}

// provide installs what is missing.
func (r Runner) provide(ctx context.Context, needs []need) error {
	install := r.install
	if install == nil {
		install = localstack.InstallPackages
	}
	for _, wanted := range needs {
		if wanted.present(ctx) {
			continue
		}
		err := install(ctx, r.Log, wanted.packages...)
		if err == nil {
			continue
		}
		if ctx.Err() != nil {
			return fmt.Errorf("prepare the run: %w", ctx.Err())
		}
		if wanted.vital {
			return fmt.Errorf("%s: %w", wanted.hint, err)
		}
		r.Log.WarnContext(ctx, wanted.hint, "reason", err)
	}
	return nil
}

// runCommand runs the command in a process group of its own, so that a signal
// reaches it and all its children exactly once: from here.
func runCommand(command, environment []string, signals <-chan os.Signal) (exitCode int, err error) {
	cmd := exec.Command(command[0], command[1:]...) //nolint:gosec,noctx // running it is the purpose; signals end it
	cmd.Env = append(os.Environ(), environment...)
	cmd.Stdout, cmd.Stderr = os.Stdout, os.Stderr
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if err := cmd.Start(); err != nil {
		return 1, fmt.Errorf("run %s: %w", command[0], err)
	}
	done := make(chan error, 1)
	go func() { done <- cmd.Wait() }()
	select {
	case err = <-done:
	case received := <-signals:
		err = endGroup(cmd.Process.Pid, received, done)
	}
	return exitCodeOf(cmd.ProcessState, err)
}

// endGroup passes the signal on and waits; what does not end in time is killed.
func endGroup(group int, received os.Signal, done <-chan error) error {
	number, ok := received.(syscall.Signal)
	if !ok {
		number = syscall.SIGTERM
	}
	_ = syscall.Kill(-group, number)
	select {
	case err := <-done:
		return err
	case <-time.After(interruptPatience):
	}
	_ = syscall.Kill(-group, syscall.SIGKILL)
	return <-done
}

// exitCodeOf turns how the command ended into this program's exit code.
func exitCodeOf(state *os.ProcessState, err error) (int, error) {
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		return 1, fmt.Errorf("wait for the command: %w", err)
	}
	if status, ok := state.Sys().(syscall.WaitStatus); ok && status.Signaled() {
		return 128 + int(status.Signal()), nil
	}
	return state.ExitCode(), nil
}
