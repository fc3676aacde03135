package webhooks_test

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"strconv"
	"testing"
	"time"

	standardwebhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"
	"github.com/stretchr/testify/require"

	"github.com/botix-pro/platform/app/models"
	"github.com/botix-pro/platform/app/webhooks"
)

// Guarantee: a receiver gets the bytes as they are, every header of the
// contract, and a signature that the published library accepts; and what the
// record says was sent is what arrived, the owner's values masked.
func TestSendDelivers(t *testing.T) {
	t.Parallel()
	var got *http.Request
	var gotBody []byte
	receiver := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		got = r
		gotBody, _ = io.ReadAll(r.Body)
		w.Header().Set("X-Answer", "yes")
		w.WriteHeader(http.StatusAccepted)
		_, _ = io.WriteString(w, "thanks")
	}))
	t.Cleanup(receiver.Close)
	attempt := newAttempt(receiver.URL + "/hook?a=b")
	attempt.Headers = map[string]string{"Authorization": "Bearer token", "x-tenant": "7", "x-event-ID": "evt_stolen"}

	outcome := newSender(t, patient, nil).Send(t.Context(), attempt)

	require.Equal(t, body, string(gotBody))
	require.Equal(t, http.MethodPost, got.Method)
	require.Equal(t, "/hook?a=b", got.RequestURI)
	require.Equal(t, http.Header{
		"Content-Type":       {"application/json"},
		"Content-Length":     {strconv.Itoa(len(body))},
		"Accept-Encoding":    {"identity"},
		"User-Agent":         {"BOTIX-Webhooks/test"},
		"X-Request-Id":       {"req_7"},
		"X-Event-Id":         {"evt_1"},
		"X-Event-Type":       {"contact.created"},
		"X-Delivery-Attempt": {"3"},
		"X-Botix-Signature":  {webhooks.Sign(attempt.EventID, attempt.StartedAt, attempt.Body, attempt.Secrets).Body()},
		"Webhook-Id":         {"evt_1"},
		"Webhook-Timestamp":  {strconv.FormatInt(attempt.StartedAt.Unix(), 10)},
		"Webhook-Signature":  {got.Header.Get("webhook-signature")},
		"Authorization":      {"Bearer token"},
		"X-Tenant":           {"7"},
	}, got.Header)
	judge, err := standardwebhooks.NewWebhook(attempt.Secrets[0].Reveal())
	require.NoError(t, err)
	require.NoError(t, judge.Verify(gotBody, got.Header))

	require.Equal(t, webhooks.Delivered, outcome.Verdict().Kind)
	require.Equal(t, 202, outcome.StatusCode)
	require.Empty(t, outcome.ErrorClass)
	require.Empty(t, outcome.Error)
	require.Empty(t, outcome.BodyError)
	require.Equal(t, "thanks", string(outcome.ResponseBody))
	require.False(t, outcome.ResponseTruncated)
	require.Equal(t, []string{"yes"}, outcome.ResponseHeaders["X-Answer"])
	require.Equal(t, receiver.Listener.Addr().String(), outcome.RemoteAddr)
	require.False(t, outcome.Resent)
	requireSameAsSent(t, got, outcome.Sent.ShownHeader())
}

func requireSameAsSent(t *testing.T, got *http.Request, recorded http.Header) {
	t.Helper()
	want := got.Header.Clone()
	want.Set("Host", got.Host)
	want.Set("Authorization", "***")
	want.Set("X-Tenant", "***")
	have := http.Header{}
	for name, values := range recorded {
		require.Len(t, values, 1)
		have.Set(name, values[0])
	}
	require.Equal(t, want, have)
}

func TestSendMeasuresItsParts(t *testing.T) {
	t.Parallel()
	receiver := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusNoContent)
	}))
	t.Cleanup(receiver.Close)
	roots := newPool(receiver.Certificate())
	sender := newSender(t, patient, roots)
	first := sender.Send(t.Context(), newAttempt(receiver.URL))
	require.Positive(t, first.Timing.Connect)
	require.Positive(t, first.Timing.TLS)
	require.Positive(t, first.Timing.FirstByte)
	require.GreaterOrEqual(t, first.Timing.Total, first.Timing.Connect+first.Timing.TLS+first.Timing.FirstByte)
	require.Positive(t, first.Timing.Model().DurationMs)

	second := sender.Send(t.Context(), newAttempt(receiver.URL))
	require.Zero(t, second.Timing.Connect, "the connection is kept")
	require.Zero(t, second.Timing.Model().TLSMs)
	require.Positive(t, second.Timing.FirstByte)
}

