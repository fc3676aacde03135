package app

import (
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/botix-pro/platform/app/models"
	"github.com/botix-pro/platform/internal/clock"
)

// An answer's time is over by the database's clock, whatever the server's own says
// and however often the answer was repeated before.
func TestServerWhoseClockIsBehindRepeatsNothingExpired(t *testing.T) {
	t.Parallel()
	h := newHarness(t)
	h.base.clock = clock.NewManual(clock.System{}.Now().Add(-time.Hour))
	h.serve(t, apiRoutes(h.base))
	post := call{method: http.MethodPost, path: "/contacts", body: `{}`, idempotency: "k"}
	first := h.do(t, post)
	left := func(interval string) {
		_, err := h.base.store.DB().ExecContext(t.Context(),
			`UPDATE idempotency_keys SET expires_at = now() + $2::interval WHERE project_id = $1`, string(h.project), interval)
		require.NoError(t, err)
	}
	left("50 seconds")
	for range 2 {
		require.Equal(t, first.body, h.do(t, post).body)
	}
	left("0")
	require.Equal(t, models.CodeIdempotencyKeyExpired, h.do(t, post).code(t))
}
