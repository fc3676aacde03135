package egress

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"net/url"
	"strconv"
	"time"

	"golang.org/x/net/idna"
)

// resolveBudget is the most a look-up may take while somebody waits for a URL
// to be saved (contract §1: what must be asked outside).
const resolveBudget = 2 * time.Second

// URLError says what is wrong with the form of a URL, in words for the person
// who entered it.
type URLError struct {
	Reason string // a whole sentence without its full stop
}

// Error returns the reason.
func (e *URLError) Error() string { return e.Reason }

// CheckURL judges a URL that is about to be saved. The error is a [*URLError]
// about its form (scheme other than http and https, no host, a name or password
// in it, an impossible port) or holds a [*BlockedError] when any of the
// addresses its host resolves to is refused. A name that does not resolve
// within ctx and at most two seconds is accepted with a warning, a sentence for
// the owner: DNS may be set up later, and every connection is judged anyway.
func (g *Guard) CheckURL(ctx context.Context, u *url.URL) (warning string, err error) {
	host, err := checkForm(u)
	if err != nil {
		return "", err
	}
	if g.isDirect(u) {
		return "", nil
	}
	if addr, err := netip.ParseAddr(host); err == nil {
		return "", g.CheckAddr(addr)
	}
	ctx, cancel := context.WithTimeout(ctx, resolveBudget)
	defer cancel()
	addrs, err := g.resolver.LookupNetIP(ctx, "ip", host)
	if err != nil {
		return unresolved(host, err), nil
	}
	for _, addr := range addrs {
		if err := g.CheckAddr(addr); err != nil {
			return "", fmt.Errorf("%s resolves to a refused address: %w", host, err)
		}
	}
	return "", nil
}

// checkForm returns the host as it will be looked up.
func checkForm(u *url.URL) (host string, err error) {
	if u.Scheme != "http" && u.Scheme != "https" {
		return "", &URLError{Reason: "the URL must start with http:// or https://"}
	}
	if u.User != nil {
		return "", &URLError{Reason: "the URL must not hold a user name or password"}
	}
	if u.Opaque != "" || u.Hostname() == "" {
		return "", &URLError{Reason: "the URL has no host"}
	}
	if err := checkPort(u.Port()); err != nil {
		return "", err
	}
	return lookupHost(u.Hostname())
}

func checkPort(port string) error {
	if port == "" {
		return nil
	}
	if n, err := strconv.ParseUint(port, 10, 16); err != nil || n == 0 {
		return &URLError{Reason: "the port must be between 1 and 65535"}
	}
	return nil
}

// lookupHost returns the ASCII form that net/http too will resolve.
func lookupHost(host string) (string, error) {
	if _, err := netip.ParseAddr(host); err == nil {
		return host, nil
	}
	for _, c := range []byte(host) {
		if c >= 0x80 {
			return idnaHost(host)
		}
	}
	return host, nil
}

func idnaHost(host string) (string, error) {
	ascii, err := idna.Lookup.ToASCII(host)
	if err != nil {
		return "", &URLError{Reason: "the host is not a valid domain name"}
	}
	return ascii, nil
}

// unresolved words a failed look-up. The error's own text is not shown: it
// names our resolver.
func unresolved(host string, err error) string {
	var dns *net.DNSError
	if errors.As(err, &dns) && dns.IsNotFound {
		return host + " does not resolve now; deliveries will fail until it does"
	}
	return host + " could not be resolved in time; deliveries will fail if that stays so"
}
