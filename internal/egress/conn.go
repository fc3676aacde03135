package egress

import (
	"net"
	"sync/atomic"
)

// Conn is a connection that the guard let through. It counts the bytes handed
// to the kernel, so that a sender can tell a request that never left from one
// that may have arrived.
type Conn struct {
	net.Conn
	written atomic.Int64
}

// Write implements [net.Conn].
func (c *Conn) Write(p []byte) (int, error) {
	n, err := c.Conn.Write(p)
	c.written.Add(int64(n))
	return n, err
}

// BytesWritten returns how many bytes were written so far, those of TLS
// included. It is safe to call while the connection is in use.
func (c *Conn) BytesWritten() int64 { return c.written.Load() }
