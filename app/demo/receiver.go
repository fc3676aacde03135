package demo

import (
	"encoding/json"
	"io"
	"net/http"
	"sync"

	standardwebhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"

	"github.com/botix-pro/platform/app/models"
	"github.com/botix-pro/platform/internal/clock"
)

const (
	maxKept     = 1000
	maxReceived = 1 << 20
)

// Received is one webhook as the receiver got it.
type Received struct {
	Method     string              `json:"method"`
	Path       string              `json:"path"`
	Headers    map[string][]string `json:"headers"`
	Body       string              `json:"body"`
	ReceivedAt string              `json:"received_at"`
	Verified   bool                `json:"verified"` // by the published Standard Webhooks library
}

// Receiver accepts every POST with 204 and shows the latest on GET, newest
// first, as {"data": […]}. It is safe for concurrent use.
type Receiver struct {
	clock  clock.Clock
	verify *standardwebhooks.Webhook

	mu   sync.Mutex
	kept []Received
}

// NewReceiver returns a receiver that checks signatures against the secret.
func NewReceiver(secret string, clk clock.Clock) (*Receiver, error) {
	verifier, err := standardwebhooks.NewWebhook(secret)
	if err != nil {
		return nil, err
	}
	return &Receiver{clock: clk, verify: verifier}, nil
}

// ServeHTTP implements [http.Handler].
func (r *Receiver) ServeHTTP(w http.ResponseWriter, request *http.Request) {
	if request.Method == http.MethodGet || request.Method == http.MethodHead {
		r.show(w)
		return
	}
	body, err := io.ReadAll(http.MaxBytesReader(w, request.Body, maxReceived))
	if err != nil {
		http.Error(w, "the body could not be read", http.StatusBadRequest)
		return
	}
	r.keep(Received{
		Method: request.Method, Path: request.URL.Path, Headers: request.Header, Body: string(body),
		ReceivedAt: models.FormatTime(r.clock.Now()), Verified: r.verify.Verify(body, request.Header) == nil,
	})
	w.WriteHeader(http.StatusNoContent)
}

func (r *Receiver) keep(received Received) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.kept = append(r.kept, received)
	if len(r.kept) > maxKept {
		r.kept = r.kept[len(r.kept)-maxKept:]
	}
}

func (r *Receiver) show(w http.ResponseWriter) {
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("X-Content-Type-Options", "nosniff")
	encoder := json.NewEncoder(w)
	encoder.SetIndent("", "  ")
	_ = encoder.Encode(map[string]any{"data": r.newestFirst()}) // the client is gone if it fails
}

func (r *Receiver) newestFirst() []Received {
	r.mu.Lock()
	defer r.mu.Unlock()
	list := make([]Received, 0, len(r.kept))
	for i := len(r.kept) - 1; i >= 0; i-- {
		list = append(list, r.kept[i])
	}
	return list
}
