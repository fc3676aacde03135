package messages

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/mail"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/botix-pro/platform/app/models"
)

// The ways in which an SMTP connection may be protected.
const (
	TLSImplicit = "implicit" // from the first byte, port 465
	TLSStart    = "starttls" // required, port 587
	TLSNone     = "none"     // for servers in one's own network; no password then
)

// EmailSettings are a project's SMTP server.
type EmailSettings struct {
	Host     string `json:"host"`
	Port     int    `json:"port"`
	TLS      string `json:"tls"` // implicit, starttls or none
	Username string `json:"username,omitempty"`
	Password string `json:"password,omitempty"`
	From     string `json:"from"`    // an address, or Name <address>
	Subject  string `json:"subject"` // of every message
}

// TelegramSettings are a project's bot.
type TelegramSettings struct {
	BaseURL string `json:"base_url"` // https://api.telegram.org, or a Bot API server of one's own
	Token   string `json:"token"`
}

// DefaultTelegramURL is Telegram's own Bot API server.
const DefaultTelegramURL = "https://api.telegram.org"

// Behaviour is what the sandbox was told to do with messages.
type Behaviour string

// The behaviours.
const (
	SandboxAccept Behaviour = "accept"
	SandboxRefuse Behaviour = "refuse" // for good
	SandboxFail   Behaviour = "fail"   // for now: tried again later
	// SandboxLose takes the message in and loses the answer.
	SandboxLose Behaviour = "lose_answer"
)

// maxSandboxDelay stays below the time that an attempt may take.
const maxSandboxDelay = 20 * time.Second

// SandboxSettings are what a project's sandbox was told to do.
type SandboxSettings struct {
	Behaviour Behaviour `json:"behaviour"`
	DelayMS   int       `json:"delay_ms"` // before every answer
	Deliver   bool      `json:"deliver"`  // what it takes in has arrived
	// Blind: it behaves like a channel that takes no key and looks nothing up,
	// so that a lost answer leaves a message unknown.
	Blind bool `json:"blind"`
}

func (s SandboxSettings) delay() time.Duration { return time.Duration(s.DelayMS) * time.Millisecond }

// ParseSettings reads a channel's settings, a JSON object, as a person gives
// them, and says what is wrong with them. leadsTo, nil for the sandbox, is where
// the channel would connect to: somebody has to ask the egress guard.
func ParseSettings(channel models.Channel, raw []byte) (settings any, leadsTo *url.URL, err error) {
	switch channel {
	case models.ChannelEmail:
		s, err := readSettings[EmailSettings](raw)
		s.Port = cmp.Or(s.Port, map[string]int{TLSImplicit: 465, TLSStart: 587, TLSNone: 25}[s.TLS])
		return s, &url.URL{Scheme: "https", Host: net.JoinHostPort(s.Host, strconv.Itoa(s.Port))}, firstError(err, s.check)
	case models.ChannelTelegram:
		s, err := readSettings[TelegramSettings](raw)
		s.BaseURL = cmp.Or(s.BaseURL, DefaultTelegramURL)
		u, _ := url.Parse(s.BaseURL) // check says so when it cannot be read
		return s, u, firstError(err, s.check)
	case models.ChannelSandbox:
		s, err := readSettings[SandboxSettings](raw)
		return s, nil, firstError(err, s.check)
	default:
		return nil, nil, errors.New("the channels are sandbox, email and telegram")
	}
}

// firstError is err, or else what the check finds.
func firstError(err error, check func() error) error {
	if err != nil {
		return err
	}
	return check()
}

func (s EmailSettings) check() error {
	address, err := mail.ParseAddress(s.From)
	switch {
	case s.Host == "" || strings.ContainsAny(s.Host, " /@\r\n"):
		return errors.New("the host is a name or an address, without a scheme or a port")
	case s.TLS != TLSImplicit && s.TLS != TLSStart && s.TLS != TLSNone:
		return fmt.Errorf("tls is %s, %s or %s", TLSImplicit, TLSStart, TLSNone)
	case s.Port < 1 || s.Port > 65535:
		return errors.New("the port must be between 1 and 65535")
	case s.TLS == TLSNone && s.Password != "":
		return errors.New("a password is not sent over a connection without TLS")
	case err != nil || !strings.Contains(address.Address, "@"):
		return errors.New("from is an e-mail address, with or without a name before it")
	case s.Subject == "" || strings.ContainsAny(s.Subject, "\r\n"):
		return errors.New("the subject is one line and not empty")
	default:
		return nil
	}
}

func (s TelegramSettings) check() error {
	u, err := url.Parse(s.BaseURL)
	switch {
	case err != nil || (u.Scheme != "http" && u.Scheme != "https") || u.Host == "" || u.User != nil || u.RawQuery != "" || u.Fragment != "":
		return errors.New("the base URL is http(s)://host, optionally with a path, and nothing else")
	case s.Token == "" || strings.ContainsAny(s.Token, "/?# \r\n%"):
		return errors.New("the token is what BotFather gave, as in 123456:ABC-DEF")
	default:
		return nil
	}
}

func (s SandboxSettings) check() error {
	switch s.Behaviour {
	case SandboxAccept, SandboxRefuse, SandboxFail, SandboxLose:
	default:
		return fmt.Errorf("the behaviour is %s, %s, %s or %s", SandboxAccept, SandboxRefuse, SandboxFail, SandboxLose)
	}
	if s.delay() < 0 || s.delay() > maxSandboxDelay {
		return fmt.Errorf("the delay is at most %s", maxSandboxDelay)
	}
	return nil
}

// readSettings decodes a channel's settings strictly: what was stored by another
// version must not be half understood.
func readSettings[T any](raw json.RawMessage) (T, error) {
	var settings T
	decoder := json.NewDecoder(bytes.NewReader(raw))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&settings); err != nil {
		return settings, fmt.Errorf("read the channel's settings: %w", err)
	}
	return settings, nil
}

// Masked returns a channel's settings as they may be shown: without secrets.
func Masked(channel models.Channel, raw json.RawMessage) (any, error) {
	switch channel {
	case models.ChannelEmail:
		s, err := readSettings[EmailSettings](raw)
		s.Password = ""
		return s, err
	case models.ChannelTelegram:
		s, err := readSettings[TelegramSettings](raw)
		s.Token = ""
		return s, err
	case models.ChannelSandbox:
		return readSettings[SandboxSettings](raw)
	default:
		return nil, fmt.Errorf("there is no channel %q", channel)
	}
}
