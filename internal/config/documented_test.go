package config_test

import (
	"os"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/botix-pro/platform/internal/config"
)

// variables are the names and defaults that the program reads.
func variables() map[string]string {
	found := map[string]string{}
	for field := range reflect.TypeFor[config.Config]().Fields() {
		if name := field.Tag.Get("env"); name != "-" {
			found[name] = field.Tag.Get("envDefault")
		}
	}
	return found
}

func readText(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	require.NoError(t, err)
	return string(text)
}

// row returns the line of the README's table that is about a variable.
func row(t *testing.T, readme, name string) string {
	t.Helper()
	for line := range strings.Lines(readme) {
		cell, _, _ := strings.Cut(strings.TrimPrefix(line, "|"), "|")
		if strings.HasPrefix(line, "| `") && strings.Contains(cell, "`"+name+"`") {
			return line
		}
	}
	t.Fatalf("the README's table has no row for %s", name)
	return ""
}

func TestEveryVariableIsInTheReadme(t *testing.T) {
	t.Parallel()
	readme := readText(t, "../../README.md")
	for name, byDefault := range variables() {
		line := row(t, readme, name)
		if byDefault != "" {
			require.Contains(t, line, "`"+byDefault+"`", "the default of %s", name)
		}
	}
}

func TestEveryVariableReachesTheContainers(t *testing.T) {
	t.Parallel()
	compose := readText(t, "../../docker-compose.yml")
	for name := range variables() {
		require.Contains(t, compose, "\n    "+name+": ", "docker-compose.yml passes %s on", name)
	}
}

func TestExampleNamesWhatComposeInsistsOn(t *testing.T) {
	t.Parallel()
	compose, example := readText(t, "../../docker-compose.yml"), readText(t, "../../.env.example")
	for _, part := range strings.Split(compose, "${")[1:] {
		if name, _, required := strings.Cut(part, ":?"); required && !strings.Contains(name, "}") {
			require.Contains(t, "\n"+example, "\n"+name+"=", ".env.example has %s", name)
		}
	}
}

func TestContainersAreKilledOnlyAfterAGracefulStop(t *testing.T) {
	t.Parallel()
	compose := readText(t, "../../docker-compose.yml")
	stop, kill := durationAfter(t, compose, "SHUTDOWN_TIMEOUT: "), durationAfter(t, compose, "stop_grace_period: ")
	require.Greater(t, kill, stop)
}

func durationAfter(t *testing.T, text, label string) time.Duration {
	t.Helper()
	_, rest, found := strings.Cut(text, label)
	require.True(t, found, label)
	value, err := time.ParseDuration(strings.Fields(rest)[0])
	require.NoError(t, err)
	return value
}
