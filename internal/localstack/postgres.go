package localstack

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

// DefaultDatabase exists on every server that StartPostgres returns.
const DefaultDatabase = "botix"

const (
	postgresStartTimeout = 60 * time.Second
	readyPoll            = 25 * time.Millisecond
)

// postgresStop: SIGINT ends sessions and shuts down cleanly, SIGQUIT leaves
// the rest to crash recovery, SIGKILL is the last word.
var postgresStop = []stopStep{
	{syscall.SIGINT, 20 * time.Second},
	{syscall.SIGQUIT, 5 * time.Second},
	{syscall.SIGKILL, 5 * time.Second},
}

// postgresDefaults can be overridden by Options.Settings, except for the
// address, which is always a port of 127.0.0.1.
var postgresDefaults = map[string]string{
	"max_connections": "200",
	"timezone":        "UTC",
	"log_timezone":    "UTC",
}

// Postgres is a private PostgreSQL server. Its methods may be called from any
// goroutine.
type Postgres struct {
	opts     Options
	owner    account
	home     string // data, log and lock; reachable by owner
	lock     *folderLock
	binaries binaries
	password string

	mu      sync.Mutex
	port    int
	running *child
}

// StartPostgres starts a private server on the data in opts.Dir, creating them
// the first time, and returns once it answers queries and has DefaultDatabase.
// Errors: *InUseError when another run uses the folder; otherwise a text that
// says what is missing and how to get it.
func StartPostgres(ctx context.Context, opts Options) (*Postgres, error) {
	opts, err := opts.prepared()
	if err != nil {
		return nil, err
	}
	p := &Postgres{opts: opts}
	if err := p.open(ctx); err != nil {
		return nil, errors.Join(fmt.Errorf("start the local PostgreSQL: %w", err), p.release())
	}
	if err := p.Start(ctx); err != nil {
		return nil, errors.Join(err, p.Stop(ctx))
	}
	return p, nil
}

// open finds everything that stays the same over restarts: account, folder,
// lock, programs, password and cluster.
func (p *Postgres) open(ctx context.Context) (err error) {
	locate := newLocator(p.opts.Dir)
	p.home = locate.existing()
	if p.owner, err = accountFor(p.home); err != nil {
		return err
	}
	if p.home == "" {
		p.home, err = locate.create(ctx, p.owner)
	} else {
		err = locate.confirm(ctx, p.home, p.owner)
	}
	if err != nil {
		return err
	}
	if p.lock, err = lockDir(p.home); err != nil {
		return err
	}
	if err = stopStray(ctx, p.dataDir()); err != nil {
		return err
	}
	return p.openCluster(ctx)
}

func (p *Postgres) openCluster(ctx context.Context) (err error) {
	major, exists := clusterExists(p.dataDir())
	finder := postgresFinder{owner: p.owner, major: major, folders: machineFolders, log: p.opts.Log}
	if p.binaries, err = finder.find(ctx, p.opts.AllowInstall); err != nil {
		return err
	}
	if p.password, err = passwordAt(filepath.Join(p.opts.Dir, passwordName)); err != nil || exists {
		return err
	}
	p.opts.Log.InfoContext(ctx, "creating a PostgreSQL cluster", "folder", p.home, "version", p.binaries.major)
	return createCluster(ctx, p.binaries, p.owner, p.home, p.password, !p.opts.Ephemeral)
}

func (p *Postgres) dataDir() string { return filepath.Join(p.home, "data") }

// LogPath is the file that the server writes its log to.
func (p *Postgres) LogPath() string { return p.logPath() }

func (p *Postgres) logPath() string { return filepath.Join(p.home, "postgres.log") }

// URL returns the connection string of one of the server's databases; the
// role in it is a superuser. It stays the same over Stop, Kill and Start.
func (p *Postgres) URL(database string) string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.url(database)
}

func (p *Postgres) url(database string) string {
	location := url.URL{
		Scheme: "postgres", User: url.UserPassword(superuser, p.password),
		Host: address(p.port), Path: "/" + database, RawQuery: "sslmode=disable",
	}
	return location.String()
}

// PID returns the server's process id, or 0 while it does not run.
func (p *Postgres) PID() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.running.alive() {
		return 0
	}
	return p.running.process.Pid
}

// Start starts a server that was stopped or killed again, on the same port and
// data, and returns once it answers. It does nothing while the server runs.
func (p *Postgres) Start(ctx context.Context) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.running.alive() {
		return nil
	}
	if err := p.start(ctx); err != nil {
		return fmt.Errorf("start the local PostgreSQL: %w", err)
	}
	return nil
}

func (p *Postgres) start(ctx context.Context) (err error) {
	if p.lock == nil {
		if p.lock, err = lockDir(p.home); err != nil {
			return err
		}
	}
	p.port, err = tryPorts(ctx, p.port, p.launch)
	return err
}

// launch makes one try at starting the server on a port.
func (p *Postgres) launch(ctx context.Context, port int) error {
	p.port = port
	logFile, err := os.OpenFile(p.logPath(), os.O_CREATE|os.O_TRUNC|os.O_WRONLY, 0o600)
	if err != nil {
		return fmt.Errorf("open the server's log: %w", err)
	}
	defer func() { _ = logFile.Close() }()
	// Not tied to ctx: the server outlives the call that starts it.
	cmd := p.owner.command(context.WithoutCancel(ctx), p.home, filepath.Join(p.binaries.dir, "postgres"), p.arguments()...)
	cmd.Stdout, cmd.Stderr = logFile, logFile
	server, err := startChild(cmd, syscall.SIGINT)
	if err != nil {
		return err
	}
	if err := p.untilReady(ctx, server); err != nil {
		return errors.Join(err, server.stop(ctx, postgresStop...))
	}
	p.running = server
	go server.report(p.opts.Log, "PostgreSQL", p.logPath())
	p.opts.Log.InfoContext(ctx, "PostgreSQL is running", "address", address(p.port), "data", p.home)
	return nil
}

