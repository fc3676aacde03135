package idempotency

import (
	"strings"

	"github.com/botix-pro/platform/app/models"
)

// Header is the request header that carries the key.
const Header = "Idempotency-Key"

// maxKeyLength is in bytes, which for visible ASCII are characters.
const maxKeyLength = 255

// ParseKey returns the key in the header's values: 1 to 255 visible ASCII
// characters, raw or as a quoted string (draft-ietf-httpapi-idempotency-key-header),
// whose quotes are not part of the key. Errors: IDEMPOTENCY_KEY_REQUIRED,
// IDEMPOTENCY_KEY_INVALID.
func ParseKey(values []string) (string, error) {
	if len(values) == 0 || (len(values) == 1 && values[0] == "") {
		return "", models.NewError(models.CodeIdempotencyKeyRequired,
			"Every mutating request needs an Idempotency-Key header: one random value per logical operation, the same on every retry.")
	}
	if len(values) > 1 {
		return "", invalidKey("The header was sent %d times; send it once.", len(values))
	}
	key := values[0]
	if strings.HasPrefix(key, `"`) {
		unquoted, ok := unquote(key)
		if !ok {
			return "", invalidKey("The quoted form is not closed or has characters after the closing quote.")
		}
		key = unquoted
	}
	return key, CheckKey(key)
}

// CheckKey returns IDEMPOTENCY_KEY_INVALID unless the key itself, without any
// quotes around it, is 1 to 255 visible ASCII characters.
func CheckKey(key string) error {
	if key == "" || len(key) > maxKeyLength {
		return invalidKey("The key has %d characters; 1 to %d are allowed.", len(key), maxKeyLength)
	}
	for _, c := range []byte(key) {
		if c <= ' ' || c > '~' {
			return invalidKey("The key may hold visible ASCII characters only (no space, no control or accented character).")
		}
	}
	return nil
}

// unquote reads an RFC 8941 string: quotes around, backslash before a quote or
// a backslash.
func unquote(s string) (string, bool) {
	var key strings.Builder
	for i := 1; i < len(s); i++ {
		switch s[i] {
		case '"':
			return key.String(), i == len(s)-1
		case '\\':
			i++
			if i == len(s) || (s[i] != '"' && s[i] != '\\') {
				return "", false
			}
		}
		key.WriteByte(s[i])
	}
	return "", false
}

func invalidKey(format string, args ...any) error {
	return models.NewError(models.CodeIdempotencyKeyInvalid, format, args...)
}
