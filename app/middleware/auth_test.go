package middleware

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/botix-pro/platform/app/models"
)

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
