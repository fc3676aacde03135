// Package messages is the dashboard's pages about messages: the list, one message
// with its way through the states and what a person may do about it, a form that
// sends one, and the sandbox with its outbox and its rehearsal switches.
package messages
