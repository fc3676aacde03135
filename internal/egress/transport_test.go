package egress_test

import (
	"crypto/tls"
	"crypto/x509"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/botix-pro/platform/internal/egress"
)

var loopback = []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}

// Guarantee: a proxy in the environment is not used, for it would connect where
// the guard cannot see.
func TestTransportIgnoresTheEnvironmentsProxy(t *testing.T) {
	t.Setenv("HTTP_PROXY", "http://127.0.0.1:1")
	t.Setenv("HTTPS_PROXY", "http://127.0.0.1:1")
	require.Nil(t, egress.New(nil).Transport(egress.TransportConfig{}).Proxy)
}

func TestTransportSpeaksHTTP2(t *testing.T) {
	t.Parallel()
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.WriteString(w, r.Proto)
	}))
	server.EnableHTTP2 = true
	server.StartTLS()
	t.Cleanup(server.Close)
	roots := x509.NewCertPool()
	roots.AddCert(server.Certificate())

	transport := egress.New(loopback).Transport(egress.TransportConfig{RootCAs: roots})
	t.Cleanup(transport.CloseIdleConnections)
	require.Equal(t, "HTTP/2.0", get(t, transport, server.URL))
}

func TestTransportSpeaksHTTP1(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.WriteString(w, r.Proto+r.Header.Get("Accept-Encoding"))
	}))
	t.Cleanup(server.Close)
	transport := egress.New(loopback).Transport(egress.TransportConfig{})
	t.Cleanup(transport.CloseIdleConnections)
	require.Equal(t, "HTTP/1.1", get(t, transport, server.URL), "and it asks for no compression by itself")
}

func TestTransportRefusesOldTLS(t *testing.T) {
	t.Parallel()
	server := httptest.NewUnstartedServer(http.NotFoundHandler())
	server.Config.ErrorLog = log.New(io.Discard, "", 0)
	server.TLS = &tls.Config{MaxVersion: tls.VersionTLS11, MinVersion: tls.VersionTLS10}
	server.StartTLS()
	t.Cleanup(server.Close)
	roots := x509.NewCertPool()
	roots.AddCert(server.Certificate())
	_, err := roundTrip(t, egress.New(loopback).Transport(egress.TransportConfig{RootCAs: roots}), server.URL)
	require.ErrorContains(t, err, "protocol version")
}

func TestTransportBoundsHeaders(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("X-Big", strings.Repeat("h", 65<<10))
	}))
	t.Cleanup(server.Close)
	_, err := roundTrip(t, egress.New(loopback).Transport(egress.TransportConfig{}), server.URL)
	require.ErrorContains(t, err, "headers exceeded")
}

func TestTransportIsGuarded(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(http.NotFoundHandler())
	t.Cleanup(server.Close)
	_, err := roundTrip(t, egress.New(nil).Transport(egress.TransportConfig{}), server.URL)
	var blocked *egress.BlockedError
	require.ErrorAs(t, err, &blocked)
}

func get(t *testing.T, transport http.RoundTripper, url string) string {
	t.Helper()
	response, err := roundTrip(t, transport, url)
	require.NoError(t, err)
	defer func() { _ = response.Body.Close() }()
	body, err := io.ReadAll(response.Body)
	require.NoError(t, err)
	return string(body)
}

func roundTrip(t *testing.T, transport http.RoundTripper, url string) (*http.Response, error) {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url, nil)
	require.NoError(t, err)
	return transport.RoundTrip(request)
}
