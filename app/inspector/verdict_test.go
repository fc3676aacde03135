package inspector_test

import (
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/botix-pro/platform/app/inspector"
	"github.com/botix-pro/platform/app/models"
	"github.com/botix-pro/platform/app/store"
	"github.com/botix-pro/platform/app/webhooks"
	"github.com/botix-pro/platform/internal/clock"
)

const verdictBody = `{"id":"evt_1"}`

// signed are the headers of a request that the secrets sign, with a timestamp so
// far from now.
func signed(off time.Duration, secrets ...webhooks.Secret) map[string]string {
	at := clock.System{}.Now().Add(off)
	return map[string]string{
		"X-BOTIX-Signature": webhooks.Sign("evt_1", at, []byte(verdictBody), secrets).Body(), "webhook-id": "evt_1",
		"webhook-timestamp": strconv.FormatInt(at.Unix(), 10),
		"webhook-signature": webhooks.Sign("evt_1", at, []byte(verdictBody), secrets).Standard(),
	}
}

// verdictsOf sends a request and returns what its two signatures are worth.
func (s *site) verdictsOf(bin *models.Bin, body string, headers map[string]string) (botix, standard models.SignatureVerdict) {
	s.t.Helper()
	request, err := http.NewRequestWithContext(s.t.Context(), http.MethodPost, s.url+"/"+bin.ID, strings.NewReader(body))
	require.NoError(s.t, err)
	for name, value := range headers {
		request.Header[name] = []string{value}
	}
	response, err := (&http.Transport{DisableKeepAlives: true}).RoundTrip(request)
	require.NoError(s.t, err)
	require.NoError(s.t, response.Body.Close())
	one := s.shown(bin.ID)[0]
	verdicts, err := s.desk.Verdicts(s.t.Context(), s.bin(bin.ID), &one)
	require.NoError(s.t, err)
	require.Len(s.t, verdicts, 2)
	require.Equal(s.t, models.SchemeBotix, verdicts[0].Scheme)
	require.Equal(s.t, models.SchemeStandard, verdicts[1].Scheme)
	return verdicts[0], verdicts[1]
}

func secretOf(t *testing.T, bin *models.Bin) webhooks.Secret {
	t.Helper()
	secret, err := webhooks.ParseSecret(bin.Secret)
	require.NoError(t, err)
	return secret
}

// The table of verdicts: what is done to good headers, and what both schemes say.
func TestVerdicts(t *testing.T) {
	t.Parallel()
	s := newSite(t, inspector.Limits{})
	bin := s.newBin()
	own, stranger := secretOf(t, bin), webhooks.NewSecret()
	const valid, wrong, missing, malformed = models.SignatureValid, models.SignatureWrongSecret, models.SignatureMissing, models.SignatureMalformed
	set := func(name, value string) func(map[string]string) {
		return func(h map[string]string) {
			if h[name] = value; value == "" {
				delete(h, name)
			}
		}
	}
	long := strings.Repeat("x", models.MaxCaptured)
	for name, test := range map[string]struct {
		off     time.Duration
		secrets []webhooks.Secret
		spoil   func(map[string]string)
		body    string
		botix   models.VerdictStatus
		other   models.VerdictStatus
		header  string // of the standard scheme's fault
	}{
		"valid":                   {0, []webhooks.Secret{own}, nil, "", valid, valid, ""},
		"during a rotation":       {0, []webhooks.Secret{stranger, own}, nil, "", valid, valid, ""},
		"another's secret":        {0, []webhooks.Secret{stranger}, nil, "", wrong, wrong, ""},
		"another body":            {0, []webhooks.Secret{own}, nil, " ", wrong, wrong, ""},
		"just in time":            {-4 * time.Minute, []webhooks.Secret{own}, nil, "", valid, valid, ""},
		"too old":                 {-6 * time.Minute, []webhooks.Secret{own}, nil, "", valid, models.SignatureTooOld, ""},
		"in the future":           {6 * time.Minute, []webhooks.Secret{own}, nil, "", valid, models.SignatureInFuture, ""},
		"old and another's":       {-time.Hour, []webhooks.Secret{stranger}, nil, "", wrong, wrong, ""},
		"no botix header":         {0, []webhooks.Secret{own}, set("X-BOTIX-Signature", ""), "", missing, valid, ""},
		"no id":                   {0, []webhooks.Secret{own}, set("webhook-id", ""), "", valid, missing, "Webhook-Id"},
		"no timestamp":            {0, []webhooks.Secret{own}, set("webhook-timestamp", ""), "", valid, missing, "Webhook-Timestamp"},
		"no signature":            {0, []webhooks.Secret{own}, set("webhook-signature", ""), "", valid, missing, "Webhook-Signature"},
		"a date for a timestamp":  {0, []webhooks.Secret{own}, set("webhook-timestamp", "2026-12-01"), "", valid, malformed, "Webhook-Timestamp"},
		"a padded timestamp":      {0, []webhooks.Secret{own}, set("webhook-timestamp", "01"), "", valid, malformed, "Webhook-Timestamp"},
		"a timestamp in aeons":    {0, []webhooks.Secret{own}, set("webhook-timestamp", "9223372036854775807"), "", valid, malformed, "Webhook-Timestamp"},
		"not hex":                 {0, []webhooks.Secret{own}, set("X-BOTIX-Signature", "sha256=00"), "", malformed, valid, ""},
		"half a digest":           {0, []webhooks.Secret{own}, set("X-BOTIX-Signature", "00ff"), "", malformed, valid, ""},
		"not base64":              {0, []webhooks.Secret{own}, set("webhook-signature", "v1,%%%"), "", valid, malformed, "Webhook-Signature"},
		"another version only":    {0, []webhooks.Secret{own}, set("webhook-signature", "v1a,AAAA"), "", valid, malformed, "Webhook-Signature"},
		"a body not kept whole":   {0, []webhooks.Secret{own}, nil, long, models.SignatureUnknowable, models.SignatureUnknowable, ""},
		"nothing signed anything": {0, nil, func(h map[string]string) { clear(h) }, "", missing, missing, "Webhook-Id"},
	} {
		headers := signed(test.off, test.secrets...)
		if test.spoil != nil {
			test.spoil(headers)
		}
		botix, standard := s.verdictsOf(bin, verdictBody+test.body, headers)
		require.Equal(t, test.botix, botix.Status, name)
		require.Equal(t, test.other, standard.Status, name)
		require.Equal(t, test.header, standard.Header, name)
		require.Equal(t, botix.Status == valid, botix.Matched == bin.ID, name)
		requireEvidence(t, botix, bin)
		requireEvidence(t, standard, bin)
	}
}

