// Package api is the platform's promise to its callers in a form that machines
// read: openapi.yaml, the source of truth for routes, shapes, bounds and errors,
// embedded as [Spec], and the Go types of its schemas.
//
// The description is edited by hand and first; types.gen.go follows from it by
// go generate. Types say which fields there are, not which values are allowed:
// bounds are checked where a request is decoded. Bodies are read and written
// with github.com/go-json-experiment/json, under which a nil map or slice is {}
// or [], never null.
//
// The package imports nothing of ours, so that clients' tests may use it too.
package api

//go:generate go run github.com/oapi-codegen/oapi-codegen/v2/cmd/oapi-codegen@v2.8.2 -config oapi-codegen.yaml openapi.yaml
