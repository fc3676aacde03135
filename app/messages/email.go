package messages

import (
	"bytes"
	"context"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	netmail "net/mail"
	"net/textproto"
	"strings"
	"time"

	"github.com/wneessen/go-mail"
)

// Dialer connects to addresses that a tenant chose (egress.Guard).
type Dialer interface {
	DialContext(ctx context.Context, network, address string) (net.Conn, error)
}

// Email sends over a project's SMTP server, one connection a message.
type Email struct {
	opaque

	dialer Dialer
	roots  *x509.CertPool
	now    func() time.Time
}

// NewEmail returns the channel. roots, if not nil, are the authorities that
// servers' certificates are held against; otherwise the machine's are.
func NewEmail(dialer Dialer, roots *x509.CertPool, now func() time.Time) *Email {
	return &Email{dialer: dialer, roots: roots, now: now}
}

// Send implements [Channel]. Until the end of the content is on its way the
// server cannot have accepted anything; from then on only its answer tells.
func (e *Email) Send(ctx context.Context, p Parcel) Result {
	settings, err := readSettings[EmailSettings](p.Settings)
	if err != nil {
		return unreadable(err)
	}
	letter, err := e.compose(settings, p)
	if err != nil {
		return Result{Verdict: Refused, Code: CodeRejected, Detail: "This cannot be written as an e-mail: " + plain(err.Error())}
	}
	line, err := e.connect(ctx, settings, domain(letter.from))
	if err != nil {
		return Result{Verdict: NotTaken, Code: CodeConnection, Detail: "The SMTP server could not be used: " + reason(err)}
	}
	defer line.hangUp()
	content, err := line.announce(letter.from, p.Address)
	if err != nil {
		return answered(err, NotTaken)
	}
	if _, err := content.Write(letter.content); err != nil {
		return answered(err, NotTaken)
	}
	if err := content.Close(); err != nil {
		return answered(err, Lost)
	}
	line.sayGoodbye()
	return Result{Verdict: Taken, Receipt: letter.id}
}

// answered is the result of a command that did not succeed: what the server's
// reply says of it or, where there was none, otherwise.
func answered(err error, otherwise Verdict) Result {
	const permanent, temporary, positive = 5, 4, 2
	var reply *textproto.Error
	if !errors.As(err, &reply) {
		if otherwise == Lost {
			return Result{Verdict: Lost, Code: CodeAnswerLost, Detail: "The SMTP server's answer to the content was lost: " + reason(err)}
		}
		return Result{Verdict: otherwise, Code: CodeConnection, Detail: "The connection to the SMTP server broke: " + reason(err)}
	}
	said := fmt.Sprintf("The SMTP server said %d %s", reply.Code, plain(reply.Msg))
	switch reply.Code / 100 { //nolint:mnd // the first digit
	case permanent:
		return Result{Verdict: Refused, Code: CodeRejected, Detail: said}
	case temporary:
		return Result{Verdict: NotTaken, Code: CodeUnavailable, Detail: said}
	case positive:
		return Result{Verdict: Taken} // it took it in other words
	default:
		return Result{Verdict: otherwise, Code: CodeUnavailable, Detail: said}
	}
}

// letter is a message as it goes over the wire.
type letter struct {
	id      string // the Message-ID: the same on every attempt
	from    string
	content []byte
}

func (e *Email) compose(settings EmailSettings, p Parcel) (*letter, error) {
	from, err := netmail.ParseAddress(settings.From)
	if err != nil {
		return nil, fmt.Errorf("the sender: %w", err)
	}
	m := mail.NewMsg(mail.WithNoDefaultUserAgent())
	id := p.Key + "@" + domain(from.Address)
	m.SetMessageIDWithValue(id)
	m.SetDateWithValue(e.now())
	m.Subject(settings.Subject)
	m.SetBodyString(mail.TypeTextPlain, p.Text)
	if err := errors.Join(m.FromFormat(from.Name, from.Address), m.To(p.Address)); err != nil {
		return nil, err
	}
	var content bytes.Buffer
	if _, err := m.WriteTo(&content); err != nil {
		return nil, fmt.Errorf("write: %w", err)
	}
	return &letter{id: "<" + id + ">", from: from.Address, content: content.Bytes()}, nil
}

// domain is the part of an address behind its last @.
func domain(address string) string { return address[strings.LastIndexByte(address, '@')+1:] }
