package egress_test

import (
	"context"
	"errors"
	"net"
	"net/url"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/botix-pro/platform/internal/egress"
)

func TestCheckURLForm(t *testing.T) {
	t.Parallel()
	guard := egress.New(nil)
	for text, reason := range map[string]string{
		"ftp://8.8.8.8/":                "http:// or https://",
		"//8.8.8.8/":                    "http:// or https://",
		"/hook":                         "http:// or https://",
		"gopher://8.8.8.8":              "http:// or https://",
		"https:8.8.8.8":                 "no host",
		"https:///hook":                 "no host",
		"https://:443/hook":             "no host",
		"https://user@8.8.8.8/":         "user name or password",
		"https://u:p@8.8.8.8/":          "user name or password",
		"https://8.8.8.8:0/":            "port",
		"https://8.8.8.8:65536/":        "port",
		"https://\u0301a.example.test/": "domain name",
	} {
		_, err := guard.CheckURL(t.Context(), mustURL(t, text))
		var form *egress.URLError
		require.ErrorAs(t, err, &form, text)
		require.ErrorContains(t, err, reason, text)
	}
}

func TestCheckURLWithAnAddress(t *testing.T) {
	t.Parallel()
	guard := egress.New(nil)
	for _, text := range []string{"https://8.8.8.8/hook?a=b", "http://[2606:4700::1]:8443", "http://8.8.8.8:25"} {
		warning, err := guard.CheckURL(t.Context(), mustURL(t, text))
		require.NoError(t, err, text)
		require.Empty(t, warning, text)
	}
	for _, text := range []string{
		"http://127.0.0.1/", "http://[::1]/", "http://[::ffff:10.0.0.1]:80/", "http://[fe80::1%25eth0]/",
		"http://169.254.169.254/latest/meta-data",
	} {
		_, err := guard.CheckURL(t.Context(), mustURL(t, text))
		var blocked *egress.BlockedError
		require.ErrorAs(t, err, &blocked, text)
	}
}

// Guarantee: saving a name is refused when any of its addresses is refused, and
// the sentence names both.
func TestCheckURLResolves(t *testing.T) {
	t.Parallel()
	dns := newDNS(t, func(name string, _ int64) []string {
		switch name {
		case "public.example.test.":
			return []string{"8.8.8.8", "2606:4700::1"}
		case "mixed.example.test.":
			return []string{"8.8.8.8", "10.0.0.5"}
		case "xn--bcher-kva.example.test.":
			return []string{"192.168.0.9"}
		}
		return nil
	})
	guard := egress.New(nil, egress.WithResolver(dns.resolver))

	warning, err := guard.CheckURL(t.Context(), mustURL(t, "https://public.example.test/hook"))
	require.NoError(t, err)
	require.Empty(t, warning)

	_, err = guard.CheckURL(t.Context(), mustURL(t, "https://mixed.example.test/hook"))
	require.EqualError(t, err, "mixed.example.test resolves to a refused address: 10.0.0.5 is a private address")

	_, err = guard.CheckURL(t.Context(), mustURL(t, "https://bücher.example.test/hook"))
	require.ErrorContains(t, err, "192.168.0.9 is a private address")

	warning, err = guard.CheckURL(t.Context(), mustURL(t, "https://missing.example.test/hook"))
	require.NoError(t, err)
	require.Equal(t, "missing.example.test does not resolve now; deliveries will fail until it does", warning)
}

// Guarantee: a resolver that never answers costs the caller's budget, no more,
// and does not keep a URL from being saved.
func TestCheckURLWithASilentResolver(t *testing.T) {
	t.Parallel()
	resolver := &net.Resolver{PreferGo: true, Dial: func(ctx context.Context, _, _ string) (net.Conn, error) {
		<-ctx.Done()
		return nil, ctx.Err()
	}}
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	warning, err := egress.New(nil, egress.WithResolver(resolver)).
		CheckURL(ctx, mustURL(t, "https://slow.example.test/"))
	require.NoError(t, err)
	require.Contains(t, warning, "slow.example.test could not be resolved in time")
}

// Guarantee: whatever is in a URL, judging it ends and a loopback literal in it
// is never accepted.
func FuzzCheckURL(f *testing.F) {
	for _, seed := range []string{
		"https://example.test/hook", "http://[::ffff:127.0.0.1]/", "http://127.1/", "http://[::1%25lo]:80",
		"http://0x7f000001/", "http://2130706433/", "//x", "http://a@b:c@d/",
	} {
		f.Add(seed)
	}
	failing := errors.New("no network in this test")
	guard := egress.New(nil, egress.WithResolver(&net.Resolver{
		PreferGo: true,
		Dial:     func(context.Context, string, string) (net.Conn, error) { return nil, failing },
	}))
	f.Fuzz(func(t *testing.T, text string) {
		u, err := url.Parse(text)
		if err != nil {
			return
		}
		warning, err := guard.CheckURL(t.Context(), u)
		if ip := net.ParseIP(u.Hostname()); ip != nil && ip.IsLoopback() {
			require.Error(t, err)
		}
		if err != nil {
			require.Empty(t, warning)
		}
	})
}
