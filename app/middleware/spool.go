package middleware

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/botix-pro/platform/app/models"
)

const (
	// maxSpools is how many bodies above [maxBody] a process takes at once
	// (contract §1 allows 16 MiB each).
	maxSpools = 4
	// bodyTimeout is how long a body may be on its way, spoolTimeout how long one
	// that may be larger than [maxBody].
	bodyTimeout  = 30 * time.Second
	spoolTimeout = 60 * time.Second
	// spoolRetry is after how long one of them should be through.
	spoolRetry = 2 * time.Second
	// spoolName is the pattern of the files' names; they have one for a moment only.
	spoolName = "botix-spool-*"
)

// Spools are the files that large bodies are kept in while they are hashed and
// carried out, a bounded number at once.
type Spools struct {
	dir          string
	slots        chan struct{}
	small, large time.Duration // how long a body may take
}

// NewSpools keeps the files in a directory, the system's temporary one when dir
// is empty.
func NewSpools(dir string) *Spools {
	return &Spools{dir: dir, slots: make(chan struct{}, maxSpools), small: bodyTimeout, large: spoolTimeout}
}

// timeout is how long a body of a route with this limit may take.
func (s *Spools) timeout(limit int64) time.Duration {
	if limit > maxBody {
		return s.large
	}
	return s.small
}

// body is a request's body once it was read: in memory, or else in a file.
type body struct {
	spools *Spools
	memory []byte
	file   *os.File
	size   int64
}

// spool makes the body one that is kept in a file. The file's name is gone before
// anything is written, so nothing is left behind, however the process ends.
func (b *body) spool() error {
	select {
	case b.spools.slots <- struct{}{}:
	default:
		err := models.NewError(models.CodeServiceUnavailable, "%d large bodies are being received already; send this one again shortly.", maxSpools)
		err.RetryAfter, err.Early = spoolRetry, true
		return err
	}
	file, err := os.CreateTemp(b.spools.dir, spoolName)
	if err == nil {
		b.file = file
		err = os.Remove(file.Name())
	}
	if err != nil {
		if b.file == nil {
			<-b.spools.slots
		}
		b.close()
		return diskFull(fmt.Errorf("make a spool file: %w", err))
	}
	return nil
}

// fill takes the body in; more than maxBody goes to a file where limit allows it.
func (b *body) fill(source io.Reader, limit int64) (err error) {
	if b.file == nil {
		b.memory, err = io.ReadAll(io.LimitReader(source, maxBody+1))
		b.size = int64(len(b.memory))
		if err != nil || b.size <= maxBody || limit <= maxBody {
			return err
		}
		if err := b.spool(); err != nil {
			return err
		}
		source = io.MultiReader(bytes.NewReader(b.memory), source)
		b.memory = nil
	}
	b.size, err = io.Copy(disk{b.file}, source)
	return err
}

// reader reads the body from its beginning.
func (b *body) reader() io.Reader {
	if b.file == nil {
		return bytes.NewReader(b.memory)
	}
	return io.NewSectionReader(b.file, 0, b.size)
}

// close frees what the body takes.
func (b *body) close() {
	if b.file == nil {
		return
	}
	_ = b.file.Close() // nobody reads what was not written
	b.file = nil
	<-b.spools.slots
}

// disk writes to a file, and tells a full disk from a client that hung up.
type disk struct{ file *os.File }

// Write implements [io.Writer].
func (d disk) Write(p []byte) (int, error) {
	n, err := d.file.Write(p)
	if err != nil {
		return n, diskFull(err)
	}
	return n, nil
}

var errNoSpool = errors.New("a large body could not be kept")

func diskFull(err error) error {
	known := models.Unavailable(fmt.Errorf("%w: %w", errNoSpool, err), models.NotApplied)
	known.Early = true
	return known
}
