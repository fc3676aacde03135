// Package requests is the dashboard's pages about the API requests that came: the
// log, its errors in groups, one request, and one operation with every physical
// request that carried its Idempotency-Key.
package requests
