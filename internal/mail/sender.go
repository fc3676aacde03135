package mail

import (
	"context"
	"errors"
	"fmt"
	"net/mail"
	"net/url"
	"strconv"
	"strings"
	"time"

	gomail "github.com/wneessen/go-mail"
)

// Timeout bounds one mail, from the connection to the server's acceptance.
const Timeout = 30 * time.Second

const (
	schemePlain = "smtp"
	schemeTLS   = "smtps"
	portPlain   = 587
	portTLS     = 465
)

// Sender sends mails. It is safe for concurrent use; every mail has a connection
// of its own.
type Sender struct {
	client *gomail.Client
	from   string
	domain string // the sender's, for Message-ID
}

// Message is one mail to one person.
type Message struct {
	To      string
	Subject string // one line
	Text    string
	// ID is the same whenever the same mail is sent again, so that a mail client
	// can tell. It stands before the @ of the Message-ID.
	ID string
}

// New returns a sender for the server at rawURL, smtp://user:password@host:587 or
// smtps:// for TLS from the first byte, and for mails from the given address.
// With smtp:// TLS is used when the server offers it, and insisted on when there
// is a password.
func New(rawURL, from string) (*Sender, error) {
	parsed, err := url.Parse(rawURL)
	if err != nil {
		return nil, errors.New("is not a URL (characters like @ : / % in a password are written percent-encoded)")
	}
	address, err := mail.ParseAddress(from)
	if err != nil {
		return nil, errors.New("the sender is not a mail address")
	}
	options, err := optionsOf(parsed)
	if err != nil {
		return nil, err
	}
	client, err := gomail.NewClient(parsed.Hostname(), options...)
	if err != nil {
		return nil, fmt.Errorf("is not usable: %w", err)
	}
	_, domain, _ := strings.Cut(address.Address, "@")
	return &Sender{client: client, from: address.String(), domain: domain}, nil
}

func optionsOf(parsed *url.URL) ([]gomail.Option, error) {
	port := portPlain
	options := []gomail.Option{gomail.WithTimeout(Timeout)}
	password, secret := parsed.User.Password()
	switch {
	case parsed.Scheme == schemeTLS:
		port = portTLS
		options = append(options, gomail.WithSSL())
	case parsed.Scheme != schemePlain:
		return nil, errors.New("must begin with smtp:// or smtps://")
	case secret:
		options = append(options, gomail.WithTLSPolicy(gomail.TLSMandatory))
	default:
		options = append(options, gomail.WithTLSPolicy(gomail.TLSOpportunistic))
	}
	if parsed.Hostname() == "" {
		return nil, errors.New("names no host")
	}
	if named := parsed.Port(); named != "" {
		number, err := strconv.ParseUint(named, 10, 16)
		if err != nil {
			return nil, errors.New("has no valid port")
		}
		port = int(number)
	}
	if secret {
		options = append(options, gomail.WithSMTPAuth(gomail.SMTPAuthAutoDiscover),
			gomail.WithUsername(parsed.User.Username()), gomail.WithPassword(password))
	}
	return append(options, gomail.WithPort(port)), nil
}

// Send hands one mail to the server. When it returns nil the server has accepted
// it; after an error the server may have, if the connection broke at the end.
func (s *Sender) Send(ctx context.Context, m Message) error {
	message := gomail.NewMsg()
	if err := message.From(s.from); err != nil {
		return fmt.Errorf("the sender's address: %w", err)
	}
	if err := message.To(m.To); err != nil {
		return fmt.Errorf("the receiver's address: %w", err)
	}
	message.SetMessageIDWithValue(m.ID + "@" + s.domain)
	message.Subject(oneLine(m.Subject))
	message.SetBodyString(gomail.TypeTextPlain, m.Text)
	ctx, cancel := context.WithTimeout(ctx, Timeout)
	defer cancel()
	err := s.client.DialAndSendWithContext(ctx, message)
	if err != nil && !message.IsDelivered() { // what goes wrong after the server has accepted it is no loss
		return fmt.Errorf("send a mail: %w", err)
	}
	return nil
}

// oneLine keeps a text from ending its header and beginning another.
func oneLine(text string) string {
	return strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f {
			return ' '
		}
		return r
	}, text)
}
