package egress_test

import (
	"context"
	"net"
	"net/netip"
	"net/url"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/net/dns/dnsmessage"
)

const (
	waitFor = 5 * time.Second
	tick    = 5 * time.Millisecond
)

// listen opens a loopback listener that counts the connections it accepts.
func listen(t *testing.T) (port string, accepted *atomic.Int64) {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	t.Cleanup(func() { _ = listener.Close() })
	accepted = new(atomic.Int64)
	go func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			accepted.Add(1)
			t.Cleanup(func() { _ = conn.Close() })
		}
	}()
	_, port, err = net.SplitHostPort(listener.Addr().String())
	require.NoError(t, err)
	return port, accepted
}

// fakeDNS answers A and AAAA questions from a function.
type fakeDNS struct {
	resolver *net.Resolver
	asked    atomic.Int64
	answer   func(name string, n int64) []string
}

// newDNS starts a DNS server on loopback. answer gets the name and how many
// questions came before; nil means that the name does not exist.
func newDNS(t *testing.T, answer func(name string, n int64) []string) *fakeDNS {
	t.Helper()
	socket, err := net.ListenPacket("udp", "127.0.0.1:0")
	require.NoError(t, err)
	t.Cleanup(func() { _ = socket.Close() })
	d := &fakeDNS{answer: answer}
	d.resolver = &net.Resolver{
		PreferGo: true,
		Dial: func(ctx context.Context, _, _ string) (net.Conn, error) {
			return new(net.Dialer).DialContext(ctx, "udp", socket.LocalAddr().String())
		},
	}
	go d.serve(socket)
	return d
}

func (d *fakeDNS) serve(socket net.PacketConn) {
	packet := make([]byte, 1500)
	for {
		n, from, err := socket.ReadFrom(packet)
		if err != nil {
			return
		}
		var question dnsmessage.Message
		if question.Unpack(packet[:n]) != nil || len(question.Questions) != 1 {
			continue
		}
		if reply, err := d.reply(question).Pack(); err == nil {
			_, _ = socket.WriteTo(reply, from)
		}
	}
}

func (d *fakeDNS) reply(question dnsmessage.Message) *dnsmessage.Message {
	q := question.Questions[0]
	reply := &dnsmessage.Message{
		Header:    dnsmessage.Header{ID: question.ID, Response: true, RecursionAvailable: true},
		Questions: question.Questions,
	}
	addrs := d.answer(q.Name.String(), d.asked.Add(1)-1)
	if addrs == nil {
		reply.RCode = dnsmessage.RCodeNameError
	}
	for _, text := range addrs {
		if body := resource(netip.MustParseAddr(text), q.Type); body != nil {
			header := dnsmessage.ResourceHeader{Name: q.Name, Type: q.Type, Class: q.Class}
			reply.Answers = append(reply.Answers, dnsmessage.Resource{Header: header, Body: body})
		}
	}
	return reply
}

func resource(addr netip.Addr, kind dnsmessage.Type) dnsmessage.ResourceBody {
	switch {
	case kind == dnsmessage.TypeA && addr.Is4():
		return &dnsmessage.AResource{A: addr.As4()}
	case kind == dnsmessage.TypeAAAA && addr.Is6():
		return &dnsmessage.AAAAResource{AAAA: addr.As16()}
	}
	return nil
}

func mustURL(t *testing.T, text string) *url.URL {
	t.Helper()
	u, err := url.Parse(text)
	require.NoError(t, err)
	return u
}
