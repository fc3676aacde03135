package webhooks_test

import (
	"bufio"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"io"
	"math/big"
	"net"
	"net/http"
	"net/netip"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/botix-pro/platform/app/webhooks"
	"github.com/botix-pro/platform/internal/egress"
)

const (
	waitFor = 5 * time.Second
	tick    = 5 * time.Millisecond
	body    = `{"id":"evt_1","data":{"text":"grüße"}}`
)

var loopback = []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}

// patient limits never strike in a test that does not ask for them.
var patient = webhooks.SenderConfig{
	ConnectTimeout: waitFor, AnswerTimeout: waitFor, TotalTimeout: 2 * waitFor, UserAgent: "BOTIX-Webhooks/test",
}

// newSender returns a sender that may reach this machine and trusts roots.
func newSender(t *testing.T, cfg webhooks.SenderConfig, roots *x509.CertPool) *webhooks.Sender {
	t.Helper()
	transport := egress.New(loopback).Transport(egress.TransportConfig{RootCAs: roots})
	t.Cleanup(transport.CloseIdleConnections)
	return webhooks.NewSender(transport, cfg)
}

func newAttempt(url string) webhooks.Attempt {
	return webhooks.Attempt{
		URL: url, Body: []byte(body), EventID: "evt_1", EventType: "contact.created", Number: 3,
		RequestID: "req_7", Secrets: []webhooks.Secret{webhooks.NewSecret()}, StartedAt: time.Now(),
	}
}

// send makes one attempt with patient limits.
func send(t *testing.T, url string) webhooks.Outcome {
	t.Helper()
	return newSender(t, patient, nil).Send(t.Context(), newAttempt(url))
}

// rawReceiver accepts connections and lets serve do what it likes with them.
// It returns its address ("127.0.0.1:port") and counts the requests that
// readRequest has seen.
type rawReceiver struct {
	addr     string
	requests atomic.Int64
}

func newRawReceiver(t *testing.T, serve func(r *rawReceiver, conn net.Conn)) *rawReceiver {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	t.Cleanup(func() { _ = listener.Close() })
	r := &rawReceiver{addr: listener.Addr().String()}
	go func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			go func() {
				defer func() { _ = conn.Close() }()
				serve(r, conn)
			}()
		}
	}()
	return r
}

func (r *rawReceiver) url() string { return "http://" + r.addr + "/hook" }

// readRequest reads one whole request and reports whether there was one.
func (r *rawReceiver) readRequest(reader *bufio.Reader) bool {
	request, err := http.ReadRequest(reader)
	if err != nil {
		return false
	}
	_, _ = io.Copy(io.Discard, request.Body)
	r.requests.Add(1)
	return true
}

// answering returns a receiver that reads a request, writes text and hangs up.
func answering(t *testing.T, text string) *rawReceiver {
	t.Helper()
	return newRawReceiver(t, func(r *rawReceiver, conn net.Conn) {
		if r.readRequest(bufio.NewReader(conn)) {
			_, _ = io.WriteString(conn, text)
		}
	})
}

// hold keeps a connection open until the other side closes it.
func hold(conn net.Conn) { _, _ = io.Copy(io.Discard, conn) }

// authority is a private certificate authority.
type authority struct {
	cert *x509.Certificate
	key  *ecdsa.PrivateKey
}

func newAuthority(t *testing.T) *authority {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	require.NoError(t, err)
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "test authority"},
		NotBefore: time.Now().Add(-48 * time.Hour), NotAfter: time.Now().Add(48 * time.Hour),
		IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign,
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	require.NoError(t, err)
	cert, err := x509.ParseCertificate(der)
	require.NoError(t, err)
	return &authority{cert: cert, key: key}
}

func (a *authority) pool() *x509.CertPool {
	pool := x509.NewCertPool()
	pool.AddCert(a.cert)
	return pool
}

// issue makes a certificate for 127.0.0.1, or for a name when one is given.
func (a *authority) issue(t *testing.T, name string, notAfter time.Time) tls.Certificate {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	require.NoError(t, err)
	template := &x509.Certificate{
		SerialNumber: big.NewInt(2), Subject: pkix.Name{CommonName: "receiver"},
		NotBefore: time.Now().Add(-24 * time.Hour), NotAfter: notAfter,
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
	}
	if name == "" {
		template.IPAddresses = []net.IP{net.IPv4(127, 0, 0, 1)}
	} else {
		template.DNSNames = []string{name}
	}
	der, err := x509.CreateCertificate(rand.Reader, template, a.cert, key.Public(), a.key)
	require.NoError(t, err)
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}
}

// newTLSReceiver serves handshakes with one certificate and answers nothing.
func newTLSReceiver(t *testing.T, cert tls.Certificate) *rawReceiver {
	t.Helper()
	return newRawReceiver(t, func(_ *rawReceiver, conn net.Conn) {
		hold(tls.Server(conn, &tls.Config{Certificates: []tls.Certificate{cert}}))
	})
}
