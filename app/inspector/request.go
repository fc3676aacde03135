package inspector

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/botix-pro/platform/app/models"
)

// maxBody is how much of a body is read, in bytes; of a longer one nobody learns
// how long it is.
const maxBody = 16 << 20

var errTooLarge = errors.New("the body is larger than the inspector reads")

// binOf returns the bin that a path names first, or nothing.
func binOf(path string) string {
	rest, found := strings.CutPrefix(path, "/")
	id, _, _ := strings.Cut(rest, "/")
	if !found || !models.ValidID(models.PrefixBin, id) {
		return ""
	}
	return id
}

// captured is what is kept of a request, without its body.
func captured(r *http.Request, bin string, at time.Time) (*models.CapturedRequest, error) {
	headers, err := json.Marshal(headersOf(r))
	if err != nil {
		return nil, fmt.Errorf("encode a captured request's headers: %w", err)
	}
	return &models.CapturedRequest{
		ID: models.NewID(models.PrefixCaptured, at), BinID: bin, Source: models.SourceExternal,
		Method: readable(r.Method), Path: r.URL.EscapedPath(), Query: readable(r.URL.RawQuery), Headers: headers,
		RemoteAddr: r.RemoteAddr, ReceivedAt: at,
	}, nil
}

// headersOf returns all headers, with those that net/http takes out put back.
func headersOf(r *http.Request) map[string][]string {
	headers := map[string][]string{"Host": {readable(r.Host)}}
	if len(r.TransferEncoding) > 0 {
		headers["Transfer-Encoding"] = r.TransferEncoding
	}
	for name, values := range r.Header {
		for _, value := range values {
			headers[name] = append(headers[name], readable(value))
		}
	}
	return headers
}

// readable returns a text that can be stored: as it is where it is UTF-8, else
// byte for byte as Latin-1, which is what HTTP once said it was. NUL becomes its
// picture.
func readable(text string) string {
	if !utf8.ValidString(text) {
		runes := make([]rune, len(text))
		for i := range len(text) {
			runes[i] = rune(text[i])
		}
		text = string(runes)
	}
	return strings.ReplaceAll(text, "\x00", "\u2400")
}

// readBody reads a body to its end and keeps the beginning. The error is
// errTooLarge, or says why the body broke off.
func readBody(c *models.CapturedRequest, body io.Reader) error {
	var err error
	c.Body, err = io.ReadAll(io.LimitReader(body, models.MaxCaptured))
	c.BodyBytes = int64(len(c.Body))
	if err == nil {
		var rest int64
		rest, err = io.Copy(io.Discard, io.LimitReader(body, maxBody-c.BodyBytes+1))
		c.BodyBytes += rest
		if err == nil && c.BodyBytes > maxBody {
			err = errTooLarge
		}
	}
	c.Truncated = err != nil || c.BodyBytes > int64(len(c.Body))
	return err
}
