package localstack

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
)

// redisServer is what Redis runs on: a redis-server process, or the in-process
// stand-in where there is none.
type redisServer interface {
	start(ctx context.Context, port int) error
	stop(ctx context.Context) error
	kill() error
	alive() bool
	pid() int
}

// Redis is a private Redis server. Its methods may be called from any
// goroutine.
type Redis struct {
	opts     Options
	home     string
	lock     *folderLock
	password string

	mu     sync.Mutex
	port   int
	server redisServer
}

// StartRedis starts a private Redis on the data in opts.Dir and returns once
// it answers. It uses redis-server where it is found or may be installed, and
// otherwise an in-process stand-in that keeps nothing on disk. Errors:
// *InUseError when another run uses the folder.
func StartRedis(ctx context.Context, opts Options) (*Redis, error) {
	opts, err := opts.prepared()
	if err != nil {
		return nil, err
	}
	r := &Redis{opts: opts, home: filepath.Join(opts.Dir, "redis"), password: rand.Text()}
	if err := r.open(ctx); err != nil {
		return nil, errors.Join(fmt.Errorf("start the local Redis: %w", err), r.release())
	}
	if err := r.Start(ctx); err != nil {
		return nil, errors.Join(err, r.Stop(ctx))
	}
	return r, nil
}

func (r *Redis) open(ctx context.Context) (err error) {
	if err = os.MkdirAll(r.home, 0o700); err != nil {
		return fmt.Errorf("create the data folder: %w", err)
	}
	if r.lock, err = lockDir(r.home); err != nil {
		return err
	}
	r.server, err = r.choose(ctx)
	return err
}

// choose decides what Redis runs on.
func (r *Redis) choose(ctx context.Context) (redisServer, error) {
	program := lookUp("redis-server")
	if program == "" && r.opts.AllowInstall {
		if err := InstallPackages(ctx, r.opts.Log, "redis-server"); err != nil {
			r.opts.Log.InfoContext(ctx, "redis-server could not be installed", "reason", err)
		}
		program = lookUp("redis-server")
	}
	if program == "" {
		r.opts.Log.WarnContext(ctx, "redis-server was not found: using the in-process stand-in, which keeps nothing on disk")
		return newStandIn(r.password), nil
	}
	process := &redisProcess{opts: r.opts, program: program, home: r.home, password: r.password}
	return process, process.stopStray(ctx)
}

// lookUp returns the program's path, or "" when it is not installed.
func lookUp(name string) string {
	path, err := exec.LookPath(name)
	if err != nil {
		return ""
	}
	return path
}

// URL returns the connection string, password included. It stays the same
// over Stop, Kill and Start.
func (r *Redis) URL() string {
	location := url.URL{Scheme: "redis", User: url.UserPassword("", r.password), Host: r.Addr(), Path: "/0"}
	return location.String()
}

// Addr returns host:port, as a proxy in front of the server needs it. Clients
// use URL: the server asks for a password.
func (r *Redis) Addr() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return address(r.port)
}

// PID returns the server's process id, this process's own for the in-process
// stand-in, or 0 while the server does not run.
func (r *Redis) PID() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.server.pid()
}

// Start starts a server that was stopped or killed again, on the same port and
// data, and returns once it answers. It does nothing while the server runs.
func (r *Redis) Start(ctx context.Context) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.server.alive() {
		return nil
	}
	if err := r.start(ctx); err != nil {
		return fmt.Errorf("start the local Redis: %w", err)
	}
	return nil
}

func (r *Redis) start(ctx context.Context) (err error) {
	if r.lock == nil {
		if r.lock, err = lockDir(r.home); err != nil {
			return err
		}
	}
	r.port, err = tryPorts(ctx, r.port, r.server.start)
	return err
}

// Stop ends the server cleanly and lets the folder go for another run. It is
// bounded (about ten seconds; a done ctx shortens it) and may be called twice.
func (r *Redis) Stop(ctx context.Context) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	err := r.server.stop(ctx)
	if err = errors.Join(err, r.release()); err != nil {
		return fmt.Errorf("stop the local Redis: %w", err)
	}
	return nil
}

// Remove stops the server for good and deletes its data.
func (r *Redis) Remove(ctx context.Context) error {
	if err := r.Stop(ctx); err != nil {
		return err
	}
	if err := os.RemoveAll(r.home); err != nil {
		return fmt.Errorf("remove the data of the local Redis: %w", err)
	}
	return nil
}

// Kill ends the server as a crash would (SIGKILL), and returns when it is
// gone. The folder stays locked; Start brings the server back.
func (r *Redis) Kill() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if err := r.server.kill(); err != nil {
		return fmt.Errorf("kill the local Redis: %w", err)
	}
	return nil
}

func (r *Redis) release() error {
	if r.lock == nil {
		return nil
	}
	err := r.lock.Close()
	r.lock = nil
	return err
}
