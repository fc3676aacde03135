// Package dashboard is the developers' own window into the platform, under
// /developers: it signs people in, knows which project they look at, and puts the
// pages of its sections (the packages below it) behind that.
//
// Pages are rendered on the server from typed views and templates that are
// embedded and parsed at start. A page is a value: a [ui.Page] returns a reply or
// an error, and serve.go alone writes it, after the session was saved. All text
// that came from outside passes through ui.Visible and its kin. Pages carry a
// strict Content-Security-Policy, hold no inline script or style, ask no other
// host for anything and work without JavaScript, except for what is live.
package dashboard
