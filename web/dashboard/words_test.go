package dashboard

import (
	"encoding/json"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/stretchr/testify/require"

	"github.com/botix-pro/platform/app/models"
)

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
			queries := newQueries(1)
			queries.failedWith(c.status, c.class, "")
			if c.class == "" {
				queries.attempts[0].ErrorClass = nil
			}
			require.Contains(t, english.diagnose(queries.attempts[0]), c.want)
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
			queries := newQueries(1)
			queries.failedWith(500, models.ErrorHTTP5xx, "")
			delivery := models.WebhookDelivery{Status: c.status, NextAttemptAt: c.due, AttemptCount: c.count}
			next := english.next(queries.attempts[0], delivery, testNow)
			require.NotNil(t, next)
			text := next.Before + next.After
			if next.At != nil {
				text = next.Before + next.At.Text + next.After
			}
			require.Contains(t, text, c.want)
		})
	}
	require.Nil(t, english.next(attemptAt(testNow), models.WebhookDelivery{Status: models.DeliveryDelivered, AttemptCount: 1}, testNow))
}

func TestUnits(t *testing.T) {
	t.Parallel()
	require.Equal(t, "999 ms", english.duration(999))
	require.Equal(t, "30.00 s", english.duration(30_000))
	require.Equal(t, "1 byte", english.size(1))
	require.Equal(t, "0 bytes", english.size(0))
	require.Equal(t, "16.0 KiB", english.size(16<<10))
}

func TestPayloadsKeepEveryDigitAndBlowUpNothing(t *testing.T) {
	t.Parallel()
	require.Equal(t, "{\n  \"n\": 1e400,\n  \"m\": 0.10000000000000000000001\n}", showPayload([]byte(`{"n":1e400,"m":0.10000000000000000000001}`)).Text)
	for _, levels := range []int{300, 9000} { // indented: 180 KB and 160 MB
		deep := strings.Repeat("[", levels) + strings.Repeat("]", levels)
		require.True(t, json.Valid([]byte(deep)))
		require.Equal(t, deep, showPayload([]byte(deep)).Text)
	}
	wide := strings.Repeat("[", 32) + strings.Repeat("1,", 15_000) + "1" + strings.Repeat("]", 32)
	require.Less(t, len(showPayload([]byte(wide)).Text), maxIndented)
	require.Equal(t, `{"a": `, showPayload([]byte(`{"a": `)).Text, "no JSON: as it came")
	require.Equal(t, 2, nesting([]byte(`{"[[[\"[[":["}]"]}`)), "brackets in strings do not count")
}

func TestAnswersAreShownWhateverTheirBytes(t *testing.T) {
	t.Parallel()
	cut := []byte("Привет")[:11] // in the middle of a character
	require.Equal(t, "Приве", showBytes(cut, true).Text)
	require.True(t, showBytes(cut, false).Hex, "not cut by us: it is not UTF-8")
	require.True(t, showBytes([]byte("ok\xff"), true).Hex)
	require.Equal(t, "whole 日本", showBytes([]byte("whole 日本"), true).Text)
	require.Empty(t, showBytes(nil, true).Text)
	require.Equal(t, "a\tb\r\nc␇␡⟨U+0085⟩⟨U+200B⟩⟨U+FEFF⟩", visible("a\tb\r\nc\x07\x7f\u0085\u200b\ufeff"))
	require.Equal(t, "\ufffd", visible("\xff"))
	require.Equal(t, "שלום мир 🙂", visible("שלום мир 🙂"), "letters of any script are letters")
}

func TestHosts(t *testing.T) {
	t.Parallel()
	for address, host := range map[string]string{
		"https://hooks.example.com:8443/a?b": "hooks.example.com:8443",
		"http://[2001:db8::1]/":              "[2001:db8::1]",
		"not a url":                          "not a url",
		"http://a b/":                        "http://a b/",
	} {
		require.Equal(t, host, hostOf(address))
	}
	require.Equal(t, maxHostRunes+1, utf8.RuneCountInString(hostOf("https://"+strings.Repeat("x", 300))))
}

func FuzzForeignText(f *testing.F) {
	f.Add([]byte(`{"a":[1,{"b":"\""}]}`), true)
	f.Add([]byte("\xf0\x9f\x99"), true)
	f.Fuzz(func(t *testing.T, raw []byte, cut bool) {
		for _, shown := range []content{showPayload(raw), showBytes(raw, cut)} {
			require.True(t, utf8.ValidString(shown.Text))
			require.NotContains(t, shown.Text, "\x00")
			require.Equal(t, len(raw), shown.Size)
		}
		for _, line := range showHeaders(raw) {
			require.True(t, utf8.ValidString(line.Name+line.Value))
		}
	})
}
