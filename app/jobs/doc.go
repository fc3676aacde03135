// Package jobs does long work in batches that survive their worker.
//
// A job is a row with a position. [Runner] takes a job for the length of a
// lease and calls its type's [Step] again and again; what a step queues, the
// progress and the position are committed in one transaction, under the row's
// lock. So a worker that dies in the middle of a batch has done none of it, the
// next one begins where the last finished batch ended, and no row is done twice
// or left out. A worker that was only frozen finds, at the lock, that the job is
// no longer its own.
//
// What a type does is in the room that it is about (app/webhooks, and so on);
// the root of app puts the steps together. Nothing here knows a type.
package jobs
