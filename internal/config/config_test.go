package config_test

import (
	"bytes"
	"fmt"
	"log/slog"
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/botix-pro/platform/internal/config"
	"github.com/botix-pro/platform/internal/seal"
)

// with is a valid environment in which some variables are replaced.
func with(changes ...string) []string {
	return append([]string{
		"DATABASE_URL=postgres://botix:hunter2@db/botix", "REDIS_URL=redis://:hunter2@cache:6379/0",
		"PUBLIC_URL=https://api.example.com", "ENCRYPTION_KEYS=" + seal.NewKey(),
	}, changes...)
}

func TestDefaultsAreTheContracts(t *testing.T) {
	t.Parallel()
	cfg, err := config.Load(with())
	require.NoError(t, err)
	require.Equal(t, []time.Duration{time.Minute, 15 * time.Minute, time.Hour, 24 * time.Hour}, cfg.WebhookRetrySchedule)
	require.Equal(t, "127.0.0.1:9090", cfg.InternalAddr, "metrics are not public unless somebody asks for it")
	require.Empty(t, cfg.Warnings())
}

func TestNothingIsGuessed(t *testing.T) {
	t.Parallel()
	_, err := config.Load(nil)
	for _, name := range []string{"DATABASE_URL", "REDIS_URL", "PUBLIC_URL", "ENCRYPTION_KEYS"} {
		require.ErrorContains(t, err, name+" is not set")
	}
}

func TestEveryProblemIsNamedAtOnce(t *testing.T) {
	t.Parallel()
	// Unreadable ones (SERVER_COUNT) beside forbidden ones: one start shows both.
	_, err := config.Load([]string{
		"LOG_FORMAT=xml", "SHUTDOWN_TIMEOUT=5s", "SERVER_COUNT=many", "WEBHOOK_RETRY_SCHEDULE=1m,-1m", "ADDR=8080", "LOG_LEVEL=loud",
	})
	require.Error(t, err)
	for _, name := range []string{
		"DATABASE_URL", "REDIS_URL", "PUBLIC_URL", "ENCRYPTION_KEYS", "LOG_FORMAT", "SHUTDOWN_TIMEOUT", "SERVER_COUNT",
		"WEBHOOK_RETRY_SCHEDULE", "ADDR", "LOG_LEVEL",
	} {
		require.Equal(t, 1, strings.Count(err.Error(), "- "+name+" "), "%s in:\n%s", name, err)
	}
}

func TestWrongValuesAreRefusedWithTheirVariable(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ setting, says string }{
		{"DATABASE_URL=mysql://db/botix", "must begin with postgres://"},
		{"DATABASE_URL=postgres:///botix", "names no host"},
		{"DATABASE_URL=postgres://db", "names no database"},
		{"DATABASE_MAX_CONNS=1", "at least 2"},
		{"REDIS_URL=cache:6379", "must begin with redis://"},
		{"REDIS_URL=redis:///0", "names no host"},
		{"REDIS_URL=redis://cache/zero", "database number"},
		{"REDIS_URL=redis-sentinel://a:26379,b:26379", "names no master"},
		{"ADDR=localhost", "host:port"},
		{"ADDR=:70000", "host:port"},
		{"INTERNAL_ADDR=:8080", "metrics would be public"},
		{"PUBLIC_URL=api.example.com", "must begin with http://"},
		{"PUBLIC_URL=https://api.example.com/v1", "a scheme and a host only"},
		{"PUBLIC_URL=https://user:hunter2@api.example.com", "a scheme and a host only"},
		{"INSPECTOR_URL=inspect.example.com", "must begin with http://"},
		{"INSPECTOR_URL=https://inspect.example.com/bins", "a scheme and a host only"},
		{"INSPECTOR_URL=https://API.example.com/", "another host or port"},
		{"INSPECTOR_ADDR=localhost", "host:port"},
		{"INSPECTOR_DIRECT_ADDR=server", "host:port"},
		{"ENCRYPTION_KEYS=c2hvcnQ=", "32 random bytes"},
		{"TRUSTED_PROXIES=10.0.0.1", "networks like"},
		{"EGRESS_ALLOW_CIDRS=localhost", "networks like"},
		{"SERVER_COUNT=0", "at least 1"},
		{"UNAUTHENTICATED_RATE_PER_MINUTE=0", "at least 1"},
		{"WEBHOOK_RETRY_SCHEDULE=1m,soon", "durations like"},
		{"WEBHOOK_RETRY_SCHEDULE=0s", "more than zero"},
		{"WEBHOOK_RETRY_SCHEDULE=1m" + strings.Repeat(",1m", 19), "1 to 19"},
		{"WORKER_CONCURRENCY=0", "at least 1"},
		{"ARCHIVE_URL=gs://bucket", "must begin with file:// or s3://"},
		{"ARCHIVE_URL=s3://", "names no bucket"},
		{"ARCHIVE_URL=file://archive", "names no folder"},
		{"SMTP_URL=mail.example.com", "must begin with smtp://"},
		{"SMTP_URL=smtp://user:hunter2@", "names no host"},
		{"SMTP_URL=smtp://user:hunter2@mail:99999", "no valid port"},
		{"LOG_LEVEL=loud", "debug, info, warn or error"},
		{"LOG_FORMAT=xml", "json or text"},
		{"SHUTDOWN_TIMEOUT=44s", "at least 45s"},
	} {
		t.Run(test.setting, func(t *testing.T) {
			t.Parallel()
			variable, _, _ := strings.Cut(test.setting, "=")
			_, err := config.Load(with(test.setting))
			require.ErrorContains(t, err, "- "+variable+" ")
			require.ErrorContains(t, err, test.says)
			require.NotContains(t, err.Error(), "hunter2")
		})
	}
}

