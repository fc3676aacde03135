package egress_test

import (
	"context"
	"net"
	"net/netip"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/botix-pro/platform/internal/egress"
)

// Guarantee: no address that is not public passes, in whatever form it is
// written, and the refusal says why.
func TestCheckAddrRefuses(t *testing.T) {
	t.Parallel()
	guard := egress.New(nil)
	for addr, reason := range map[string]string{
		"127.0.0.1":       "loopback",
		"127.255.255.254": "loopback",
		"0.0.0.0":         "unspecified",
		"0.1.2.3":         "reserved",
		"10.0.0.1":        "private",
		"172.16.0.1":      "private",
		"172.31.255.255":  "private",
		"192.168.1.1":     "private",
		"100.64.0.1":      "CGNAT",
		"169.254.1.1":     "link-local",
		"169.254.169.254": "metadata",
		"168.63.129.16":   "metadata",
		"100.100.100.200": "metadata",
		"192.0.0.192":     "metadata",
		"192.0.0.1":       "reserved",
		"192.0.2.1":       "documentation",
		"192.88.99.1":     "not a public address",
		"198.18.0.1":      "benchmarking",
		"224.0.0.1":       "multicast",
		"240.0.0.1":       "reserved",
		"255.255.255.255": "broadcast",
		"::":              "unspecified",
		"::1":             "loopback",
		"fe80::1":         "link-local",
		"fe80::1%eth0":    "link-local",
		"fec0::1":         "site-local",
		"fc00::1":         "unique local",
		"fd12:3456::1":    "unique local",
		"fd00:ec2::254":   "metadata",
		"ff02::1":         "multicast",
		"100::1":          "not a public address",
		"5f00::1":         "not a public address",
		"2001:db8::1":     "documentation",
		"3fff::1":         "documentation",
	} {
		requireBlocked(t, guard, addr, reason)
	}
}

// Guarantee: an IPv4 address hidden in an IPv6 one is found.
func TestCheckAddrSeesThroughIPv6Forms(t *testing.T) {
	t.Parallel()
	guard := egress.New(nil)
	for addr, reason := range map[string]string{
		"::ffff:127.0.0.1":           "127.0.0.1 is a loopback",
		"::ffff:10.0.0.1":            "private",
		"::ffff:169.254.169.254":     "metadata",
		"::127.0.0.1":                "hides 127.0.0.1 (IPv4-compatible), which is a loopback",
		"::7f00:1":                   "loopback",
		"::8.8.8.8":                  "IPv4-compatible",
		"::ffff:0:127.0.0.1":         "hides 127.0.0.1 (IPv4-translated)",
		"64:ff9b::127.0.0.1":         "hides 127.0.0.1 (NAT64)",
		"64:ff9b::8.8.8.8":           "NAT64",
		"64:ff9b:1::10.0.0.1":        "hides 10.0.0.1 (local-use NAT64)",
		"64:ff9b:1:a9fe:a9:fe00::":   "local-use NAT64",
		"2002:7f00:1::":              "hides 127.0.0.1 (6to4)",
		"2002:808:808::1":            "6to4",
		"2001:0:808:808::80ff:fffe":  "hides 127.0.0.1 (Teredo)",
		"2001:0:1:2::":               "Teredo",
		"2606:4700::5efe:10.0.0.1":   "hides 10.0.0.1 (ISATAP)",
		"2606:4700::200:5efe:7f00:1": "hides 127.0.0.1 (ISATAP)",
	} {
		requireBlocked(t, guard, addr, reason)
	}
}

func TestCheckAddrLetsPublicAddressesThrough(t *testing.T) {
	t.Parallel()
	guard := egress.New(nil)
	for _, addr := range []string{
		"8.8.8.8", "1.1.1.1", "172.32.0.1", "100.128.0.1", "::ffff:8.8.8.8",
		"2606:4700:4700::1111", "2a00:1450:4001::1", "2606:4700::5efe:8.8.8.8",
	} {
		require.NoError(t, guard.CheckAddr(netip.MustParseAddr(addr)), addr)
	}
}

// Guarantee: a range that an operator opens is open in every spelling, and
// opens nothing else.
func TestAllowedRanges(t *testing.T) {
	t.Parallel()
	guard := egress.New([]netip.Prefix{
		netip.MustParsePrefix("127.0.0.0/8"),
		netip.MustParsePrefix("::ffff:10.1.0.0/112"),
		netip.MustParsePrefix("fd00:1::/32"),
		netip.MustParsePrefix("64:ff9b::/96"),
	})
	for _, addr := range []string{
		"127.0.0.1", "::ffff:127.0.0.1", "10.1.2.3", "fd00:1::5", "64:ff9b::8.8.8.8", "64:ff9b::7f00:1",
	} {
		require.NoError(t, guard.CheckAddr(netip.MustParseAddr(addr)), addr)
	}
	for addr, reason := range map[string]string{
		"10.2.0.1":             "private",
		"::1":                  "loopback",
		"fd00:2::5":            "unique local",
		"64:ff9b::10.2.0.1":    "hides 10.2.0.1 (NAT64)",
		"64:ff9b::169.254.1.1": "link-local",
	} {
		requireBlocked(t, guard, addr, reason)
	}
}