func (p *Postgres) arguments() []string {
	args := []string{"-D", p.dataDir()}
	if p.opts.Ephemeral {
		args = append(args, "-c", "fsync=off", "-c", "full_page_writes=off")
	}
	for name, value := range p.opts.settings(postgresDefaults) {
		args = append(args, "-c", name+"="+value)
	}
	return append(args, "-c", "listen_addresses="+loopback, "-c", "port="+strconv.Itoa(p.port),
		"-c", "unix_socket_directories=", "-c", "logging_collector=off", "-c", "log_destination=stderr")
}

// untilReady waits until the server takes connections and the default database
// is there.
func (p *Postgres) untilReady(ctx context.Context, server *child) error {
	ctx, cancel := context.WithTimeout(ctx, postgresStartTimeout)
	defer cancel()
	for {
		err := p.ensureDatabase(ctx, DefaultDatabase)
		if err == nil {
			return nil
		}
		var refusal *pgconn.PgError
		if errors.As(err, &refusal) && refusal.Code != "57P03" && !endsWithin(ctx, minGrace, server.done) {
			return fmt.Errorf("the server refuses us: %w", err)
		}
		select {
		case <-server.done:
			return p.whyEnded()
		case <-ctx.Done():
			return fmt.Errorf("the server does not answer: %w (%w); its log ends with:\n%s", ctx.Err(), err, logTail(p.logPath()))
		case <-time.After(readyPoll):
		}
	}
}

func (p *Postgres) whyEnded() error {
	tail := logTail(p.logPath())
	if strings.Contains(tail, "Address already in use") || strings.Contains(tail, "still in use") {
		return fmt.Errorf("%w:\n%s", errPortTaken, tail)
	}
	return fmt.Errorf("the server ended at once; its log ends with:\n%s", tail)
}

// ensureDatabase creates a database that is not there yet.
func (p *Postgres) ensureDatabase(ctx context.Context, name string) error {
	conn, err := pgx.Connect(ctx, p.url("postgres"))
	if err != nil {
		return fmt.Errorf("connect: %w", err)
	}
	defer func() { _ = conn.Close(context.WithoutCancel(ctx)) }()
	var exists bool
	if err := conn.QueryRow(ctx, "SELECT EXISTS (SELECT FROM pg_database WHERE datname = $1)", name).Scan(&exists); err != nil {
		return fmt.Errorf("look for database %s: %w", name, err)
	}
	if exists {
		return nil
	}
	if _, err := conn.Exec(ctx, "CREATE DATABASE "+pgx.Identifier{name}.Sanitize()); err != nil {
		return fmt.Errorf("create database %s: %w", name, err)
	}
	return nil
}

// Stop ends the server cleanly: sessions are cut, data are written out. It is
// bounded (about half a minute; a done ctx shortens it to seconds), may be
// called twice, and lets the folder go for another run.
func (p *Postgres) Stop(ctx context.Context) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	err := p.halt(ctx, postgresStop...)
	if err = errors.Join(err, p.release()); err != nil {
		return fmt.Errorf("stop the local PostgreSQL: %w", err)
	}
	return nil
}

// Kill ends the server as a crash would (SIGKILL), its sessions' processes
// included, and returns when it is gone. The folder stays locked; Start brings the
// server back after recovery.
func (p *Postgres) Kill() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.running.alive() {
		return nil
	}
	// They would notice by themselves, but may answer once more before.
	sessions := childrenOf(p.running.process.Pid)
	err := p.halt(context.Background(), postgresStop[len(postgresStop)-1])
	for _, session := range sessions {
		_ = syscall.Kill(session, syscall.SIGKILL) // or it has ended
	}
	for _, session := range sessions {
		for parentOf(session) != 0 {
			<-time.After(time.Millisecond) // not our child: nothing tells
		}
	}
	return err
}

// Restart stops the server cleanly and starts it again on the same port and
// data. Every session is cut.
func (p *Postgres) Restart(ctx context.Context) error {
	p.mu.Lock()
	err := p.halt(ctx, postgresStop...)
	p.mu.Unlock()
	if err != nil {
		return fmt.Errorf("restart the local PostgreSQL: %w", err)
	}
	return p.Start(ctx)
}

func (p *Postgres) halt(ctx context.Context, steps ...stopStep) error {
	if !p.running.alive() {
		return nil
	}
	return p.running.stop(ctx, steps...)
}

// Remove stops the server for good and deletes its data, wherever they are.
func (p *Postgres) Remove(ctx context.Context) error {
	if err := p.Stop(ctx); err != nil {
		return err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, path := range []string{p.home, filepath.Join(p.opts.Dir, passwordName), filepath.Join(p.opts.Dir, pointerName)} {
		if err := os.RemoveAll(path); err != nil {
			return fmt.Errorf("remove the data of the local PostgreSQL: %w", err)
		}
	}
	return nil
}

func (p *Postgres) release() error {
	if p.lock == nil {
		return nil
	}
	err := p.lock.Close()
	p.lock = nil
	return err
}
