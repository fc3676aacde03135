package messages_test

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/json"
	"math/big"
	"net"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/botix-pro/platform/app/messages"
	"github.com/botix-pro/platform/internal/clock"
	"github.com/botix-pro/platform/internal/egress"
	"github.com/botix-pro/platform/test/providers"
)

// authority is a certificate for 127.0.0.1, and what trusts it.
func authority(t *testing.T) (*tls.Config, *x509.CertPool) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	require.NoError(t, err)
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "test"}, NotAfter: time.Now().Add(time.Hour),
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, IsCA: true, BasicConstraintsValid: true,
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	require.NoError(t, err)
	leaf, err := x509.ParseCertificate(der)
	require.NoError(t, err)
	roots := x509.NewCertPool()
	roots.AddCert(leaf)
	return &tls.Config{Certificates: []tls.Certificate{{Certificate: [][]byte{der}, PrivateKey: key}}, MinVersion: tls.VersionTLS12}, roots
}

func send(t *testing.T, channel messages.Channel, settings any) messages.Result {
	t.Helper()
	raw, err := json.Marshal(settings)
	require.NoError(t, err)
	return channel.Send(t.Context(), messages.Parcel{Key: "msg_1", Address: "ada@example.com", Text: "Hi", Settings: raw})
}

// Over STARTTLS and over TLS from the first byte the password is given and the
// message taken; a server that nobody vouches for, or one without TLS where it is
// asked for, gets neither.
func TestMailIsProtected(t *testing.T) {
	t.Parallel()
	config, roots := authority(t)
	guard := egress.New(loopback())
	for _, mode := range []string{messages.TLSStart, messages.TLSImplicit} {
		server := providers.StartSMTPWith(t, nil, providers.SMTPOptions{TLS: config, Implicit: mode == messages.TLSImplicit, Password: "secret"})
		settings := messages.EmailSettings{
			Host: server.Host, Port: server.Port, TLS: mode, Username: "u", Password: "secret", From: "shop@example.org", Subject: "News",
		}
		trusting, strict := messages.NewEmail(guard, roots, clock.System{}.Now), messages.NewEmail(guard, nil, clock.System{}.Now)
		require.Equal(t, messages.Result{Verdict: messages.Taken, Receipt: "<msg_1@example.org>"}, send(t, trusting, settings), mode)
		refused := send(t, strict, settings)
		require.Equal(t, messages.NotTaken, refused.Verdict, mode)
		require.Contains(t, refused.Detail, "certificate", mode)
		settings.Password = "wrong"
		require.Equal(t, messages.NotTaken, send(t, trusting, settings).Verdict, mode)
		require.Equal(t, map[string]int{"msg_1": 1}, server.Taken())
	}
	plain := providers.StartSMTP(t, nil)
	got := send(t, messages.NewEmail(guard, roots, clock.System{}.Now), messages.EmailSettings{
		Host: plain.Host, Port: plain.Port, TLS: messages.TLSStart, Username: "u", Password: "secret", From: "shop@example.org", Subject: "News",
	})
	require.Equal(t, messages.NotTaken, got.Verdict)
	require.Empty(t, plain.Offered())
}

// A server that accepts connections and never says a word holds nobody longer
// than the attempt may take.
func TestMailServerThatNeverGreets(t *testing.T) {
	t.Parallel()
	silent, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	require.NoError(t, err)
	t.Cleanup(func() { _ = silent.Close() })
	o := newOffice(t, nil)
	o.work(func(c *messages.Config) { c.Timeout, c.Schedule = 300*time.Millisecond, nil })
	settings := o.mail()
	settings.Port = silent.Addr().(*net.TCPAddr).Port
	o.setMail(settings)
	m := o.ends(o.queue("email", 1)[0], "failed")
	require.Equal(t, messages.CodeConnection, *m.ErrorCode)
}

// An address that a tenant may not reach is refused when it is dialled, in words
// that do not give the token away.
func TestChannelsReachPublicAddressesOnly(t *testing.T) {
	t.Parallel()
	closed := egress.New(nil)
	server, bot := providers.StartSMTP(t, nil), providers.StartBotAPI(t, nil)
	for name, got := range map[string]messages.Result{
		"email": send(t, messages.NewEmail(closed, nil, clock.System{}.Now), messages.EmailSettings{
			Host: server.Host, Port: server.Port, TLS: messages.TLSNone, From: "shop@example.org", Subject: "News",
		}),
		"telegram": send(t, messages.NewTelegram(closed.Transport(egress.TransportConfig{})), messages.TelegramSettings{BaseURL: bot.URL, Token: providers.BotToken}),
	} {
		require.Equal(t, messages.NotTaken, got.Verdict, name)
		require.Contains(t, got.Detail, "127.0.0.1 is a loopback address", name)
		require.NotContains(t, got.Detail, providers.BotToken, name)
	}
	require.Empty(t, server.Offered())
	require.Empty(t, bot.Offered())
}
