package testenv

import (
	"context"
	"crypto/rand"
	"database/sql"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	_ "github.com/jackc/pgx/v5/stdlib" // the "pgx" driver that migrations run on

	"github.com/botix-pro/platform/migrations"
)

const (
	// AdminURLVariable names the environment variable with a superuser's URL of
	// the server that "make test" started. Its template database is there.
	AdminURLVariable = "BOTIX_TEST_DATABASE_URL"

	templateName = "botix_template"
	setUpTimeout = 3 * time.Minute
	cloneTimeout = time.Minute
	clonePause   = 50 * time.Millisecond
)

// DatabaseURL returns the URL of the package's own database: migrated, empty
// at the package's start, shared by its tests. Tests run in it in parallel,
// each with its own project. The server takes 300 connections from all
// packages together: keep a test's pool small (4 is plenty).
func DatabaseURL(t testing.TB) string {
	t.Helper()
	pkg.require(t)
	location, err := pkg.database()
	if err != nil {
		t.Fatalf("testenv: %v", err)
	}
	return location
}

// FreshDatabaseURL returns the URL of a new, migrated database for this test
// alone. It is dropped, with whatever is still connected, when the test ends.
func FreshDatabaseURL(t testing.TB) string {
	t.Helper()
	pkg.require(t)
	admin, err := pkg.admin()
	if err != nil {
		t.Fatalf("testenv: %v", err)
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(t.Context()), cloneTimeout)
	defer cancel()
	name := databaseName()
	if err := cloneTemplate(ctx, admin, name); err != nil {
		t.Fatalf("testenv: %v", err)
	}
	t.Cleanup(func() {
		if err := dropDatabase(context.WithoutCancel(t.Context()), admin, name); err != nil {
			t.Errorf("testenv: %v", err)
		}
	})
	return withDatabase(admin, name)
}

// makeDatabase clones the package's database.
func (p *testPackage) makeDatabase() (string, error) {
	admin, err := p.admin()
	if err != nil {
		return "", err
	}
	ctx, cancel := context.WithTimeout(context.Background(), cloneTimeout)
	defer cancel()
	name := databaseName()
	if err := cloneTemplate(ctx, admin, name); err != nil {
		return "", err
	}
	p.later(func(ctx context.Context) error { return dropDatabase(ctx, admin, name) })
	return withDatabase(admin, name), nil
}

// findServer returns the shared server's URL, or starts one for this package.
func (p *testPackage) findServer() (string, error) {
	if shared := os.Getenv(AdminURLVariable); shared != "" {
		return shared, nil
	}
	ctx, cancel := context.WithTimeout(context.Background(), setUpTimeout)
	defer cancel()
	server, err := startServer(ctx, false, nil)
	if err != nil {
		return "", err
	}
	p.later(server.stop)
	if err := buildTemplate(ctx, server.adminURL()); err != nil {
		return "", err
	}
	return server.adminURL(), nil
}

// buildTemplate creates the migrated database that all others are cloned from.
// Nobody may connect to it: one session would make cloning fail.
func buildTemplate(ctx context.Context, admin string) error {
	if err := executeOn(ctx, admin, "CREATE DATABASE "+templateName); err != nil {
		return fmt.Errorf("create the template database: %w", err)
	}
	if err := migrate(ctx, withDatabase(admin, templateName)); err != nil {
		return err
	}
	err := executeOn(ctx, admin, "ALTER DATABASE "+templateName+" WITH IS_TEMPLATE true ALLOW_CONNECTIONS false")
	if err != nil {
		return fmt.Errorf("close the template database: %w", err)
	}
	return nil
}

func migrate(ctx context.Context, location string) (err error) {
	db, err := sql.Open("pgx", location)
	if err != nil {
		return fmt.Errorf("open the database to migrate: %w", err)
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	if err := migrations.Up(ctx, db); err != nil {
		return fmt.Errorf("migrate the test database: %w", err)
	}
	return nil
}

// cloneTemplate copies the template. Many packages do so at once, and the
// server refuses while anything touches the template or all connections are
// taken, so it is tried until ctx is over.
func cloneTemplate(ctx context.Context, admin, name string) error {
	statement := "CREATE DATABASE " + pgx.Identifier{name}.Sanitize() + " TEMPLATE " + templateName
	for {
		err := executeOn(ctx, admin, statement)
		if err == nil {
			return nil
		}
		if !passes(err) {
			return fmt.Errorf("clone the template database: %w", err)
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("clone the template database: %w (%w)", ctx.Err(), err)
		case <-time.After(clonePause):
		}
	}
}

// passes tells a refusal that goes away by itself: 55006 the template is being
// used, 53300 all connections are taken.
func passes(err error) bool {
	var refusal *pgconn.PgError
	return errors.As(err, &refusal) && (refusal.Code == "55006" || refusal.Code == "53300")
}

func dropDatabase(ctx context.Context, admin, name string) error {
	ctx, cancel := context.WithTimeout(ctx, cloneTimeout)
	defer cancel()
	err := executeOn(ctx, admin, "DROP DATABASE IF EXISTS "+pgx.Identifier{name}.Sanitize()+" WITH (FORCE)")
	if err != nil {
		return fmt.Errorf("drop test database %s: %w", name, err)
	}
	return nil
}

func executeOn(ctx context.Context, location, statement string) error {
	conn, err := pgx.Connect(ctx, location)
	if err != nil {
		return fmt.Errorf("connect to the test server: %w", err)
	}
	defer func() { _ = conn.Close(context.WithoutCancel(ctx)) }()
	if _, err := conn.Exec(ctx, statement); err != nil {
		return fmt.Errorf("%s: %w", statement, err)
	}
	return nil
}

var notForNames = regexp.MustCompile(`[^a-z0-9]+`)

// databaseName makes a new name that says which package's tests it is for.
func databaseName() string {
	binary := strings.TrimSuffix(strings.ToLower(filepath.Base(os.Args[0])), ".test")
	pkgName := notForNames.ReplaceAllString(binary, "_")
	return "t_" + pkgName[:min(40, len(pkgName))] + "_" + strings.ToLower(rand.Text()[:10]) // names have 63 bytes at most
}

// withDatabase returns the URL of another database on the same server.
func withDatabase(location, name string) string {
	parsed, err := url.Parse(location)
	if err != nil {
		return location // connecting with it reports what is wrong with it
	}
	parsed.Path = "/" + name
	return parsed.String()
}
