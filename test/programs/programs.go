// Package programs builds and runs the project's commands for tests that look at
// them from outside.
package programs

import (
	"bufio"
	"bytes"
	"context"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/botix-pro/platform/app/demo"
	"github.com/botix-pro/platform/app/store"
	"github.com/botix-pro/platform/internal/clock"
	"github.com/botix-pro/platform/internal/seal"
	"github.com/botix-pro/platform/web/dashboard"
)

// Patience is how long a program may take to start, answer or stop.
const Patience = 60 * time.Second

// EncryptionKey is 32 zero bytes: the tests' data are nobody's secret.
const EncryptionKey = "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA="

// build builds every command, once a test binary.
var build = sync.OnceValues(func() (string, error) {
	root, err := exec.CommandContext(context.Background(), "go", "list", "-m", "-f", "{{.Dir}}").Output()
	if err != nil {
		return "", err
	}
	dir, err := os.MkdirTemp("", "botix-programs-")
	if err != nil {
		return "", err
	}
	command := exec.CommandContext(context.Background(), "go", "build", "-o", dir, "./cmd/...") //nolint:gosec // our own commands
	command.Dir, command.Stderr = strings.TrimSpace(string(root)), os.Stderr
	return dir, command.Run()
})

// Process is a running program of ours.
type Process struct {
	Command *exec.Cmd
	Out     *bufio.Reader // standard output
	Log     *Buffer       // standard error, so far

	drain  sync.Once
	exited chan struct{}
	err    error
}

// Start runs a command with variables beside the environment's own; the test's
// end stops it like Ctrl-C.
func Start(t testing.TB, env []string, name string, args ...string) *Process {
	t.Helper()
	dir, err := build()
	require.NoError(t, err)
	p := &Process{Log: &Buffer{}, exited: make(chan struct{})}
	p.Command = exec.CommandContext(context.Background(), filepath.Join(dir, name), args...) //nolint:gosec // our own commands
	p.Command.Env = append(os.Environ(), env...)
	p.Command.Stderr = p.Log
	// A group of its own, like a shell's job: a signal to it is a Ctrl-C.
	p.Command.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	pipe, stdout, err := os.Pipe()
	require.NoError(t, err)
	p.Command.Stdout, p.Out = stdout, bufio.NewReader(pipe)
	require.NoError(t, p.Command.Start())
	require.NoError(t, stdout.Close())
	go func() {
		p.err = p.Command.Wait()
		close(p.exited)
	}()
	t.Cleanup(func() { p.Stop(t) })
	return p
}

// Drain throws standard output away from now on, so that the program never
// waits for somebody to read it.
func (p *Process) Drain() {
	p.drain.Do(func() { go func() { _, _ = io.Copy(io.Discard, p.Out) }() })
}

// Wait returns how the program ended by itself.
func (p *Process) Wait() error {
	<-p.exited
	return p.err
}

// Running reports whether the program has not ended yet.
func (p *Process) Running() bool {
	select {
	case <-p.exited:
		return false
	default:
		return true
	}
}

// Stop is a Ctrl-C, and waits for a good end.
func (p *Process) Stop(t testing.TB) {
	t.Helper()
	if !p.Running() {
		return
	}
	p.Drain()
	p.Signal(t, syscall.SIGINT)
	select {
	case <-p.exited:
		require.NoError(t, p.err, "%s", p.Log)
	case <-time.After(Patience):
		p.Signal(t, syscall.SIGKILL)
		require.Fail(t, "the program did not stop", "%s", p.Log)
	}
}

// Kill ends the program as a crash would, and waits until it is gone.
func (p *Process) Kill(t testing.TB) {
	t.Helper()
	p.Signal(t, syscall.SIGKILL)
	<-p.exited
}

// Signal sends a signal to the program's group.
func (p *Process) Signal(t testing.TB, signal syscall.Signal) {
	t.Helper()
	if err := syscall.Kill(-p.Command.Process.Pid, signal); p.Running() {
		require.NoError(t, err)
	}
}

// Buffer collects text from several writers.
type Buffer struct {
	mu   sync.Mutex
	text bytes.Buffer
}

// Write implements [io.Writer].
func (b *Buffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text.Write(p)
}

// String returns what was written so far.
func (b *Buffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text.String()
}

// Server is cmd/server on an address of its own.
type Server struct {
	*Process

	URL string
}

