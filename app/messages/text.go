package messages

import (
	"errors"
	"net"
	"strings"
	"unicode"

	"github.com/botix-pro/platform/internal/egress"
)

// maxDetail is how many characters are kept of what a provider says.
const maxDetail = 300

// plain makes a text from outside fit to be stored and shown: valid UTF-8, one
// line, bounded.
func plain(text string) string {
	text = strings.Map(func(r rune) rune {
		switch {
		case r == unicode.ReplacementChar || unicode.IsControl(r):
			return ' '
		default:
			return r
		}
	}, strings.ToValidUTF8(text, " "))
	runes := []rune(strings.TrimSpace(text))
	if len(runes) > maxDetail {
		runes = append(runes[:maxDetail], '…')
	}
	return string(runes)
}

// reason words a failed connection. It shows the innermost cause only: what lies
// around it names our own addresses, and a URL may hold a token.
func reason(err error) string {
	var blocked *egress.BlockedError
	var dns *net.DNSError
	switch {
	case errors.As(err, &blocked):
		return blocked.Error()
	case errors.As(err, &dns):
		return plain(dns.Name) + " does not resolve"
	}
	for next := err; next != nil; next = errors.Unwrap(next) {
		err = next
	}
	return plain(err.Error())
}
