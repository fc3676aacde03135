package telemetry_test

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/botix-pro/platform/internal/telemetry"
)

func check(name string, vital bool, err error) telemetry.Check {
	return telemetry.Check{Name: name, Vital: vital, Ask: func(context.Context) error { return err }}
}

func get(handler http.Handler, path string) *httptest.ResponseRecorder {
	answer := httptest.NewRecorder()
	handler.ServeHTTP(answer, httptest.NewRequest(http.MethodGet, path, http.NoBody))
	return answer
}

func TestReadinessTellsDegradedFromUnavailable(t *testing.T) {
	t.Parallel()
	down := errors.New("dial tcp 10.0.0.7:5432: connection refused")
	for name, test := range map[string]struct {
		checks []telemetry.Check
		status int
		body   string
	}{
		"all well":      {[]telemetry.Check{check("postgres", true, nil), check("redis", false, nil)}, 200, `{"status":"ok","checks":{"postgres":"ok","redis":"ok"}}`},
		"without redis": {[]telemetry.Check{check("postgres", true, nil), check("redis", false, down)}, 200, `{"status":"degraded","checks":{"postgres":"ok","redis":"failed"}}`},
		"no database":   {[]telemetry.Check{check("postgres", true, down), check("redis", false, nil)}, 503, `{"status":"unavailable","checks":{"postgres":"failed","redis":"ok"}}`},
		"nothing":       {[]telemetry.Check{check("postgres", true, down), check("redis", false, down)}, 503, `{"status":"unavailable","checks":{"postgres":"failed","redis":"failed"}}`},
		"other way":     {[]telemetry.Check{check("redis", false, down), check("postgres", true, down)}, 503, `{"status":"unavailable","checks":{"postgres":"failed","redis":"failed"}}`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			answer := get(telemetry.Internal(telemetry.NewRegistry(), test.checks...), "/readyz")
			require.Equal(t, test.status, answer.Code)
			// The body in full: an error's text, with addresses of ours, is not in it.
			require.JSONEq(t, test.body, answer.Body.String())
			require.Equal(t, "no-store", answer.Header().Get("Cache-Control"))
		})
	}
}

func TestProcessLivesWhateverItDependsOn(t *testing.T) {
	t.Parallel()
	answer := get(telemetry.Health(check("postgres", true, errors.New("down"))), "/healthz")
	require.Equal(t, http.StatusOK, answer.Code)
	require.JSONEq(t, `{"status":"ok"}`, answer.Body.String())
}

func TestHungCheckFailsAloneAndInTime(t *testing.T) {
	t.Parallel()
	never := make(chan struct{})
	defer close(never)
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	checks := []telemetry.Check{
		{Name: "postgres", Vital: true, Ask: func(context.Context) error { <-never; return nil }}, // deaf to its context
	}
	for i := range 20 { // many: those that answered must not be judged by chance
		checks = append(checks, check("other"+strconv.Itoa(i), false, nil))
	}
	found := telemetry.Readiness(ctx, checks)
	require.Equal(t, telemetry.Unavailable, found.Status)
	require.Equal(t, "failed", found.Checks["postgres"])
	delete(found.Checks, "postgres")
	require.Len(t, found.Checks, 20)
	for name, state := range found.Checks {
		require.Equal(t, telemetry.OK, state, name)
	}
}
