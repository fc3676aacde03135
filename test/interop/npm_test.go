//go:build node

package interop_test

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/botix-pro/platform/app/webhooks"
	"github.com/botix-pro/platform/internal/clock"
	"github.com/botix-pro/platform/internal/egress"
)

// What arrives at a receiver is accepted as it is by the published npm library of
// Standard Webhooks: during a rotation under the new secret and under the old one,
// and under no other, and not with another body.
func TestDeliverySatisfiesTheNpmLibrary(t *testing.T) {
	t.Parallel()
	newer, older, stranger := webhooks.NewSecret(), webhooks.NewSecret(), webhooks.NewSecret()
	headers, body := deliver(t, []webhooks.Secret{newer, older})
	verdicts := judge(t, headers, body, newer, older, stranger)
	for _, known := range verdicts[:2] {
		require.Equal(t, "accepted", known[0])
		require.NotEqual(t, "accepted", known[1], "another body")
	}
	require.NotEqual(t, "accepted", verdicts[2][0], "another secret")
}

// deliver makes a real attempt and returns what the receiver got.
func deliver(t *testing.T, secrets []webhooks.Secret) (headers map[string]string, body []byte) {
	t.Helper()
	headers = map[string]string{}
	receiver := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		body, _ = io.ReadAll(r.Body)
		for name := range r.Header {
			headers[strings.ToLower(name)] = r.Header.Get(name) // as Node.js has them
		}
	}))
	defer receiver.Close()
	transport := egress.New([]netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}).Transport(egress.TransportConfig{})
	defer transport.CloseIdleConnections()
	outcome := webhooks.NewSender(transport, webhooks.SenderConfig{}).Send(t.Context(), webhooks.Attempt{
		URL: receiver.URL, Body: []byte(`{"id":"evt_1","data":{"text":"grüße 🙂 \u0000"}}`), EventID: "evt_1", EventType: "contact.created",
		Number: 1, RequestID: "req_1", Secrets: secrets, StartedAt: clock.System{}.Now(),
	})
	require.Equal(t, http.StatusOK, outcome.StatusCode, outcome.Error)
	return headers, body
}

// judge runs the library, which is in testdata: nothing is downloaded.
func judge(t *testing.T, headers map[string]string, body []byte, secrets ...webhooks.Secret) (verdicts [][2]string) {
	t.Helper()
	written := make([]string, len(secrets))
	for i, secret := range secrets {
		written[i] = secret.Reveal()
	}
	input, err := json.Marshal(map[string]any{"secrets": written, "headers": headers, "body": body})
	require.NoError(t, err)
	packages, err := filepath.Abs("testdata/npm")
	require.NoError(t, err)
	node := exec.CommandContext(t.Context(), "node", "testdata/verify.js")
	node.Env = append(os.Environ(), "NODE_PATH="+packages)
	node.Stdin, node.Stderr = bytes.NewReader(input), t.Output()
	output, err := node.Output()
	require.NoError(t, err)
	require.NoError(t, json.Unmarshal(output, &verdicts))
	require.Len(t, verdicts, len(secrets))
	return verdicts
}
