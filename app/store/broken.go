package store

import (
	"net"
	"syscall"
)

// broken reports whether the other side has ended an idle connection, or said
// something on it that nobody asked for: what would be sent on it might be lost
// and nobody know. It costs one system call and never waits.
func broken(conn net.Conn) bool {
	if wrapped, ok := conn.(interface{ NetConn() net.Conn }); ok { // TLS
		conn = wrapped.NetConn()
	}
	socket, ok := conn.(syscall.Conn)
	if !ok {
		return false
	}
	raw, err := socket.SyscallConn()
	if err != nil {
		return true
	}
	var peeked error
	// Not raw.Read, which waits for a read that pgx may have left going.
	err = raw.Control(func(fd uintptr) {
		var one [1]byte
		_, _, peeked = syscall.Recvfrom(int(fd), one[:], syscall.MSG_PEEK|syscall.MSG_DONTWAIT)
	})
	return err != nil || (peeked != syscall.EAGAIN && peeked != syscall.EWOULDBLOCK && peeked != syscall.EINTR)
}
