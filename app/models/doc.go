// Package models holds what the rest of the platform talks about: row structs,
// identifiers, enums, the delivery transition table, the one [Error] type and
// the one error [Catalogue].
//
// Everything here is a plain value. The package imports no database, no HTTP
// framework and nothing of ours, so every other room may import it.
package models
