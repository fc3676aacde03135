// Package e2e runs the built programs as their users do, and looks at them from
// outside: over HTTP, in a browser, by signals.
package e2e
