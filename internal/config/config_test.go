package config_test

import (
	"bytes"
	"log/slog"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/botix-pro/platform/internal/config"
	"github.com/botix-pro/platform/internal/seal"
)

func valid() []string {
	return []string{
		"DATABASE_URL=postgres://botix:hunter2@db/botix", "REDIS_URL=redis://:hunter2@cache:6379/0",
		"PUBLIC_URL=https://api.example.com", "ENCRYPTION_KEYS=" + seal.NewKey(),
	}
}

func TestDefaultsAreTheContracts(t *testing.T) {
	t.Parallel()
	cfg, err := config.Load(valid())
	require.NoError(t, err)
	require.Equal(t, []time.Duration{time.Minute, 15 * time.Minute, time.Hour, 24 * time.Hour}, cfg.WebhookRetrySchedule)
	require.Empty(t, cfg.Warnings())
}

func TestEveryProblemIsNamedAtOnce(t *testing.T) {
	t.Parallel()
	_, err := config.Load([]string{"LOG_FORMAT=xml", "SHUTDOWN_TIMEOUT=5s", "SERVER_COUNT=0", "WEBHOOK_RETRY_SCHEDULE=1m,-1m"})
	for _, name := range []string{
		"DATABASE_URL", "REDIS_URL", "PUBLIC_URL", "ENCRYPTION_KEYS", "LOG_FORMAT", "SHUTDOWN_TIMEOUT", "SERVER_COUNT", "WEBHOOK_RETRY_SCHEDULE",
	} {
		require.ErrorContains(t, err, name)
	}
}

func TestUnreadableValuesAreNamed(t *testing.T) {
	t.Parallel()
	_, err := config.Load(append(valid(), "WORKER_CONCURRENCY=many", "TRUSTED_PROXIES=10.0.0.0"))
	require.ErrorContains(t, err, "WorkerConcurrency")
	require.ErrorContains(t, err, "TrustedProxies")
}

func TestSecretsNeverReachALogOrAnError(t *testing.T) {
	t.Parallel()
	environment := valid()
	cfg, err := config.Load(environment)
	require.NoError(t, err)
	var out bytes.Buffer
	slog.New(slog.NewJSONHandler(&out, nil)).Info("starting", "config", cfg)
	require.NotContains(t, out.String(), "hunter2")
	require.NotContains(t, out.String(), cfg.EncryptionKeys[0])

	_, err = config.Load(append(environment, "DATABASE_URL=postgres://botix:hunter2@db:bad port/botix"))
	require.Error(t, err)
	require.NotContains(t, err.Error(), "hunter2")
}
