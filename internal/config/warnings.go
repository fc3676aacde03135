package config

import (
	"net"
	"net/netip"
	"strings"
)

// Warnings lists settings that work but are seldom meant, as sentences for the
// start-up log.
func (c Config) Warnings() []string {
	var list []string
	if len(c.EgressAllow) > 0 {
		list = append(list, "EGRESS_ALLOW_CIDRS opens non-public networks to every project's webhooks")
	}
	if everything(c.TrustedProxies) {
		list = append(list, "TRUSTED_PROXIES trusts every address: any caller can pretend to be another one")
	}
	if strings.HasPrefix(c.PublicURL, "http://") && !onThisMachine(strings.TrimPrefix(c.PublicURL, "http://")) {
		list = append(list, "PUBLIC_URL is not https: API keys and sessions travel in the clear")
	}
	if !onThisMachine(c.InternalAddr) {
		list = append(list, "INTERNAL_ADDR is reachable from other machines: keep /metrics out of the public network")
	}
	return list
}

func everything(networks []netip.Prefix) bool {
	for _, network := range networks {
		if network.Bits() == 0 {
			return true
		}
	}
	return false
}

// onThisMachine reports whether an address, with or without a port, is loopback.
func onThisMachine(address string) bool {
	host, _, err := net.SplitHostPort(address)
	if err != nil {
		host = address
	}
	addr, err := netip.ParseAddr(host)
	return host == "localhost" || err == nil && addr.IsLoopback()
}
