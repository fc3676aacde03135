// Package load measures the platform against the bare thing, side by side in one
// run, and prints ratios: "make bench". Nothing here asserts a time.
package load
