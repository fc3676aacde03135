// Package idempotency is the protocol that makes a mutating request safe to
// repeat (contract §3): at most one business effect per key, and the answer of
// the first try for every later one.
//
// Read it in this order: key.go (what a key is), fingerprint.go (what "the same
// request" means), state.go (what a look-up can find and what each finding
// leads to), engine.go (the one transaction). The picture is in
// docs/state-machines.md.
package idempotency
