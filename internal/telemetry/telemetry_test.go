package telemetry_test

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/botix-pro/platform/internal/telemetry"
)

func check(name string, vital bool, err error) telemetry.Check {
	return telemetry.Check{Name: name, Vital: vital, Ask: func(context.Context) error { return err }}
}

func TestReadinessTellsDegradedFromUnavailable(t *testing.T) {
	t.Parallel()
	down := errors.New("connection refused")
	tests := map[string]struct {
		checks []telemetry.Check
		status int
		body   string
	}{
		"all well":      {[]telemetry.Check{check("postgres", true, nil), check("redis", false, nil)}, 200, `{"status":"ok","checks":{"postgres":"ok","redis":"ok"}}`},
		"without redis": {[]telemetry.Check{check("postgres", true, nil), check("redis", false, down)}, 200, `{"status":"degraded","checks":{"postgres":"ok","redis":"failed"}}`},
		"no database":   {[]telemetry.Check{check("postgres", true, down), check("redis", false, down)}, 503, `{"status":"unavailable","checks":{"postgres":"failed","redis":"failed"}}`},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			answer := httptest.NewRecorder()
			handler := telemetry.Internal(telemetry.NewRegistry(), test.checks...)
			handler.ServeHTTP(answer, httptest.NewRequest(http.MethodGet, "/readyz", http.NoBody))
			require.Equal(t, test.status, answer.Code)
			require.JSONEq(t, test.body, answer.Body.String())
		})
	}
}

func TestMetricsAreServed(t *testing.T) {
	t.Parallel()
	answer := httptest.NewRecorder()
	telemetry.Internal(telemetry.NewRegistry()).ServeHTTP(answer, httptest.NewRequest(http.MethodGet, "/metrics", http.NoBody))
	require.Contains(t, answer.Body.String(), "go_goroutines")
}
