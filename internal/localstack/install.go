package localstack

import (
	"bytes"
	"context"
	_ "embed"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"os/exec"
	"syscall"
	"time"
)

const (
	// installTimeout bounds one run of the package manager.
	installTimeout = 15 * time.Minute
	// installGrace is how long an interrupted run may take to finish its step.
	installGrace = 2 * time.Minute
)

//go:embed install.sh
var installScript string

// InstallPackages installs Debian packages, as root or through passwordless
// sudo. Servers among them are neither started nor enabled, and PostgreSQL's
// package creates no cluster. The error says why it was not possible.
func InstallPackages(ctx context.Context, log *slog.Logger, packages ...string) error {
	if _, err := exec.LookPath("apt-get"); err != nil {
		return errors.New("packages can only be installed on Debian and its kin")
	}
	ctx, cancel := context.WithTimeout(ctx, installTimeout)
	defer cancel()
	cmd, err := asRoot(ctx, append([]string{"sh", "-c", installScript, "sh"}, packages...)...)
	if err != nil {
		return err
	}
	// An interrupted run must still put the machine back as it was.
	cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGTERM) }
	cmd.WaitDelay = installGrace
	log.InfoContext(ctx, "installing packages", "packages", packages)
	var output bytes.Buffer
	cmd.Stdout, cmd.Stderr = &output, &output
	if err := cmd.Run(); ctx.Err() != nil {
		return fmt.Errorf("install %q: %w", packages, ctx.Err())
	} else if err != nil {
		return fmt.Errorf("install %q: %w\n%s", packages, err, lastBytes(output.Bytes()))
	}
	return nil
}

// asRoot prepares a command with root's rights.
func asRoot(ctx context.Context, args ...string) (*exec.Cmd, error) {
	if os.Getuid() == 0 {
		return exec.CommandContext(ctx, args[0], args[1:]...), nil //nolint:gosec // the caller names the program
	}
	if err := exec.CommandContext(ctx, "sudo", "-n", "true").Run(); err != nil {
		return nil, errors.New("packages can only be installed by root or with passwordless sudo")
	}
	return exec.CommandContext(ctx, "sudo", append([]string{"-n"}, args...)...), nil //nolint:gosec // as above
}

func lastBytes(text []byte) []byte {
	return bytes.TrimSpace(text[max(0, len(text)-2048):])
}
