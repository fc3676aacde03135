package app

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/botix-pro/platform/app/demo"
	"github.com/botix-pro/platform/app/models"
	"github.com/botix-pro/platform/internal/clock"
	"github.com/botix-pro/platform/internal/config"
	"github.com/botix-pro/platform/internal/lifecycle"
	"github.com/botix-pro/platform/internal/localstack"
	"github.com/botix-pro/platform/internal/seal"
	"github.com/botix-pro/platform/internal/telemetry"
	"github.com/botix-pro/platform/web/dashboard"
)

// DevOptions say how to run everything on one machine.
type DevOptions struct {
	Addr    string // where to listen; port 0 takes a free one
	DataDir string // keeps PostgreSQL's and Redis's data, the keys and the demo's credentials
	JSON    bool   // print one JSON line when ready instead of the text
	Version string
	Out     io.Writer // where that line or text goes
	Log     io.Writer // where logs go
}

// devSettings are the variables that a developer may still set.
var devSettings = []string{"LOG_LEVEL", "LOG_FORMAT", "WEBHOOK_RETRY_SCHEDULE", "MESSAGE_RETRY_SCHEDULE", "WORKER_CONCURRENCY", "UNAUTHENTICATED_RATE_PER_MINUTE"}

// dev is a stack while it runs.
type dev struct {
	options  DevOptions
	log      *slog.Logger
	postgres *localstack.Postgres
	redis    *localstack.Redis
	public   net.Listener
	receiver net.Listener
	captures net.Listener // the inspector's
}

// RunDev runs server and worker in this process on a private PostgreSQL and
// Redis, with a demo project, until ctx is over. It stops everything that it
// started and nothing else.
func RunDev(ctx context.Context, options DevOptions) error {
	d := &dev{options: options, log: telemetry.NewLogger(options.Log, slog.LevelInfo, "text")}
	err := d.open(ctx)
	if err == nil {
		err = d.run(ctx)
	}
	return errors.Join(err, d.close(context.WithoutCancel(ctx)))
}

// open binds the addresses, so that a taken one is reported before anything
// slow, and starts the servers of others.
func (d *dev) open(ctx context.Context) (err error) {
	if d.public, err = listen(ctx, d.options.Addr); err != nil {
		return fmt.Errorf("%w (choose another with --addr)", err)
	}
	if d.receiver, err = listen(ctx, "127.0.0.1:0"); err != nil {
		return err
	}
	if d.captures, err = listen(ctx, "127.0.0.1:0"); err != nil {
		return err
	}
	stack := localstack.Options{Dir: d.options.DataDir, Log: d.log, AllowInstall: true}
	if d.postgres, err = localstack.StartPostgres(ctx, stack); err != nil {
		return err
	}
	if d.redis, err = localstack.StartRedis(ctx, stack); err != nil {
		return err
	}
	return nil
}

func (d *dev) close(ctx context.Context) error {
	var failures []error
	if d.redis != nil {
		failures = append(failures, d.redis.Stop(ctx))
	}
	if d.postgres != nil {
		failures = append(failures, d.postgres.Stop(ctx))
	}
	for _, listener := range []net.Listener{d.public, d.receiver, d.captures} {
		if listener != nil {
			_ = listener.Close() // closed already when its server ran
		}
	}
	return errors.Join(failures...)
}

func (d *dev) run(ctx context.Context) error {
	cfg, err := d.config()
	if err != nil {
		return err
	}
	log := telemetry.NewLogger(d.options.Log, cfg.LogLevel, cfg.LogFormat)
	useLog(log)
	if err := Migrate(ctx, cfg); err != nil {
		return err
	}
	b, err := newBase(ctx, cfg, log, "dev")
	if err != nil {
		return err
	}
	return errors.Join(d.serve(ctx, b), b.close())
}

// config is the whole configuration of the stack, from what was started.
func (d *dev) config() (config.Config, error) {
	key, err := d.encryptionKey()
	if err != nil {
		return config.Config{}, err
	}
	environment := []string{
		"LOG_LEVEL=warn", "LOG_FORMAT=text",
		"DATABASE_URL=" + d.postgres.URL(localstack.DefaultDatabase), "REDIS_URL=" + d.redis.URL(),
		"PUBLIC_URL=http://" + d.public.Addr().String(), "INTERNAL_ADDR=127.0.0.1:0",
		"INSPECTOR_URL=http://" + d.captures.Addr().String(), "INSPECTOR_ADDR=" + d.captures.Addr().String(), "ENCRYPTION_KEYS=" + key,
		// The demo receiver is on this machine; nowhere else may loopback be reached.
		"EGRESS_ALLOW_CIDRS=127.0.0.0/8,::1/128",
	}
	for _, name := range devSettings {
		if value, ok := os.LookupEnv(name); ok {
			environment = append(environment, name+"="+value)
		}
	}
	cfg, err := config.Load(environment)
	cfg.Version = d.options.Version
	return cfg, err
}

