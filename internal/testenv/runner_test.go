package testenv

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func quiet() Runner { return Runner{Log: slog.New(slog.DiscardHandler)} }

func TestRunGivesTheCommandAServerAndPassesItsExitCodeOn(t *testing.T) {
	t.Parallel()
	note := filepath.Join(t.TempDir(), "url")
	code, err := quiet().Run(t.Context(), []string{"sh", "-c", `printf %s "$` + AdminURLVariable + `" >"$1"; exit 7`, "sh", note})
	require.NoError(t, err)
	require.Equal(t, 7, code)

	text, err := os.ReadFile(note)
	require.NoError(t, err)
	location, err := url.Parse(string(text))
	require.NoError(t, err)
	require.NotEmpty(t, location.Port())
	_, err = new(net.Dialer).DialContext(t.Context(), "tcp", location.Host)
	require.ErrorIs(t, err, syscall.ECONNREFUSED, "the server goes with the command")
}

func TestRunReportsACommandThatDoesNotExist(t *testing.T) {
	t.Parallel()
	code, err := quiet().Run(t.Context(), []string{filepath.Join(t.TempDir(), "missing")})
	require.ErrorIs(t, err, os.ErrNotExist)
	require.NotZero(t, code)
}

func TestRunStartsNoCommandOnceInterrupted(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	code, err := quiet().Run(ctx, []string{"true"})
	require.ErrorIs(t, err, context.Canceled)
	require.NotZero(t, code)
}

// The command's own children get the signal as well, as test binaries do below
// "go test".
func TestASignalReachesTheCommandAndItsChildren(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	const script = `cd "$1"
		trap 'exit 9' TERM
		sh -c 'trap "echo >child.end; exit" TERM; echo >child.up; while :; do sleep 0.02; done' &
		while [ ! -e child.up ]; do sleep 0.02; done
		echo >up
		wait`
	signals := make(chan os.Signal, 1)
	ended := make(chan int, 1)
	go func() {
		code, err := runCommand([]string{"sh", "-c", script, "sh", dir}, nil, signals)
		if err != nil {
			code = -1
		}
		ended <- code
	}()
	exists := func(name string) func() bool {
		return func() bool { _, err := os.Stat(filepath.Join(dir, name)); return err == nil }
	}
	require.Eventually(t, exists("up"), 10*time.Second, 5*time.Millisecond)
	signals <- syscall.SIGTERM
	require.Equal(t, 9, <-ended)
	require.Eventually(t, exists("child.end"), 10*time.Second, 5*time.Millisecond)
}

func TestACommandEndedByASignalHasTheShellsExitCode(t *testing.T) {
	t.Parallel()
	code, err := runCommand([]string{"sh", "-c", "kill -TERM $$"}, nil, nil)
	require.NoError(t, err)
	require.Equal(t, 128+int(syscall.SIGTERM), code)
}

func TestWhatIsVitalAndMissingEndsTheRun(t *testing.T) {
	t.Parallel()
	var log bytes.Buffer
	missing := func(context.Context) bool { return false }
	refuse := func(context.Context, *slog.Logger, ...string) error { return errors.New("no package manager") }
	runner := Runner{Log: slog.New(slog.NewTextHandler(&log, nil)), install: refuse}

	err := runner.provide(t.Context(), []need{{present: missing, hint: "install gcc", vital: true}})
	require.ErrorContains(t, err, "install gcc: no package manager")

	require.NoError(t, runner.provide(t.Context(), []need{{present: missing, hint: "install chromium"}}))
	require.Contains(t, log.String(), "install chromium")
}

func TestOnlyWhatIsMissingIsInstalled(t *testing.T) {
	t.Parallel()
	var asked []string
	runner := quiet()
	runner.install = func(_ context.Context, _ *slog.Logger, packages ...string) error {
		asked = append(asked, packages...)
		return nil
	}
	there := func(context.Context) bool { return true }
	missing := func(context.Context) bool { return false }
	require.NoError(t, runner.provide(t.Context(), []need{
		{present: there, packages: []string{"there"}}, {present: missing, packages: []string{"missing"}},
	}))
	require.Equal(t, []string{"missing"}, asked)
}

func TestTheNeedsFollowTheCommand(t *testing.T) {
	t.Parallel()
	names := func(list []need) string {
		var all []string
		for _, wanted := range list {
			all = append(all, wanted.packages...)
		}
		return strings.Join(all, " ")
	}
	require.Equal(t, "redis-server", names(Runner{}.needs(false)))
	require.Equal(t, "redis-server gcc libc6-dev chromium", names(Runner{Browser: true}.needs(true)))
	require.Equal(t, "redis-server bash curl nodejs openssl php-cli python3", names(Runner{Languages: true}.needs(false)))
	require.True(t, installed("no-such-program", "sh")(t.Context()))
	require.False(t, installed("no-such-program")(t.Context()))
}
