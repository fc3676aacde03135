package webhooks_test

import (
	"encoding/base64"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"

	standardwebhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"
	"github.com/stretchr/testify/require"

	"github.com/botix-pro/platform/app/models"
	"github.com/botix-pro/platform/app/webhooks"
)

// A key of 24 bytes, so that the vectors below can be checked by hand:
//
//	printf '%s' "$BODY" | openssl dgst -sha256 -mac HMAC -macopt hexkey:…
const vectorSecret = "whsec_AAECAwQFBgcICQoLDA0ODxAREhMUFRYX"

func TestSignatureVector(t *testing.T) {
	t.Parallel()
	secret := parseSecret(t, vectorSecret)
	body := []byte(`{"id":"evt_1"}`)
	require.Equal(t, "cb092c12db9c647d0abc3a601e4f9de14162e7cbf60f1387cb88fdc8699732cc", webhooks.Sign("evt_1", time.Time{}, body, []webhooks.Secret{secret}).Body())
	at := time.Unix(1700000000, 999_000_000)
	require.Equal(t, "v1,0OglyWsPfb4JKWOjYgL2qk8cidPnClXPK3gZqqNQ+4Q=", webhooks.Sign("evt_1", at, body, []webhooks.Secret{secret}).Standard())
}

// Guarantee: the published library accepts a delivery as it is, during a
// rotation under the old secret and under the new one.
func TestStandardSignatureSatisfiesThePublishedLibrary(t *testing.T) {
	t.Parallel()
	older, newer := webhooks.NewSecret(), webhooks.NewSecret()
	body := []byte("{\"text\":\"grüße\\u0000\"}\n")
	at := time.Now()
	header := http.Header{}
	header.Set("webhook-id", "evt_01")
	header.Set("webhook-timestamp", strconv.FormatInt(at.Unix(), 10))
	header.Set("webhook-signature", webhooks.Sign("evt_01", at, body, []webhooks.Secret{newer, older}).Standard())

	for _, secret := range []webhooks.Secret{newer, older} {
		judge, err := standardwebhooks.NewWebhook(secret.Reveal())
		require.NoError(t, err)
		require.NoError(t, judge.Verify(body, header))
		require.Error(t, judge.Verify(append(body, ' '), header), "another body")
	}
	stranger, err := standardwebhooks.NewWebhook(webhooks.NewSecret().Reveal())
	require.NoError(t, err)
	require.Error(t, stranger.Verify(body, header))
}

func TestSignatureListsTheNewSecretFirst(t *testing.T) {
	t.Parallel()
	older, newer := webhooks.NewSecret(), webhooks.NewSecret()
	body := []byte("x")
	both := webhooks.Sign("evt_1", time.Time{}, body, []webhooks.Secret{newer, older}).Body()
	require.Equal(t, webhooks.Sign("evt_1", time.Time{}, body, []webhooks.Secret{newer}).Body()+","+
		webhooks.Sign("evt_1", time.Time{}, body, []webhooks.Secret{older}).Body(), both)
}

func TestNewSecret(t *testing.T) {
	t.Parallel()
	text := webhooks.NewSecret().Reveal()
	key, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(text, "whsec_"))
	require.NoError(t, err)
	require.Len(t, key, 32)
	require.NotEqual(t, text, webhooks.NewSecret().Reveal())
	require.Equal(t, text, parseSecret(t, text).Reveal())
}

func TestParseSecretSaysWhatIsWrong(t *testing.T) {
	t.Parallel()
	encode := func(n int) string { return "whsec_" + base64.StdEncoding.EncodeToString(make([]byte, n)) }
	for _, n := range []int{24, 32, 64} {
		parseSecret(t, encode(n))
	}
	for text, reason := range map[string]string{
		"":                "does not start with",
		"WHSEC_AAAA":      "does not start with",
		encode(32) + "\n": "white space",
		"whsec_***":       "not base64",
		encode(23):        "holds 23 bytes; it must hold 24 to 64",
		encode(65):        "holds 65 bytes",
		encode(32)[:48]:   "not base64",
	} {
		_, err := webhooks.ParseSecret(text)
		require.ErrorContains(t, err, reason, text)
	}
}

// Guarantee: printing a secret by accident shows nothing of it.
func TestSecretPrintsMasked(t *testing.T) {
	t.Parallel()
	secret := parseSecret(t, vectorSecret)
	for _, verb := range []string{"%v", "%+v", "%#v", "%s"} {
		require.Equal(t, "whsec_***", fmt.Sprintf(verb, secret))
	}
}

func TestActiveSecrets(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	later, earlier := now.Add(time.Second), now.Add(-time.Second)
	current, overlapping, ending, gone := webhooks.NewSecret(), webhooks.NewSecret(), webhooks.NewSecret(), webhooks.NewSecret()
	active, err := webhooks.ActiveSecrets([]models.EndpointSecret{
		{Value: current.Reveal()},
		{Value: overlapping.Reveal(), ExpiresAt: &later},
		{Value: ending.Reveal(), ExpiresAt: &now},
		{Value: gone.Reveal(), ExpiresAt: &earlier},
	}, now)
	require.NoError(t, err)
	require.Equal(t, []webhooks.Secret{current, overlapping}, active)

	_, err = webhooks.ActiveSecrets([]models.EndpointSecret{{Value: "nonsense"}}, now)
	require.ErrorContains(t, err, "does not start with")
}

func parseSecret(t *testing.T, text string) webhooks.Secret {
	t.Helper()
	secret, err := webhooks.ParseSecret(text)
	require.NoError(t, err)
	return secret
}
