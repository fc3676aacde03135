package models

import "time"

// Rollup is what one endpoint's attempts of one hour add up to. An attempt
// belongs to the hour (UTC) in which it began.
type Rollup struct {
	ProjectID  ProjectID
	EndpointID string
	Hour       time.Time
	Attempts   int64
	Successes  int64
	Failures   map[ErrorClass]int64
	Answered   int64         // with an HTTP answer: what the latency is of
	LatencyMs  int64         // the sum of their durations
	Latencies  map[int]int64 // by bucket, see [LatencyBounds]
}

// LatencyBounds are the buckets' bounds in milliseconds: bucket i holds durations
// from bound i-1 (0 for the first) to less than bound i; the last has no upper
// bound.
func LatencyBounds() []int {
	return []int{5, 10, 20, 35, 50, 75, 100, 150, 250, 400, 700, 1000, 2000, 5000, 10000, 20000, 40000}
}

// Quantile is the latency, in milliseconds, that the given part (0.5, 0.95) of
// the answered attempts stayed below: the upper bound of the bucket it falls
// into, so never less than it was. It is 0 when nothing was answered, and the
// last bound stands for everything beyond it.
func (r Rollup) Quantile(part float64) int {
	bounds := LatencyBounds()
	wanted, seen := part*float64(r.Answered), int64(0)
	if r.Answered == 0 {
		return 0
	}
	for i, bound := range bounds {
		if seen += r.Latencies[i]; float64(seen) >= wanted {
			return bound
		}
	}
	return bounds[len(bounds)-1]
}

// Add adds another sum to this one, which keeps its name and hour.
func (r *Rollup) Add(other Rollup) {
	r.Attempts += other.Attempts
	r.Successes += other.Successes
	r.Answered += other.Answered
	r.LatencyMs += other.LatencyMs
	if r.Failures == nil {
		r.Failures = map[ErrorClass]int64{}
	}
	for class, n := range other.Failures {
		r.Failures[class] += n
	}
	if r.Latencies == nil {
		r.Latencies = map[int]int64{}
	}
	for bucket, n := range other.Latencies {
		r.Latencies[bucket] += n
	}
}
