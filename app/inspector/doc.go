// Package inspector captures what is sent to a project's bins, answers by their
// scripts, says what signatures are worth, and copies deliveries into bins
// (contract §5, §8).
//
// Capture is the handler of a listener of its own: what strangers send is never
// answered from the origin that has sessions, and never as anything but plain text
// in a sandbox. Everything about it is bounded: what a request may hold, what of
// it is kept, how many come in and wait at a time, and what a bin stores in a day.
package inspector
