package webhooks

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/url"
	"slices"

	"github.com/botix-pro/platform/app/models"
)

// newRequest builds the attempt's request, on a fresh connection if so asked.
func (s *Sender) newRequest(ctx context.Context, a Attempt, fresh bool) (*http.Request, *models.SentRequest, error) {
	u, err := url.Parse(a.URL)
	if err != nil {
		return nil, nil, fmt.Errorf("%w: the endpoint's URL cannot be read", errBadURL)
	}
	if (u.Scheme != "http" && u.Scheme != "https") || u.Host == "" {
		return nil, nil, fmt.Errorf("%w: the endpoint's URL is not an http or https address", errBadURL)
	}
	own := ownHeaders(a.Headers)
	sent := s.sent(a, own, fresh)
	// No GetBody: net/http would use it to send the request again by itself,
	// under the same attempt number.
	request := &http.Request{
		Method:        http.MethodPost,
		URL:           s.cfg.Rewrite(u),
		Host:          u.Host,
		Header:        sent.Header(own),
		Body:          io.NopCloser(bytes.NewReader(a.Body)),
		ContentLength: int64(len(a.Body)),
		Proto:         "HTTP/1.1",
		ProtoMajor:    1,
		ProtoMinor:    1,
		Close:         fresh,
	}
	return request.WithContext(ctx), sent, nil
}

// sent is what is kept of the request that an attempt makes.
func (s *Sender) sent(a Attempt, own map[string]string, fresh bool) *models.SentRequest {
	return &models.SentRequest{
		URL: a.URL, RequestID: a.RequestID, EventID: a.EventID, EventType: a.EventType, Number: a.Number, StartedAt: a.StartedAt,
		UserAgent: s.cfg.UserAgent, Signatures: Sign(a.EventID, a.StartedAt, a.Body, a.Secrets), OwnHeaders: slices.Sorted(maps.Keys(own)),
		BodyBytes: len(a.Body), Fresh: fresh,
	}
}

// ownHeaders are those of an endpoint's headers that are sent: ours win, whatever
// was stored.
func ownHeaders(stored map[string]string) map[string]string {
	for name := range stored {
		if reservedHeader(name) {
			own := maps.Clone(stored)
			maps.DeleteFunc(own, func(name, _ string) bool { return reservedHeader(name) })
			return own
		}
	}
	return stored
}

// Copied returns the headers of a's request as they would be recorded, for a copy
// that is not sent anywhere: all of them, with the owner's values masked.
func Copied(ctx context.Context, userAgent string, a Attempt) (http.Header, error) {
	_, sent, err := NewSender(&http.Transport{}, SenderConfig{UserAgent: userAgent}).newRequest(ctx, a, false)
	if err != nil {
		return nil, err
	}
	return sent.ShownHeader(), nil
}
