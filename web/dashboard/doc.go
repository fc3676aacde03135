// Package dashboard is the developers' own window into the platform, under
// /developers: signing in, and the webhook attempts of the last 14 days with
// what was sent, what came back and what happens next.
//
// Pages are rendered on the server from typed views and templates that are
// embedded and parsed at start. A page is a value: a handler returns a reply or
// an error, and serve.go alone writes it, after the session was saved. All text
// a reader sees is in messages.go; all text that came from outside passes
// through foreign.go. Pages carry a strict Content-Security-Policy, hold no
// inline script or style, ask no other host for anything and work without
// JavaScript.
package dashboard
