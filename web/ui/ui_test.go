package ui

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"regexp"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/stretchr/testify/require"
)

func TestUnits(t *testing.T) {
	t.Parallel()
	en, ru := Locale{Language: English}, Locale{Language: Russian}
	require.Equal(t, []string{"999 ms", "30.00 s", "30,00 с"}, []string{en.Duration(999), en.Duration(30_000), ru.Duration(30_000)})
	require.Equal(t, []string{"1 byte", "0 bytes", "16.0 KiB", "2.5 MiB", "1 байт", "3 байта", "11 байт", "1,0 КиБ"},
		[]string{en.Size(1), en.Size(0), en.Size(16 << 10), en.Size(5 << 19), ru.Size(1), ru.Size(3), ru.Size(11), ru.Size(1 << 10)})
	require.Equal(t, []string{"0", "999", "1,284", "−12,345,678", "1\u00a0284"},
		[]string{en.Number(0), en.Number(999), en.Number(1284), en.Number(-12_345_678), ru.Number(1284)})
	require.Equal(t, []string{"–", "0.0%", "99.9%", "100%", "33,3\u00a0%"},
		[]string{en.Percent(0, 0), en.Percent(0, 5), en.Percent(99_999, 100_000), en.Percent(5, 5), ru.Percent(1, 3)})
	require.Equal(t, []string{"1 s", "59 s", "1 min 1 s", "1 h", "2 d 3 h", "2 ч 5 мин"}, []string{
		en.Span(time.Millisecond), en.Span(59 * time.Second), en.Span(61 * time.Second), en.Span(time.Hour),
		en.Span(51*time.Hour + 12*time.Minute), ru.Span(125 * time.Minute),
	})
}

func TestPlurals(t *testing.T) {
	t.Parallel()
	forms := Forms{One: "one", Few: "few", Many: "many"}
	for n, want := range map[int64]string{0: "many", 1: "one", 2: "few", 4: "few", 5: "many", 11: "many", 12: "many", 14: "many", 21: "one", 22: "few", 25: "many", 101: "one", 111: "many", -1: "one"} {
		require.Equal(t, want, Locale{Language: Russian}.Plural(n, forms), n)
	}
	require.Equal(t, "one", Locale{Language: English}.Plural(1, forms))
	require.Equal(t, "many", Locale{Language: English}.Plural(21, forms))
}

func TestTimesAreInTheReadersZoneWithUTCBeside(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 3, 29, 1, 30, 0, 0, time.UTC)
	berlin, err := time.LoadLocation("Europe/Berlin")
	require.NoError(t, err)
	kathmandu, err := time.LoadLocation("Asia/Kathmandu")
	require.NoError(t, err)
	require.Equal(t, Instant{Machine: "2026-03-29T01:30:00.000Z", Text: "29 Mar 2026, 01:30:00 UTC", Unknown: true}, Locale{}.Time(at))
	require.Equal(t, "29 Mar 2026, 03:30:00 CEST", Locale{Zone: berlin}.Time(at).Text, "an hour that does not exist there is never written")
	shown := Locale{Language: Russian, Zone: kathmandu}.Time(at)
	require.Equal(t, "29 марта 2026, 07:15:00 GMT+5:45", shown.Text)
	require.Equal(t, "01:30:00 UTC", shown.UTC)
}

func TestThePagesLanguage(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ cookie, accept, want string }{
		{"", "", "en"}, {"", "ru-RU,ru;q=0.9,en;q=0.8", "ru"}, {"", "de", "en"}, {"", "de,ru;q=0.1", "ru"}, {"en", "ru", "en"}, {"ru", "en", "ru"},
		{"xx", "ru", "ru"}, {"", "\xff;;q=x", "en"},
	} {
		r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/", nil)
		r.Header.Set("Accept-Language", c.accept)
		if c.cookie != "" {
			r.AddCookie(&http.Cookie{Name: CookieLanguage, Value: c.cookie})
		}
		require.Equal(t, Language(c.want), LanguageOf(r), c)
	}
}

func TestAZoneIsTakenOnlyIfThereIsSuchAZone(t *testing.T) {
	t.Parallel()
	for value, known := range map[string]bool{"Europe/Berlin": true, "UTC": true, "Local": false, "../../etc/passwd": false, "": false, "Mars/Base": false} {
		r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/", nil)
		r.AddCookie(&http.Cookie{Name: CookieZone, Value: value})
		require.Equal(t, known, ZoneOf(r) != nil, value)
	}
}

func TestTheTwoDarkPalettesAreTheSame(t *testing.T) {
	t.Parallel()
	css, err := staticFiles.ReadFile("static/ui.css")
	require.NoError(t, err)
	variables := regexp.MustCompile(`--[a-z-]+: #[0-9A-F]{6}`)
	_, dark, _ := strings.Cut(string(css), `:root:not([data-theme="light"])`)
	system, chosen, found := strings.Cut(dark, `:root[data-theme="dark"]`)
	require.True(t, found)
	chosen, _, _ = strings.Cut(chosen, "}")
	require.NotEmpty(t, variables.FindAllString(system, -1))
	require.Equal(t, variables.FindAllString(system, -1), variables.FindAllString(chosen, -1))
}

