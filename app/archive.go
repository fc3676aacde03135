package app

import (
	"context"
	"errors"
	"fmt"
	"net/url"

	"gocloud.dev/blob"
	_ "gocloud.dev/blob/fileblob" // file://
	_ "gocloud.dev/blob/s3blob"   // s3://

	"github.com/botix-pro/platform/app/models"
	"github.com/botix-pro/platform/app/store"
	"github.com/botix-pro/platform/app/webhooks"
	"github.com/botix-pro/platform/internal/config"
	"github.com/botix-pro/platform/internal/mail"
)

// openArchive returns the bucket of dead letters past their retention, nil when
// none is configured.
func openArchive(ctx context.Context, rawURL string) (*blob.Bucket, error) {
	if rawURL == "" {
		return nil, nil //nolint:nilnil // an archive is a choice
	}
	parsed, err := url.Parse(rawURL)
	if err != nil {
		return nil, fmt.Errorf("ARCHIVE_URL: %w", err)
	}
	if parsed.Scheme == "file" {
		// Written beside its place and moved there, which works on any file system;
		// what the objects are is known without a file of attributes beside each.
		query := parsed.Query()
		query.Set("create_dir", "true")
		query.Set("no_tmp_dir", "true")
		query.Set("metadata", "skip")
		parsed.RawQuery = query.Encode()
	}
	bucket, err := blob.OpenBucket(ctx, parsed.String())
	if err != nil {
		return nil, fmt.Errorf("ARCHIVE_URL: %w", err)
	}
	return bucket, nil
}

// openMail returns the sender of notices, nil when none is configured.
func openMail(cfg config.Config) (*mail.Sender, error) {
	if cfg.SMTPURL == "" {
		return nil, nil //nolint:nilnil // mail is a choice
	}
	sender, err := mail.New(cfg.SMTPURL, cfg.SMTPFrom)
	if err != nil {
		return nil, fmt.Errorf("SMTP_URL: %w", err)
	}
	return sender, nil
}

// maxArchives is how many archives are listed at a time.
const maxArchives = 1000

// Archives lists a project's archives, newest first, at most a thousand before
// the one with the given id, or from the newest.
func (a *Admin) Archives(ctx context.Context, project models.ProjectID, before string) ([]models.Archive, error) {
	return a.store.Archives(ctx, project, store.Page{Before: before, Limit: maxArchives})
}

// Restored says what came of bringing an archive back.
type Restored struct {
	Object   string `json:"object"`
	Restored int    `json:"restored"` // dead letters that were not there
}

// RestoreArchive brings the dead letters of an archive back; see [webhooks.Restore].
func (a *Admin) RestoreArchive(ctx context.Context, project models.ProjectID, object string) (Restored, error) {
	bucket, err := openArchive(ctx, a.archiveURL)
	if err != nil {
		return Restored{}, err
	}
	if bucket == nil {
		return Restored{}, errors.New("ARCHIVE_URL is not set")
	}
	count, err := webhooks.Restore(ctx, a.store, bucket, project, object)
	if closed := bucket.Close(); err == nil && closed != nil {
		err = fmt.Errorf("close the archive: %w", closed)
	}
	return Restored{Object: object, Restored: count}, err
}
