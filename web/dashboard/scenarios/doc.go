// Package scenarios is the dashboard's pages about scenarios and their runs: the
// steps drawn as a flow beside the list of them, the forms that write a scenario,
// and a run's way through it while it happens.
//
// flow.go makes a graph of a definition, layout.go places it, draw.go turns the
// places into SVG that needs no style of its own.
package scenarios