// Environment is what server and worker need, on the given PostgreSQL and Redis.
func Environment(databaseURL, redisURL string) []string {
	return []string{
		"DATABASE_URL=" + databaseURL, "REDIS_URL=" + redisURL, "ENCRYPTION_KEYS=" + EncryptionKey,
		"LOG_FORMAT=text", "LOG_LEVEL=warn", "EGRESS_ALLOW_CIDRS=127.0.0.0/8", "UNAUTHENTICATED_RATE_PER_MINUTE=100000",
	}
}

// StartServer runs a server and returns once it answers.
func StartServer(t testing.TB, env []string) *Server {
	t.Helper()
	return StartServerAt(t, env, FreeAddr(t))
}

// StartServerAt does the same on a given address.
func StartServerAt(t testing.TB, env []string, addr string) *Server {
	t.Helper()
	env = append(env, "ADDR="+addr, "PUBLIC_URL=http://"+addr, "INTERNAL_ADDR=127.0.0.1:0")
	s := &Server{Process: Start(t, env, "server"), URL: "http://" + addr}
	s.Drain()
	require.Eventually(t, func() bool { return reachable(addr) || !s.Running() }, Patience, 5*time.Millisecond, "%s", s.Log)
	require.True(t, s.Running(), "%s", s.Log)
	return s
}

func reachable(addr string) bool {
	connection, err := (&net.Dialer{}).DialContext(context.Background(), "tcp", addr)
	if err == nil {
		_ = connection.Close()
	}
	return err == nil
}

// StartWorker runs a worker.
func StartWorker(t testing.TB, env []string) *Process {
	t.Helper()
	return StartWorkerAt(t, env, "127.0.0.1:0")
}

// StartWorkerAt does the same with a given internal address, for who wants to
// know what goes on inside.
func StartWorkerAt(t testing.TB, env []string, internalAddr string) *Process {
	t.Helper()
	p := Start(t, append(env, "PUBLIC_URL=http://127.0.0.1", "INTERNAL_ADDR="+internalAddr), "worker")
	p.Drain()
	return p
}

// FreeAddr is an address nobody listens on at the moment.
func FreeAddr(t testing.TB) string {
	t.Helper()
	listener, err := (&net.ListenConfig{}).Listen(context.Background(), "tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer func() { _ = listener.Close() }()
	return listener.Addr().String()
}

// Plant makes a project on the business plan whose endpoint is receiverURL.
func Plant(t testing.TB, databaseURL, receiverURL string) demo.Credentials {
	t.Helper()
	box, err := seal.New([]string{EncryptionKey})
	require.NoError(t, err)
	s, err := store.Open(t.Context(), store.Config{URL: databaseURL, MaxConns: 2, Application: "botix-test"}, box)
	require.NoError(t, err)
	defer func() { require.NoError(t, s.Close()) }()
	seed := demo.Seed{Store: s, Clock: clock.System{}, File: filepath.Join(t.TempDir(), "demo.json"), HashPassword: dashboard.HashPassword}
	credentials, err := seed.Credentials()
	require.NoError(t, err)
	require.NoError(t, seed.Plant(t.Context(), credentials, receiverURL))
	return credentials
}

// Answer is a response read to its end.
type Answer struct {
	Status int
	Header http.Header
	Body   string
}

// Post sends POST /contacts.
func Post(ctx context.Context, url, key, idempotency, body string) (Answer, error) {
	return PostTo(ctx, url+"/contacts", key, idempotency, body)
}

// PostTo sends a POST. The connection is its own: Go's shared client would by
// itself repeat a POST that carries an Idempotency-Key.
func PostTo(ctx context.Context, target, key, idempotency, body string) (Answer, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, target, strings.NewReader(body))
	if err != nil {
		return Answer{}, err
	}
	request.Header.Set("Authorization", "Bearer "+key)
	request.Header.Set("Idempotency-Key", idempotency)
	request.Header.Set("Content-Type", "application/json")
	return Send(request)
}

// Get sends a GET, with the API key unless it is empty.
func Get(ctx context.Context, url, key string) (Answer, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, http.NoBody)
	if err != nil {
		return Answer{}, err
	}
	if key != "" {
		request.Header.Set("Authorization", "Bearer "+key)
	}
	return Send(request)
}

// Send sends a request on a connection of its own.
func Send(request *http.Request) (Answer, error) {
	response, err := (&http.Transport{DisableKeepAlives: true}).RoundTrip(request)
	if err != nil {
		return Answer{}, err
	}
	defer func() { _ = response.Body.Close() }()
	body, err := io.ReadAll(response.Body)
	return Answer{Status: response.StatusCode, Header: response.Header, Body: string(body)}, err
}
