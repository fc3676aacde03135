package e2e_test

import (
	"encoding/json"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	standardwebhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"
	"github.com/stretchr/testify/require"
)

// One POST, all the way through: the answer, its replay, the signed webhook.
func TestOnePostEndsAsOneVerifiedWebhook(t *testing.T) {
	t.Parallel()
	s := startStack(t, t.TempDir())
	first := post(t, s.URL, s.Key, "k", `{"name":"Ada"}`)
	require.Equal(t, http.StatusCreated, first.Status, first.Body)
	again := post(t, s.URL, s.Key, "k", `{"name":"Ada"}`)
	require.Equal(t, first.Body, again.Body)
	require.Equal(t, "true", again.Header.Get("Idempotent-Replayed"))

	require.Eventually(t, func() bool { return len(s.received(t)) == 1 }, 2*time.Second, 10*time.Millisecond, "within two seconds")
	webhook := s.received(t)[0]
	verifier, err := standardwebhooks.NewWebhook(s.Secret)
	require.NoError(t, err)
	require.NoError(t, verifier.Verify([]byte(webhook.Body), webhook.Headers))
	require.True(t, webhook.Verified)
	require.Equal(t, "contact.created", webhook.Headers.Get("X-Event-Type"))
	require.Equal(t, "1", webhook.Headers.Get("X-Delivery-Attempt"))
	require.Contains(t, webhook.Body, strings.TrimSpace(first.Body), "the event carries what was answered")
}

func TestFiftyConcurrentCopiesMakeOneWebhook(t *testing.T) {
	t.Parallel()
	s := startStack(t, t.TempDir())
	var wg sync.WaitGroup
	for range 50 {
		wg.Go(func() {
			answer := post(t, s.URL, s.Key, "k", `{"name":"Ada"}`)
			require.Contains(t, []int{http.StatusCreated, http.StatusConflict}, answer.Status)
		})
	}
	wg.Wait()
	// A second event is the proof that nothing of the first is still to come:
	// it is due later, and deliveries go out in the order in which they are due.
	require.Equal(t, http.StatusCreated, post(t, s.URL, s.Key, "k2", `{"name":"Last"}`).Status)
	require.Eventually(t, func() bool { return len(s.received(t)) >= 2 }, 10*time.Second, 10*time.Millisecond)
	require.Len(t, s.received(t), 2)
	var list struct{ Data []any }
	require.NoError(t, json.Unmarshal([]byte(get(t, s.URL+"/contacts", s.Key).Body), &list))
	require.Len(t, list.Data, 2)
}

// Two stacks side by side do not disturb each other; Ctrl-C ends one and all
// that it started, and nothing else; a second start finds its data again.
func TestStacksAreIndependentAndKeepTheirData(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	a, b := startStack(t, dir), startStack(t, t.TempDir())
	made := post(t, a.URL, a.Key, "k", `{"name":"Ada"}`)
	require.Equal(t, http.StatusCreated, made.Status)
	require.Equal(t, http.StatusUnauthorized, get(t, b.URL+"/contacts", a.Key).Status)

	require.Eventually(t, func() bool { return len(a.received(t)) == 1 }, 10*time.Second, 10*time.Millisecond)

	children := childrenOf(t, a.Command.Process.Pid)
	require.GreaterOrEqual(t, len(children), 2, "PostgreSQL and Redis")
	a.Stop(t)
	for _, pid := range children {
		require.ErrorIs(t, syscall.Kill(pid, 0), syscall.ESRCH, "process %d was left running", pid)
	}
	require.Equal(t, http.StatusOK, get(t, b.URL+"/contacts", b.Key).Status, "the other stack goes on")

	again := startStack(t, dir)
	require.Equal(t, a.Key, again.Key)
	require.Equal(t, a.Password, again.Password)
	replay := post(t, again.URL, again.Key, "k", `{"name":"Ada"}`)
	require.Equal(t, made.Body, replay.Body)
	require.Equal(t, "true", replay.Header.Get("Idempotent-Replayed"))
	require.Equal(t, http.StatusCreated, post(t, again.URL, again.Key, "k2", `{}`).Status)
	require.Eventually(t, func() bool { return len(again.received(t)) == 1 }, 10*time.Second, 10*time.Millisecond,
		"the endpoint follows the receiver to its new port")
}

// childrenOf lists the processes that a process started, from /proc.
func childrenOf(t *testing.T, parent int) []int {
	t.Helper()
	entries, err := filepath.Glob("/proc/[0-9]*/stat")
	require.NoError(t, err)
	var pids []int
	for _, entry := range entries {
		raw, err := os.ReadFile(entry)
		if err != nil {
			continue // it ended meanwhile
		}
		var pid, ppid int
		if parseStat(string(raw), &pid, &ppid) && ppid == parent {
			pids = append(pids, pid)
		}
	}
	return pids
}

// parseStat reads the pid and the parent's pid of /proc/PID/stat, whose second
// field is a name in parentheses that may hold anything.
func parseStat(line string, pid, ppid *int) bool {
	open, end := strings.IndexByte(line, '('), strings.LastIndexByte(line, ')')
	if open < 0 || end < 0 {
		return false
	}
	fields := strings.Fields(line[end+1:])
	return len(fields) > 1 && json.Unmarshal([]byte(strings.TrimSpace(line[:open])), pid) == nil &&
		json.Unmarshal([]byte(fields[1]), ppid) == nil
}
