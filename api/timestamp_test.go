package api_test

import (
	"testing"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/stretchr/testify/require"

	"github.com/botix-pro/platform/api"
)

func TestTimestampIsUTCWithMilliseconds(t *testing.T) {
	t.Parallel()
	berlin := time.FixedZone("", 3600)
	for want, at := range map[string]time.Time{
		`"2026-12-01T09:30:00.000Z"`: time.Date(2026, 12, 1, 10, 30, 0, 0, berlin),
		`"2026-12-01T09:30:00.120Z"`: time.Date(2026, 12, 1, 9, 30, 0, 120_000_000, time.UTC),
		`"2026-12-01T09:30:00.999Z"`: time.Date(2026, 12, 1, 9, 30, 0, 999_999_999, time.UTC),
	} {
		text, err := json.Marshal(api.Timestamp(at))
		require.NoError(t, err)
		require.Equal(t, want, string(text))
	}
}

func TestTimestampReadsAnyRFC3339Time(t *testing.T) {
	t.Parallel()
	var at api.Timestamp
	require.NoError(t, json.Unmarshal([]byte(`"2026-12-01T10:30:00.5+01:00"`), &at))
	require.Equal(t, time.Date(2026, 12, 1, 9, 30, 0, 500_000_000, time.UTC), at.Time())
}

func TestTimestampRefusesWhatIsNotATime(t *testing.T) {
	t.Parallel()
	var at api.Timestamp
	for _, text := range []string{`""`, `"yesterday"`, `"2026-12-01"`, `"2026-13-01T00:00:00Z"`, `1796117460`} {
		require.Error(t, json.Unmarshal([]byte(text), &at), text)
	}
	_, err := json.Marshal(api.Timestamp(time.Date(10000, 1, 1, 0, 0, 0, 0, time.UTC)))
	require.Error(t, err)
}

func TestTimestampPtrKeepsNil(t *testing.T) {
	t.Parallel()
	require.Nil(t, api.TimestampPtr(nil))
	now := time.Date(2026, 12, 1, 9, 30, 0, 0, time.UTC)
	require.Equal(t, api.Timestamp(now), *api.TimestampPtr(&now))
}
