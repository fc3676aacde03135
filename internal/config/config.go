package config

import (
	"fmt"
	"log/slog"
	"net"
	"net/netip"
	"net/url"
	"strings"
	"time"

	"github.com/caarlos0/env/v11"
)

// Config is every setting of the platform. Both programs read the same
// variables, so that one .env serves the whole stack.
type Config struct {
	// DatabaseURL is PostgreSQL's, postgres://user:password@host/name.
	DatabaseURL string `env:"DATABASE_URL"`
	// DatabaseMaxConns is the size of one process's pool, at least 2. All the
	// processes' together must stay below the server's max_connections; a worker has
	// one more, by which others know that it is there.
	DatabaseMaxConns int `env:"DATABASE_MAX_CONNS" envDefault:"20"`
	// RedisURL is redis://, rediss:// or redis-sentinel://.
	RedisURL string `env:"REDIS_URL"`

	// Addr is where the API, the dashboard and the docs listen, host:port.
	Addr string `env:"ADDR" envDefault:":8080"`
	// InternalAddr is where /metrics, /healthz, /readyz and /debug/pprof/ listen,
	// host:port.
	InternalAddr string `env:"INTERNAL_ADDR" envDefault:"127.0.0.1:9090"`
	// PublicURL is how callers reach Addr, without a path; links in answers
	// begin with it.
	PublicURL string `env:"PUBLIC_URL"`

	// InspectorURL is how callers and our own worker reach the inspector's
	// listener, without a path; empty: there is no listener. It is another origin
	// than PublicURL's.
	InspectorURL string `env:"INSPECTOR_URL"`
	// InspectorAddr is where the inspector captures requests, host:port.
	InspectorAddr string `env:"INSPECTOR_ADDR" envDefault:":8081"`
	// InspectorDirectAddr is where a worker finds that listener without leaving our
	// network, host:port; empty: at InspectorAddr on its own machine.
	InspectorDirectAddr string `env:"INSPECTOR_DIRECT_ADDR"`

	// EncryptionKeys encrypt secrets at rest: base64 of 32 bytes each, newest first.
	EncryptionKeys []string `env:"ENCRYPTION_KEYS"`
	// TrustedProxies are the networks whose X-Forwarded-For is believed.
	TrustedProxies []netip.Prefix `env:"TRUSTED_PROXIES"`
	// SpoolDir is where bodies over 1 MiB are kept while they are received, at most
	// four at once of 16 MiB; empty is the system's temporary directory.
	SpoolDir string `env:"SPOOL_DIR"`
	// EgressAllow are non-public networks that webhooks may reach.
	EgressAllow []netip.Prefix `env:"EGRESS_ALLOW_CIDRS"`

	// ServerCount is how many servers share a limit while Redis is away.
	ServerCount int `env:"SERVER_COUNT" envDefault:"1"`
	// UnauthenticatedRate is the requests a minute that one address may make
	// without a valid key.
	UnauthenticatedRate int `env:"UNAUTHENTICATED_RATE_PER_MINUTE" envDefault:"60"`

	// WebhookRetrySchedule is the delays after failed steps (contract §5).
	WebhookRetrySchedule []time.Duration `env:"WEBHOOK_RETRY_SCHEDULE" envDefault:"1m,15m,1h,24h"`
	// MessageRetrySchedule is the delays after tries of a message that certainly
	// did not reach its channel; after the last it has failed.
	MessageRetrySchedule []time.Duration `env:"MESSAGE_RETRY_SCHEDULE" envDefault:"5s,15s,1m,5m,15m,1h,3h,6h"`
	// WorkerConcurrency is how many endpoints one worker serves at a time.
	WorkerConcurrency int `env:"WORKER_CONCURRENCY" envDefault:"64"`

	// ArchiveURL is the bucket that expired dead letters go to, file:///folder or
	// s3://bucket; empty: those of plans with the archive are kept.
	ArchiveURL string `env:"ARCHIVE_URL"`

	// SMTPURL is the server that sends notices, smtp://user:password@host:587 or
	// smtps://; empty: they are on the dashboard only.
	SMTPURL string `env:"SMTP_URL"`
	// SMTPFrom is the sender of those mails, "Name <address>" or an address.
	SMTPFrom string `env:"SMTP_FROM"`

	// Version is the binary's own, for User-Agent and the log; not a variable.
	Version string `env:"-"`

	// LogLevel is the least that is logged: debug, info, warn or error.
	LogLevel slog.Level `env:"LOG_LEVEL" envDefault:"info"`
	// LogFormat is json or text.
	LogFormat string `env:"LOG_FORMAT" envDefault:"json"`
	// ShutdownTimeout bounds a graceful stop; webhooks in flight need 40 seconds.
	ShutdownTimeout time.Duration `env:"SHUTDOWN_TIMEOUT" envDefault:"50s"`
}

