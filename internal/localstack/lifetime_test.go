package localstack_test

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/url"
	"os"
	"os/exec"
	"os/signal"
	"os/user"
	"path/filepath"
	"strconv"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	"github.com/botix-pro/platform/internal/localstack"
)

// programFolder is the environment variable that turns this test binary into a
// program with a stack in the folder named.
const programFolder = "BOTIX_LOCALSTACK_PROGRAM"

// started is what the program prints once its stack runs.
type started struct {
	Postgres, Redis string // URLs
}

// program starts a stack, waits for an interrupt, makes sure that the servers
// are still there by then, and stops them in order.
func program(dir string) (exitCode int) {
	ctx := context.Background()
	interrupt := make(chan os.Signal, 1)
	signal.Notify(interrupt, os.Interrupt)
	postgres, err := localstack.StartPostgres(ctx, fast(dir))
	if err != nil {
		return complain(err)
	}
	cache, err := localstack.StartRedis(ctx, localstack.Options{Dir: dir})
	if err != nil {
		return complain(err)
	}
	up := started{postgres.URL(localstack.DefaultDatabase), cache.URL()}
	if err := json.NewEncoder(os.Stdout).Encode(up); err != nil {
		return complain(err)
	}
	<-interrupt
	if err := bothAnswer(ctx, up); err != nil {
		return complain(err)
	}
	if err := cache.Stop(ctx); err != nil {
		return complain(err)
	}
	if err := postgres.Stop(ctx); err != nil {
		return complain(err)
	}
	return 0
}

func complain(err error) (exitCode int) {
	fmt.Fprintln(os.Stderr, err)
	return 1
}

// bothAnswer watches both servers for long enough that a signal sent to them
// would have taken effect.
func bothAnswer(ctx context.Context, up started) error {
	options, err := redis.ParseURL(up.Redis)
	if err != nil {
		return err
	}
	c := redis.NewClient(options)
	defer func() { _ = c.Close() }()
	for range 10 {
		conn, err := pgx.Connect(ctx, up.Postgres)
		if err != nil {
			return fmt.Errorf("PostgreSQL after the interrupt: %w", err)
		}
		if _, err := conn.Exec(ctx, "SELECT pg_sleep(0.03)"); err != nil {
			return fmt.Errorf("PostgreSQL after the interrupt: %w", err)
		}
		_ = conn.Close(ctx)
		if err := c.Ping(ctx).Err(); err != nil {
			return fmt.Errorf("Redis after the interrupt: %w", err)
		}
	}
	return nil
}

// launch runs the program in a process group of its own, as a shell would.
func launch(t *testing.T, binary, dir string, as *syscall.Credential) (*exec.Cmd, started) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), binary)
	cmd.Env = append(os.Environ(), programFolder+"="+dir)
	cmd.Dir = "/"
	cmd.Stderr = os.Stderr
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Credential: as}
	out, err := cmd.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	t.Cleanup(func() { _ = cmd.Process.Kill(); _ = cmd.Wait() })
	line, err := bufio.NewReader(out).ReadBytes('\n')
	require.NoError(t, err)
	var up started
	require.NoError(t, json.Unmarshal(line, &up))
	return cmd, up
}

func self(t *testing.T) string {
	t.Helper()
	path, err := os.Executable()
	require.NoError(t, err)
	return path
}

// gone waits until nobody listens at a URL's address any more.
func gone(t *testing.T, location string) {
	t.Helper()
	parsed, err := url.Parse(location)
	require.NoError(t, err)
	require.Eventually(t, func() bool {
		dialer := net.Dialer{Timeout: time.Second}
		conn, err := dialer.DialContext(t.Context(), "tcp", parsed.Host)
		if err == nil {
			_ = conn.Close()
		}
		return err != nil
	}, 20*time.Second, 20*time.Millisecond, "%s is still served", parsed.Host)
}

func TestAnInterruptReachesTheProgramBeforeItsServers(t *testing.T) {
	t.Parallel()
	cmd, up := launch(t, self(t), folder(t), nil)
	// What a terminal does for Ctrl-C: the signal goes to the whole group.
	require.NoError(t, syscall.Kill(-cmd.Process.Pid, syscall.SIGINT))
	require.NoError(t, cmd.Wait())
	gone(t, up.Postgres)
	gone(t, up.Redis)
}

func TestAKilledProgramLeavesDataButNoServers(t *testing.T) {
	t.Parallel()
	dir := folder(t)
	cmd, up := launch(t, self(t), dir, nil)
	keep(t, up.Postgres, "found")
	require.NoError(t, client(t, up.Redis).Set(t.Context(), "word", "found", 0).Err())
	require.NoError(t, cmd.Process.Kill())
	require.Error(t, cmd.Wait())

	// At once: what the killed program left may well be running still.
	postgres := startPostgres(t, fast(dir))
	cache := startRedis(t, localstack.Options{Dir: dir})
	gone(t, up.Postgres)
	gone(t, up.Redis)
	require.Equal(t, "found", found(t, postgres.URL(localstack.DefaultDatabase)))
	require.Equal(t, "found", client(t, cache.URL()).Get(t.Context(), "word").Val())
}

func TestAnUnprivilegedUserCanRunTheStack(t *testing.T) {
	t.Parallel()
	dir, binary := folder(t), self(t)
	var as *syscall.Credential
	if os.Getuid() == 0 {
		as = nobody(t)
		require.NoError(t, os.Chown(dir, int(as.Uid), int(as.Gid)))
		binary = publicCopy(t, binary)
	}
	cmd, up := launch(t, binary, dir, as)
	keep(t, up.Postgres, "found")
	require.Equal(t, "found", found(t, up.Postgres))
	require.NoError(t, cmd.Process.Signal(os.Interrupt))
	require.NoError(t, cmd.Wait())
	gone(t, up.Postgres)
	gone(t, up.Redis)
}

func nobody(t *testing.T) *syscall.Credential {
	t.Helper()
	entry, err := user.Lookup("nobody")
	require.NoError(t, err)
	uid, err := strconv.ParseUint(entry.Uid, 10, 32)
	require.NoError(t, err)
	gid, err := strconv.ParseUint(entry.Gid, 10, 32)
	require.NoError(t, err)
	return &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}
}

// publicCopy puts a program where every user can run it.
func publicCopy(t *testing.T, path string) string {
	t.Helper()
	source, err := os.Open(path)
	require.NoError(t, err)
	defer func() { _ = source.Close() }()
	target, err := os.OpenFile(filepath.Join(folder(t), "program"), os.O_CREATE|os.O_WRONLY, 0o755)
	require.NoError(t, err)
	_, err = io.Copy(target, source)
	require.NoError(t, err)
	require.NoError(t, target.Close())
	return target.Name()
}
