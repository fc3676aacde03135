// Package config reads the settings of a server or a worker from the
// environment, checks them as a whole and shows them without their secrets.
package config
