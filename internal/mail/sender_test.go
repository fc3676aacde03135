package mail

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestNothingEndsAHeader(t *testing.T) {
	t.Parallel()
	require.Equal(t, "a  Bcc: everybody@example.com é", oneLine("a\r\nBcc: everybody@example.com é"))
}

func TestUnusableServersAreRefused(t *testing.T) {
	t.Parallel()
	for _, address := range []string{"", "mail.example.com", "http://mail.example.com", "smtp://", "smtp://mail:0x", "smtps://:465", "smtp://%"} {
		_, err := New(address, "noreply@example.com")
		require.Error(t, err, address)
	}
	_, err := New("smtp://mail.example.com", "nobody")
	require.Error(t, err)
	for _, address := range []string{"smtp://mail.example.com", "smtp://user:pass@mail.example.com:2525", "smtps://user:pass@mail.example.com"} {
		_, err := New(address, "BOTIX <noreply@example.com>")
		require.NoError(t, err, address)
	}
}

// A password is never sent over a connection that everybody can read.
func TestPasswordsInsistOnTLS(t *testing.T) {
	t.Parallel()
	for address, policy := range map[string]string{
		"smtp://mail.example.com": "TLSOpportunistic", "smtp://user:pass@mail.example.com": "TLSMandatory",
	} {
		sender, err := New(address, "noreply@example.com")
		require.NoError(t, err)
		require.Equal(t, policy, sender.client.TLSPolicy())
	}
}
