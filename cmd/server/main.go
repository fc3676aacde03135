// Command server answers the API and the dashboard.
//
//	server              serve, until SIGINT or SIGTERM
//	server migrate      apply the pending migrations
//	server healthcheck  exit 0 if the server on this machine is alive
package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"syscall"

	"github.com/botix-pro/platform/app"
	"github.com/botix-pro/platform/internal/config"
)

var version = "dev" // set by the linker

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1) //nolint:gocritic // nothing is left for stop to do
	}
}

func run(ctx context.Context) error {
	cfg, err := config.Load(os.Environ())
	if err != nil {
		return err
	}
	cfg.Version = version
	return app.Server(ctx, cfg, os.Args[1:])
}
