package testenv

import (
	"os"
	"os/exec"
	"testing"
)

// browserNames are the programs that count as Chromium, the best one first.
var browserNames = []string{
	"chromium", "chromium-browser", "google-chrome", "google-chrome-stable",
	"/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",
	"/Applications/Chromium.app/Contents/MacOS/Chromium",
}

// Chromium returns the path of a Chromium or Chrome for browser tests:
// BOTIX_CHROMIUM when it is set, otherwise what is installed.
func Chromium(t testing.TB) string {
	t.Helper()
	if path := os.Getenv("BOTIX_CHROMIUM"); path != "" {
		return path
	}
	path := firstProgram(browserNames...)
	if path == "" {
		t.Fatal(`testenv: no Chromium found: run "make test", or install it (Debian: apt-get install chromium), or set BOTIX_CHROMIUM`)
	}
	return path
}

// firstProgram returns the path of the first of the programs that exists.
func firstProgram(names ...string) string {
	for _, name := range names {
		if path, err := exec.LookPath(name); err == nil {
			return path
		}
	}
	return ""
}