// A worker finds the inspector where it is told to, or on its own machine.
func TestInspectorDirect(t *testing.T) {
	t.Parallel()
	for settings, want := range map[string]string{
		"INSPECTOR_ADDR=:8081": "localhost:8081", "INSPECTOR_ADDR=0.0.0.0:9": "localhost:9", "INSPECTOR_ADDR=[::]:9": "localhost:9",
		"INSPECTOR_ADDR=10.0.0.7:8081": "10.0.0.7:8081", "INSPECTOR_DIRECT_ADDR=server:8081": "server:8081",
	} {
		cfg, err := config.Load(with(settings))
		require.NoError(t, err)
		require.Equal(t, want, cfg.InspectorDirect(), settings)
	}
}

func TestReadsListsWithBlanksAndEmptyVariables(t *testing.T) {
	t.Parallel()
	newest, oldest := seal.NewKey(), seal.NewKey()
	cfg, err := config.Load(with(
		"ENCRYPTION_KEYS="+newest+", "+oldest, "TRUSTED_PROXIES= 10.0.0.0/8, fd00::/8 ", "WEBHOOK_RETRY_SCHEDULE=1s, 2s",
		"LOG_LEVEL=debug", "SERVER_COUNT=", "PUBLIC_URL=https://api.example.com/", "REDIS_URL=redis-sentinel://a:26379,b:26379?master=m",
	))
	require.NoError(t, err)
	require.Equal(t, []string{newest, oldest}, cfg.EncryptionKeys, "the newest key stays first")
	require.Equal(t, []netip.Prefix{netip.MustParsePrefix("10.0.0.0/8"), netip.MustParsePrefix("fd00::/8")}, cfg.TrustedProxies)
	require.Equal(t, []time.Duration{time.Second, 2 * time.Second}, cfg.WebhookRetrySchedule)
	require.Equal(t, slog.LevelDebug, cfg.LogLevel)
	require.Equal(t, 1, cfg.ServerCount, "a variable set to nothing keeps its default")
	require.Equal(t, "https://api.example.com", cfg.PublicURL, "links are made by appending a path")
}

func TestWarnsOfWhatIsSeldomMeant(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		setting, names string
	}{
		{"EGRESS_ALLOW_CIDRS=10.0.0.0/8", "EGRESS_ALLOW_CIDRS"},
		{"TRUSTED_PROXIES=0.0.0.0/0", "TRUSTED_PROXIES"},
		{"TRUSTED_PROXIES=10.0.0.0/8", ""},
		{"PUBLIC_URL=http://api.example.com", "PUBLIC_URL"},
		{"PUBLIC_URL=http://127.0.0.1:8080", ""},
		{"PUBLIC_URL=http://localhost", ""},
		{"INTERNAL_ADDR=0.0.0.0:9090", "INTERNAL_ADDR"},
		{"INTERNAL_ADDR=:9090", "INTERNAL_ADDR"},
		{"INTERNAL_ADDR=[::1]:9090", ""},
	} {
		t.Run(test.setting, func(t *testing.T) {
			t.Parallel()
			cfg, err := config.Load(with(test.setting))
			require.NoError(t, err)
			if test.names == "" {
				require.Empty(t, cfg.Warnings())
				return
			}
			require.Len(t, cfg.Warnings(), 1)
			require.Contains(t, cfg.Warnings()[0], test.names)
		})
	}
}

func TestSecretsNeverReachALogOrAnError(t *testing.T) {
	t.Parallel()
	cfg, err := config.Load(with("DATABASE_URL=postgres://botix:hunter2@db/botix?sslpassword=hunter2&sslmode=require",
		"SMTP_URL=smtps://botix:hunter2@mail.example.com", "SMTP_FROM=noreply@example.com", "ARCHIVE_URL=s3://bucket?secret=hunter2"))
	require.NoError(t, err)
	var out bytes.Buffer
	slog.New(slog.NewJSONHandler(&out, nil)).Info("starting", "config", cfg)
	fmt.Fprintf(&out, "%v %+v", cfg, cfg)
	require.NotContains(t, out.String(), "hunter2")
	require.NotContains(t, out.String(), cfg.EncryptionKeys[0])
	require.Contains(t, out.String(), "postgres://botix@db/botix", "where it leads is what one looks for")

	for _, broken := range []string{"DATABASE_URL=postgres://botix:hunter2@db:bad port/botix", "REDIS_URL=redis://:hunter2 @cache"} {
		_, err = config.Load(with(broken))
		require.ErrorContains(t, err, "is not a URL")
		require.NotContains(t, err.Error(), "hunter2")
	}
}

func TestMailNeedsASender(t *testing.T) {
	t.Parallel()
	_, err := config.Load(with("SMTP_URL=smtp://mail.example.com"))
	require.ErrorContains(t, err, "- SMTP_FROM must be a mail address")
	_, err = config.Load(with("SMTP_URL=smtps://user:hunter2@mail.example.com", "SMTP_FROM=BOTIX <noreply@example.com>"))
	require.NoError(t, err)
}
