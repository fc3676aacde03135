package e2e_test

import (
	"encoding/json"
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/botix-pro/platform/internal/testenv"
	"github.com/botix-pro/platform/test/programs"
)

func TestMain(m *testing.M) { testenv.Main(m) }

// stack is what `botix dev --json` says of itself.
type stack struct {
	*programs.Process

	URL      string `json:"url"`
	Key      string `json:"api_key"`
	Email    string `json:"dashboard_email"`
	Password string `json:"dashboard_password"`
	Receiver string `json:"demo_receiver_url"`
	Secret   string `json:"demo_webhook_secret"`
}

func startStack(t *testing.T, dir string) *stack {
	t.Helper()
	s := &stack{Process: programs.Start(t, nil, "botix", "dev", "--addr", "127.0.0.1:0", "--data-dir", dir, "--json")}
	line, err := s.Out.ReadBytes('\n')
	require.NoError(t, err, "%s", s.Log)
	require.NoError(t, json.Unmarshal(line, s))
	return s
}

func post(t *testing.T, url, key, idempotency, body string) programs.Answer {
	t.Helper()
	answer, err := programs.Post(t.Context(), url, key, idempotency, body)
	require.NoError(t, err)
	return answer
}

func get(t *testing.T, url, key string) programs.Answer {
	t.Helper()
	answer, err := programs.Get(t.Context(), url, key)
	require.NoError(t, err)
	return answer
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
	require.NoError(t, json.Unmarshal([]byte(get(t, s.Receiver, "").Body), &list))
	return list.Data
}
