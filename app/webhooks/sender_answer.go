package webhooks

import (
	"context"
	"fmt"
	"io"
	"maps"
	"net/http"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/botix-pro/platform/app/models"
	"github.com/botix-pro/platform/internal/egress"
)

const (
	// maxTextRunes bounds every stored sentence.
	maxTextRunes = 500
	// maxKeptHeaderBytes bounds the stored headers of an answer.
	maxKeptHeaderBytes = 16 << 10
	maxHeaderValueRune = 2000
)

// outcome turns the exchange into its record, reading the answer's body.
// parent is the context of the caller, who alone can lose the worker.
func (x *exchange) outcome(parent context.Context, a Attempt, begin time.Time) Outcome {
	o := Outcome{Sent: x.sent}
	if x.err != nil {
		o.ErrorClass, o.Error = x.failure(parent)
	} else {
		x.readAnswer(&o) //nolint:contextcheck // the body is bound to the request's own context
	}
	seen := x.probe.seen()
	o.Timing, o.RemoteAddr = seen.timing, seen.remote
	o.Timing.Total = monotonic().Sub(begin)
	if x.response != nil {
		o.RetryAfter = egress.ParseRetryAfter(x.response.Header.Values("Retry-After"), a.StartedAt.Add(o.Timing.Total))
	}
	return o
}

// readAnswer keeps the answer. The status is final before the body is touched.
func (x *exchange) readAnswer(o *Outcome) {
	o.StatusCode = x.response.StatusCode
	o.ErrorClass = StatusClass(o.StatusCode)
	o.Error = describeStatus(x.response)
	o.ResponseHeaders = keptHeaders(x.response.Header)
	body, err := readBody(x.response)
	o.ResponseTruncated = err != nil || len(body) > MaxResponseBody
	o.ResponseBody = body[:min(len(body), MaxResponseBody)]
	if err != nil {
		o.BodyError = "the answer's body broke off: " + printable(innermost(err), maxTextRunes)
	}
}

// readBody reads one byte more than is kept, to know whether there was more,
// and closes. Closing before the end closes the connection too, so an endless
// body is not drained. After a 101 there is no body but a foreign protocol.
func readBody(response *http.Response) ([]byte, error) {
	defer func() { _ = response.Body.Close() }()
	if response.StatusCode == http.StatusSwitchingProtocols {
		return nil, nil
	}
	body, err := io.ReadAll(io.LimitReader(response.Body, MaxResponseBody+1))
	if cause := context.Cause(response.Request.Context()); err != nil && cause != nil {
		err = cause
	}
	return body, err
}

// describeStatus says in a sentence what an answer other than 2xx means.
func describeStatus(response *http.Response) string {
	status := response.StatusCode
	name := strings.TrimSpace(fmt.Sprintf("%d %s", status, http.StatusText(status)))
	location := response.Header.Get("Location")
	switch class := StatusClass(status); {
	case class == "":
		return ""
	case class == models.ErrorRedirect && location != "":
		return printable("the receiver redirects ("+name+") to "+location+
			"; redirects are not followed, so set the endpoint's URL to the final address", maxTextRunes)
	case class == models.ErrorRedirect:
		return "the receiver answered " + name + "; redirects are not followed"
	case class == models.ErrorBadResponse:
		return "the receiver answered with the unknown status " + name
	default:
		return "the receiver answered " + name
	}
}

// keptHeaders makes an answer's headers fit to be stored, in the order of their
// names until the bound is reached.
func keptHeaders(received http.Header) http.Header {
	kept := make(http.Header, len(received))
	room := maxKeptHeaderBytes
	for _, name := range slices.Sorted(maps.Keys(received)) {
		safe := printable(name, maxTextRunes)
		for _, value := range received[name] {
			value = printable(value, maxHeaderValueRune)
			room -= len(safe) + len(value)
			if room < 0 {
				return kept
			}
			kept[safe] = append(kept[safe], value)
		}
	}
	return kept
}

// printable makes text from outside fit to be stored and shown: valid UTF-8, no
// NUL, at most so many characters.
func printable(text string, maxRunes int) string {
	text = strings.ToValidUTF8(text, string(utf8.RuneError))
	text = strings.ReplaceAll(text, "\x00", string(utf8.RuneError))
	if len(text) <= maxRunes {
		return text
	}
	count := 0
	for i := range text {
		if count == maxRunes {
			return text[:i]
		}
		count++
	}
	return text
}
