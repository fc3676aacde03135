package egress

import (
	"net/netip"
)

// BlockedError says which address was refused and why, in words that may be
// shown to the person who entered it.
type BlockedError struct {
	Addr   netip.Addr // zero when what was asked for is not an address
	Reason string     // continues a sentence that starts with the address
}

// Error returns for example "127.0.0.1 is a loopback address".
func (e *BlockedError) Error() string {
	if !e.Addr.IsValid() {
		return "the address " + e.Reason
	}
	return e.Addr.String() + " " + e.Reason
}

// namedRange explains one refused range.
type namedRange struct {
	prefix netip.Prefix
	reason string
}

// namedRanges explains the ranges that people meet, the more specific first.
// It only words the refusal: what is refused is decided by the guardian, and a
// refused address that is missing here gets the general sentence.
var namedRanges = []namedRange{
	named("169.254.169.254/32", "is a cloud metadata address"),
	named("169.254.170.2/32", "is a cloud metadata address"),
	named("100.100.100.200/32", "is a cloud metadata address"),
	named("192.0.0.192/32", "is a cloud metadata address"),
	named("168.63.129.16/32", "is a cloud metadata address"),
	named("fd00:ec2::254/128", "is a cloud metadata address"),
	named("127.0.0.0/8", "is a loopback address"),
	named("::1/128", "is a loopback address"),
	named("0.0.0.0/32", "is the unspecified address"),
	named("::/128", "is the unspecified address"),
	named("10.0.0.0/8", "is a private address"),
	named("172.16.0.0/12", "is a private address"),
	named("192.168.0.0/16", "is a private address"),
	named("100.64.0.0/10", "is a shared carrier (CGNAT) address"),
	named("169.254.0.0/16", "is a link-local address"),
	named("fe80::/10", "is a link-local address"),
	named("fec0::/10", "is a site-local address"),
	named("fc00::/7", "is a unique local (private) address"),
	named("224.0.0.0/4", "is a multicast address"),
	named("ff00::/8", "is a multicast address"),
	named("255.255.255.255/32", "is the broadcast address"),
	named("0.0.0.0/8", "is a reserved address"),
	named("240.0.0.0/4", "is a reserved address"),
	named("192.0.0.0/24", "is a reserved address"),
	named("198.18.0.0/15", "is a benchmarking address"),
	named("192.0.2.0/24", "is a documentation address"),
	named("198.51.100.0/24", "is a documentation address"),
	named("203.0.113.0/24", "is a documentation address"),
	named("2001:db8::/32", "is a documentation address"),
	named("3fff::/20", "is a documentation address"),
	named("64:ff9b::/96", "is a NAT64 address"),
	named("64:ff9b:1::/48", "is a local-use NAT64 address"),
	named("2001::/32", "is a Teredo address"),
	named("2002::/16", "is a 6to4 address"),
	named("::/96", "is an IPv4-compatible address"),
}

func named(prefix, reason string) namedRange {
	return namedRange{prefix: netip.MustParsePrefix(prefix), reason: reason}
}

// reason words the refusal of addr, which must be unmapped and without a zone.
func reason(addr netip.Addr) string {
	for _, r := range namedRanges {
		if r.prefix.Contains(addr) {
			return r.reason
		}
	}
	return "is not a public address"
}

var (
	compatiblePrefix = netip.MustParsePrefix("::/96")           // RFC 4291 §2.5.5.1
	translatedPrefix = netip.MustParsePrefix("::ffff:0:0:0/96") // RFC 2765 §2.1
	nat64Prefix      = netip.MustParsePrefix("64:ff9b::/96")    // RFC 6052 §2.1
	nat64LocalPrefix = netip.MustParsePrefix("64:ff9b:1::/48")  // RFC 8215
	teredoPrefix     = netip.MustParsePrefix("2001::/32")       // RFC 4380 §4
	sixToFourPrefix  = netip.MustParsePrefix("2002::/16")       // RFC 3056 §2
)

// embedded returns the IPv4 address that an IPv6 address carries in one of the
// transition forms, and the name of the form, which is empty when it has none.
// IPv4-mapped addresses are gone by then: the caller unmaps. A local-use NAT64
// address is read in its /96 form; the prefix as a whole is refused anyway
// unless an operator opens it.
func embedded(addr netip.Addr) (hidden netip.Addr, form string) {
	if !addr.Is6() || addr.IsLoopback() || addr.IsUnspecified() {
		return netip.Addr{}, ""
	}
	b := addr.As16()
	last := netip.AddrFrom4([4]byte(b[12:16]))
	switch {
	case compatiblePrefix.Contains(addr):
		return last, "IPv4-compatible"
	case translatedPrefix.Contains(addr):
		return last, "IPv4-translated"
	case nat64Prefix.Contains(addr):
		return last, "NAT64"
	case nat64LocalPrefix.Contains(addr):
		return last, "local-use NAT64"
	case sixToFourPrefix.Contains(addr):
		return netip.AddrFrom4([4]byte(b[2:6])), "6to4"
	case teredoPrefix.Contains(addr): // the client's address, every bit flipped
		return netip.AddrFrom4([4]byte{^b[12], ^b[13], ^b[14], ^b[15]}), "Teredo"
	case isISATAP(b):
		return last, "ISATAP"
	}
	return netip.Addr{}, ""
}

// isISATAP recognises the interface identifier 0:5efe:a.b.c.d, with the
// universal bit set or not (RFC 5214 §6.1).
func isISATAP(b [16]byte) bool {
	return b[8]&^0x02 == 0 && b[9] == 0 && b[10] == 0x5e && b[11] == 0xfe
}
