package telemetry_test

import (
	"bytes"
	"encoding/json"
	"log/slog"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/botix-pro/platform/internal/telemetry"
)

func TestLogIsOneJSONObjectALine(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	log := telemetry.NewLogger(&out, slog.LevelInfo, "json")
	log.Debug("not asked for")
	log.Info("a line\nwith a break", "program", "server")
	lines := bytes.Split(bytes.TrimSpace(out.Bytes()), []byte("\n"))
	require.Len(t, lines, 1)
	var line map[string]any
	require.NoError(t, json.Unmarshal(lines[0], &line))
	require.Equal(t, "a line\nwith a break", line["msg"])
	require.Equal(t, "server", line["program"])
}

func TestLogIsTextForPeople(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	telemetry.NewLogger(&out, slog.LevelWarn, "text").Warn("Redis is away", "program", "worker")
	require.Contains(t, out.String(), `level=WARN msg="Redis is away" program=worker`)
}
