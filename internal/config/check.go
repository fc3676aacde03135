package config

import (
	"errors"
	"fmt"
	"net"
	netmail "net/mail"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/botix-pro/platform/internal/mail"
	"github.com/botix-pro/platform/internal/seal"
)

// minShutdown is the longest exchange with a receiver (40 seconds, contract §5)
// and the time to record it.
const minShutdown = 45 * time.Second

// problem is one thing that is wrong with one variable.
type problem struct {
	variable string
	text     string // continues the sentence that begins with the variable
}

// problems collects at most one problem per variable, in the order found.
type problems []problem

func (p *problems) add(one problem) {
	if one.variable == "" || !slices.ContainsFunc(*p, func(known problem) bool { return known.variable == one.variable }) {
		*p = append(*p, one)
	}
}

// complain adds what check found, if anything.
func (p *problems) complain(variable, text string) {
	if text != "" {
		p.add(problem{variable, text})
	}
}

func (p problems) err() error {
	if len(p) == 0 {
		return nil
	}
	lines := make([]string, len(p))
	for i, one := range p {
		lines[i] = "  - " + strings.TrimSpace(one.variable+" "+one.text)
	}
	return errors.New(strings.Join(lines, "\n"))
}

// problems checks every setting. Each check returns what is wrong, as the rest
// of a sentence, or nothing; none repeats a value that may hold a secret.
func (c Config) problems() problems {
	var p problems
	p.complain("DATABASE_URL", databaseURL(c.DatabaseURL))
	p.complain("DATABASE_MAX_CONNS", atLeast(c.DatabaseMaxConns, 2))
	p.complain("REDIS_URL", redisURL(c.RedisURL))
	p.complain("ADDR", address(c.Addr))
	p.complain("INTERNAL_ADDR", address(c.InternalAddr))
	if c.Addr == c.InternalAddr && !strings.HasSuffix(c.Addr, ":0") {
		p.complain("INTERNAL_ADDR", "is the same as ADDR: metrics would be public")
	}
	p.complain("PUBLIC_URL", publicURL(c.PublicURL))
	p.complain("INSPECTOR_URL", inspectorURL(c.InspectorURL, c.PublicURL))
	p.complain("INSPECTOR_ADDR", address(c.InspectorAddr))
	if c.InspectorDirectAddr != "" {
		p.complain("INSPECTOR_DIRECT_ADDR", address(c.InspectorDirectAddr))
	}
	p.complain("ENCRYPTION_KEYS", encryptionKeys(c.EncryptionKeys))
	p.complain("SERVER_COUNT", atLeast(c.ServerCount, 1))
	p.complain("UNAUTHENTICATED_RATE_PER_MINUTE", atLeast(c.UnauthenticatedRate, 1))
	p.complain("WEBHOOK_RETRY_SCHEDULE", schedule(c.WebhookRetrySchedule))
	p.complain("MESSAGE_RETRY_SCHEDULE", schedule(c.MessageRetrySchedule))
	p.complain("WORKER_CONCURRENCY", atLeast(c.WorkerConcurrency, 1))
	p.complain("ARCHIVE_URL", archiveURL(c.ArchiveURL))
	p.complain("SMTP_FROM", smtpFrom(c.SMTPURL, c.SMTPFrom))
	p.complain("SMTP_URL", smtpURL(c.SMTPURL))
	if c.LogFormat != "json" && c.LogFormat != "text" {
		p.complain("LOG_FORMAT", fmt.Sprintf("is %q, must be json or text", c.LogFormat))
	}
	if c.ShutdownTimeout < minShutdown {
		p.complain("SHUTDOWN_TIMEOUT", fmt.Sprintf("is %s; webhooks in flight need at least %s to end", c.ShutdownTimeout, minShutdown))
	}
	return p
}

const unset = "is not set"

// parseURL returns the parsed value, or what is wrong with it. The parser's own
// words would repeat the value, password included.
func parseURL(value string, schemes ...string) (parsed *url.URL, wrong string) {
	if value == "" {
		return nil, unset
	}
	parsed, err := url.Parse(value)
	switch {
	case err != nil:
		return nil, "is not a URL (characters like @ : / % in a password are written percent-encoded)"
	case !slices.Contains(schemes, parsed.Scheme):
		return nil, "must begin with " + strings.Join(schemes, ":// or ") + "://"
	default:
		return parsed, ""
	}
}

