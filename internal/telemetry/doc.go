// Package telemetry is how operators see a process: its log (log.go), its
// metrics (metrics.go) and its health (health.go).
package telemetry
