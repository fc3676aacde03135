package messages

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptrace"
	"net/url"
	"strconv"
	"strings"
	"sync/atomic"
	"time"
)

// A channel can close itself for no less and no more than this.
const (
	minPatience     = time.Second
	maxPatience     = 24 * time.Hour
	defaultPatience = 30 * time.Second // where it does not say for how long
)

// maxAnswer is how much of an answer is read, in bytes.
const maxAnswer = 64 << 10

// Telegram sends through a project's bot.
type Telegram struct {
	opaque

	transport *http.Transport
}

// NewTelegram returns the channel over a guarded transport (egress.Guard).
func NewTelegram(transport *http.Transport) *Telegram {
	// A connection for each message: a kept one that turns out closed makes
	// net/http send again by itself.
	transport = transport.Clone()
	transport.DisableKeepAlives = true
	return &Telegram{transport: transport}
}

// Send implements [Channel]. It goes to the transport itself: nothing follows a
// redirect.
func (t *Telegram) Send(ctx context.Context, p Parcel) Result {
	settings, err := readSettings[TelegramSettings](p.Settings)
	if err != nil {
		return unreadable(err)
	}
	var connected atomic.Bool
	request, err := newBotRequest(httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{
		GotConn: func(httptrace.GotConnInfo) { connected.Store(true) },
	}), settings, p)
	if err != nil {
		return unreadable(err)
	}
	response, err := t.transport.RoundTrip(request)
	switch {
	case err != nil && connected.Load():
		return Result{Verdict: Lost, Code: CodeAnswerLost, Detail: "The Bot API's answer was lost: " + reason(err)}
	case err != nil:
		return Result{Verdict: NotTaken, Code: CodeConnection, Detail: "The Bot API could not be reached: " + reason(err)}
	}
	defer func() { _ = response.Body.Close() }()
	return judge(response)
}

func newBotRequest(ctx context.Context, settings TelegramSettings, p Parcel) (*http.Request, error) {
	u, err := url.Parse(strings.TrimSuffix(settings.BaseURL, "/") + "/bot" + settings.Token + "/sendMessage")
	if err != nil {
		return nil, errors.New("the base URL cannot be read") // the error itself would show the token
	}
	body, err := json.Marshal(map[string]string{"chat_id": p.Address, "text": p.Text})
	if err != nil {
		return nil, fmt.Errorf("write the request: %w", err)
	}
	// No GetBody: net/http would use it to send the request again by itself.
	request := &http.Request{
		Method: http.MethodPost, URL: u, Host: u.Host, Header: http.Header{"Content-Type": {"application/json"}},
		Body: io.NopCloser(bytes.NewReader(body)), ContentLength: int64(len(body)),
		Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1, Close: true,
	}
	return request.WithContext(ctx), nil
}

// botAnswer is what the Bot API answers with.
type botAnswer struct {
	OK          bool   `json:"ok"`
	Description string `json:"description"`
	Result      struct {
		MessageID int64 `json:"message_id"`
	} `json:"result"`
	Parameters struct {
		RetryAfter int `json:"retry_after"` // seconds
	} `json:"parameters"`
}

// judge reads an answer. A success has to say so in its body too: any web server
// answers 200 to somebody who has the wrong address.
func judge(response *http.Response) Result {
	var answer botAnswer
	raw, _ := io.ReadAll(io.LimitReader(response.Body, maxAnswer))
	_ = json.Unmarshal(raw, &answer) // what a proxy answers is no JSON
	said := fmt.Sprintf("The Bot API answered %d %s", response.StatusCode, plain(answer.Description))
	switch code := response.StatusCode; {
	case code == http.StatusOK && answer.OK:
		return taken(answer)
	case code == http.StatusTooManyRequests:
		return Result{Verdict: Throttled, RetryAfter: patience(answer, response.Header), Code: CodeThrottled, Detail: said}
	case code == http.StatusServiceUnavailable:
		return Result{Verdict: NotTaken, Code: CodeUnavailable, Detail: said}
	case code >= http.StatusMultipleChoices && code < http.StatusInternalServerError:
		return Result{Verdict: Refused, Code: CodeRejected, Detail: said}
	default:
		// A proxy before it, or it itself after half the work: nobody can tell.
		return Result{Verdict: Lost, Code: CodeAnswerLost, Detail: said}
	}
}

func taken(answer botAnswer) Result {
	result := Result{Verdict: Taken}
	if answer.Result.MessageID != 0 {
		result.Receipt = strconv.FormatInt(answer.Result.MessageID, 10)
	}
	return result
}

// patience is how long the bot is to be left alone, by the answer's body or its
// header, whichever asks for more.
func patience(answer botAnswer, header http.Header) time.Duration {
	seconds := answer.Parameters.RetryAfter
	if said, err := strconv.Atoi(strings.TrimSpace(header.Get("Retry-After"))); err == nil {
		seconds = max(seconds, said)
	}
	if seconds <= 0 {
		return defaultPatience
	}
	return min(max(time.Duration(min(seconds, int(maxPatience/time.Second)))*time.Second, minPatience), maxPatience)
}