func TestTheWayBackStaysShortAndKeepsTheFilters(t *testing.T) {
	t.Parallel()
	valid := func(id string) bool { return strings.HasPrefix(id, "att_") }
	at := PagerOf(&url.URL{Path: "/list", RawQuery: "status=failed&other=1&empty="}, []string{"status", "empty"}, valid)
	require.Equal(t, "/list?status=failed", at.Here(), "only the list's own filters, and none that is empty")
	trail := []string{at.Here()}
	for i := range 100 {
		older := at.Older(fmt.Sprintf("att_%026d", i))
		require.Less(t, len(older), 2000)
		parsed, err := url.Parse(older)
		require.NoError(t, err)
		at = PagerOf(parsed, []string{"status"}, valid)
		require.Equal(t, older, at.Here())
		if i > 0 && i < maxTrail {
			require.Equal(t, trail[len(trail)-1], at.Newer())
		}
		trail = append(trail, older)
	}
	require.Equal(t, "/list?status=failed", at.Newest())
	require.Equal(t, "/list", at.With("status", ""))
	hostile := PagerOf(&url.URL{Path: "/list", RawQuery: "before='; DROP TABLE&trail=x"}, nil, valid)
	require.Equal(t, "/list", hostile.Here())
	require.Empty(t, hostile.Newer())
}

func TestPayloadsKeepEveryDigitAndBlowUpNothing(t *testing.T) {
	t.Parallel()
	require.Equal(t, "{\n  \"n\": 1e400,\n  \"m\": 0.10000000000000000000001\n}", ShowPayload([]byte(`{"n":1e400,"m":0.10000000000000000000001}`)).Text)
	for _, levels := range []int{300, 9000} { // indented: 180 KB and 160 MB
		deep := strings.Repeat("[", levels) + strings.Repeat("]", levels)
		require.True(t, json.Valid([]byte(deep)))
		require.Equal(t, deep, ShowPayload([]byte(deep)).Text)
	}
	wide := strings.Repeat("[", 32) + strings.Repeat("1,", 15_000) + "1" + strings.Repeat("]", 32)
	require.Less(t, len(ShowPayload([]byte(wide)).Text), maxIndented)
	require.Equal(t, `{"a": `, ShowPayload([]byte(`{"a": `)).Text, "no JSON: as it came")
	require.Equal(t, 2, nesting([]byte(`{"[[[\"[[":["}]"]}`)), "brackets in strings do not count")
}

func TestAnswersAreShownWhateverTheirBytes(t *testing.T) {
	t.Parallel()
	cut := []byte("Привет")[:11] // in the middle of a character
	require.Equal(t, "Приве", ShowBytes(cut, true).Text)
	require.True(t, ShowBytes(cut, false).Hex, "not cut by us: it is not UTF-8")
	require.True(t, ShowBytes([]byte("ok\xff"), true).Hex)
	require.Equal(t, "whole 日本", ShowBytes([]byte("whole 日本"), true).Text)
	require.Empty(t, ShowBytes(nil, true).Text)
	require.Equal(t, "a\tb\r\nc␇␡⟨U+0085⟩⟨U+200B⟩⟨U+FEFF⟩", Visible("a\tb\r\nc\x07\x7f\u0085\u200b\ufeff"))
	require.Equal(t, "\ufffd", Visible("\xff"))
	require.Equal(t, "שלום мир 🙂", Visible("שלום мир 🙂"), "letters of any script are letters")
}

func TestHosts(t *testing.T) {
	t.Parallel()
	for address, host := range map[string]string{
		"https://hooks.example.com:8443/a?b": "hooks.example.com:8443",
		"http://[2001:db8::1]/":              "[2001:db8::1]",
		"not a url":                          "not a url",
		"http://a b/":                        "http://a b/",
	} {
		require.Equal(t, host, HostOf(address))
	}
	require.Equal(t, maxHostRunes+1, utf8.RuneCountInString(HostOf("https://"+strings.Repeat("x", 300))))
}

func FuzzForeignText(f *testing.F) {
	f.Add([]byte(`{"a":[1,{"b":"\""}]}`), true)
	f.Add([]byte("\xf0\x9f\x99"), true)
	f.Fuzz(func(t *testing.T, raw []byte, cut bool) {
		for _, shown := range []Content{ShowPayload(raw), ShowBytes(raw, cut)} {
			require.True(t, utf8.ValidString(shown.Text))
			require.NotContains(t, shown.Text, "\x00")
			require.Equal(t, len(raw), shown.Size)
		}
		for _, line := range ShowHeaders(raw) {
			require.True(t, utf8.ValidString(line.Name+line.Value))
		}
	})
}
