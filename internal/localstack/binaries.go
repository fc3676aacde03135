package localstack

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// oldestPostgres is the oldest major version that the platform supports.
const oldestPostgres = 14

// howToInstallPostgres closes every error about missing binaries.
const howToInstallPostgres = "install PostgreSQL 14 or newer (Debian and Ubuntu: apt-get install postgresql; " +
	"Fedora: dnf install postgresql-server; macOS: brew install postgresql@17) and try again"

// binaries is one installation of PostgreSQL's server programs.
type binaries struct {
	dir   string // holds initdb and postgres
	major int    // 15
}

// usualFolders are where packages put the server's programs off the PATH.
var usualFolders = []string{
	"/usr/lib/postgresql/*/bin",            // Debian, Ubuntu
	"/usr/pgsql-*/bin",                     // postgresql.org's packages for Fedora and its kin
	"/opt/homebrew/opt/postgresql@*/bin",   // Homebrew, Apple silicon
	"/usr/local/opt/postgresql@*/bin",      // Homebrew, Intel
	"/usr/local/pgsql/bin",                 // built from source
	"/Applications/Postgres.app/*/*/*/bin", // Postgres.app
}

// postgresFinder looks for an installation, and gets one when it may.
type postgresFinder struct {
	owner account
	// major is the version that existing data need; 0 means any.
	major int
	// folders lists where to look, the best place first.
	folders func(ctx context.Context) []string
	log     *slog.Logger
}

// find returns the installation to use, installing one when allowed to.
func (f postgresFinder) find(ctx context.Context, allowInstall bool) (binaries, error) {
	found, err := f.search(ctx)
	if err == nil || !allowInstall || ctx.Err() != nil {
		return found, err
	}
	f.log.InfoContext(ctx, "PostgreSQL was not found, installing it", "reason", err)
	installErr := InstallPackages(ctx, f.log, f.debianPackage())
	if installErr == nil {
		return f.search(ctx)
	}
	if ctx.Err() != nil {
		return binaries{}, installErr
	}
	f.log.InfoContext(ctx, "no package could be installed, downloading PostgreSQL", "reason", installErr)
	found, downloadErr := f.download(ctx)
	if downloadErr != nil {
		return binaries{}, errors.Join(err, installErr, downloadErr)
	}
	return found, nil
}

func (f postgresFinder) debianPackage() string {
	if f.major == 0 {
		return "postgresql"
	}
	return "postgresql-" + strconv.Itoa(f.major)
}

// search returns the newest usable installation on this machine.
func (f postgresFinder) search(ctx context.Context) (binaries, error) {
	var usable []binaries
	for _, dir := range f.folders(ctx) {
		if found, ok := f.inspect(ctx, dir); ok {
			usable = append(usable, found)
		}
	}
	if err := ctx.Err(); err != nil {
		return binaries{}, fmt.Errorf("look for PostgreSQL's programs: %w", err)
	}
	for _, found := range usable {
		if f.major == 0 || found.major == f.major {
			return found, nil
		}
	}
	if len(usable) > 0 {
		return binaries{}, fmt.Errorf("the data were made by PostgreSQL %d, but only version %d was found: "+
			"install that version, or delete the data folder to start anew", f.major, usable[0].major)
	}
	return binaries{}, errors.New("no PostgreSQL server programs found: " + howToInstallPostgres)
}

// machineFolders lists the folders of this machine that may hold the programs:
// what pg_config names, what is on the PATH, then the usual folders, the newest
// version first.
func machineFolders(ctx context.Context) []string {
	var dirs []string
	if out, err := exec.CommandContext(ctx, "pg_config", "--bindir").Output(); err == nil {
		dirs = append(dirs, strings.TrimSpace(string(out)))
	}
	if path, err := exec.LookPath("postgres"); err == nil {
		dirs = append(dirs, filepath.Dir(path))
	}
	var packaged []string
	for _, pattern := range usualFolders {
		matches, _ := filepath.Glob(pattern)
		packaged = append(packaged, matches...)
	}
	slices.SortStableFunc(packaged, func(a, b string) int { return majorInPath(b) - majorInPath(a) })
	return append(dirs, packaged...)
}

var numberInPath = regexp.MustCompile(`\d+`)

// majorInPath reads the version out of ".../postgresql/15/bin"; 0 if there is
// none.
func majorInPath(path string) int {
	number, _ := strconv.Atoi(numberInPath.FindString(path))
	return number
}

// inspect asks the programs themselves, as the account that will run them: a
// folder with only the client's programs, one that the account cannot enter
// and a version that is too old all count as not there.
func (f postgresFinder) inspect(ctx context.Context, dir string) (binaries, bool) {
	for _, program := range []string{"initdb", "postgres"} {
		out, err := f.owner.command(ctx, "/", filepath.Join(dir, program), "--version").Output()
		if err != nil {
			return binaries{}, false
		}
		if major := versionOf(string(out)); major < oldestPostgres {
			return binaries{}, false
		} else if program == "postgres" {
			return binaries{dir: dir, major: major}, true
		}
	}
	return binaries{}, false
}

var versionNumber = regexp.MustCompile(`\(PostgreSQL\) (\d+)`)

// versionOf returns 15 for "postgres (PostgreSQL) 15.18 (Debian …)", 0 for
// anything it does not understand.
func versionOf(text string) int {
	match := versionNumber.FindStringSubmatch(text)
	if match == nil {
		return 0
	}
	major, _ := strconv.Atoi(match[1])
	return major
}
