// Package docs is the public documentation, rendered at start-up from what the
// code itself says: the error catalogue, the changelog, api/openapi.yaml, and
// guides whose tables and code blocks come from there and from samples/. It
// needs no session, works without scripts, and asks no other host for anything.
//
// A guide is a file in guides/en and its twin in guides/ru: a title line, a
// summary line, and Markdown that may call the functions of [guideFunctions].
// Every heading names its id, so that both languages have the same ones.
package docs
