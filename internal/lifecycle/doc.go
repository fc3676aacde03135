// Package lifecycle starts the parts of a process in order and stops them in
// reverse, within a bounded time whatever they do.
//
// lifecycle.go is the order, http.go a server, every.go something done again and
// again in the background.
package lifecycle
