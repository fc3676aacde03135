package webhooks_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/botix-pro/platform/app/models"
	"github.com/botix-pro/platform/app/webhooks"
)

// The contract's table, every status there can be.
func TestClassifyEveryStatus(t *testing.T) {
	t.Parallel()
	for status := 1; status <= 999; status++ {
		got := webhooks.Classify(status, 0, "")
		want := webhooks.Verdict{Kind: webhooks.Retry}
		switch {
		case status >= 100 && status < 200:
			want.Class = models.ErrorHTTP1xx
		case status >= 200 && status < 300:
			want.Kind = webhooks.Delivered
		case status >= 300 && status < 400:
			want.Class = models.ErrorRedirect
		case status == 429:
			want.Class = models.ErrorHTTP4xx
		case status == 410:
			want = webhooks.Verdict{Kind: webhooks.DeadLetterAndDisable, Class: models.ErrorHTTP4xx, Cause: "http_410"}
		case status >= 400 && status < 500:
			cause := models.DeadLetterCause(fmt.Sprintf("http_%d", status))
			want = webhooks.Verdict{Kind: webhooks.DeadLetter, Class: models.ErrorHTTP4xx, Cause: cause}
		case status >= 500 && status < 600:
			want.Class = models.ErrorHTTP5xx
		default:
			want.Class = models.ErrorBadResponse
		}
		require.Equal(t, want, got, "status %d", status)
	}
}

// Guarantee: Retry-After closes the lane with 429 and 503 and means nothing
// with any other status.
func TestClassifyRetryAfter(t *testing.T) {
	t.Parallel()
	for status := 100; status <= 999; status++ {
		got := webhooks.Classify(status, 30*time.Second, "")
		if status == 429 || status == 503 {
			require.Equal(t, webhooks.CloseLane, got.Kind, "status %d", status)
			require.Equal(t, 30*time.Second, got.Pause)
			continue
		}
		require.Equal(t, webhooks.Classify(status, 0, ""), got, "status %d", status)
	}
}

func TestClassifyWithoutAnAnswer(t *testing.T) {
	t.Parallel()
	for _, class := range []models.ErrorClass{
		models.ErrorDNS, models.ErrorRefused, models.ErrorConnectTimeout, models.ErrorTLSExpired, models.ErrorTLSName,
		models.ErrorTLSUntrusted, models.ErrorTLS, models.ErrorReset, models.ErrorReadTimeout, models.ErrorTimeout,
		models.ErrorConnection, models.ErrorBadResponse, models.ErrorBlockedAddress,
	} {
		require.Equal(t, webhooks.Verdict{Kind: webhooks.Retry, Class: class}, webhooks.Classify(0, time.Hour, class))
	}
	require.Equal(t, webhooks.Verdict{Kind: webhooks.Lost, Class: models.ErrorWorkerLost},
		webhooks.Classify(0, 0, models.ErrorWorkerLost))
	require.Equal(t, webhooks.Verdict{Kind: webhooks.Retry, Class: models.ErrorConnection}, webhooks.Classify(0, 0, ""))
}

// Guarantee: with an answer the status alone decides.
func TestClassifyStatusWinsOverALaterFault(t *testing.T) {
	t.Parallel()
	require.Equal(t, webhooks.Delivered, webhooks.Classify(200, 0, models.ErrorReset).Kind)
	require.Equal(t, webhooks.DeadLetter, webhooks.Classify(401, 0, models.ErrorWorkerLost).Kind)
}
