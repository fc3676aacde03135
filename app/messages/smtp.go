package messages

import (
	"context"
	"crypto/tls"
	"fmt"
	"io"
	"net"

	"github.com/wneessen/go-mail"
	"github.com/wneessen/go-mail/smtp"
)

// line is a conversation with an SMTP server. The library's own Send is not
// used: it tells the ways in which a send fails apart by the error's words, and
// takes leave of a server in the middle of a broken content, which completes it.
type line struct {
	client *smtp.Client
	conn   net.Conn // nil: never connected
	stop   func() bool
}

// connect dials, greets, and protects the connection and signs in as the
// settings say.
func (e *Email) connect(ctx context.Context, settings EmailSettings, helo string) (*line, error) {
	config := &tls.Config{ServerName: settings.Host, MinVersion: tls.VersionTLS12, RootCAs: e.roots}
	l := &line{}
	options := []mail.Option{
		mail.WithPort(settings.Port), mail.WithHELO(helo), mail.WithTLSConfig(config), mail.WithTLSPolicy(policy(settings.TLS)),
		mail.WithDialContextFunc(func(_ context.Context, network, address string) (net.Conn, error) {
			return l.dial(ctx, e.dialer, network, address, settings.TLS == TLSImplicit, config)
		}),
	}
	if settings.Username != "" {
		options = append(options, mail.WithSMTPAuth(mail.SMTPAuthAutoDiscover),
			mail.WithUsername(settings.Username), mail.WithPassword(settings.Password))
	}
	client, err := mail.NewClient(settings.Host, options...)
	if err != nil {
		return nil, fmt.Errorf("prepare the connection: %w", err)
	}
	if l.client, err = client.DialToSMTPClientWithContext(ctx); err != nil {
		l.hangUp()
		return nil, fmt.Errorf("connect: %w", err)
	}
	return l, nil
}

// policy tells the library what remains to be done once the dialer is through:
// nothing, where the connection is protected from its first byte.
func policy(protection string) mail.TLSPolicy {
	switch protection {
	case TLSStart:
		return mail.TLSMandatory
	case TLSImplicit:
		return mail.TLSOpportunistic
	default:
		return mail.NoTLS
	}
}

// dial connects. The end of ctx cuts the connection whatever it is being used
// for: the library's deadlines do not cover a server that never greets.
func (l *line) dial(ctx context.Context, dialer Dialer, network, address string, protect bool, config *tls.Config) (net.Conn, error) {
	conn, err := dialer.DialContext(ctx, network, address)
	if err != nil {
		return nil, err
	}
	l.conn = conn
	l.stop = context.AfterFunc(ctx, func() { _ = conn.Close() })
	if !protect {
		return conn, nil
	}
	secure := tls.Client(conn, config)
	if err := secure.HandshakeContext(ctx); err != nil {
		return nil, fmt.Errorf("TLS: %w", err)
	}
	return secure, nil
}

// announce says from whom and to whom, and opens the content.
func (l *line) announce(from, to string) (io.WriteCloser, error) {
	if err := l.client.Mail("<" + from + ">"); err != nil {
		return nil, err
	}
	if err := l.client.Rcpt("<" + to + ">"); err != nil {
		return nil, err
	}
	return l.client.Data()
}

// sayGoodbye does not wait for an answer: there is nothing more to learn.
func (l *line) sayGoodbye() { _, _ = l.client.Text.Cmd("QUIT") }

// hangUp closes the connection without another word.
func (l *line) hangUp() {
	if l.conn != nil {
		l.stop()
		_ = l.conn.Close()
	}
}