// encryptionKey is made once and kept beside the data that it encrypts.
func (d *dev) encryptionKey() (string, error) {
	file := filepath.Join(d.options.DataDir, "encryption.key")
	kept, err := os.ReadFile(file) //nolint:gosec // the developer's own folder
	if err == nil {
		return strings.TrimSpace(string(kept)), nil
	}
	key := seal.NewKey()
	if errors.Is(err, fs.ErrNotExist) {
		err = os.WriteFile(file, []byte(key+"\n"), 0o600)
	}
	if err != nil {
		return "", fmt.Errorf("keep the encryption key: %w", err)
	}
	return key, nil
}

// serve plants the demo and runs server, worker and receiver.
func (d *dev) serve(ctx context.Context, b *base) error {
	seed := demo.Seed{
		Store: b.store, Clock: b.clock, HashPassword: dashboard.HashPassword,
		File: filepath.Join(d.options.DataDir, "demo.json"),
	}
	credentials, err := seed.Credentials()
	if err != nil {
		return err
	}
	receiver, err := demo.NewReceiver(credentials.WebhookSecret, b.clock)
	if err != nil {
		return fmt.Errorf("demo receiver: %w", err)
	}
	if err := seed.Plant(ctx, credentials, d.receiverURL()); err != nil {
		return err
	}
	services, err := d.services(ctx, b, receiver)
	if err != nil {
		return err
	}
	return lifecycle.Run(ctx, b.log, b.cfg.ShutdownTimeout, func() { d.announce(credentials) }, services...)
}

func (d *dev) services(ctx context.Context, b *base, receiver http.Handler) ([]lifecycle.Named, error) {
	server, err := apiServices(b, d.public) //nolint:contextcheck // requests have their own
	if err != nil {
		return nil, err
	}
	work, err := workServices(ctx, b)
	if err != nil {
		return nil, err
	}
	demoReceiver := lifecycle.Named{Name: "demo receiver", Service: lifecycle.NewHTTPServer(d.receiver, receiver, b.log)}
	return slices.Concat([]lifecycle.Named{demoReceiver}, work, server, inspectorServices(b, d.captures)), nil
}

func (d *dev) receiverURL() string { return "http://" + d.receiver.Addr().String() + "/webhooks" }

// ready is the line that scripts read.
type ready struct {
	URL               string `json:"url"`
	APIKey            string `json:"api_key"`
	DashboardURL      string `json:"dashboard_url"`
	DashboardEmail    string `json:"dashboard_email"`
	DashboardPassword string `json:"dashboard_password"`
	InspectorURL      string `json:"inspector_url"`
	DemoReceiverURL   string `json:"demo_receiver_url"`
	DemoWebhookSecret string `json:"demo_webhook_secret"`
}

func (d *dev) announce(c demo.Credentials) {
	url := "http://" + d.public.Addr().String()
	facts := ready{
		URL: url, APIKey: c.APIKey, DashboardURL: url + "/developers", DashboardEmail: c.Email, DashboardPassword: c.Password,
		InspectorURL: "http://" + d.captures.Addr().String(), DemoReceiverURL: d.receiverURL(), DemoWebhookSecret: c.WebhookSecret,
	}
	if d.options.JSON {
		_ = json.NewEncoder(d.options.Out).Encode(facts) //nolint:gosec // showing the demo's key is the point
		return
	}
	_, _ = fmt.Fprintf(d.options.Out, devText, url, facts.DashboardURL, c.Email, c.Password, c.APIKey, facts.InspectorURL, facts.DemoReceiverURL,
		url, c.APIKey, models.NewID("demo-", clock.System{}.Now()), d.options.DataDir)
}

const devText = `
BOTIX is running.

  API            %s
  Dashboard      %s
                 %s  password: %s
  API key        %s
  Inspector      %s
  Demo receiver  %s
                 (open it to see the webhooks that it got)

Create a contact. Paste it twice: the second answer is the first one again,
with Idempotent-Replayed: true, and there is still one contact and one webhook.

  curl -i %s/contacts \
    -H 'Authorization: Bearer %s' \
    -H 'Idempotency-Key: %s' \
    -H 'Content-Type: application/json' \
    -d '{"name": "Ada Lovelace", "email": "ada@example.com"}'

Ctrl-C stops everything; the data stay in %s.
`
