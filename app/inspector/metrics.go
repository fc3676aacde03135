package inspector

import "github.com/prometheus/client_golang/prometheus"

// The reasons for which a request is not captured.
const (
	refusedUnknown  = "unknown"  // there is no such bin
	refusedRate     = "rate"     // the bin's minute or its places are used up
	refusedFull     = "full"     // the bin's day is
	refusedBusy     = "busy"     // the process has no room
	refusedDatabase = "database" // it could not be stored
)

// metrics count what comes in.
type metrics struct {
	captured *prometheus.CounterVec
	refused  *prometheus.CounterVec
}

func newMetrics(registry prometheus.Registerer) *metrics {
	m := &metrics{
		captured: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "botix_inspector_captured_total", Help: "Requests captured by the inspector, by what became of their answer.",
		}, []string{"outcome"}),
		refused: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "botix_inspector_refused_total", Help: "Requests that the inspector did not capture, by reason.",
		}, []string{"reason"}),
	}
	registry.MustRegister(m.captured, m.refused)
	return m
}
