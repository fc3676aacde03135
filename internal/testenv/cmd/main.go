// Command cmd runs tests with the servers they need:
//
//	go run ./internal/testenv/cmd -- go test -race ./...
//
// It installs what is missing (Debian, as root), starts one PostgreSQL for all
// packages, runs the command after "--", stops everything, and exits with the
// command's exit code.
package main

import (
	"context"
	"flag"
	"fmt"
	"log/slog"
	"os"

	"github.com/botix-pro/platform/internal/testenv"
)

func main() {
	browser := flag.Bool("browser", false, "see to it that a Chromium is installed")
	languages := flag.Bool("languages", false, "see to it that what runs the documentation's code is installed")
	flag.Parse()
	if flag.NArg() == 0 {
		fmt.Fprintln(os.Stderr, "usage: cmd [-browser] [-languages] -- command [argument…]")
		os.Exit(2)
	}
	runner := testenv.Runner{Browser: *browser, Languages: *languages, Log: slog.New(slog.NewTextHandler(os.Stderr, nil))}
	code, err := runner.Run(context.Background(), flag.Args())
	if err != nil {
		fmt.Fprintln(os.Stderr, "testenv:", err)
		code = max(code, 1)
	}
	os.Exit(code)
}
