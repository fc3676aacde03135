package api

import (
	"fmt"
	"time"
)

// timestampLayout is RFC 3339 in UTC with exactly three decimals: time.Time's own
// encoding drops trailing zeros and would show microseconds (contract §1).
const timestampLayout = "2006-01-02T15:04:05.000Z"

// Timestamp is a time as the API writes it: RFC 3339, UTC, milliseconds
// (contract §1). Anything below a millisecond is cut off in writing.
type Timestamp time.Time

// TimestampPtr returns t as an optional timestamp; nil stays nil.
func TimestampPtr(t *time.Time) *Timestamp {
	return (*Timestamp)(t)
}

// Time returns t as a time.Time.
func (t Timestamp) Time() time.Time { return time.Time(t) }

// String returns t as the API writes it.
func (t Timestamp) String() string { return time.Time(t).UTC().Format(timestampLayout) }

// MarshalText implements encoding.TextMarshaler. It fails for years that RFC 3339
// cannot write, those before 0 and after 9999.
func (t Timestamp) MarshalText() ([]byte, error) {
	if year := time.Time(t).UTC().Year(); year < 0 || year > 9999 {
		return nil, fmt.Errorf("year %d cannot be written in RFC 3339", year)
	}
	return []byte(t.String()), nil
}

// UnmarshalText implements encoding.TextUnmarshaler. It takes any RFC 3339 time,
// in whatever zone and precision, and keeps it in UTC.
func (t *Timestamp) UnmarshalText(text []byte) error {
	parsed, err := time.Parse(time.RFC3339Nano, string(text))
	if err != nil {
		return fmt.Errorf("parse an RFC 3339 time: %w", err)
	}
	*t = Timestamp(parsed.UTC())
	return nil
}
