package e2e_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"io"
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

	"github.com/botix-pro/platform/internal/testenv"
)

func TestMain(m *testing.M) { testenv.Main(m) }

const patience = 60 * time.Second

// program builds a command of the project, once, and returns its path.
func program(t *testing.T, name string) string {
	t.Helper()
	dir, err := build()
	require.NoError(t, err)
	return filepath.Join(dir, name)
}

var build = sync.OnceValues(func() (string, error) {
	dir, err := os.MkdirTemp("", "botix-e2e-")
	if err != nil {
		return "", err
	}
	command := exec.CommandContext(context.Background(), "go", "build", "-o", dir, "../../cmd/...")
	command.Stderr = os.Stderr
	return dir, command.Run()
})

// process is a running program of ours.
type process struct {
	command *exec.Cmd
	out     *bufio.Reader
	log     *lockedBuffer
	done    chan error
}

func start(t *testing.T, env []string, name string, args ...string) *process {
	t.Helper()
	p := &process{command: exec.CommandContext(context.Background(), program(t, name), args...), log: &lockedBuffer{}, done: make(chan error, 1)}
	p.command.Env = append(os.Environ(), env...)
	p.command.Stderr = p.log
	// A group of its own, like a shell's job: a signal to it is a Ctrl-C.
	p.command.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	pipe, err := p.command.StdoutPipe()
	require.NoError(t, err)
	p.out = bufio.NewReader(pipe)
	require.NoError(t, p.command.Start())
	t.Cleanup(func() { p.stop(t) })
	return p
}

// stop is a Ctrl-C, and waits for the end.
func (p *process) stop(t *testing.T) {
	t.Helper()
	if p.command.ProcessState != nil {
		return
	}
	require.NoError(t, syscall.Kill(-p.command.Process.Pid, syscall.SIGINT))
	go func() { _, _ = io.Copy(io.Discard, p.out); p.done <- p.command.Wait() }()
	select {
	case err := <-p.done:
		require.NoError(t, err, "%s", p.log)
	case <-time.After(patience):
		_ = p.command.Process.Kill()
		require.Fail(t, "the program did not stop", "%s", p.log)
	}
}

type lockedBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *lockedBuffer) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}
func (l *lockedBuffer) String() string { l.mu.Lock(); defer l.mu.Unlock(); return l.b.String() }

// stack is what `botix dev --json` says of itself.
type stack struct {
	*process

	URL      string `json:"url"`
	Key      string `json:"api_key"`
	Email    string `json:"dashboard_email"`
	Password string `json:"dashboard_password"`
	Receiver string `json:"demo_receiver_url"`
	Secret   string `json:"demo_webhook_secret"`
}

func startStack(t *testing.T, dir string) *stack {
	t.Helper()
	s := &stack{process: start(t, nil, "botix", "dev", "--addr", "127.0.0.1:0", "--data-dir", dir, "--json")}
	line, err := s.out.ReadBytes('\n')
	require.NoError(t, err, "%s", s.log)
	require.NoError(t, json.Unmarshal(line, s))
	return s
}

// response is an answer read to its end.
type response struct {
	status int
	header http.Header
	body   string
}

func post(t *testing.T, url, key, idempotency, body string) response {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, url+"/contacts", strings.NewReader(body))
	require.NoError(t, err)
	request.Header.Set("Authorization", "Bearer "+key)
	request.Header.Set("Idempotency-Key", idempotency)
	request.Header.Set("Content-Type", "application/json")
	return send(t, request)
}

func get(t *testing.T, url, key string) response {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url, http.NoBody)
	require.NoError(t, err)
	if key != "" {
		request.Header.Set("Authorization", "Bearer "+key)
	}
	return send(t, request)
}

// send uses a connection of its own: Go's shared client would repeat a POST
// that carries an Idempotency-Key by itself.
func send(t *testing.T, request *http.Request) response {
	t.Helper()
	answer, err := (&http.Transport{DisableKeepAlives: true}).RoundTrip(request)
	require.NoError(t, err)
	defer func() { _ = answer.Body.Close() }()
	body, err := io.ReadAll(answer.Body)
	require.NoError(t, err)
	return response{status: answer.StatusCode, header: answer.Header, body: string(body)}
}

// received is a webhook as the demo receiver shows it.
type received struct {
	Headers  http.Header `json:"headers"`
	Body     string      `json:"body"`
	Verified bool        `json:"verified"`
}

func (s *stack) received(t *testing.T) []received {
	t.Helper()
	var list struct {
		Data []received `json:"data"`
	}
	require.NoError(t, json.Unmarshal([]byte(get(t, s.Receiver, "").body), &list))
	return list.Data
}
