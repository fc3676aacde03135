package deliveries

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/botix-pro/platform/app/models"
	"github.com/botix-pro/platform/test/uitest"
	"github.com/botix-pro/platform/web/dashboard/parts"
	"github.com/botix-pro/platform/web/ui"
)

var testNow = time.Date(2026, 12, 1, 14, 3, 21, 500_000_000, time.UTC)

func inEnglish() reader { return reader{words: &english, shared: ui.WordsIn(ui.English)} }

// attempt is the first one of a delivery; status 0 is none, class "" is success.
func attempt(status int, class models.ErrorClass) models.WebhookAttempt {
	a := models.WebhookAttempt{Number: 1}
	if status != 0 {
		a.StatusCode = &status
	}
	if class != "" {
		a.ErrorClass = &class
	}
	return a
}

func TestEveryTextIsThere(t *testing.T) {
	t.Parallel()
	uitest.RequireTexts(t, &english, &russian)
	for _, status := range models.DeliveryStatuses() {
		require.Contains(t, parts.WordsIn(ui.English).DeliveryStates, status)
	}
	for class := range english.Outcomes.Classes {
		if !strings.HasPrefix(string(class), "http_") && class != models.ErrorRedirect { // those have a status
			require.Contains(t, english.Diagnosis.Classes, class)
		}
	}
}
func TestDiagnosis(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name   string
		status int
		class  models.ErrorClass
		want   string
	}{
		{"delivered", 201, "", "Your endpoint answered 201: the event was delivered."},
		{"server error", 503, models.ErrorHTTP5xx, "Your endpoint answered 503."},
		{"rejected", 401, models.ErrorHTTP4xx, "Your endpoint answered 401."},
		{"slow down", 429, models.ErrorHTTP4xx, "Your endpoint answered 429: it asked us to slow down."},
		{"redirect", 301, models.ErrorRedirect, "Your endpoint answered 301, a redirect."},
		{"no connection", 0, models.ErrorRefused, "refused the connection"},
		{"our fault", 0, models.ErrorWorkerLost, "uses up no step"},
		{"before anything was sent", 0, models.ErrorInternal, "your endpoint got nothing"},
		{"a class of tomorrow", 0, "quantum", "The attempt failed."},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			require.Contains(t, inEnglish().diagnose(attempt(c.status, c.class)), c.want)
		})
	}
}

func TestWhatHappensNext(t *testing.T) {
	t.Parallel()
	later, passed := testNow.Add(time.Minute), testNow.Add(-time.Second)
	for _, c := range []struct {
		status models.DeliveryStatus
		due    *time.Time
		count  int
		want   string
	}{
		{models.DeliveryWaiting, &later, 1, "Next try at 1 Dec 2026, 14:04:21 UTC."},
		{models.DeliveryPending, &passed, 1, "The next try is due now."},
		{models.DeliveryInFlight, nil, 1, "under way"},
		{models.DeliveryDeadLetter, nil, 1, "dead letter"},
		{models.DeliveryHeld, nil, 1, "held"},
		{models.DeliveryCancelled, nil, 1, "cancelled"},
		{models.DeliveryDelivered, nil, 2, "A later attempt delivered the event."},
		{models.DeliveryWaiting, &later, 2, "Later attempts were made. The delivery now: Waiting"},
	} {
		t.Run(string(c.status)+c.want, func(t *testing.T) {
			t.Parallel()
			delivery := models.WebhookDelivery{Status: c.status, NextAttemptAt: c.due, AttemptCount: c.count}
			next := inEnglish().next(attempt(500, models.ErrorHTTP5xx), delivery, testNow)
			require.NotNil(t, next)
			text := next.Before + next.After
			if next.At != nil {
				text = next.Before + next.At.Text + next.After
			}
			require.Contains(t, text, c.want)
		})
	}
	require.Nil(t, inEnglish().next(attempt(200, ""), models.WebhookDelivery{Status: models.DeliveryDelivered, AttemptCount: 1}, testNow))
}
