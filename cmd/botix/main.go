// Command botix is the tool of developers and operators.
package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/botix-pro/platform/app"
)

var version = "dev" // set by the linker

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := root().ExecuteContext(ctx); err != nil {
		fmt.Fprintln(os.Stderr, "botix:", err)
		os.Exit(1) //nolint:gocritic // nothing is left for stop to do
	}
}

func root() *cobra.Command {
	command := &cobra.Command{
		Use: "botix", Short: "The BOTIX platform's tool", Version: version,
		SilenceErrors: true, SilenceUsage: true,
	}
	command.AddCommand(dev(), admin())
	return command
}

func dev() *cobra.Command {
	options := app.DevOptions{Out: os.Stdout, Log: os.Stderr, Version: version}
	command := &cobra.Command{
		Use:   "dev",
		Short: "Run server and worker on a private PostgreSQL and Redis, with a demo project",
		Args:  cobra.NoArgs,
		RunE:  func(c *cobra.Command, _ []string) error { return app.RunDev(c.Context(), options) },
	}
	flags := command.Flags()
	flags.StringVar(&options.Addr, "addr", "127.0.0.1:8080", "where to listen; port 0 takes a free one")
	flags.StringVar(&options.DataDir, "data-dir", ".botix", "folder that keeps the data; each needs its own")
	flags.BoolVar(&options.JSON, "json", false, "print one line of JSON when ready, for scripts")
	return command
}
