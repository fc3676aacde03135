package config

import (
	"errors"
	"fmt"
	"log/slog"
	"net/netip"
	"net/url"
	"strings"
	"time"

	"github.com/caarlos0/env/v11"

	"github.com/botix-pro/platform/internal/seal"
)

// Config is every setting of the platform. Both programs read the same
// variables, so that one .env serves the whole stack.
type Config struct {
	// DatabaseURL is PostgreSQL's, postgres://user:password@host/name.
	DatabaseURL string `env:"DATABASE_URL"`
	// DatabaseMaxConns is the size of one process's pool.
	DatabaseMaxConns int `env:"DATABASE_MAX_CONNS" envDefault:"20"`
	// RedisURL is redis://, rediss:// or redis-sentinel://.
	RedisURL string `env:"REDIS_URL"`

	// Addr is where the API, the dashboard and the docs listen.
	Addr string `env:"ADDR" envDefault:":8080"`
	// InternalAddr is where /metrics, /healthz and /readyz listen.
	InternalAddr string `env:"INTERNAL_ADDR" envDefault:"127.0.0.1:9090"`
	// PublicURL is how callers reach Addr; links in answers begin with it.
	PublicURL string `env:"PUBLIC_URL"`

	// EncryptionKeys encrypt secrets at rest: base64 of 32 bytes each, newest first.
	EncryptionKeys []string `env:"ENCRYPTION_KEYS"`
	// TrustedProxies are the networks whose X-Forwarded-For is believed.
	TrustedProxies []netip.Prefix `env:"TRUSTED_PROXIES"`
	// EgressAllow are non-public networks that webhooks may reach.
	EgressAllow []netip.Prefix `env:"EGRESS_ALLOW_CIDRS"`

	// ServerCount is how many servers share a limit while Redis is away.
	ServerCount int `env:"SERVER_COUNT" envDefault:"1"`
	// UnauthenticatedRate is the requests a minute that one address may make
	// without a valid key.
	UnauthenticatedRate int `env:"UNAUTHENTICATED_RATE_PER_MINUTE" envDefault:"60"`

	// WebhookRetrySchedule is the delays after failed steps.
	WebhookRetrySchedule []time.Duration `env:"WEBHOOK_RETRY_SCHEDULE" envDefault:"1m,15m,1h,24h"`
	// WorkerConcurrency is how many endpoints one worker serves at a time.
	WorkerConcurrency int `env:"WORKER_CONCURRENCY" envDefault:"64"`

	// Version is the binary's own, for User-Agent and the log; not a variable.
	Version string `env:"-"`

	LogLevel  slog.Level `env:"LOG_LEVEL" envDefault:"info"`
	LogFormat string     `env:"LOG_FORMAT" envDefault:"json"`
	// ShutdownTimeout bounds a graceful stop; webhooks in flight need 40 seconds.
	ShutdownTimeout time.Duration `env:"SHUTDOWN_TIMEOUT" envDefault:"50s"`
}

// minShutdown is the longest exchange with a receiver and the time to record it.
const minShutdown = 45 * time.Second

// Load reads the settings from environment ("NAME=value" lines, as os.Environ
// returns them). The error names every variable that is missing or wrong.
func Load(environment []string) (Config, error) {
	cfg, err := env.ParseAsWithOptions[Config](env.Options{Environment: env.ToMap(environment)})
	if err == nil {
		err = cfg.Validate()
	}
	if err != nil {
		return Config{}, fmt.Errorf("configuration:\n%s", problems(err))
	}
	return cfg, nil
}

// problems lists what is wrong, a line each.
func problems(err error) string {
	var list env.AggregateError
	lines := []string{}
	if errors.As(err, &list) {
		for _, problem := range list.Errors {
			lines = append(lines, "  - "+problem.Error())
		}
	} else {
		for line := range strings.SplitSeq(err.Error(), "\n") {
			lines = append(lines, "  - "+line)
		}
	}
	return strings.Join(lines, "\n")
}

