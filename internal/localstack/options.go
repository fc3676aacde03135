package localstack

import (
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"os"
	"path/filepath"
)

// Options say where a server keeps its data and how it is set up.
type Options struct {
	// Dir is the folder that holds the server's data, log and password. It is
	// created when missing. Both servers may share one Dir: each uses its own
	// sub-folder. Deleting Dir while nothing runs means starting anew.
	Dir string
	// Settings are extra server settings by name, which win over this
	// package's defaults: postgresql.conf names for PostgreSQL ("fsync": "off"),
	// redis.conf directives for Redis ("maxmemory": "64mb").
	Settings map[string]string
	// Log receives what the package does. Nil means nothing is logged.
	Log *slog.Logger
	// AllowInstall permits installing a missing server with the system's
	// package manager (Debian, as root or with passwordless sudo) and, for
	// PostgreSQL, downloading its binaries.
	AllowInstall bool
	// Ephemeral marks data that nobody misses after a crash: PostgreSQL does not
	// wait for the disk, and Redis writes nothing to it, so that it comes back
	// empty.
	Ephemeral bool
}

// prepared returns o with its directory absolute, free of symbolic links and
// existing, and with a logger that can be used.
func (o Options) prepared() (Options, error) {
	if o.Dir == "" {
		return o, errors.New("localstack: Options.Dir is empty")
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	// World-traversable on purpose: an unprivileged server account has to get
	// through it. What is private inside carries its own mode.
	if err := os.MkdirAll(o.Dir, 0o755); err != nil { //nolint:gosec // see above
		return o, fmt.Errorf("create the data folder: %w", err)
	}
	dir, err := filepath.Abs(o.Dir)
	if err != nil {
		return o, fmt.Errorf("resolve the data folder: %w", err)
	}
	if o.Dir, err = filepath.EvalSymlinks(dir); err != nil {
		return o, fmt.Errorf("resolve the data folder: %w", err)
	}
	return o, nil
}

// settings returns defaults overlaid with the caller's own settings.
func (o Options) settings(defaults map[string]string) map[string]string {
	all := maps.Clone(defaults)
	maps.Copy(all, o.Settings)
	return all
}
