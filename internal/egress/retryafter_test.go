package egress_test

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/botix-pro/platform/internal/egress"
)

func TestParseRetryAfter(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 11, 6, 8, 49, 37, 0, time.UTC)
	const day = 24 * time.Hour
	for value, want := range map[string]time.Duration{
		"120":                             2 * time.Minute,
		" 7\t":                            7 * time.Second,
		"0":                               time.Second,
		"007":                             7 * time.Second,
		"86400":                           day,
		"86401":                           day,
		"99999999999999999999":            day,
		strings.Repeat("9", 5000):         day,
		"Fri, 06 Nov 2026 08:51:37 GMT":   2 * time.Minute,
		"Friday, 06-Nov-26 08:51:37 GMT":  2 * time.Minute,
		"Fri Nov  6 08:51:37 2026":        2 * time.Minute,
		"Fri, 06 Nov 2026 08:49:37 GMT":   time.Second,
		"Sun, 06 Nov 1994 08:49:37 GMT":   time.Second,
		"Fri, 31 Dec 9999 23:59:59 GMT":   day,
		"":                                0,
		"-5":                              0,
		"+5":                              0,
		"1.5":                             0,
		"1e300":                           0,
		"inf":                             0,
		"NaN":                             0,
		"0x10":                            0,
		"5s":                              0,
		"5, 6":                            0,
		"٣":                               0,
		"2026-11-06T08:51:37Z":            0,
		"Fri, 06 Nov 2026 08:51:37 +0200": 0,
		"\x00":                            0,
	} {
		require.Equal(t, want, egress.ParseRetryAfter([]string{value}, now), "%.40q", value)
	}
	require.Zero(t, egress.ParseRetryAfter(nil, now))
	require.Equal(t, 9*time.Second, egress.ParseRetryAfter([]string{"3", "nonsense", "9", "5"}, now))
}

// Guarantee: whatever a receiver writes, the pause is nothing or within bounds.
func FuzzParseRetryAfter(f *testing.F) {
	for _, seed := range []string{"1", "-1", "Fri, 06 Nov 2026 08:51:37 GMT", "1e9", "99999999999999999999"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, value string) {
		pause := egress.ParseRetryAfter([]string{value}, time.Unix(0, 0))
		if pause != 0 {
			require.GreaterOrEqual(t, pause, time.Second)
			require.LessOrEqual(t, pause, 24*time.Hour)
		}
	})
}
