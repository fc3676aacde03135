package middleware

import (
	"context"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/botix-pro/platform/app/models"
	"github.com/botix-pro/platform/app/ratelimit"
	"github.com/botix-pro/platform/internal/clock"
)

// slowCallers takes three seconds to answer, and counts what it was asked.
type slowCallers struct {
	clock *clock.Manual
	asked atomic.Int32
}

func (s *slowCallers) CallerByKeyHash(context.Context, []byte) (*models.Caller, error) {
	s.clock.Advance(3 * time.Second)
	s.asked.Add(1)
	return &models.Caller{}, nil
}

// What a slow answer says may have been revoked since it was asked for: the 5
// seconds count from there.
func TestWhatIsKnownOfAKeyAgesFromWhenItWasAsked(t *testing.T) {
	t.Parallel()
	callers := &slowCallers{clock: clock.NewManual(time.Date(2026, 12, 1, 10, 0, 0, 0, time.UTC))}
	auth := NewAuth(callers, nil, nil, nil, callers.clock, 1)
	require.Eventually(t, func() bool {
		_, err := auth.find(t.Context(), []byte("hash"))
		return err == nil && callers.asked.Load() > 1
	}, callerTTL-time.Second, 10*time.Millisecond)
}

// An address that is over its limit asks no more about keys that nobody has seen
// work, until its window ends; those that have worked are asked about as ever.
func TestExhaustedAddressCostsNoMoreQuestions(t *testing.T) {
	t.Parallel()
	clk := clock.NewManual(time.Date(2026, 12, 1, 10, 0, 0, 0, time.UTC))
	auth := NewAuth(&slowCallers{clock: clk}, nil, nil, nil, clk, 1)
	held := func(address, hash string) bool { _, held := auth.held(address, []byte(hash)); return held }
	window := ratelimit.Decision{Limit: 1, Reset: clk.Now().Add(time.Minute), ResetAfter: time.Minute}
	auth.exhausted.Set("192.0.2.1", &exhausted{decision: window})
	require.False(t, held("192.0.2.1", "unseen"), "a valid key that is new here gets in")
	require.True(t, held("192.0.2.1", "unseen"))
	clk.Advance(time.Second)
	require.False(t, held("192.0.2.1", "unseen"), "one question a second")
	require.True(t, held("192.0.2.1", "other"))
	require.False(t, held("192.0.2.2", "unseen"), "another address")

	_, err := auth.find(t.Context(), []byte("used"))
	require.NoError(t, err)
	auth.cache.InvalidateAll()
	require.False(t, held("192.0.2.1", "used"), "it worked a moment ago, though it has to be asked about again")
	clk.Advance(time.Minute)
	require.False(t, held("192.0.2.1", "unseen"), "the next window")
	require.False(t, held("192.0.2.1", "other"))
}

// Whatever the header holds, it is refused with a code and without showing any
// of it, or holds one well-formed key, which the plain header names as well.
func FuzzBearer(f *testing.F) {
	for _, mode := range []models.Mode{models.ModeLive, models.ModeTest} {
		secret, err := models.NewAPIKeySecret(mode)
		require.NoError(f, err)
		for _, form := range []string{"Bearer %", "bearer  %  ", "Bearer\t%", "Bearer%", "Basic %", "Bearer % %", "Bearer %x", "%", "Bearer\u00a0%"} {
			f.Add(strings.ReplaceAll(form, "%", secret))
		}
		f.Add("Bearer " + secret[:len(secret)-1])
	}
	f.Add("")
	f.Add("Bearer ")
	f.Add("Bearer btx_live_\x00\xff")
	f.Fuzz(func(t *testing.T, header string) {
		_, none := bearer(nil)
		require.Equal(t, models.CodeAPIKeyMissing, models.AsError(none).Code)
		_, twice := bearer([]string{header, header})
		require.Equal(t, models.CodeAPIKeyInvalid, models.AsError(twice).Code)
		secret, err := bearer([]string{header})
		if err != nil {
			require.Empty(t, secret)
			require.Equal(t, models.CodeAPIKeyInvalid, models.AsError(err).Code)
			if len(header) > len("Bearer btx_live_") {
				require.NotContains(t, err.Error(), header)
			}
			return
		}
		require.True(t, models.WellFormedAPIKey(secret))
		require.Contains(t, header, secret)
		again, err := bearer([]string{"Bearer " + secret})
		require.NoError(t, err)
		require.Equal(t, secret, again)
	})
}
