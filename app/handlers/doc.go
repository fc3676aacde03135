// Package handlers is the JSON API, one file per resource. A handler decodes,
// validates, calls the store and returns a value; it never sees HTTP's machinery,
// transactions or idempotency keys, which app/middleware puts around it.
//
// routes.go is the table of everything the API answers.
package handlers
