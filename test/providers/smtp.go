package providers

import (
	"bufio"
	"io"
	"net"
	"net/textproto"
	"strconv"
	"strings"
	"testing"

	"github.com/emersion/go-smtp"
	"github.com/stretchr/testify/require"
)

// SMTP is a mail server. The key of a message is the part of its Message-ID
// before the @.
type SMTP struct {
	*book

	Host string
	Port int
}

// StartSMTP starts a mail server that the test's end stops.
func StartSMTP(t testing.TB, script Script) *SMTP {
	t.Helper()
	listener := listen(t, "127.0.0.1:0")
	host, port, err := net.SplitHostPort(listener.Addr().String())
	require.NoError(t, err)
	s := &SMTP{book: newBook(script), Host: host}
	s.Port, err = strconv.Atoi(port)
	require.NoError(t, err)
	server := smtp.NewServer(smtp.BackendFunc(func(c *smtp.Conn) (smtp.Session, error) {
		return &session{server: s, conn: c}, nil
	}))
	server.Domain = "localhost"
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
}

func (s *session) Reset()                               {}
func (s *session) Logout() error                        { return nil }
func (s *session) Mail(string, *smtp.MailOptions) error { return nil }
func (s *session) Rcpt(string, *smtp.RcptOptions) error { return nil }
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
