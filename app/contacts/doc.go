// Package contacts has what the API and background work do alike with contacts:
// how one is made of what a caller sends. And it has the step of the job that
// imports many of them.
//
// A chunk of an import is one transaction: its contacts, their events with the
// deliveries, what became of each row, and the job's position. A row that fails
// fails alone.
package contacts
