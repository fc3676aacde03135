package app

import (
	"context"
	"errors"
	"os"
	"runtime/debug"
	"time"

	"gocloud.dev/blob"

	"github.com/botix-pro/platform/app/contacts"
	"github.com/botix-pro/platform/app/jobs"
	"github.com/botix-pro/platform/app/models"
	"github.com/botix-pro/platform/app/store"
	"github.com/botix-pro/platform/app/webhooks"
	"github.com/botix-pro/platform/internal/config"
	"github.com/botix-pro/platform/internal/egress"
	"github.com/botix-pro/platform/internal/lifecycle"
)

// Expired idempotency keys, inspector bins and old jobs are purged continuously, a few rows at a
// time.
const (
	purgeEvery = 10 * time.Second
	purgeBatch = 500
	// jobsAtATime of a worker; each is one batch and one connection at a time.
	jobsAtATime = 4
	// workerGCPercent lets the heap grow threefold between collections: less CPU
	// time, and still below 150 MB with a thousand deliveries in flight. GOGC in the
	// environment wins.
	workerGCPercent = 200
)

// RunWorker delivers webhooks, sends messages and runs scenarios until ctx is over, then finishes
// what is in flight and returns.
func RunWorker(ctx context.Context, cfg config.Config) error {
	log := start(cfg, "worker")
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(workerGCPercent)
	}
	b, err := newBase(ctx, cfg, log, "worker")
	if err != nil {
		return err
	}
	services, err := workerServices(ctx, b)
	if err == nil {
		err = lifecycle.Run(ctx, log, cfg.ShutdownTimeout, func() { log.InfoContext(ctx, "ready") }, services...)
	}
	return errors.Join(err, b.close())
}

// workerServices are the parts of a worker, in the order in which they start.
func workerServices(ctx context.Context, b *base) ([]lifecycle.Named, error) {
	internal, err := b.internal(ctx)
	if err != nil {
		return nil, err
	}
	work, err := workServices(ctx, b)
	return append([]lifecycle.Named{internal}, work...), err
}

// workServices are what delivers.
func workServices(ctx context.Context, b *base) ([]lifecycle.Named, error) {
	post, err := openMail(b.cfg)
	if err != nil {
		return nil, err
	}
	archive, err := openArchive(ctx, b.cfg.ArchiveURL)
	if err != nil {
		return nil, err
	}
	guard := newGuard(b.cfg)
	hinter := webhooks.NewHinter(b.queue, b.log)
	runner := jobs.NewRunner(jobs.Config{
		Store: b.store, Steps: jobSteps(), Hint: hinter.Hint, Concurrency: jobsAtATime, Log: b.log,
	})
	sender, engine := newMessageWorker(b, guard, hinter.Hint), newScenarioEngine(b, guard, hinter.Hint)
	worker := webhooks.NewWorker(webhooks.WorkerConfig{
		Store: b.store, Redis: b.queue, Transport: guard.Transport(egress.TransportConfig{MaxIdlePerHost: webhooks.MaxInFlight}),
		Schedule: webhooks.Schedule(b.cfg.WebhookRetrySchedule), Concurrency: b.cfg.WorkerConcurrency, Archive: archive, Mail: post,
		UserAgent: webhooksUserAgent(b.cfg), Rewrite: guard.Rewrite, Clock: b.clock, Log: b.log,
		Wake: wake(map[store.Work]func(){store.WorkMessages: sender.Wake, store.WorkRuns: engine.Wake, store.WorkJobs: runner.Wake}),
	})
	return []lifecycle.Named{
		{Name: "archive", Service: lifecycle.OnStop(func() { closeArchive(b, archive) })},
		{Name: "workers' hints", Service: hinter},
		{Name: "jobs", Service: runner},
		// What is in flight may take as long in one as in the other.
		{Name: "senders", Service: lifecycle.Together{
			{Name: "webhooks", Service: worker},
			{Name: "messages", Service: sender},
			{Name: "scenarios", Service: engine},
		}},
		{Name: "purge", Service: lifecycle.NewEvery(purgeEvery, func(ctx context.Context) { purge(ctx, b) })},
	}, nil
}

// wake rings the bell of whoever does a kind of work. One that a newer release
// hinted at is nobody's here.
func wake(bells map[store.Work]func()) func(store.Work) {
	return func(kind store.Work) {
		if ring := bells[kind]; ring != nil {
			ring()
		}
	}
}

func closeArchive(b *base, archive *blob.Bucket) {
	if archive == nil {
		return
	}
	if err := archive.Close(); err != nil {
		b.log.Warn("the archive could not be closed", "error", err)
	}
}

// jobSteps is what each type of job does.
func jobSteps() map[models.JobType]jobs.Step {
	return map[models.JobType]jobs.Step{
		models.JobWebhookRecovery: webhooks.Recover,
		models.JobWebhookRelease:  webhooks.Release,
		models.JobContactsBulk:    contacts.Import,
	}
}

// purge frees what expired idempotency keys, inspector bins and jobs of long ago
// take, in small batches.
func purge(ctx context.Context, b *base) {
	for _, batch := range []func(context.Context, int) (bool, error){b.store.PurgeOperations, b.store.PurgeJobs, b.store.PurgeBins} {
		for more := true; more; {
			var err error
			if more, err = batch(ctx, purgeBatch); err != nil {
				b.log.WarnContext(ctx, "what has expired could not be purged", "error", err)
				return
			}
		}
	}
}
