package egress

import (
	"context"
	"net"
	"net/url"
	"strings"
)

// direct is a server of our own that tenants may address, on whatever network it
// listens.
type direct struct {
	scheme string // of its public address
	public string // "host:port" of its public address, as it is dialled
	target string // "host:port" of its listener, which speaks plain HTTP
}

// WithDirect makes connections to exactly the host and port of the public URL
// lead to target, "host:port", without a look-up and without leaving our network,
// wherever target is. No other address is opened by that: not target itself, not
// another port of the host, not another name for it. target is a listener that
// serves strangers anyway and speaks plain HTTP; see [Guard.Rewrite] for what
// that means for an https URL.
func WithDirect(public *url.URL, target string) Option {
	return func(g *Guard) { g.direct = &direct{scheme: public.Scheme, public: dialled(public), target: target} }
}

// dialled is the "host:port" that net/http dials for a URL.
func dialled(u *url.URL) string {
	host, err := lookupHost(strings.ToLower(u.Hostname()))
	if err != nil {
		return ""
	}
	port := u.Port()
	if port == "" {
		port = map[string]string{"http": "80", "https": "443"}[u.Scheme]
	}
	return net.JoinHostPort(host, port)
}

// isDirect reports whether a URL leads to the server of our own.
func (g *Guard) isDirect(u *url.URL) bool {
	return g.direct != nil && u.Scheme == g.direct.scheme && dialled(u) == g.direct.public
}

// Rewrite returns the URL under which a guarded transport reaches what u names: u
// itself, but for an https URL of the server of our own, whose TLS ends in front
// of it. That one becomes http to the same host and port, which is dialled
// directly. Whoever sends sets the request's Host from u.
func (g *Guard) Rewrite(u *url.URL) *url.URL {
	if u.Scheme != "https" || !g.isDirect(u) {
		return u
	}
	plain := *u
	plain.Scheme, plain.Host = "http", g.direct.public
	return &plain
}

// dialDirect connects to the server of our own, if it is what address asks for.
func (g *Guard) dialDirect(ctx context.Context, network, address string) (conn net.Conn, asked bool, err error) {
	if g.direct == nil || !strings.EqualFold(address, g.direct.public) {
		return nil, false, nil
	}
	conn, err = (&net.Dialer{Timeout: g.timeout}).DialContext(ctx, network, g.direct.target)
	return conn, true, err
}