// databaseURL insists on a host and a database: what is left out, the driver
// would guess from the machine it runs on.
func databaseURL(value string) string {
	parsed, wrong := parseURL(value, "postgres", "postgresql")
	switch {
	case wrong != "":
		return wrong
	case parsed.Host == "" && parsed.Query().Get("host") == "":
		return "names no host"
	case strings.Trim(parsed.Path, "/") == "":
		return "names no database: postgres://user:password@host/name"
	default:
		return ""
	}
}

func redisURL(value string) string {
	parsed, wrong := parseURL(value, "redis", "rediss", "redis-sentinel")
	switch {
	case wrong != "":
		return wrong
	case parsed.Host == "":
		return "names no host"
	case parsed.Scheme == "redis-sentinel":
		if parsed.Query().Get("master") == "" {
			return "names no master: redis-sentinel://host1:26379,host2:26379?master=name"
		}
		return ""
	}
	if database := strings.Trim(parsed.Path, "/"); database != "" {
		if _, err := strconv.Atoi(database); err != nil {
			return "must end in a database number, like redis://host:6379/0"
		}
	}
	return ""
}

// publicURL insists on a bare origin: the dashboard's cookie and the paths in
// answers count from the root.
func publicURL(value string) string {
	parsed, wrong := parseURL(value, "http", "https")
	switch {
	case wrong != "":
		return wrong
	case parsed.Host == "":
		return "names no host"
	case parsed.User != nil, strings.Trim(parsed.Path, "/") != "", parsed.RawQuery != "", parsed.Fragment != "":
		return "must be a scheme and a host only, like https://api.example.com"
	default:
		return ""
	}
}

// inspectorURL may be empty. What strangers send must never come from the origin
// that has the dashboard's session.
func inspectorURL(value, public string) string {
	if value == "" {
		return ""
	}
	if wrong := publicURL(value); wrong != "" {
		return wrong
	}
	if strings.EqualFold(strings.TrimSuffix(value, "/"), strings.TrimSuffix(public, "/")) {
		return "is the same as PUBLIC_URL: it must be another host or port"
	}
	return ""
}

// archiveURL may be empty. Parameters are the bucket's own affair.
func archiveURL(value string) string {
	if value == "" {
		return ""
	}
	parsed, wrong := parseURL(value, "file", "s3")
	switch {
	case wrong != "":
		return wrong
	case parsed.Scheme == "s3" && parsed.Host == "":
		return "names no bucket: s3://bucket?region=eu-central-1"
	case parsed.Scheme == "file" && (parsed.Host != "" || strings.Trim(parsed.Path, "/") == ""):
		return "names no folder: file:///var/lib/botix/archive"
	default:
		return ""
	}
}

// smtpURL may be empty.
func smtpURL(value string) string {
	if value == "" {
		return ""
	}
	if _, wrong := parseURL(value, "smtp", "smtps"); wrong != "" {
		return wrong
	}
	if _, err := mail.New(value, "anybody@example.com"); err != nil {
		return err.Error()
	}
	return ""
}

func smtpFrom(server, from string) string {
	if server == "" {
		return ""
	}
	if _, err := netmail.ParseAddress(from); err != nil {
		return "must be a mail address when SMTP_URL is set, like BOTIX <noreply@example.com>"
	}
	return ""
}

func address(value string) string {
	_, port, err := net.SplitHostPort(value)
	if err == nil {
		_, err = strconv.ParseUint(port, 10, 16)
	}
	if err != nil {
		return fmt.Sprintf("is %q, must be host:port or :port", value)
	}
	return ""
}

func encryptionKeys(keys []string) string {
	if len(keys) == 0 {
		return unset + "; make one with: openssl rand -base64 32"
	}
	if _, err := seal.New(keys); err != nil {
		return "is not valid: " + err.Error()
	}
	return ""
}

func atLeast(value, low int) string {
	if value < low {
		return fmt.Sprintf("is %d, must be at least %d", value, low)
	}
	return ""
}

// Bounds of the retry ladder.
const (
	maxRetries    = 19
	maxRetryDelay = 30 * 24 * time.Hour
)

func schedule(delays []time.Duration) string {
	if len(delays) == 0 || len(delays) > maxRetries {
		return fmt.Sprintf("has %d delays; 1 to %d are allowed, for example 1m,15m,1h,24h", len(delays), maxRetries)
	}
	for _, delay := range delays {
		if delay <= 0 || delay > maxRetryDelay {
			return fmt.Sprintf("has the delay %s; a delay is more than zero and at most %s", delay, maxRetryDelay)
		}
	}
	return ""
}
