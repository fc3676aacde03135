package telemetry_test

import (
	"errors"
	"net/http"
	"testing"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/stretchr/testify/require"

	"github.com/botix-pro/platform/internal/telemetry"
)

func TestMetricsAreServed(t *testing.T) {
	t.Parallel()
	registry := telemetry.NewRegistry()
	sent := prometheus.NewCounter(prometheus.CounterOpts{Name: "botix_test_sent_total", Help: "Sent."})
	registry.MustRegister(sent)
	sent.Inc()
	answer := get(telemetry.Internal(registry), "/metrics")
	require.Equal(t, http.StatusOK, answer.Code)
	require.Contains(t, answer.Body.String(), "botix_test_sent_total 1")
	require.Contains(t, answer.Body.String(), "go_goroutines")
	require.Contains(t, answer.Body.String(), "process_open_fds")
}

// broken is a collector whose source cannot be read.
type broken struct{ desc *prometheus.Desc }

func (b broken) Describe(out chan<- *prometheus.Desc) { out <- b.desc }
func (b broken) Collect(out chan<- prometheus.Metric) {
	out <- prometheus.NewInvalidMetric(b.desc, errors.New("database is away"))
}

func TestOneBrokenMetricDoesNotHideTheOthers(t *testing.T) {
	t.Parallel()
	registry := telemetry.NewRegistry()
	registry.MustRegister(broken{prometheus.NewDesc("botix_test_broken", "Broken.", nil, nil)})
	answer := get(telemetry.Internal(registry), "/metrics")
	require.Equal(t, http.StatusOK, answer.Code)
	require.Contains(t, answer.Body.String(), "go_goroutines")
}
