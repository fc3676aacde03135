package providers

import (
	"bufio"
	"crypto/tls"
	"io"
	"net"
	"net/textproto"
	"strconv"
	"strings"
	"testing"

	"github.com/emersion/go-sasl"
	"github.com/emersion/go-smtp"
	"github.com/stretchr/testify/require"
)

// SMTP is a mail server. The key of a message is the part of its Message-ID
// before the @.
type SMTP struct {
	*book

	Host string
	Port int

	password string
}

// SMTPOptions say how a mail server protects itself.
type SMTPOptions struct {
	TLS      *tls.Config // nil: not at all
	Implicit bool        // from the first byte; otherwise by STARTTLS
	Password string      // of everybody; empty: nobody has to sign in
}

// StartSMTP starts a mail server for everybody, which the test's end stops.
func StartSMTP(t testing.TB, script Script) *SMTP {
	t.Helper()
	return StartSMTPWith(t, script, SMTPOptions{})
}

// StartSMTPWith does the same with a protected one.
func StartSMTPWith(t testing.TB, script Script, options SMTPOptions) *SMTP {
	t.Helper()
	listener := listen(t, "127.0.0.1:0")
	host, port, err := net.SplitHostPort(listener.Addr().String())
	require.NoError(t, err)
	s := &SMTP{book: newBook(script), Host: host, password: options.Password}
	s.Port, err = strconv.Atoi(port)
	require.NoError(t, err)
	server := smtp.NewServer(smtp.BackendFunc(func(c *smtp.Conn) (smtp.Session, error) {
		return &session{server: s, conn: c}, nil
	}))
	server.Domain = "localhost"
	if options.Implicit {
		listener = tls.NewListener(listener, options.TLS)
	} else {
		server.TLSConfig = options.TLS
	}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		_ = server.Serve(listener)
	}()
	t.Cleanup(func() {
		_ = server.Close()
		<-ended
	})
	return s
}

type session struct {
	server *SMTP
	conn   *smtp.Conn
	known  bool
}

// AuthMechanisms implements [smtp.AuthSession].
func (s *session) AuthMechanisms() []string { return []string{sasl.Plain} }

// Auth implements [smtp.AuthSession].
func (s *session) Auth(string) (sasl.Server, error) {
	return sasl.NewPlainServer(func(_, _, password string) error {
		if s.known = password == s.server.password; !s.known {
			return smtp.ErrAuthFailed
		}
		return nil
	}), nil
}

// Reset implements [smtp.Session].
func (s *session) Reset() {}

// Logout implements [smtp.Session].
func (s *session) Logout() error { return nil }

// Mail implements [smtp.Session].
func (s *session) Mail(string, *smtp.MailOptions) error {
	if s.server.password != "" && !s.known {
		return smtp.ErrAuthRequired
	}
	return nil
}

// Rcpt implements [smtp.Session].
func (s *session) Rcpt(string, *smtp.RcptOptions) error { return nil }

// Data implements [smtp.Session].
func (s *session) Data(content io.Reader) error {
	header, err := textproto.NewReader(bufio.NewReader(content)).ReadMIMEHeader()
	if err != nil {
		return err
	}
	if _, err := io.Copy(io.Discard, content); err != nil {
		return err // it broke off: not taken in
	}
	key, _, _ := strings.Cut(strings.Trim(header.Get("Message-Id"), "<>"), "@")
	reaction := s.server.offer(key)
	reaction.wait()
	if reaction.Lose {
		_ = s.conn.Conn().Close()
	}
	if reaction.Refuse != 0 {
		return &smtp.SMTPError{Code: reaction.Refuse, Message: "as the script says"}
	}
	return nil
}
