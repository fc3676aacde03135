// Package config reads the settings of a server or a worker from the
// environment, checks them as a whole and shows them without their secrets.
//
// Read config.go for what there is, check.go for what is refused, warnings.go
// for what is allowed but seldom meant.
package config
