package app

import (
	"context"
	"net/http"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/botix-pro/platform/app/middleware"
	"github.com/botix-pro/platform/app/store"
)

// Routes that say that they only write do so: each is carried out by its first
// call. (On a machine that stalls, the time may have been taken wrong; the next
// request is as good.)
func TestRoutesThatOnlyWriteTakeOneCall(t *testing.T) {
	t.Parallel()
	bodies := map[string]string{"/contacts": `{"name":"Ada"}`, "/events": `{"type":"a.b"}`}
	h := newHarness(t)
	var calls atomic.Int64
	routes := apiRoutes(h.base)
	for i, route := range routes {
		if route.WriteOnly {
			require.Contains(t, bodies, route.Path)
			routes[i].Mutate = func(ctx context.Context, tx *store.Tx, r *middleware.Request) (middleware.Result, error) {
				calls.Add(1)
				return route.Mutate(ctx, tx, r)
			}
		}
	}
	h.serve(t, routes)
	for path, body := range bodies {
		require.Eventually(t, func() bool {
			calls.Store(0)
			return h.post(t, path, body).status == http.StatusCreated && calls.Load() == 1
		}, 10*time.Second, time.Millisecond, path)
	}
}
