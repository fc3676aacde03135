// Package app composes the programs: it is the only package that may import
// every other, and it holds no logic of its own. [RunServer] is the API with
// the dashboard, [RunWorker] delivers webhooks, [RunDev] is both with a private
// PostgreSQL and Redis.
package app
