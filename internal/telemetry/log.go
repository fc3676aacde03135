package telemetry

import (
	"io"
	"log/slog"
)

// NewLogger returns a logger that writes to w what is at least as grave as
// level, as "text" or, for any other format, as JSON: one object a line.
func NewLogger(w io.Writer, level slog.Level, format string) *slog.Logger {
	options := &slog.HandlerOptions{Level: level}
	if format == "text" {
		return slog.New(slog.NewTextHandler(w, options))
	}
	return slog.New(slog.NewJSONHandler(w, options))
}
