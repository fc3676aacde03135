package localstack

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	embeddedpostgres "github.com/fergusstrange/embedded-postgres"
)

// downloadTimeout bounds the embedded server's own trial start.
const downloadTimeout = time.Minute

// binaryRepository overrides where PostgreSQL's binaries are downloaded from
// (a Maven mirror); empty means the embedded-postgres module's default.
const binaryRepository = "BOTIX_POSTGRES_REPOSITORY"

// downloader gets PostgreSQL's programs with the embedded-postgres module.
type downloader struct {
	dir string // where archives and programs are kept
	url string // of a Maven repository; empty means the module's default
	// patience bounds the throw-away cluster's start.
	patience time.Duration
}

// download returns programs that were downloaded, now or by an earlier run.
func (f postgresFinder) download(ctx context.Context) (binaries, error) {
	dir, err := programsFolder(f.owner)
	if err != nil {
		return binaries{}, err
	}
	lock, err := lockDirPatiently(ctx, dir)
	if err != nil {
		return binaries{}, err
	}
	defer func() { _ = lock.Close() }()
	return f.downloadWith(ctx, downloader{dir: dir, url: os.Getenv(binaryRepository), patience: downloadTimeout})
}

// downloadWith judges the download by whether the programs run.
func (f postgresFinder) downloadWith(ctx context.Context, source downloader) (binaries, error) {
	programs := filepath.Join(source.dir, "programs")
	if found, ok := f.inspect(ctx, filepath.Join(programs, "bin")); ok {
		return found, nil
	}
	trialErr := source.trialStart(ctx, programs)
	if found, ok := f.inspect(ctx, filepath.Join(programs, "bin")); ok {
		return found, nil
	}
	if trialErr == nil {
		trialErr = fmt.Errorf("user id %d cannot run the programs in %s", f.owner.uid, programs)
	}
	return binaries{}, fmt.Errorf("download PostgreSQL: %w; %s", trialErr, howToInstallPostgres)
}

// programsFolder is where downloaded programs stay for later runs: the user's
// cache, or, as root, a folder that the server's account can read.
func programsFolder(owner account) (string, error) {
	base, err := "/var/cache", error(nil)
	if !owner.switched {
		if base, err = os.UserCacheDir(); err != nil {
			return "", fmt.Errorf("find the cache folder: %w", err)
		}
	}
	dir := filepath.Join(base, "botix", "postgresql")
	if err := os.MkdirAll(dir, 0o755); err != nil { //nolint:gosec // programs are no secret
		return "", fmt.Errorf("create the folder for downloads: %w", err)
	}
	return dir, nil
}

// trialStart has the programs fetched. The module has no call for just that,
// so it is let start a throw-away cluster. As root that start fails, because
// PostgreSQL refuses root, but by then the programs are there.
func (d downloader) trialStart(ctx context.Context, programs string) error {
	port, err := freePort(ctx)
	if err != nil {
		return err
	}
	trial := filepath.Join(d.dir, "trial")
	config := embeddedpostgres.DefaultConfig().
		Version(embeddedpostgres.V17).
		Port(uint32(port)). //nolint:gosec // a port
		CachePath(d.dir).RuntimePath(trial).BinariesPath(programs).
		StartTimeout(d.patience).Logger(io.Discard)
	if d.url != "" {
		config = config.BinaryRepositoryURL(d.url)
	}
	server := embeddedpostgres.NewDatabase(config)
	if err = server.Start(); err == nil {
		err = server.Stop()
	}
	return errors.Join(err, os.RemoveAll(trial))
}