// Load reads the settings from environment ("NAME=value" lines, as os.Environ
// returns them). A variable that is set to nothing counts as not set. The error
// names every variable that is missing or wrong, and repeats no secret.
func Load(environment []string) (Config, error) {
	variables := tidy(env.ToMap(environment))
	cfg, err := env.ParseAsWithOptions[Config](env.Options{Environment: variables})
	found := unreadable(err, variables)
	for _, p := range cfg.problems() {
		found.add(p) // an unreadable value is left at zero: one complaint about it is enough
	}
	if err := found.err(); err != nil {
		return Config{}, fmt.Errorf("configuration:\n%w", err)
	}
	cfg.PublicURL = strings.TrimSuffix(cfg.PublicURL, "/")
	cfg.InspectorURL = strings.TrimSuffix(cfg.InspectorURL, "/")
	return cfg, nil
}

// InspectorDirect is where a worker finds the inspector's listener, "host:port".
func (c Config) InspectorDirect() string {
	if c.InspectorDirectAddr != "" {
		return c.InspectorDirectAddr
	}
	host, port, _ := net.SplitHostPort(c.InspectorAddr) // checked by Load
	if addr, err := netip.ParseAddr(host); host == "" || err == nil && addr.IsUnspecified() {
		host = "localhost"
	}
	return net.JoinHostPort(host, port)
}

// Validate returns everything that is wrong with the settings, a line each, or
// nil.
func (c Config) Validate() error { return c.problems().err() }

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
		slog.String("inspector_url", c.InspectorURL),
		slog.String("inspector_addr", c.InspectorAddr),
		slog.String("inspector_direct_addr", c.InspectorDirectAddr),
		slog.Int("encryption_keys", len(c.EncryptionKeys)),
		slog.Any("trusted_proxies", c.TrustedProxies),
		slog.String("spool_dir", c.SpoolDir),
		slog.Any("egress_allow", c.EgressAllow),
		slog.Int("server_count", c.ServerCount),
		slog.Int("unauthenticated_rate_per_minute", c.UnauthenticatedRate),
		slog.String("webhook_retry_schedule", fmt.Sprint(c.WebhookRetrySchedule)),
		slog.String("message_retry_schedule", fmt.Sprint(c.MessageRetrySchedule)),
		slog.Int("worker_concurrency", c.WorkerConcurrency),
		slog.String("archive", masked(c.ArchiveURL)),
		slog.String("smtp", masked(c.SMTPURL)),
		slog.String("smtp_from", c.SMTPFrom),
		slog.String("log_level", c.LogLevel.String()),
		slog.String("shutdown_timeout", c.ShutdownTimeout.String()),
	)
}

// String implements [fmt.Stringer], so that printing a Config by accident does
// not print its secrets.
func (c Config) String() string { return c.LogValue().String() }

// masked shows where a URL leads: neither its password nor its parameters,
// which may hold one too.
func masked(raw string) string {
	parsed, err := url.Parse(raw)
	if err != nil {
		return "(not a URL)"
	}
	shown := url.URL{Scheme: parsed.Scheme, Host: parsed.Host, Path: parsed.Path}
	if name := parsed.User.Username(); name != "" {
		shown.User = url.User(name)
	}
	return shown.String()
}
