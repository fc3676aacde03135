// Package deliveries is the dashboard's pages about webhooks: the attempts of
// the last 14 days with what was sent, what came back and what happens next.
package deliveries
