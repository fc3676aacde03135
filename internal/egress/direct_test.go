package egress_test

import (
	"bufio"
	"net"
	"net/http"
	"net/http/httptest"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/botix-pro/platform/internal/egress"
)

// Our own server is reached on loopback by its public host and port, without a
// look-up, and saved as a URL; everything beside it stays closed.
func TestDirectOpensOneAddressOnly(t *testing.T) {
	t.Parallel()
	port, accepted := listen(t)
	other, untouched := listen(t)
	dns := newDNS(t, func(string, int64) []string { return []string{"127.0.0.1"} })
	guard := egress.New(nil, egress.WithResolver(dns.resolver),
		egress.WithDirect(mustURL(t, "http://Inspect.example.com:8081"), "127.0.0.1:"+port))

	for _, address := range []string{"inspect.example.com:8081", "INSPECT.example.com:8081"} {
		conn, err := guard.DialContext(t.Context(), "tcp", address)
		require.NoError(t, err, address)
		require.NoError(t, conn.Close())
	}
	require.Eventually(t, func() bool { return accepted.Load() == 2 }, waitFor, tick)
	_, err := guard.CheckURL(t.Context(), mustURL(t, "http://inspect.example.com:8081/bin_1/x?y#z"))
	require.NoError(t, err)
	require.Zero(t, dns.asked.Load(), "nobody is asked where it is")

	for _, address := range []string{
		"127.0.0.1:" + port, "127.0.0.1:8081", "localhost:" + port, "inspect.example.com:" + port, "inspect.example.com:80",
		"inspect.example.com:" + other, "inspect.example.com.:8081", "x.inspect.example.com:8081", "127.0.0.1:" + other,
	} {
		_, err := guard.DialContext(t.Context(), "tcp", address)
		var blocked *egress.BlockedError
		require.ErrorAs(t, err, &blocked, address)
		_, err = guard.CheckURL(t.Context(), mustURL(t, "http://"+address+"/bin_1"))
		require.ErrorAs(t, err, &blocked, address)
	}
	_, err = guard.CheckURL(t.Context(), mustURL(t, "http://me@inspect.example.com:8081/"))
	require.Error(t, err, "the form of the URL is checked all the same")
	_, err = guard.CheckURL(t.Context(), mustURL(t, "https://inspect.example.com:8081/"))
	require.Error(t, err, "it does not speak TLS")
	require.EqualValues(t, 2, accepted.Load())
	require.Zero(t, untouched.Load())
}

// The TLS of an https inspector ends in front of it: a request to it goes to the
// same host and port in plain HTTP, with the Host that its sender set; nothing else
// is written differently.
func TestDirectBehindTLS(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = w.Write([]byte(r.Host + r.URL.Path))
	}))
	t.Cleanup(server.Close)
	guard := egress.New(nil, egress.WithDirect(mustURL(t, "https://inspect.example.com"), server.Listener.Addr().String()))

	u := mustURL(t, "https://inspect.example.com/bin_1")
	plain := guard.Rewrite(u)
	require.Equal(t, "http://inspect.example.com:443/bin_1", plain.String())
	require.Equal(t, "https://inspect.example.com/bin_1", u.String(), "the caller's own URL stays")
	request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, u.String(), http.NoBody)
	require.NoError(t, err)
	request.URL = plain
	response, err := guard.Transport(egress.TransportConfig{}).RoundTrip(request)
	require.NoError(t, err)
	t.Cleanup(func() { _ = response.Body.Close() })
	answer, _ := bufio.NewReader(response.Body).ReadString(0)
	require.Equal(t, "inspect.example.com/bin_1", answer)

	for _, raw := range []string{"https://other.example.com/", "http://inspect.example.com/", "https://inspect.example.com:8443/"} {
		u := mustURL(t, raw)
		require.Same(t, u, guard.Rewrite(u))
	}
	u = mustURL(t, "https://inspect.example.com/")
	require.Same(t, u, egress.New(nil).Rewrite(u))
}

// A server of our own that does not answer is an ordinary failure.
func TestDirectThatIsDown(t *testing.T) {
	t.Parallel()
	closed, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	require.NoError(t, closed.Close())
	guard := egress.New(nil, egress.WithDirect(mustURL(t, "http://inspect.example.com"), closed.Addr().String()))
	_, err = guard.DialContext(t.Context(), "tcp", "inspect.example.com:80")
	require.ErrorIs(t, err, syscall.ECONNREFUSED)
}
