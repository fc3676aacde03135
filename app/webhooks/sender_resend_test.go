package webhooks_test

import (
	"bufio"
	"context"
	"crypto/tls"
	"io"
	"net"
	"net/http"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/net/http2"
	"golang.org/x/net/http2/hpack"

	"github.com/botix-pro/platform/app/models"
	"github.com/botix-pro/platform/app/webhooks"
	"github.com/botix-pro/platform/internal/egress"
)

const okKeepAlive = "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"

// deadConn is a kept connection that the receiver has closed without the client
// having noticed: once closed is set, writing fails before a byte is taken, and
// the end of the stream is still on its way.
type deadConn struct {
	*egress.Conn
	closed *atomic.Bool
}

func (c *deadConn) Write(p []byte) (int, error) {
	if c.closed.Load() {
		return 0, &net.OpError{Op: "write", Err: syscall.EPIPE}
	}
	return c.Conn.Write(p)
}

// Guarantee: a kept connection that was closed before a byte was written costs
// nothing: the request goes out once, on a connection of its own.
func TestKeptConnectionClosedBeforeTheRequest(t *testing.T) {
	t.Parallel()
	receiver := newRawReceiver(t, func(r *rawReceiver, conn net.Conn) {
		for reader := bufio.NewReader(conn); r.readRequest(reader); {
			_, _ = io.WriteString(conn, okKeepAlive)
		}
	})
	var closed atomic.Bool
	var dials atomic.Int64
	sender := newDyingSender(t, &closed, &dials)

	require.Equal(t, 200, sender.Send(t.Context(), newAttempt(receiver.url())).StatusCode)
	closed.Store(true)
	outcome := sender.Send(t.Context(), newAttempt(receiver.url()))
	require.Equal(t, 200, outcome.StatusCode, outcome.Error)
	require.True(t, outcome.Resent)
	require.Equal(t, []string{"close"}, outcome.Sent.ShownHeader()["Connection"])
	require.EqualValues(t, 2, receiver.requests.Load())
	require.EqualValues(t, 2, dials.Load())
}

// newDyingSender's first connection dies when closed is set.
func newDyingSender(t *testing.T, closed *atomic.Bool, dials *atomic.Int64) *webhooks.Sender {
	t.Helper()
	guard := egress.New(loopback)
	transport := guard.Transport(egress.TransportConfig{})
	t.Cleanup(transport.CloseIdleConnections)
	transport.DialContext = func(ctx context.Context, network, address string) (net.Conn, error) {
		conn, err := guard.DialContext(ctx, network, address)
		if err != nil || dials.Add(1) > 1 {
			return conn, err
		}
		return &deadConn{Conn: conn.(*egress.Conn), closed: closed}, nil
	}
	return webhooks.NewSender(transport, patient)
}

// Guarantee: once a byte was written nobody knows what the receiver did with
// it, so the attempt failed and is not repeated under the same number; not even
// with a header that makes net/http believe that repeating is safe.
func TestKeptConnectionClosedDuringTheRequest(t *testing.T) {
	t.Parallel()
	receiver := newRawReceiver(t, func(r *rawReceiver, conn net.Conn) {
		reader := bufio.NewReader(conn)
		if r.readRequest(reader) {
			_, _ = io.WriteString(conn, okKeepAlive)
			r.readRequest(reader)
		}
	})
	sender := newSender(t, patient, nil)
	require.Equal(t, 200, sender.Send(t.Context(), newAttempt(receiver.url())).StatusCode)

	attempt := newAttempt(receiver.url())
	attempt.Headers = map[string]string{"Idempotency-Key": "k", "X-Idempotency-Key": "k"}
	outcome := sender.Send(t.Context(), attempt)
	require.Equal(t, models.ErrorReset, outcome.ErrorClass)
	require.Equal(t, webhooks.Retry, outcome.Verdict().Kind)
	require.False(t, outcome.Resent)
	require.EqualValues(t, 2, receiver.requests.Load(), "the second request was sent once")
}

// Guarantee: a receiver that closes each connection after its answer is served
// without a failure.
func TestReceiverThatKeepsNoConnection(t *testing.T) {
	t.Parallel()
	receiver := answering(t, "HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 0\r\n\r\n")
	sender := newSender(t, patient, nil)
	for range 20 {
		require.Equal(t, 200, sender.Send(t.Context(), newAttempt(receiver.url())).StatusCode)
	}
	require.EqualValues(t, 20, receiver.requests.Load())
}

