// Package webhooks carries events to the endpoints that want them (contract
// §5): it signs, sends, judges the answer, records it and decides what comes
// next.
//
// The room has a pure half and a half that talks to the database. The pure half
// is what this comment is a map of:
//
//   - [Secret], [Sign]: how a body is signed.
//   - [Sender]: one physical attempt, from the request's headers to an
//     [Outcome]. It never fails: whatever a receiver does is an outcome.
//   - [Classify]: what an outcome means, the contract's table as a function.
//   - [Schedule]: the retry ladder, and the [Plan] that follows from a verdict.
//   - [CheckHeaders]: which headers an endpoint's owner may add.
//
// The other half reads along a delivery's way:
//
//   - [Hinter] (hints.go): a server tells, after its commit, that a lane has
//     something due. Nobody waits for it, and it may be lost.
//   - [Worker] (worker.go): takes hints from asynq, and sweeps (sweeper.go) for
//     what no hint told and what lost workers held.
//   - [Drainer] (drain.go): takes a lane, claims what is due, has it sent.
//   - deliver.go: one claimed delivery, from sending to what becomes of it.
//   - record.go: outcomes, many in one transaction.
//   - [Keeper] (keeper.go, archive.go): what time asks for. It judges endpoints,
//     expires, archives and forgets what is old, sums up, and mails notices.
//
// A receiver is a stranger. What it answers is bounded before it is read, kept
// as bytes, and never changes the verdict that its status gave.
package webhooks
