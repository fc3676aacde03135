// Package fault breaks what the platform stands on, while it works: servers and
// workers are killed, frozen and cut off, PostgreSQL and Redis restarted,
// connections cut at any byte, answers lost, receivers gone. What it checks are
// counts in the data and bytes on the wire.
//
// It needs minutes and is therefore apart from "make test": "make test-fault".
package fault
