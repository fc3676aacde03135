package webhooks

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"golang.org/x/net/http/httpguts"
)

// The limits of an endpoint's own headers. Together they stay well below the
// 8 KiB of request headers that common receivers accept.
const (
	MaxHeaders          = 20
	MaxHeaderNameBytes  = 128
	MaxHeaderValueBytes = 2048
	maxHeaderTotalBytes = 4096
)

// reservedHeaders are set by the platform or belong to the connection. Names
// are in lower case.
var reservedHeaders = map[string]bool{
	"host": true, "content-type": true, "content-length": true, "content-encoding": true,
	"user-agent": true, "accept-encoding": true, "x-request-id": true,
	"connection": true, "keep-alive": true, "transfer-encoding": true, "te": true, "trailer": true,
	"upgrade": true, "http2-settings": true, "expect": true, "proxy-connection": true,
	"proxy-authorization": true, "proxy-authenticate": true,
}

// reservedHeaderPrefixes are families of names that are the platform's.
var reservedHeaderPrefixes = []string{"x-botix-", "x-event-", "x-delivery-", "webhook-"}

// HeaderFault says what is wrong with one of an endpoint's headers, or, with an
// empty name, with all of them together.
type HeaderFault struct {
	Name   string
	Reason string // a sentence without its full stop; never repeats the value
}

// CheckHeaders judges the headers that an endpoint's owner wants to add, in the
// order of their names. None may replace one of ours, break the request's
// framing or inject a line.
func CheckHeaders(headers map[string]string) []HeaderFault {
	var faults []HeaderFault
	if len(headers) > MaxHeaders {
		return []HeaderFault{{Reason: fmt.Sprintf("there are more than %d headers", MaxHeaders)}}
	}
	total := 0
	seen := make(map[string]bool, len(headers))
	for _, name := range slices.Sorted(maps.Keys(headers)) {
		total += len(name) + len(headers[name])
		lower := strings.ToLower(name)
		if reason := headerFault(name, headers[name], seen[lower]); reason != "" {
			faults = append(faults, HeaderFault{Name: name, Reason: reason})
		}
		seen[lower] = true
	}
	if total > maxHeaderTotalBytes {
		faults = append(faults, HeaderFault{
			Reason: fmt.Sprintf("the headers are longer than %d bytes together", maxHeaderTotalBytes),
		})
	}
	return faults
}

// headerFault returns what is wrong with one header, or nothing.
func headerFault(name, value string, repeated bool) string {
	switch {
	case !httpguts.ValidHeaderFieldName(name):
		return "the name is not a valid header name"
	case len(name) > MaxHeaderNameBytes:
		return fmt.Sprintf("the name is longer than %d bytes", MaxHeaderNameBytes)
	case reservedHeader(name):
		return "the header is set by the platform and cannot be replaced"
	case repeated:
		return "the header is given twice in different case"
	case len(value) > MaxHeaderValueBytes:
		return fmt.Sprintf("the value is longer than %d bytes", MaxHeaderValueBytes)
	case !visibleASCII(value):
		return "the value may hold visible ASCII characters, spaces and tabs only"
	case value != strings.Trim(value, " \t"):
		return "the value starts or ends with white space"
	}
	return ""
}

// reservedHeader takes an underscore for a hyphen, as CGI and its successors do:
// a receiver behind one could not tell the two names apart.
func reservedHeader(name string) bool {
	lower := strings.ReplaceAll(strings.ToLower(name), "_", "-")
	return reservedHeaders[lower] || slices.ContainsFunc(reservedHeaderPrefixes, func(prefix string) bool {
		return strings.HasPrefix(lower, prefix)
	})
}

func visibleASCII(value string) bool {
	for _, c := range []byte(value) {
		if c != '\t' && (c < ' ' || c > '~') {
			return false
		}
	}
	return true
}
