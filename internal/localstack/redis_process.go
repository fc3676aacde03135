package localstack

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/redis/go-redis/v9"
)

const redisStartTimeout = 30 * time.Second

// redisStop: SIGTERM writes out what is to be kept.
var redisStop = []stopStep{
	{syscall.SIGTERM, 10 * time.Second},
	{syscall.SIGKILL, 5 * time.Second},
}

// redisDefaults can be overridden by Options.Settings. There are no snapshots
// (save): the append-only file is the one copy on disk.
var redisDefaults = map[string]string{
	"appendonly":       "yes",
	"save":             `""`,
	"maxmemory-policy": "noeviction",
}

// redisEphemeral are the defaults for data that nobody misses.
var redisEphemeral = map[string]string{
	"appendonly":       "no",
	"save":             `""`,
	"maxmemory-policy": "noeviction",
}

// redisProcess runs redis-server as a child.
type redisProcess struct {
	opts     Options
	program  string
	home     string
	password string
	child    *child
}

func (p *redisProcess) logPath() string { return filepath.Join(p.home, "redis.log") }
func (p *redisProcess) pidPath() string { return filepath.Join(p.home, "redis.pid") }
func (p *redisProcess) alive() bool     { return p.child.alive() }

func (p *redisProcess) pid() int {
	if !p.child.alive() {
		return 0
	}
	return p.child.process.Pid
}

func (p *redisProcess) start(ctx context.Context, port int) error {
	logFile, err := os.OpenFile(p.logPath(), os.O_CREATE|os.O_TRUNC|os.O_WRONLY, 0o600)
	if err != nil {
		return fmt.Errorf("open the server's log: %w", err)
	}
	defer func() { _ = logFile.Close() }()
	self := account{}
	// Not tied to ctx: the server outlives the call that starts it.
	cmd := self.command(context.WithoutCancel(ctx), p.home, p.program, "-")
	cmd.Stdin = strings.NewReader(p.config(port)) // the password stays off the command line and the disk
	cmd.Stdout, cmd.Stderr = logFile, logFile
	server, err := startChild(cmd, syscall.SIGTERM)
	if err != nil {
		return err
	}
	if err := p.untilReady(ctx, server, port); err != nil {
		return errors.Join(err, server.stop(ctx, redisStop...))
	}
	p.child = server
	go server.report(p.opts.Log, "Redis", p.logPath())
	p.opts.Log.InfoContext(ctx, "Redis is running", "address", address(port), "data", p.home)
	return nil
}

// config is redis.conf's text, read by the server from its standard input.
func (p *redisProcess) config(port int) string {
	defaults := redisDefaults
	if p.opts.Ephemeral {
		defaults = redisEphemeral
	}
	settings := p.opts.settings(defaults)
	settings["bind"] = loopback
	settings["port"] = strconv.Itoa(port)
	settings["requirepass"] = p.password
	settings["dir"] = strconv.Quote(p.home)
	settings["pidfile"] = strconv.Quote(p.pidPath())
	settings["daemonize"] = "no"
	settings["logfile"] = `""`
	var text strings.Builder
	for name, value := range settings {
		fmt.Fprintf(&text, "%s %s\n", name, value)
	}
	return text.String()
}

func (p *redisProcess) untilReady(ctx context.Context, server *child, port int) error {
	ctx, cancel := context.WithTimeout(ctx, redisStartTimeout)
	defer cancel()
	client := redis.NewClient(&redis.Options{Addr: address(port), Password: p.password, MaxRetries: -1, PoolSize: 1})
	defer func() { _ = client.Close() }()
	for {
		// "LOADING" is an error too, so this waits for the data as well.
		err := client.Ping(ctx).Err()
		if err == nil {
			return nil
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

func (p *redisProcess) whyEnded() error {
	tail := logTail(p.logPath())
	if strings.Contains(tail, "Address already in use") {
		return fmt.Errorf("%w:\n%s", errPortTaken, tail)
	}
	return fmt.Errorf("the server ended at once; its log ends with:\n%s", tail)
}

func (p *redisProcess) stop(ctx context.Context) error {
	if !p.child.alive() {
		return nil
	}
	return p.child.stop(ctx, redisStop...)
}

func (p *redisProcess) kill() error {
	if !p.child.alive() {
		return nil
	}
	return p.child.stop(context.Background(), redisStop[len(redisStop)-1])
}

// redisTitle is what redis-server makes of its own command line.
var redisTitle = regexp.MustCompile(`redis-server 127\.0\.0\.1:\d+`)

// stopStray ends a server that an earlier, killed run left behind here. The
// caller holds the folder's lock, so no run of ours owns it.
func (p *redisProcess) stopStray(ctx context.Context) error {
	pid := firstNumber(p.pidPath())
	if pid == 0 || !redisTitle.MatchString(commandLine(pid)) || !worksIn(pid, p.home) {
		return nil
	}
	return endStray(ctx, pid, redisStop...)
}
