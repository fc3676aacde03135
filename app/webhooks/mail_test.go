package webhooks_test

import (
	"errors"
	"io"
	"log/slog"
	"net"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/emersion/go-smtp"
	"github.com/stretchr/testify/require"

	"github.com/botix-pro/platform/app/models"
	"github.com/botix-pro/platform/app/store"
	"github.com/botix-pro/platform/app/webhooks"
	"github.com/botix-pro/platform/internal/clock"
	"github.com/botix-pro/platform/internal/mail"
)

// postOffice is an SMTP server that keeps what it accepts.
type postOffice struct {
	address string
	mu      sync.Mutex
	refuse  string // the address that it does not know; "*": it takes nothing at all
	got     []letter
}

type letter struct{ to, text string }

func newPostOffice(t *testing.T) *postOffice {
	t.Helper()
	office := &postOffice{}
	server := smtp.NewServer(smtp.BackendFunc(func(*smtp.Conn) (smtp.Session, error) { return &counter{office: office}, nil }))
	listener, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	require.NoError(t, err)
	office.address = listener.Addr().String()
	go func() { _ = server.Serve(listener) }()
	t.Cleanup(func() { require.NoError(t, server.Close()) })
	return office
}

func (o *postOffice) refusing(address string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.refuse = address
}

func (o *postOffice) letters() []letter {
	o.mu.Lock()
	defer o.mu.Unlock()
	return append([]letter(nil), o.got...)
}

// counter is one connection to the post office.
type counter struct {
	office *postOffice
	to     string
}

func (c *counter) Reset()                               {}
func (c *counter) Logout() error                        { return nil }
func (c *counter) Mail(string, *smtp.MailOptions) error { return nil }

func (c *counter) Rcpt(to string, _ *smtp.RcptOptions) error {
	c.office.mu.Lock()
	defer c.office.mu.Unlock()
	if c.office.refuse == "*" || c.office.refuse == to {
		return &smtp.SMTPError{Code: 550, Message: "no such person"}
	}
	c.to = to
	return nil
}

func (c *counter) Data(r io.Reader) error {
	text, err := io.ReadAll(r)
	c.office.mu.Lock()
	defer c.office.mu.Unlock()
	c.office.got = append(c.office.got, letter{to: c.to, text: string(text)})
	return err
}

// postman is a keeper that sends mails through the post office.
func (e *engine) postman(o *postOffice) *webhooks.Keeper {
	e.t.Helper()
	sender, err := mail.New("smtp://"+o.address, "BOTIX <noreply@example.com>")
	require.NoError(e.t, err)
	return webhooks.NewKeeper(webhooks.KeeperConfig{Store: e.store, Mail: sender, Log: slog.New(slog.DiscardHandler)})
}

// failing is a project with members whose endpoint has just been noticed.
func failing(t *testing.T, members ...string) *engine {
	t.Helper()
	e := newEngine(t, ok)
	_, err := e.store.Write(t.Context(), e.project, func(tx *store.Tx) error {
		for _, email := range members {
			tx.CreateUser(models.User{ID: models.NewID(models.PrefixUser, tx.Now()), Email: email, PasswordHash: "x", CreatedAt: clock.System{}.Now()})
		}
		return nil
	})
	require.NoError(t, err)
	e.sql(`UPDATE webhook_endpoints SET url = url || '/in?token=hunter2'`)
	e.ail("60 hours", 5, 1)
	e.keeper().Judge(t.Context())
	return e
}

func TestMembersGetOneMailEach(t *testing.T) {
	t.Parallel()
	e, office := failing(t, "ada@example.com", "bob@example.com"), newPostOffice(t)
	both(func() { e.postman(office).SendMails(t.Context()) })
	e.postman(office).SendMails(t.Context())
	got := office.letters()
	require.Len(t, got, 2)
	require.ElementsMatch(t, []string{"ada@example.com", "bob@example.com"}, []string{got[0].to, got[1].to})
	text := strings.ReplaceAll(got[0].text, "=\r\n", "")
	require.NotContains(t, text, "hunter2", "what may be a secret is not mailed")
	for _, part := range []string{"From: \"BOTIX\" <noreply@example.com>", "50 %", e.endpoint, e.receiver.server.URL, "Message-ID: <ntc_"} {
		require.Contains(t, text, part)
	}
}

// One address that nobody knows keeps nobody else from their mail, and is given up
// after its tries.
func TestMailsAreTriedABoundedNumberOfTimes(t *testing.T) {
	t.Parallel()
	e, office := failing(t, "ada@example.com", "gone@example.com"), newPostOffice(t)
	office.refusing("gone@example.com")
	for range 12 {
		e.postman(office).SendMails(t.Context())
		e.sql(`UPDATE notice_mails SET due_at = now() WHERE due_at IS NOT NULL`)
	}
	require.Len(t, office.letters(), 1)
	require.Equal(t, 1, e.count(`notice_mails WHERE email = 'gone@example.com' AND attempts = 8 AND mailed_at IS NULL AND error LIKE '%no such person%'`))
	require.Equal(t, 1, e.count(`notice_mails WHERE email = 'ada@example.com' AND attempts = 1 AND mailed_at IS NOT NULL`))
}

func TestMailsWaitLongerEachTimeAndThenGo(t *testing.T) {
	t.Parallel()
	e, office := failing(t, "ada@example.com"), newPostOffice(t)
	office.refusing("*")
	e.postman(office).SendMails(t.Context())
	e.postman(office).SendMails(t.Context())
	require.Equal(t, 1, e.count(`notice_mails WHERE attempts = 1 AND due_at BETWEEN now() + interval '50 seconds' AND now() + interval '60 seconds'`))
	e.sql(`UPDATE notice_mails SET due_at = now()`)
	e.postman(office).SendMails(t.Context())
	require.Equal(t, 1, e.count(`notice_mails WHERE attempts = 2 AND due_at > now() + interval '110 seconds'`))
	office.refusing("")
	e.sql(`UPDATE notice_mails SET due_at = now()`)
	e.postman(office).SendMails(t.Context())
	require.Len(t, office.letters(), 1)
}

// A sender that dies with a mail in hand: it is sent again, recognisable as the
// same one.
func TestMailOfALostSenderIsSentAgain(t *testing.T) {
	t.Parallel()
	e, office := failing(t, "ada@example.com"), newPostOffice(t)
	claimed, err := e.store.ClaimMails(t.Context(), store.MailRule{Max: 8, Pause: time.Minute}, 10)
	require.NoError(t, err)
	require.Len(t, claimed, 1)
	e.postman(office).SendMails(t.Context())
	require.Empty(t, office.letters(), "its claim holds")
	e.sql(`UPDATE notice_mails SET due_at = now()`)
	e.postman(office).SendMails(t.Context())
	require.Len(t, office.letters(), 1)
	require.Contains(t, office.letters()[0].text, claimed[0].ID+"@example.com")
	require.NoError(t, e.store.MailDone(t.Context(), claimed[0], errors.New("woken late")))
	require.Equal(t, 1, e.count(`notice_mails WHERE mailed_at IS NOT NULL AND error = ''`), "a late failure takes nothing back")
}

// What nobody could send for days is not sent all at once when SMTP is set at last.
func TestOldNoticesAreNotMailed(t *testing.T) {
	t.Parallel()
	e, office := failing(t, "ada@example.com"), newPostOffice(t)
	e.keeper().SendMails(t.Context()) // without SMTP
	e.sql(`UPDATE notice_mails SET due_at = now() - interval '4 days'`)
	e.postman(office).SendMails(t.Context())
	require.Empty(t, office.letters())
}