// h2Receiver speaks just enough HTTP/2 to treat each stream as told by answer,
// which gets the number of the connection and of the stream on it, from 1.
type h2Receiver struct {
	addr    string
	conns   atomic.Int64
	streams atomic.Int64
	answer  func(framer *http2.Framer, conn, stream int64, id uint32) error
}

func newH2Receiver(t *testing.T, ca *authority, answer func(*http2.Framer, int64, int64, uint32) error) *h2Receiver {
	t.Helper()
	r := &h2Receiver{answer: answer}
	cert := ca.issue(t, "", time.Now().Add(time.Hour))
	r.addr = newRawReceiver(t, func(_ *rawReceiver, conn net.Conn) {
		secure := tls.Server(conn, &tls.Config{Certificates: []tls.Certificate{cert}, NextProtos: []string{"h2"}})
		r.serve(secure, r.conns.Add(1))
	}).addr
	return r
}

func (r *h2Receiver) serve(conn net.Conn, number int64) {
	preface := make([]byte, len(http2.ClientPreface))
	if _, err := io.ReadFull(conn, preface); err != nil {
		return
	}
	framer := http2.NewFramer(conn, conn)
	if framer.WriteSettings() != nil {
		return
	}
	for streams := int64(0); ; {
		frame, err := framer.ReadFrame()
		if err != nil {
			return
		}
		data, ok := frame.(*http2.DataFrame)
		if !ok || !data.StreamEnded() {
			continue
		}
		streams++
		r.streams.Add(1)
		if r.answer(framer, number, streams, data.StreamID) != nil {
			return
		}
	}
}

func writeOK(framer *http2.Framer, id uint32) error {
	var block headerBlock
	_ = hpack.NewEncoder(&block).WriteField(hpack.HeaderField{Name: ":status", Value: "200"})
	return framer.WriteHeaders(http2.HeadersFrameParam{
		StreamID: id, BlockFragment: block, EndHeaders: true, EndStream: true,
	})
}

type headerBlock []byte

func (b *headerBlock) Write(p []byte) (int, error) {
	*b = append(*b, p...)
	return len(p), nil
}

// Guarantee: a stream that an HTTP/2 receiver says it did not process is sent
// once more and only once; one that it broke for another reason is not.
func TestHTTP2StreamsRefusedUnprocessed(t *testing.T) {
	t.Parallel()
	ca := newAuthority(t)
	goAway := func(framer *http2.Framer, conn, stream int64, id uint32) error {
		if conn == 1 && stream == 2 {
			return framer.WriteGoAway(1, http2.ErrCodeNo, nil)
		}
		return writeOK(framer, id)
	}
	refuseOnce := func(framer *http2.Framer, conn, stream int64, id uint32) error {
		if conn == 1 && stream == 2 {
			return framer.WriteRSTStream(id, http2.ErrCodeRefusedStream)
		}
		return writeOK(framer, id)
	}
	always := func(code http2.ErrCode) func(*http2.Framer, int64, int64, uint32) error {
		return func(framer *http2.Framer, conn, stream int64, id uint32) error {
			if conn == 1 && stream == 1 {
				return writeOK(framer, id)
			}
			return framer.WriteRSTStream(id, code)
		}
	}
	for name, tt := range map[string]struct {
		answer  func(*http2.Framer, int64, int64, uint32) error
		resent  bool
		streams int64
		status  int
		class   models.ErrorClass
	}{
		"going away":        {goAway, true, 3, http.StatusOK, ""},
		"refused once":      {refuseOnce, true, 3, http.StatusOK, ""},
		"refused for ever":  {always(http2.ErrCodeRefusedStream), true, 3, 0, models.ErrorReset},
		"internal error":    {always(http2.ErrCodeInternal), false, 2, 0, models.ErrorReset},
		"protocol violated": {always(http2.ErrCodeProtocol), false, 2, 0, models.ErrorReset},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			receiver := newH2Receiver(t, ca, tt.answer)
			sender := newSender(t, patient, ca.pool())
			url := "https://" + receiver.addr + "/"
			first := sender.Send(t.Context(), newAttempt(url))
			require.Equal(t, http.StatusOK, first.StatusCode, first.Error)

			second := sender.Send(t.Context(), newAttempt(url))
			require.Equal(t, tt.status, second.StatusCode, second.Error)
			require.Equal(t, tt.class, second.ErrorClass, second.Error)
			require.Equal(t, tt.resent, second.Resent)
			require.Equal(t, tt.streams, receiver.streams.Load())
		})
	}
}
