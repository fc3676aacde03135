package localstack

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"os"
	"path/filepath"
)

// superuser is the role that owns everything in a local cluster.
const superuser = "botix"

// passwordName is the file in Options.Dir that keeps its password.
const passwordName = "postgres.password"

// passwordAt returns the password kept in a file that only this process's user
// can read, making one the first time.
func passwordAt(path string) (string, error) {
	if password := readLine(path); password != "" {
		return password, nil
	}
	password := rand.Text()
	if err := os.WriteFile(path, []byte(password+"\n"), 0o600); err != nil {
		return "", fmt.Errorf("keep the database password: %w", err)
	}
	return password, nil
}

// clusterExists reports whether the folder holds a finished cluster, and which
// major version made it.
func clusterExists(dataDir string) (major int, exists bool) {
	major = firstNumber(filepath.Join(dataDir, "PG_VERSION"))
	return major, major > 0
}

// createCluster runs initdb. The cluster appears under its name only when it
// is whole: an interrupted run leaves nothing that the next could take for one.
func createCluster(ctx context.Context, found binaries, owner account, home, password string, durable bool) error {
	unfinished := filepath.Join(home, "data.unfinished")
	if err := os.RemoveAll(unfinished); err != nil {
		return fmt.Errorf("remove an unfinished cluster: %w", err)
	}
	passwordFile, err := lendPassword(home, owner, password)
	if err != nil {
		return err
	}
	runErr := initdb(ctx, found, owner, home, unfinished, passwordFile, durable)
	if err := errors.Join(runErr, os.Remove(passwordFile)); err != nil {
		return err
	}
	if err := os.Rename(unfinished, filepath.Join(home, "data")); err != nil {
		return fmt.Errorf("put the new cluster in place: %w", err)
	}
	return nil
}

func initdb(ctx context.Context, found binaries, owner account, home, target, passwordFile string, durable bool) error {
	args := []string{
		"-D", target, "-U", superuser, "--pwfile", passwordFile, "--auth", "scram-sha-256",
		"--encoding", "UTF8", "--locale", "C",
	}
	if !durable {
		args = append(args, "--no-sync")
	}
	out, err := owner.command(ctx, home, filepath.Join(found.dir, "initdb"), args...).CombinedOutput()
	if ctx.Err() != nil {
		return fmt.Errorf("create the PostgreSQL cluster: %w", ctx.Err())
	}
	if err != nil {
		return fmt.Errorf("create the PostgreSQL cluster: %w\n%s", err, lastBytes(out))
	}
	return nil
}

// lendPassword writes the password where initdb, running as the account, can
// read it. The caller removes the file.
func lendPassword(home string, owner account, password string) (string, error) {
	file, err := os.CreateTemp(home, "password-")
	if err != nil {
		return "", fmt.Errorf("hand the password to initdb: %w", err)
	}
	_, writeErr := file.WriteString(password + "\n")
	if err := errors.Join(writeErr, file.Close(), owner.own(file.Name())); err != nil {
		return "", errors.Join(fmt.Errorf("hand the password to initdb: %w", err), os.Remove(file.Name()))
	}
	return file.Name(), nil
}
