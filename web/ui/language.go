package ui

import (
	"net/http"
	"time"

	"golang.org/x/text/language"
)

// Language is a language that pages are written in, as BCP 47.
type Language string

// The languages there are.
const (
	English Language = "en"
	Russian Language = "ru"
)

// Languages lists them, the default first.
func Languages() []Language { return []Language{English, Russian} }

// Cookies that hold what a reader prefers. None of them says who it is.
const (
	CookieLanguage = "btx_language" // a [Language]
	CookieTheme    = "btx_theme"    // "light" or "dark"; without it the system decides
	CookieZone     = "btx_zone"     // an IANA time zone, set by the script
)

var matcher = language.NewMatcher([]language.Tag{language.English, language.Russian}) //nolint:gochecknoglobals // a constant table

// LanguageOf is the language a request asks for: by its cookie, otherwise by
// Accept-Language, otherwise English.
func LanguageOf(r *http.Request) Language {
	if chosen, ok := KnownLanguage(cookieValue(r, CookieLanguage)); ok {
		return chosen
	}
	_, index := language.MatchStrings(matcher, r.Header.Get("Accept-Language"))
	return Languages()[index]
}

// KnownLanguage reports whether there are pages in a language.
func KnownLanguage(name string) (Language, bool) {
	for _, known := range Languages() {
		if string(known) == name {
			return known, true
		}
	}
	return English, false
}

// ThemeOf is "light" or "dark" where the reader has chosen, otherwise empty.
func ThemeOf(r *http.Request) string {
	if theme := cookieValue(r, CookieTheme); theme == "light" || theme == "dark" {
		return theme
	}
	return ""
}

// ZoneOf is the reader's time zone, nil when it is not known yet.
func ZoneOf(r *http.Request) *time.Location {
	name := cookieValue(r, CookieZone)
	if name == "" || name == "Local" || len(name) > maxZoneName {
		return nil
	}
	zone, err := time.LoadLocation(name)
	if err != nil {
		return nil
	}
	return zone
}

// maxZoneName is longer than the name of any zone.
const maxZoneName = 64

func cookieValue(r *http.Request, name string) string {
	cookie, err := r.Cookie(name)
	if err != nil {
		return ""
	}
	return cookie.Value
}

// In picks the texts of a language. Both are always there, which the compiler
// holds us to; that none of their fields is empty is a test's to say.
func In[T any](l Language, english, russian *T) *T {
	if l == Russian {
		return russian
	}
	return english
}
