package testenv

import (
	"maps"
	"slices"
	"testing"
)

// languages are the programs that run the documentation's code, each with the
// Debian packages that bring it.
func languages() map[string][]string {
	return map[string][]string{
		"bash": {"bash"}, "curl": {"curl"}, "openssl": {"openssl"}, "python3": {"python3"}, "node": {"nodejs"}, "php": {"php-cli"},
	}
}

// Program returns the path of a program that a test runs, and fails the test
// with what to install when it is not there.
func Program(t testing.TB, name string) string {
	t.Helper()
	path := firstProgram(name)
	if path == "" {
		t.Fatalf(`testenv: no %s found: run "make test", or install it (Debian: apt-get install %v)`, name, languages()[name])
	}
	return path
}

// languageNeeds are what is installed for tests that run the documentation's code.
func languageNeeds() []need {
	var list []need
	for _, name := range slices.Sorted(maps.Keys(languages())) {
		list = append(list, need{
			present: installed(name), packages: languages()[name],
			hint: "tests of the documentation's code will fail; install " + name,
		})
	}
	return list
}
