// Package scenarios runs scenarios (contract §6): ordered lists of steps that a
// contact goes through, which may take seconds or months and survive the death
// of any process at any moment.
//
// The room has a pure half and a half that talks to the database. The pure half:
//
//   - [Parse] (definition.go, steps.go): JSON to a [Definition], or what is wrong
//     with it, with pointers into the JSON.
//   - condition.go: what an "if" means; values.go: what fields and placeholders
//     stand for; contact.go: what update_contact does to a contact.
//   - verdict.go: what an answer to an http_request means, the decision matrix as
//     a function.
//
// The other half reads along a run's way:
//
//   - [Engine] (engine.go): claims what is due, one statement for many runs, and
//     finds the runs of lost workers by the same look, since a lease is a due time.
//   - advance.go: one claimed run, step after step, until it waits or is over.
//     Each step's effect and its record are one transaction.
//   - call.go and caller.go: the one step whose effect is elsewhere. Its intent is
//     recorded first, then the request is sent outside any transaction, then the
//     result is recorded. A repeat carries the same Idempotency-Key and is counted.
package scenarios