// Validate returns everything that is wrong with the settings, joined.
func (c Config) Validate() error {
	return errors.Join(
		checkURL("DATABASE_URL", c.DatabaseURL, "postgres", "postgresql"),
		checkURL("REDIS_URL", c.RedisURL, "redis", "rediss", "redis-sentinel"),
		checkURL("PUBLIC_URL", c.PublicURL, "http", "https"),
		c.checkKeys(),
		atLeast("DATABASE_MAX_CONNS", c.DatabaseMaxConns, 2),
		atLeast("SERVER_COUNT", c.ServerCount, 1),
		atLeast("UNAUTHENTICATED_RATE_PER_MINUTE", c.UnauthenticatedRate, 1),
		atLeast("WORKER_CONCURRENCY", c.WorkerConcurrency, 1),
		c.checkSchedule(),
		c.checkFormat(),
		c.checkShutdown(),
	)
}

func checkURL(name, value string, schemes ...string) error {
	if value == "" {
		return fmt.Errorf("%s is not set", name)
	}
	parsed, err := url.Parse(value)
	if err != nil {
		return fmt.Errorf("%s is not a URL", name) // the error would repeat the value, password included
	}
	for _, scheme := range schemes {
		if parsed.Scheme == scheme {
			return nil
		}
	}
	return fmt.Errorf("%s must begin with %s://", name, strings.Join(schemes, ":// or "))
}

func (c Config) checkKeys() error {
	if len(c.EncryptionKeys) == 0 {
		return errors.New("ENCRYPTION_KEYS is not set; make one with: openssl rand -base64 32")
	}
	if _, err := seal.New(c.EncryptionKeys); err != nil {
		return fmt.Errorf("ENCRYPTION_KEYS: %w", err)
	}
	return nil
}

func atLeast(name string, value, low int) error {
	if value < low {
		return fmt.Errorf("%s is %d, must be at least %d", name, value, low)
	}
	return nil
}

func (c Config) checkSchedule() error {
	if len(c.WebhookRetrySchedule) == 0 {
		return errors.New("WEBHOOK_RETRY_SCHEDULE needs at least one delay, e.g. 1m,15m,1h,24h")
	}
	for _, delay := range c.WebhookRetrySchedule {
		if delay <= 0 {
			return fmt.Errorf("WEBHOOK_RETRY_SCHEDULE has the delay %s; delays are positive", delay)
		}
	}
	return nil
}

func (c Config) checkFormat() error {
	if c.LogFormat != "json" && c.LogFormat != "text" {
		return fmt.Errorf("LOG_FORMAT is %q, must be json or text", c.LogFormat)
	}
	return nil
}

func (c Config) checkShutdown() error {
	if c.ShutdownTimeout < minShutdown {
		return fmt.Errorf("SHUTDOWN_TIMEOUT is %s; webhooks in flight need at least %s to end", c.ShutdownTimeout, minShutdown)
	}
	return nil
}

// Warnings lists settings that work but are probably not meant.
func (c Config) Warnings() []string {
	var list []string
	if len(c.EgressAllow) > 0 {
		list = append(list, "EGRESS_ALLOW_CIDRS opens non-public networks to every project's webhooks")
	}
	if strings.HasPrefix(c.PublicURL, "http://") {
		list = append(list, "PUBLIC_URL is not https: API keys and sessions travel in the clear")
	}
	return list
}

// LogValue implements [slog.LogValuer]: the settings without their secrets.
func (c Config) LogValue() slog.Value {
	return slog.GroupValue(
		slog.String("version", c.Version),
		slog.String("database", masked(c.DatabaseURL)),
		slog.Int("database_max_conns", c.DatabaseMaxConns),
		slog.String("redis", masked(c.RedisURL)),
		slog.String("addr", c.Addr),
		slog.String("internal_addr", c.InternalAddr),
		slog.String("public_url", c.PublicURL),
		slog.Int("encryption_keys", len(c.EncryptionKeys)),
		slog.Any("trusted_proxies", c.TrustedProxies),
		slog.Any("egress_allow", c.EgressAllow),
		slog.Int("server_count", c.ServerCount),
		slog.Any("webhook_retry_schedule", c.WebhookRetrySchedule),
		slog.Int("worker_concurrency", c.WorkerConcurrency),
		slog.Duration("shutdown_timeout", c.ShutdownTimeout),
	)
}

// masked shows a URL without its password.
func masked(raw string) string {
	parsed, err := url.Parse(raw)
	if err != nil {
		return "(not a URL)"
	}
	return parsed.Redacted()
}
