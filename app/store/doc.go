// Package store holds every query of the platform and is the only importer of
// GORM. [Store] reads; [Tx] writes what must be atomic.
//
// Three rules keep tenants apart and repeats harmless: a function about a
// project's rows takes the project's id first; every change of state is one
// guarded statement that returns what it changed; a violated constraint comes
// back as a [models.Error], translated once, in constraints.go.
package store
