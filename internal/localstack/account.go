package localstack

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"strconv"
	"syscall"
)

// account is the operating-system user that a server runs as.
type account struct {
	uid, gid int
	// switched says that it is another user than this process's, so children
	// need its credentials and files have to be given to it.
	switched bool
}

// accountFor picks who runs PostgreSQL on the data in home ("" on the first
// run): this process's user, or, for root, whoever owns the existing data,
// else "postgres", else "nobody".
func accountFor(home string) (account, error) {
	dataDir := filepath.Join("/", home, "data")
	self := account{uid: os.Getuid(), gid: os.Getgid()}
	owner, found := ownerOf(dataDir)
	found = found && home != ""
	switch {
	case self.uid != 0 && found && owner.uid != self.uid:
		return self, fmt.Errorf("the data in %s belong to user id %d: run as that user, or delete the folder to start anew", dataDir, owner.uid)
	case self.uid != 0:
		return self, nil
	case found && owner.uid != 0:
		return owner, nil
	}
	return unprivileged("postgres", "nobody")
}

// unprivileged returns the first of the named users that exists.
func unprivileged(names ...string) (account, error) {
	for _, name := range names {
		if entry, err := user.Lookup(name); err == nil {
			return newAccount(entry)
		}
	}
	return account{}, fmt.Errorf("PostgreSQL refuses to run as root and none of the users %q exists", names)
}

func newAccount(entry *user.User) (account, error) {
	uid, err := strconv.Atoi(entry.Uid)
	gid, gidErr := strconv.Atoi(entry.Gid)
	if err := errors.Join(err, gidErr); err != nil {
		return account{}, fmt.Errorf("read the ids of user %s: %w", entry.Username, err)
	}
	return account{uid: uid, gid: gid, switched: true}, nil
}

// ownerOf returns who owns path, and whether path exists.
func ownerOf(path string) (account, bool) {
	info, err := os.Stat(path)
	if err != nil {
		return account{}, false
	}
	stat, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return account{}, false
	}
	return account{uid: int(stat.Uid), gid: int(stat.Gid), switched: int(stat.Uid) != os.Getuid()}, true
}

// command prepares a program that runs as this account, in a folder, with an
// environment that carries nothing of the caller's (PGDATA, PGOPTIONS, LANG…).
func (a account) command(ctx context.Context, dir, program string, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, program, args...) //nolint:gosec // the callers name the programs
	cmd.Dir = dir
	// An interrupted initdb ends its own children and removes what it made.
	cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGTERM) }
	cmd.WaitDelay = minGrace
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "LC_ALL=C", "TZ=UTC", "HOME=" + dir}
	if a.switched {
		cmd.SysProcAttr = &syscall.SysProcAttr{
			Credential: &syscall.Credential{Uid: uint32(a.uid), Gid: uint32(a.gid)}, //nolint:gosec // ids are never negative
		}
	}
	return cmd
}

// own gives a file or folder to the account.
func (a account) own(path string) error {
	if !a.switched {
		return nil
	}
	if err := os.Chown(path, a.uid, a.gid); err != nil {
		return fmt.Errorf("give %s to user id %d: %w", path, a.uid, err)
	}
	return nil
}

// reaches reports whether the account can work in a folder. It asks by trying,
// since modes alone do not tell (ACLs, mount options, a 0700 folder above). A
// done ctx does not make the answer no.
func (a account) reaches(ctx context.Context, dir string) bool {
	ctx = context.WithoutCancel(ctx)
	return a.command(ctx, "/", "/bin/sh", "-c", `test -w "$1" && test -x "$1"`, "sh", dir).Run() == nil
}
