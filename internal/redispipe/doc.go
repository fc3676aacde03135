// Package redispipe asks Redis the small questions that every request has,
// sharing round trips between the requests that ask at the same time, and stops
// asking for a moment when Redis does not answer.
package redispipe
