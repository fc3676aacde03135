package idempotency_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/botix-pro/platform/app/idempotency"
	"github.com/botix-pro/platform/app/models"
)

// Whatever the header holds, it is refused with a code or is a key of 1 to 255
// visible ASCII characters, which its quoted form and, where that is no quoted
// form itself, its raw form name as well.
func FuzzParseKey(f *testing.F) {
	for _, seed := range []string{
		"", "k", `"k"`, `""`, `"`, `"k`, `"k"k`, `k"`, `"a\"b"`, `"a\\"`, `"a\b"`, `"a\`, "a b", `"a b"`, "é", "a\x00", "\x7f",
		"7b0c7a52-3f0e-4c1e-9d53-0f4b8f2f6a11", strings.Repeat("k", 255), strings.Repeat("k", 256), `"` + strings.Repeat("k", 255) + `"`,
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, value string) {
		key, err := idempotency.ParseKey([]string{value})
		_, twice := idempotency.ParseKey([]string{value, value})
		require.Error(t, twice, "one header")
		if err != nil {
			code := models.AsError(err).Code
			require.Contains(t, []models.Code{models.CodeIdempotencyKeyInvalid, models.CodeIdempotencyKeyRequired}, code)
			require.Equal(t, value == "", code == models.CodeIdempotencyKeyRequired)
			return
		}
		require.Regexp(t, `^[!-~]{1,255}$`, key)
		require.NoError(t, idempotency.CheckKey(key))
		quoted := `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(key) + `"`
		for _, form := range []string{quoted, key} {
			if form == key && strings.HasPrefix(key, `"`) {
				continue // it would be read as quoted
			}
			again, err := idempotency.ParseKey([]string{form})
			require.NoError(t, err, form)
			require.Equal(t, key, again)
		}
	})
}