func TestCheckAddrRefusesTheZeroValue(t *testing.T) {
	t.Parallel()
	var blocked *egress.BlockedError
	require.ErrorAs(t, egress.New(nil).CheckAddr(netip.Addr{}), &blocked)
	require.EqualError(t, blocked, "the address is not an address")
}

// Guarantee: a refused address never sees a packet, a name is judged by what it
// resolves to at that moment, and an answer that changes gains nothing.
func TestDialJudgesWhatTheNameResolvesTo(t *testing.T) {
	t.Parallel()
	port, accepted := listen(t)
	dns := newDNS(t, func(string, int64) []string { return []string{"127.0.0.1"} })
	_, err := egress.New(nil, egress.WithResolver(dns.resolver)).
		DialContext(t.Context(), "tcp", net.JoinHostPort("hooks.example.test", port))
	var blocked *egress.BlockedError
	require.ErrorAs(t, err, &blocked)
	require.EqualError(t, blocked, "127.0.0.1 is a loopback address")
	require.Zero(t, accepted.Load())
}

func TestDialDoesNotTrustAnEarlierCheck(t *testing.T) {
	t.Parallel()
	port, accepted := listen(t)
	var private atomic.Bool
	dns := newDNS(t, func(string, int64) []string {
		if private.Load() {
			return []string{"127.0.0.1"}
		}
		return []string{"8.8.8.8"}
	})
	guard := egress.New(nil, egress.WithResolver(dns.resolver))
	_, err := guard.CheckURL(t.Context(), mustURL(t, "http://rebind.example.test:"+port))
	require.NoError(t, err, "at saving the name is public")

	private.Store(true)
	_, err = guard.DialContext(t.Context(), "tcp", net.JoinHostPort("rebind.example.test", port))
	var blocked *egress.BlockedError
	require.ErrorAs(t, err, &blocked)
	require.Zero(t, accepted.Load())
}

// Guarantee: one refused address among several does not keep a receiver from
// being reached at the others.
func TestDialTriesTheOtherAddresses(t *testing.T) {
	t.Parallel()
	port, accepted := listen(t)
	dns := newDNS(t, func(string, int64) []string { return []string{"10.0.0.1", "127.0.0.1"} })
	guard := egress.New([]netip.Prefix{netip.MustParsePrefix("127.0.0.1/32")}, egress.WithResolver(dns.resolver))
	conn, err := guard.DialContext(t.Context(), "tcp", net.JoinHostPort("both.example.test", port))
	require.NoError(t, err)
	require.NoError(t, conn.Close())
	require.Eventually(t, func() bool { return accepted.Load() == 1 }, waitFor, tick)
}

func TestDialRefusesOtherNetworks(t *testing.T) {
	t.Parallel()
	guard := egress.New([]netip.Prefix{netip.MustParsePrefix("127.0.0.1/32")})
	for network, address := range map[string]string{"udp": "127.0.0.1:53", "unix": "/tmp/socket"} {
		_, err := guard.DialContext(t.Context(), network, address)
		var blocked *egress.BlockedError
		require.ErrorAs(t, err, &blocked, network)
	}
}

func TestConnCountsWhatIsWritten(t *testing.T) {
	t.Parallel()
	port, _ := listen(t)
	guard := egress.New([]netip.Prefix{netip.MustParsePrefix("127.0.0.1/32")})
	conn, err := guard.DialContext(context.Background(), "tcp", net.JoinHostPort("127.0.0.1", port))
	require.NoError(t, err)
	defer func() { _ = conn.Close() }()
	counting := conn.(*egress.Conn)
	require.Zero(t, counting.BytesWritten())
	_, err = conn.Write([]byte("hello"))
	require.NoError(t, err)
	require.EqualValues(t, 5, counting.BytesWritten())
}

func requireBlocked(t *testing.T, guard *egress.Guard, addr, reason string) {
	t.Helper()
	err := guard.CheckAddr(netip.MustParseAddr(addr))
	var blocked *egress.BlockedError
	require.ErrorAs(t, err, &blocked, addr)
	require.ErrorContains(t, err, reason, addr)
}
