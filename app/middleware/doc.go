// Package middleware is the API's edge: what happens around every handler.
//
// A request passes, in this order (contract §1): request id and log line,
// PublicApiAuth (the key, its plan's limit, the headers), scope, Idempotency
// (key, body, look-up, the one transaction), the handler. Whatever error comes
// back becomes a problem document in one place, problem.go.
//
// Handlers never see Echo: they take a [Request] and return a [Result] or an
// error, both plain values, so what is stored with an idempotency key is what
// is sent.
package middleware