// requireEvidence: a judged signature comes with what was signed and both digests,
// and nothing shows the secret.
func requireEvidence(t *testing.T, v models.SignatureVerdict, bin *models.Bin) {
	t.Helper()
	if v.Status == models.SignatureValid || v.Status == models.SignatureWrongSecret {
		require.True(t, strings.HasSuffix(string(v.Signed), verdictBody) || v.Status == models.SignatureWrongSecret)
		require.NotEmpty(t, v.Received)
		require.Equal(t, bin.ID, v.Expected[0].Candidate)
		require.Equal(t, v.Status == models.SignatureValid, contains(v.Received, v.Expected[0].Digest))
	}
	for _, text := range append([]string{string(v.Signed), v.Header, v.Matched}, v.Received...) {
		require.NotContains(t, text, strings.TrimPrefix(bin.Secret, "whsec_"))
	}
}

func contains(list []string, one string) bool {
	return strings.Contains(" "+strings.Join(list, " ")+" ", " "+one+" ")
}

// Endpoints whose URL leads to the bin verify with the secrets they had when the
// request came: both during a rotation, an old one no more. So does the endpoint
// that the bin names, and nobody else's.
func TestCandidates(t *testing.T) {
	t.Parallel()
	s := newSite(t, inspector.Limits{})
	bin := s.newBin()
	now := clock.System{}.Now()
	soon, past := now.Add(time.Hour), now.Add(-time.Second)
	fresh, old, over, named, unrelated := webhooks.NewSecret(), webhooks.NewSecret(), webhooks.NewSecret(), webhooks.NewSecret(), webhooks.NewSecret()
	leading := s.newEndpoint(s.desk.URL(bin.ID)+"/x", []models.EndpointSecret{
		{Value: fresh.Reveal()}, {Value: old.Reveal(), ExpiresAt: &soon}, {Value: over.Reveal(), ExpiresAt: &past},
	})
	other := s.newEndpoint("https://example.com/", []models.EndpointSecret{{Value: named.Reveal()}})
	s.newEndpoint("https://example.com/2", []models.EndpointSecret{{Value: unrelated.Reveal()}})
	requireMatch := func(secret webhooks.Secret, want string) {
		t.Helper()
		botix, standard := s.verdictsOf(bin, verdictBody, signed(0, secret))
		require.Equal(t, want, botix.Matched)
		require.Equal(t, want, standard.Matched)
	}
	requireMatch(fresh, leading)
	requireMatch(old, leading)
	requireMatch(over, "")
	requireMatch(unrelated, "")
	requireMatch(named, "")
	require.NoError(t, s.write(func(tx *store.Tx) error { return tx.SetBinEndpoint(t.Context(), bin.ID, &other) }))
	requireMatch(named, other)
	missing := "whe_01ARZ3NDEKTSV4RRFFQ69G5FAV"
	require.ErrorIs(t, s.write(func(tx *store.Tx) error { return tx.SetBinEndpoint(t.Context(), bin.ID, &missing) }), store.ErrNotFound)
	require.NoError(t, s.write(func(tx *store.Tx) error { return tx.SetBinEndpoint(t.Context(), bin.ID, nil) }))
	requireMatch(named, "")
}

func (s *site) newEndpoint(url string, secrets []models.EndpointSecret) string {
	s.t.Helper()
	id := models.NewID(models.PrefixEndpoint, clock.System{}.Now())
	require.NoError(s.t, s.write(func(tx *store.Tx) error {
		return tx.CreateEndpoint(&models.WebhookEndpoint{
			ID: id, URL: url, EventTypes: []string{"*"}, Status: models.EndpointActive, MaxInFlight: 10, Secrets: secrets, CreatedAt: tx.Now(),
		})
	}))
	return id
}
