package egress

import (
	"cmp"
	"crypto/tls"
	"crypto/x509"
	"net/http"
	"time"
)

// TransportConfig sizes a [Guard.Transport]. Every zero field means the value
// named beside it.
type TransportConfig struct {
	TLSTimeout     time.Duration  // the TLS handshake alone: 10 s
	AnswerTimeout  time.Duration  // request written to headers received: 30 s (contract §5)
	IdleTimeout    time.Duration  // how long an unused connection is kept: 4 s
	MaxIdle        int            // unused connections kept in all: 4096
	MaxIdlePerHost int            // unused connections kept for one host: 32
	MaxHeader      int64          // bytes of response headers accepted: 64 KiB
	RootCAs        *x509.CertPool // nil: the machine's
}

// defaultIdleTimeout stays below 5 s, after which many receivers (Node and
// Apache among them) close an unused connection: whoever closes first avoids
// the race in which a request is written to a connection that is already gone.
const defaultIdleTimeout = 4 * time.Second

const (
	defaultTLSTimeout     = 10 * time.Second
	defaultAnswerTimeout  = 30 * time.Second
	defaultMaxIdle        = 4096
	defaultMaxIdlePerHost = 32
	defaultMaxHeader      = 64 << 10
)

// HTTP/2 keeps many requests on one connection, and one that has silently died
// would swallow them all until TCP notices. So a quiet connection is asked.
const (
	pingAfter   = 10 * time.Second
	pingTimeout = 5 * time.Second
)

// Transport returns an HTTP client transport whose connections all pass the
// guard: HTTP/1.1 and HTTP/2, TLS 1.2 or newer, no proxy from the environment
// (it would be the one connecting, out of the guard's sight), response bodies
// as they come. It is made to be shared by everything that sends: the pool is
// sized for thousands of hosts. Redirects are not a transport's business;
// whoever puts a client around it must refuse them.
func (g *Guard) Transport(cfg TransportConfig) *http.Transport {
	protocols := new(http.Protocols)
	protocols.SetHTTP1(true)
	protocols.SetHTTP2(true)
	return &http.Transport{
		Proxy:                  nil,
		DialContext:            g.DialContext,
		TLSClientConfig:        &tls.Config{MinVersion: tls.VersionTLS12, RootCAs: cfg.RootCAs},
		TLSHandshakeTimeout:    cmp.Or(cfg.TLSTimeout, defaultTLSTimeout),
		ResponseHeaderTimeout:  cmp.Or(cfg.AnswerTimeout, defaultAnswerTimeout),
		IdleConnTimeout:        cmp.Or(cfg.IdleTimeout, defaultIdleTimeout),
		MaxIdleConns:           cmp.Or(cfg.MaxIdle, defaultMaxIdle),
		MaxIdleConnsPerHost:    cmp.Or(cfg.MaxIdlePerHost, defaultMaxIdlePerHost),
		MaxResponseHeaderBytes: cmp.Or(cfg.MaxHeader, defaultMaxHeader),
		DisableCompression:     true,
		Protocols:              protocols,
		HTTP2:                  &http.HTTP2Config{SendPingTimeout: pingAfter, PingTimeout: pingTimeout},
	}
}
