package app

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/botix-pro/platform/internal/config"
)

const healthTimeout = 5 * time.Second

// Server runs the command that cmd/server was given: none serves.
func Server(ctx context.Context, cfg config.Config, args []string) error {
	switch command := strings.Join(args, " "); command {
	case "":
		return RunServer(ctx, cfg)
	case "migrate":
		return Migrate(ctx, cfg)
	case "healthcheck":
		return healthcheck(ctx, cfg)
	default:
		return fmt.Errorf("server: unknown command %q; there are migrate and healthcheck", command)
	}
}

// Worker runs the command that cmd/worker was given: none works.
func Worker(ctx context.Context, cfg config.Config, args []string) error {
	switch command := strings.Join(args, " "); command {
	case "":
		return RunWorker(ctx, cfg)
	case "healthcheck":
		return healthcheck(ctx, cfg)
	default:
		return fmt.Errorf("worker: unknown command %q; there is healthcheck", command)
	}
}

// healthcheck asks the process that runs with the same configuration.
func healthcheck(ctx context.Context, cfg config.Config) error {
	ctx, cancel := context.WithTimeout(ctx, healthTimeout)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+cfg.InternalAddr+"/healthz", http.NoBody)
	if err != nil {
		return fmt.Errorf("health check: %w", err)
	}
	// A client of its own: a proxy in the environment has nothing to do with this.
	response, err := (&http.Client{Transport: &http.Transport{}}).Do(request)
	if err != nil {
		return fmt.Errorf("health check: %w", err)
	}
	defer func() { _ = response.Body.Close() }()
	if response.StatusCode != http.StatusOK {
		return fmt.Errorf("health check: answered %s", response.Status)
	}
	return nil
}
