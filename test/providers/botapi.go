package providers

import (
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"
)

// BotToken is the token that the Bot API's stand-in knows.
const BotToken = "123456:test"

// BotAPI is a stand-in for Telegram's server. The key of a message is its text.
type BotAPI struct {
	*book

	URL     string
	address string
	ids     atomic.Int64

	mu     sync.Mutex
	server *http.Server // nil: down
	ended  chan struct{}
}

// StartBotAPI starts the server; the test's end stops it.
func StartBotAPI(t testing.TB, script Script) *BotAPI {
	t.Helper()
	b := &BotAPI{book: newBook(script), address: "127.0.0.1:0"}
	b.Up(t)
	t.Cleanup(b.Down)
	return b
}

// Up makes the server reachable, at the same address as before.
func (b *BotAPI) Up(t testing.TB) {
	t.Helper()
	listener := listen(t, b.address)
	b.mu.Lock()
	defer b.mu.Unlock()
	require.Nil(t, b.server)
	b.address = listener.Addr().String()
	b.URL = "http://" + b.address
	b.server, b.ended = &http.Server{ //nolint:gosec // on loopback, for a test
		Handler: b, ErrorLog: slog.NewLogLogger(slog.DiscardHandler, slog.LevelError),
	}, make(chan struct{})
	server, ended := b.server, b.ended
	go func() {
		defer close(ended)
		_ = server.Serve(listener)
	}()
}

// Down makes the server unreachable and cuts every connection.
func (b *BotAPI) Down() {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.server == nil {
		return
	}
	_ = b.server.Close()
	<-b.ended
	b.server = nil
}

// ServeHTTP implements [http.Handler].
func (b *BotAPI) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	var message struct {
		ChatID string `json:"chat_id"`
		Text   string `json:"text"`
	}
	body, err := io.ReadAll(r.Body)
	switch {
	case err != nil || json.Unmarshal(body, &message) != nil || message.ChatID == "":
		answer(w, http.StatusBadRequest, `{"ok":false,"error_code":400,"description":"Bad Request"}`)
		return
	case r.URL.Path != "/bot"+BotToken+"/sendMessage" || strings.Contains(r.URL.RawQuery, "="):
		answer(w, http.StatusNotFound, `{"ok":false,"error_code":404,"description":"Not Found"}`)
		return
	}
	reaction := b.offer(message.Text)
	reaction.wait()
	switch {
	case reaction.Lose:
		panic(http.ErrAbortHandler) // cuts the connection
	case reaction.Refuse != 0:
		answer(w, reaction.Refuse, fmt.Sprintf(`{"ok":false,"error_code":%d,"description":"as the script says","parameters":{"retry_after":%d}}`,
			reaction.Refuse, reaction.RetryAfter))
	default:
		answer(w, http.StatusOK, fmt.Sprintf(`{"ok":true,"result":{"message_id":%d}}`, b.ids.Add(1)))
	}
}

func answer(w http.ResponseWriter, status int, body string) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_, _ = io.WriteString(w, body)
}
