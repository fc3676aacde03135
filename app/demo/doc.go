// Package demo is what a developer finds after `make run`: a project with a key,
// a dashboard login, and a receiver that shows the webhooks it got. It exists
// only in that mode.
package demo
