// Package jobs is the dashboard's pages about long work: what is under way with
// its progress, what has ended with its counts, and what became of each row.
package jobs
