package webhooks

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
)

// newRequest builds the attempt's request.
func (s *Sender) newRequest(ctx context.Context, a Attempt) (*http.Request, error) {
	u, err := url.Parse(a.URL)
	if err != nil {
		return nil, fmt.Errorf("%w: the endpoint's URL cannot be read", errBadURL)
	}
	if (u.Scheme != "http" && u.Scheme != "https") || u.Host == "" {
		return nil, fmt.Errorf("%w: the endpoint's URL is not an http or https address", errBadURL)
	}
	// No GetBody: net/http would use it to send the request again by itself,
	// under the same attempt number.
	request := &http.Request{
		Method:        http.MethodPost,
		URL:           s.cfg.Rewrite(u),
		Host:          u.Host,
		Header:        s.headers(a),
		Body:          io.NopCloser(bytes.NewReader(a.Body)),
		ContentLength: int64(len(a.Body)),
		Proto:         "HTTP/1.1",
		ProtoMajor:    1,
		ProtoMinor:    1,
	}
	return request.WithContext(ctx), nil
}

// headers returns what the request carries beside Host and Content-Length. The
// owner's headers come first, so that ours win whatever was stored. Names are
// set as they are documented, not in Go's canonical case.
func (s *Sender) headers(a Attempt) http.Header {
	h := make(http.Header, len(a.Headers)+10)
	for name, value := range a.Headers {
		if !reservedHeader(name) {
			h[name] = []string{value}
		}
	}
	for name, value := range map[string]string{
		"Content-Type":       "application/json",
		"Accept-Encoding":    "identity",
		"User-Agent":         s.cfg.UserAgent,
		"X-Request-Id":       a.RequestID,
		"X-Event-Id":         a.EventID,
		"X-Event-Type":       a.EventType,
		"X-Delivery-Attempt": strconv.Itoa(a.Number),
		"X-BOTIX-Signature":  Signature(a.Body, a.Secrets),
		"webhook-id":         a.EventID,
		"webhook-timestamp":  strconv.FormatInt(a.StartedAt.Unix(), 10),
		"webhook-signature":  StandardSignature(a.EventID, a.StartedAt, a.Body, a.Secrets),
	} {
		h[name] = []string{value}
	}
	return h
}

// sentHeaders is the record of a request's headers: everything that went out,
// with the owner's values masked, for they are often tokens.
func sentHeaders(request *http.Request, a Attempt) http.Header {
	h := request.Header.Clone()
	for name := range a.Headers {
		if _, sent := h[name]; sent && !reservedHeader(name) {
			h[printable(name, maxTextRunes)] = []string{masked}
		}
	}
	h["Host"] = []string{request.Host}
	h["Content-Length"] = []string{strconv.FormatInt(request.ContentLength, 10)}
	if request.Close {
		h["Connection"] = []string{"close"}
	}
	return h
}

// Copied returns the headers of a's request as they would be recorded, for a copy
// that is not sent anywhere: all of them, with the owner's values masked.
func Copied(ctx context.Context, userAgent string, a Attempt) (http.Header, error) {
	request, err := NewSender(&http.Transport{}, SenderConfig{UserAgent: userAgent}).newRequest(ctx, a)
	if err != nil {
		return nil, err
	}
	return sentHeaders(request, a), nil
}
