//go:build bench

package load_test

import (
	"bytes"
	"os"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// clockTick is the unit of /proc/PID/stat on every Linux that Go runs on.
const clockTick = 10 * time.Millisecond

// process is a program of a contender, by the name that the report gives it.
type process struct {
	name string
	pid  int
}

// costs is the CPU time that programs and what they started have used.
func costs(t *testing.T, programs []process) []time.Duration {
	t.Helper()
	stats := allStats(t)
	used := make([]time.Duration, len(programs))
	for i, p := range programs {
		used[i] = stats.used(p.pid)
	}
	return used
}

// stat is what /proc says of a process: its parent, and the CPU time of itself
// and of the children it has seen the end of.
type stat struct {
	parent int
	used   time.Duration
}

type stats map[int]stat

func allStats(t *testing.T) stats {
	t.Helper()
	files, err := filepath.Glob("/proc/[0-9]*/stat")
	require.NoError(t, err)
	found := stats{}
	for _, file := range files {
		raw, err := os.ReadFile(file)
		if err != nil {
			continue // it has ended
		}
		pid, err := strconv.Atoi(filepath.Base(filepath.Dir(file)))
		require.NoError(t, err)
		found[pid] = parseStat(raw)
	}
	return found
}

// parseStat reads proc(5): the name, in parentheses, may hold anything; after it
// come state, parent, … and as the 12th to 15th the four times.
func parseStat(raw []byte) stat {
	fields := bytes.Fields(raw[bytes.LastIndexByte(raw, ')')+1:])
	number := func(i int) int {
		n, _ := strconv.Atoi(string(fields[i]))
		return n
	}
	return stat{parent: number(1), used: time.Duration(number(11)+number(12)+number(13)+number(14)) * clockTick}
}

func (s stats) used(pid int) time.Duration {
	used := s[pid].used
	for child, its := range s {
		if its.parent == pid {
			used += s.used(child)
		}
	}
	return used
}

// residentMiB is the memory that a process has in RAM.
func residentMiB(t *testing.T, pid int) int { t.Helper(); return statusMiB(t, pid, "VmRSS:") }

// statusMiB is an amount of memory that /proc/PID/status names.
func statusMiB(t *testing.T, pid int, name string) int {
	t.Helper()
	raw, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/status")
	require.NoError(t, err)
	_, rest, found := bytes.Cut(raw, []byte(name))
	require.True(t, found)
	kib, err := strconv.Atoi(string(bytes.Fields(rest)[0]))
	require.NoError(t, err)
	return kib >> 10
}
