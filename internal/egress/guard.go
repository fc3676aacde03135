package egress

import (
	"context"
	"net"
	"net/netip"
	"syscall"
	"time"

	"code.dny.dev/ssrf"
)

// ConnectTimeout bounds resolving a name and connecting to it (contract §5).
const ConnectTimeout = 10 * time.Second

// azureWireServer answers metadata requests inside Azure and is, on paper, an
// ordinary public address, so no registry lists it.
var azureWireServer = netip.MustParsePrefix("168.63.129.16/32")

// Guard decides which addresses may be connected to. It is immutable and safe
// for concurrent use.
type Guard struct {
	guardian *ssrf.Guardian
	resolver *net.Resolver
	timeout  time.Duration
	direct   *direct // nil: none
}

// Option changes a Guard while it is made.
type Option func(*Guard)

// WithResolver makes the guard look names up with r instead of the machine's
// resolver, both when a URL is checked and when it is dialled.
func WithResolver(r *net.Resolver) Option {
	return func(g *Guard) { g.resolver = r }
}

// WithConnectTimeout replaces [ConnectTimeout].
func WithConnectTimeout(d time.Duration) Option {
	return func(g *Guard) { g.timeout = d }
}

// New returns a guard that lets through public addresses and those inside
// allow, the ranges an operator opens for local work or for receivers in their
// own network. An address hidden inside an IPv6 form needs its IPv4 range
// opened too: opening 64:ff9b::/96 for a NAT64 network does not open
// 64:ff9b::7f00:1.
func New(allow []netip.Prefix, options ...Option) *Guard {
	g := &Guard{resolver: net.DefaultResolver, timeout: ConnectTimeout}
	var v4, v6 []netip.Prefix
	for _, prefix := range allow {
		prefix = unmapPrefix(prefix)
		if prefix.Addr().Is4() {
			v4 = append(v4, prefix)
		} else {
			v6 = append(v6, prefix)
		}
	}
	g.guardian = ssrf.New(
		ssrf.WithAnyPort(),
		ssrf.WithAllowedV4Prefixes(v4...),
		ssrf.WithAllowedV6Prefixes(v6...),
		ssrf.WithDeniedV4Prefixes(azureWireServer),
	)
	for _, option := range options {
		option(g)
	}
	return g
}

// unmapPrefix turns ::ffff:10.0.0.0/104 into 10.0.0.0/8, the form in which
// addresses are compared, and clears the host bits.
func unmapPrefix(p netip.Prefix) netip.Prefix {
	const mappedBits = 96
	if p.Addr().Is4In6() && p.Bits() >= mappedBits {
		p = netip.PrefixFrom(p.Addr().Unmap(), p.Bits()-mappedBits)
	}
	return p.Masked()
}

// CheckAddr returns nil when addr may be connected to and a [*BlockedError]
// that says why when it may not.
func (g *Guard) CheckAddr(addr netip.Addr) error {
	if !addr.IsValid() {
		return &BlockedError{Addr: addr, Reason: "is not an address"}
	}
	// Prefixes never contain an address that names a zone, so "fe80::1%eth0"
	// would be compared with nothing.
	plain := addr.WithZone("").Unmap()
	if err := g.checkHidden(plain); err != nil {
		return err
	}
	if g.guardian.SafeAddr(plain) != nil {
		return &BlockedError{Addr: plain, Reason: reason(plain)}
	}
	return nil
}

// checkHidden refuses an IPv6 address that carries a refused IPv4 one.
func (g *Guard) checkHidden(addr netip.Addr) error {
	hidden, form := embedded(addr)
	if form == "" || g.guardian.SafeAddr(hidden) == nil {
		return nil
	}
	return &BlockedError{
		Addr:   addr,
		Reason: "hides " + hidden.String() + " (" + form + "), which " + reason(hidden),
	}
}

// DialContext connects to address ("host:port"), trying what its name resolves
// to as net.Dialer does, and judges each address just before its connect. A
// refused one fails with a [*BlockedError] inside the returned error. The
// connection counts what is written to it ([*Conn]). [WithDirect] names the one
// address that is neither looked up nor judged.
func (g *Guard) DialContext(ctx context.Context, network, address string) (net.Conn, error) {
	if conn, asked, err := g.dialDirect(ctx, network, address); asked {
		if err != nil {
			return nil, err
		}
		return &Conn{Conn: conn}, nil
	}
	dialer := &net.Dialer{
		Timeout:        g.timeout,
		Resolver:       g.resolver,
		ControlContext: g.control,
	}
	conn, err := dialer.DialContext(ctx, network, address)
	if err != nil {
		return nil, err
	}
	return &Conn{Conn: conn}, nil
}

// control runs between the socket's creation and its connect.
func (g *Guard) control(_ context.Context, network, address string, _ syscall.RawConn) error {
	if network != "tcp4" && network != "tcp6" {
		return &BlockedError{Reason: network + " connections are not made"}
	}
	target, err := netip.ParseAddrPort(address)
	if err != nil {
		return &BlockedError{Reason: "is not an address"}
	}
	return g.CheckAddr(target.Addr())
}
