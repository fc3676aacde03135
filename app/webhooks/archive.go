package webhooks

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"gocloud.dev/blob"
	"gocloud.dev/gcerrors"

	"github.com/botix-pro/platform/app/models"
	"github.com/botix-pro/platform/app/store"
)

const (
	// archiveLease is how long one worker has for one object before another goes
	// on with it, and archiveTimeout how long it takes at most.
	archiveLease   = 5 * time.Minute
	archiveTimeout = 2 * time.Minute
	// restoreBatch is how many dead letters one transaction brings back.
	restoreBatch = 100
	archiveType  = "application/gzip"
)

// contents is what goes into one object.
type contents struct {
	compressed  bytes.Buffer
	letters     int
	first, last time.Time
}

// archive writes one object, gzipped JSON lines, and only then, when the bucket
// has closed it without an error, deletes what is in it. It returns how many
// objects were begun. A worker that dies at any point leaves an archive without
// its object, or with it: whoever finds that when its lease is over writes the
// same object again.
func (k *Keeper) archive(ctx context.Context) (int, error) {
	begun, err := k.cfg.Store.BeginArchive(ctx, archiveLease, archiveBatch)
	if err != nil || begun == nil {
		return 0, err
	}
	ctx, cancel := context.WithTimeout(ctx, archiveTimeout)
	defer cancel()
	if err := k.writeArchive(ctx, begun); err != nil {
		return 1, fmt.Errorf("archive %s: %w", begun.Object, err)
	}
	return 1, nil
}

func (k *Keeper) writeArchive(ctx context.Context, a *store.UnwrittenArchive) error {
	found, err := k.read(ctx, a)
	if err != nil {
		return err
	}
	if found.letters == 0 {
		return k.dropArchive(ctx, a)
	}
	options := &blob.WriterOptions{ContentType: archiveType}
	if err := k.cfg.Archive.WriteAll(ctx, a.Object, found.compressed.Bytes(), options); err != nil {
		return fmt.Errorf("write to the bucket: %w", err)
	}
	done, err := k.cfg.Store.FinishArchive(ctx, a, found.letters, found.first, found.last)
	if err != nil {
		return err
	}
	if !done {
		k.cfg.Log.WarnContext(ctx, "another worker finished an archive first", "object", a.Object)
	}
	return nil
}

// read compresses an archive's lines in memory, so that a slow bucket keeps no
// connection to the database.
func (k *Keeper) read(ctx context.Context, a *store.UnwrittenArchive) (*contents, error) {
	found := &contents{}
	zip := gzip.NewWriter(&found.compressed)
	err := k.cfg.Store.ArchiveLines(ctx, a, func(line string, diedAt time.Time) error {
		found.letters++
		if found.first.IsZero() || diedAt.Before(found.first) {
			found.first = diedAt
		}
		if diedAt.After(found.last) {
			found.last = diedAt
		}
		_, err := io.WriteString(zip, line+"\n")
		return err
	})
	return found, errors.Join(err, zip.Close())
}

// dropArchive forgets an archive whose dead letters were all sent again, with the
// object that a worker before may have written.
func (k *Keeper) dropArchive(ctx context.Context, a *store.UnwrittenArchive) error {
	if err := k.cfg.Archive.Delete(ctx, a.Object); err != nil && gcerrors.Code(err) != gcerrors.NotFound {
		return fmt.Errorf("delete from the bucket: %w", err)
	}
	return k.cfg.Store.DropArchive(ctx, a)
}

// Restore brings the dead letters of one archive of a project back, with their
// events and deliveries, and returns how many were not there. Their retention
// starts anew; the object stays. It may be repeated: what is there adds nothing.
// It returns [store.ErrNotFound] when the project has no such archive.
func Restore(ctx context.Context, s *store.Store, bucket *blob.Bucket, project models.ProjectID, object string) (int, error) {
	archive, err := s.Archive(ctx, project, object)
	if err != nil {
		return 0, err
	}
	reader, err := bucket.NewReader(ctx, archive.Object, nil)
	if err != nil {
		return 0, fmt.Errorf("open archive %s: %w", object, err)
	}
	restored, err := restoreFrom(ctx, s, project, reader)
	if err := errors.Join(err, reader.Close()); err != nil {
		return restored, fmt.Errorf("restore archive %s: %w", object, err)
	}
	return restored, nil
}

func restoreFrom(ctx context.Context, s *store.Store, project models.ProjectID, compressed io.Reader) (restored int, err error) {
	plain, err := gzip.NewReader(compressed)
	if err != nil {
		return 0, err
	}
	lines := bufio.NewReader(plain)
	for {
		batch, readErr := readLines(lines, restoreBatch)
		if readErr != nil && !errors.Is(readErr, io.EOF) {
			return restored, readErr
		}
		count, err := s.RestoreLetters(ctx, project, batch)
		if restored += count; err != nil || readErr != nil {
			return restored, err
		}
	}
}

// readLines returns at most limit lines, and io.EOF with the last of them.
func readLines(from *bufio.Reader, limit int) (lines [][]byte, err error) {
	for len(lines) < limit {
		line, err := from.ReadBytes('\n')
		if line = bytes.TrimSpace(line); len(line) > 0 {
			lines = append(lines, line)
		}
		if err != nil {
			return lines, err
		}
	}
	return lines, nil
}
