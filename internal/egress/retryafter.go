package egress

import (
	"net/http"
	"strings"
	"time"
)

// A receiver can close its lane for no less and no more than this (contract §5).
const (
	minRetryAfter = time.Second
	maxRetryAfter = 24 * time.Hour
)

// ParseRetryAfter reads the values of Retry-After (RFC 9110 §10.2.3) as a
// pause that starts at now, and returns 0 when there is none to obey:
//
//	whole seconds ("120")          that long, clamped to 1 s … 24 h; "0" is 1 s
//	digits beyond any integer      24 h
//	one of the three HTTP dates    until then by our clock, clamped the same;
//	                               a date that has passed is 1 s
//	anything else                  ignored, so the schedule decides: a sign, a
//	                               fraction, an exponent, a unit, another date
//
// Of several values the longest pause counts, so that nobody who asked is
// called too early.
func ParseRetryAfter(values []string, now time.Time) time.Duration {
	var longest time.Duration
	for _, value := range values {
		longest = max(longest, parseRetryAfter(strings.Trim(value, " \t"), now))
	}
	return longest
}

func parseRetryAfter(value string, now time.Time) time.Duration {
	if seconds, ok := parseSeconds(value); ok {
		return clampRetryAfter(seconds)
	}
	if at, err := http.ParseTime(value); err == nil {
		// Sub saturates, so a date at the end of time cannot overflow.
		return clampRetryAfter(at.Sub(now))
	}
	return 0
}

// parseSeconds reads digits only. It stops adding once the clamp is passed, so
// no number of digits overflows.
func parseSeconds(value string) (time.Duration, bool) {
	if value == "" {
		return 0, false
	}
	var total time.Duration
	for _, c := range []byte(value) {
		if c < '0' || c > '9' {
			return 0, false
		}
		if total <= maxRetryAfter {
			total = total*10 + time.Duration(c-'0')*time.Second
		}
	}
	return total, true
}

func clampRetryAfter(d time.Duration) time.Duration {
	return min(max(d, minRetryAfter), maxRetryAfter)
}
