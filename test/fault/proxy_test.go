//go:build fault

package fault_test

import (
	"encoding/json"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	toxiproxy "github.com/Shopify/toxiproxy/v2"
	"github.com/Shopify/toxiproxy/v2/stream"
	"github.com/Shopify/toxiproxy/v2/toxics"
	"github.com/rs/zerolog"
	"github.com/stretchr/testify/require"
)

// The directions of a proxy: what the caller sends, and what it is answered.
const (
	upstream   = "upstream"
	downstream = "downstream"
)

// newProxy is a toxiproxy in front of an address, until the test ends.
func newProxy(t *testing.T, addr string) *toxiproxy.Proxy {
	t.Helper()
	server := toxiproxy.NewServer(toxiproxy.NewMetricsContainer(nil), zerolog.Nop())
	proxy := toxiproxy.NewProxy(server, t.Name(), "127.0.0.1:0", addr)
	require.NoError(t, proxy.Start())
	t.Cleanup(proxy.Stop)
	return proxy
}

// attributes are a toxic's settings, as toxiproxy documents them.
type attributes map[string]int64

// poison adds a toxic, behind those that the direction has.
func poison(t *testing.T, proxy *toxiproxy.Proxy, direction, kind string, settings attributes) toxics.Toxic {
	t.Helper()
	text, err := json.Marshal(map[string]any{"type": kind, "stream": direction, "attributes": settings})
	require.NoError(t, err)
	wrapper, err := proxy.Toxics.AddToxicJson(strings.NewReader(string(text)))
	require.NoError(t, err)
	return wrapper.Toxic
}

// through is a URL that leads to the same place by way of the proxy.
func through(t *testing.T, proxy *toxiproxy.Proxy, location string) string {
	t.Helper()
	parsed, err := url.Parse(location)
	require.NoError(t, err)
	parsed.Host = proxy.Listen
	return parsed.String()
}

// hostOf is a URL's host and port.
func hostOf(t *testing.T, location string) string {
	t.Helper()
	parsed, err := url.Parse(location)
	require.NoError(t, err)
	return parsed.Host
}

// The names of the toxics that toxiproxy lacks.
const (
	kindCut     = "cut"
	kindSilence = "silence"
)

// registerToxics makes them known. It is called once, before any proxy is made.
func registerToxics() {
	toxics.Register(kindCut, new(cut))
	toxics.Register(kindSilence, new(silence))
}

// cut ends one connection at an exact byte. toxiproxy's limit_data does so to
// each connection, and to the next one as well; here the bytes are counted over
// all of them from the moment it is armed, and the others live on.
type cut struct {
	mu    sync.Mutex
	armed bool
	left  int
	spent int
}

// arm makes it cut after so many bytes.
func (c *cut) arm(bytes int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.armed, c.left, c.spent = true, bytes, 0
}

// disarm returns how many bytes have passed since it was armed, and whether a
// connection was cut.
func (c *cut) disarm() (spent int, fired bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	fired, c.armed = !c.armed, false
	return c.spent, fired
}

// pass tells how many of so many bytes may pass, and whether they are the last.
func (c *cut) pass(bytes int) (allowed int, last bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.armed {
		return bytes, false
	}
	allowed = min(bytes, c.left)
	c.left -= allowed
	c.spent += allowed
	c.armed = c.left > 0
	return allowed, !c.armed
}

// Pipe implements [toxics.Toxic].
func (c *cut) Pipe(stub *toxics.ToxicStub) {
	for {
		select {
		case <-stub.Interrupt:
			return
		case chunk := <-stub.Input:
			if chunk == nil {
				stub.Close()
				return
			}
			allowed, last := c.pass(len(chunk.Data))
			if allowed > 0 {
				stub.Output <- &stream.StreamChunk{Data: chunk.Data[:allowed], Timestamp: chunk.Timestamp}
			}
			if last {
				stub.Close()
				discard(stub.Input)
				return
			}
		}
	}
}

// discard reads what nobody wants, so that its sender sees no difference.
func discard(input <-chan *stream.StreamChunk) {
	for chunk := range input {
		_ = chunk
	}
}

// silence is a cable pulled out: nothing passes, not even that a side has closed
// its end. (toxiproxy's timeout passes that on, which a lost host cannot do.)
type silence struct{ on atomic.Bool }

// Pipe implements [toxics.Toxic].
func (s *silence) Pipe(stub *toxics.ToxicStub) {
	input := stub.Input
	for {
		select {
		case <-stub.Interrupt:
			return
		case chunk := <-input:
			switch {
			case s.on.Load() && chunk == nil:
				input = nil // the other side never learns of it
			case s.on.Load():
			case chunk == nil:
				stub.Close()
				return
			default:
				stub.Output <- chunk
			}
		}
	}
}