func TestTimingModelRoundsUp(t *testing.T) {
	t.Parallel()
	timing := webhooks.Timing{DNS: 1, Connect: time.Millisecond, TLS: time.Millisecond + 1, Total: 1 << 62}
	require.Equal(t, models.AttemptTiming{DNSMs: 1, ConnectMs: 1, TLSMs: 2, DurationMs: 1<<31 - 1}, timing.Model())
}

func TestSendJudgesTheStatus(t *testing.T) {
	t.Parallel()
	for status, want := range map[int]struct {
		kind  webhooks.VerdictKind
		class models.ErrorClass
		text  string
	}{
		200: {webhooks.Delivered, "", ""},
		304: {webhooks.Retry, models.ErrorRedirect, "the receiver answered 304 Not Modified; redirects are not followed"},
		401: {webhooks.DeadLetter, models.ErrorHTTP4xx, "the receiver answered 401 Unauthorized"},
		408: {webhooks.DeadLetter, models.ErrorHTTP4xx, "the receiver answered 408 Request Timeout"},
		410: {webhooks.DeadLetterAndDisable, models.ErrorHTTP4xx, "the receiver answered 410 Gone"},
		425: {webhooks.DeadLetter, models.ErrorHTTP4xx, "the receiver answered 425 Too Early"},
		429: {webhooks.Retry, models.ErrorHTTP4xx, "the receiver answered 429 Too Many Requests"},
		500: {webhooks.Retry, models.ErrorHTTP5xx, "the receiver answered 500 Internal Server Error"},
		599: {webhooks.Retry, models.ErrorHTTP5xx, "the receiver answered 599"},
		999: {webhooks.Retry, models.ErrorBadResponse, "the receiver answered with the unknown status 999"},
	} {
		receiver := answering(t, "HTTP/1.1 "+strconv.Itoa(status)+" Whatever\r\nContent-Length: 0\r\n\r\n")
		outcome := send(t, receiver.url())
		require.Equal(t, status, outcome.StatusCode)
		require.Equal(t, want.kind, outcome.Verdict().Kind, "status %d", status)
		require.Equal(t, want.class, outcome.ErrorClass, "status %d", status)
		require.Equal(t, want.text, outcome.Error, "status %d", status)
	}
}

func TestSendReadsRetryAfter(t *testing.T) {
	t.Parallel()
	receiver := answering(t, "HTTP/1.1 503 Busy\r\nRetry-After: 120\r\nContent-Length: 0\r\n\r\n")
	outcome := send(t, receiver.url())
	require.Equal(t, 2*time.Minute, outcome.RetryAfter)
	require.Equal(t, webhooks.Verdict{
		Kind: webhooks.CloseLane, Pause: 2 * time.Minute, Class: models.ErrorHTTP5xx,
	}, outcome.Verdict())

	date := time.Now().Add(time.Hour).UTC().Format(http.TimeFormat)
	receiver = answering(t, "HTTP/1.1 429 Slow\r\nRetry-After: "+date+"\r\nContent-Length: 0\r\n\r\n")
	require.InDelta(t, time.Hour.Seconds(), send(t, receiver.url()).RetryAfter.Seconds(), 5)
}

// Guarantee: a worker that is stopped in the middle does not charge the receiver.
func TestSendStoppedIsLost(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	receiver := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		cancel()
		<-r.Context().Done()
	}))
	t.Cleanup(receiver.Close)
	outcome := newSender(t, patient, nil).Send(ctx, newAttempt(receiver.URL))
	require.Equal(t, models.ErrorWorkerLost, outcome.ErrorClass)
	require.Equal(t, webhooks.Lost, outcome.Verdict().Kind)
	require.Zero(t, outcome.StatusCode)
}

func TestSendWithABadURL(t *testing.T) {
	t.Parallel()
	for _, url := range []string{"", "hook", "ftp://127.0.0.1/", "http://", "http://[::1", "http://a b/"} {
		outcome := send(t, url)
		require.Equal(t, models.ErrorConnection, outcome.ErrorClass, url)
		require.Contains(t, outcome.Error, "the endpoint's URL", url)
	}
}

func TestSendWithABadStoredHeader(t *testing.T) {
	t.Parallel()
	receiver := answering(t, "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")
	attempt := newAttempt(receiver.url())
	attempt.Headers = map[string]string{"X-Bad": "a\r\nX-Injected: 1"}
	outcome := newSender(t, patient, nil).Send(t.Context(), attempt)
	require.Equal(t, models.ErrorConnection, outcome.ErrorClass)
	require.NotContains(t, outcome.Error, "X-Injected", "a value is never shown")
	require.Zero(t, receiver.requests.Load())
}
