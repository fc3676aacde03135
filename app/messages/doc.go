// Package messages hands messages to their channels (contract §6): the intent is
// recorded first, by claiming the message, and the result afterwards, each in one
// guarded statement; in between, outside any transaction, the channel is called.
//
// What nobody can tell is never tried again blindly. A channel that takes a key
// of ours is repeated with it, one that can look a message up is asked, and one
// that can do neither leaves the message unknown until a person settles it.
package messages
