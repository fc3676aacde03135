// Package parts is what several sections of the dashboard show alike: messages,
// runs and events as rows, their states as pills, filters, and deeds that are
// refused.
package parts
