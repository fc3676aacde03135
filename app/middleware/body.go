package middleware

import (
	"errors"
	"io"
	"net"
	"net/http"
	"os"
	"time"

	"github.com/labstack/echo/v4"

	"github.com/botix-pro/platform/app/models"
	"github.com/botix-pro/platform/internal/clock"
)

const (
	maxBody = models.MaxRequestBytes // of most routes, and what is kept in memory
	// What is still read of a refused body, and for how long: enough for any
	// honest mistake.
	maxDiscarded   = 32 << 20
	discardTimeout = 5 * time.Second
)

// readBody reads the whole body, bounded in size and time, and shows every byte
// of it to fingerprint. It comes before everything that depends on the content,
// since the fingerprint covers it. The caller closes what it returns.
func (s *Spools) readBody(c echo.Context, limit int64, fingerprint io.Writer) (*body, error) {
	length := c.Request().ContentLength
	if length > limit {
		return nil, tooLarge(limit)
	}
	content := &body{spools: s}
	if length > maxBody {
		if err := content.spool(); err != nil {
			return nil, err
		}
	}
	c.Set(keyBodyBegun, true)
	source := io.TeeReader(io.LimitReader(c.Request().Body, limit+1), fingerprint)
	timeout := s.timeout(limit)
	err := within(c, timeout, func() error { return content.fill(source, limit) })
	if err == nil && content.size > limit {
		err = tooLarge(limit)
	}
	if err == nil {
		return content, nil
	}
	content.close()
	return nil, unread(err, timeout)
}

// unread is why a body could not be read. One that only did not come may come
// the next time; one whose framing is broken will not be better.
func unread(err error, timeout time.Duration) error {
	var known *models.Error
	var network net.Error
	switch {
	case errors.As(err, &known):
		return known
	case errors.Is(err, os.ErrDeadlineExceeded):
		return models.NewError(models.CodeRequestTimeout, "The body did not arrive within %s.", timeout)
	case errors.Is(err, io.ErrUnexpectedEOF), errors.As(err, &network):
		return models.NewError(models.CodeRequestTimeout, "The connection ended before all of the body had arrived.")
	default:
		return models.NewError(models.CodeInvalidRequest, "The body's framing is broken: it cannot be read to its end.")
	}
}

func tooLarge(limit int64) error {
	return models.NewError(models.CodePayloadTooLarge, "The body exceeds %d bytes.", limit)
}

// discardBody takes in what the client is still sending, before its request is
// refused. A connection closed over unread bytes is reset, and the answer that
// was on its way is lost with it. A client that asked first (Expect) and one
// that announces more than maxDiscarded are not waited for.
func discardBody(c echo.Context) {
	request := c.Request()
	asked := request.Header.Get("Expect") != "" && c.Get(keyBodyBegun) == nil
	if request.ContentLength == 0 || request.ContentLength > maxDiscarded || asked {
		return
	}
	// Whatever ends it early, the answer is all that is left to do.
	_ = within(c, discardTimeout, func() error {
		n, err := io.Copy(io.Discard, io.LimitReader(request.Body, maxDiscarded))
		if n == maxDiscarded {
			return errors.New("more than is worth reading") // the deadline stays
		}
		return err
	})
}

// within runs something that reads from the client, until a deadline of its own:
// the next request on this connection gets another.
func within(c echo.Context, timeout time.Duration, read func() error) error {
	control := http.NewResponseController(c.Response())
	if err := deadline(control, clock.System{}.Now().Add(timeout)); err != nil {
		return err
	}
	if err := read(); err != nil {
		return err
	}
	return deadline(control, time.Time{})
}

// deadline sets it where there is a connection to set it on.
func deadline(control *http.ResponseController, at time.Time) error {
	if err := control.SetReadDeadline(at); err != nil && !errors.Is(err, http.ErrNotSupported) {
		return models.Internal(err)
	}
	return nil
}
