package inspector

import (
	"context"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/botix-pro/platform/app/models"
	"github.com/botix-pro/platform/app/webhooks"
)

// The headers of the two schemes, as net/http writes them.
const (
	headerBotix     = "X-Botix-Signature"
	headerID        = "Webhook-Id"
	headerTimestamp = "Webhook-Timestamp"
	headerSignature = "Webhook-Signature"
	standardVersion = "v1,"
	digestBytes     = 32           // of HMAC-SHA256
	lastSecond      = 253402300799 // of the year 9999, the last that can be written down
)

// candidate is one secret that may have signed.
type candidate struct {
	id     string
	secret webhooks.Secret
}

// Verdicts says what the signatures of a captured request are worth: a verdict for
// each scheme. The candidates are the bin's own secret, and those secrets of the
// project's endpoints that lead to the bin, or signed the copy, which were valid
// when the request came.
func (d *Desk) Verdicts(ctx context.Context, bin *models.Bin, c *models.CapturedRequest) ([]models.SignatureVerdict, error) {
	stored, err := d.store.BinCandidates(ctx, bin, c.EndpointID)
	if err != nil {
		return nil, err
	}
	var candidates []candidate
	for _, one := range stored {
		secrets, err := webhooks.ActiveSecrets(one.Secrets, c.ReceivedAt)
		if err != nil {
			return nil, fmt.Errorf("read the secrets of %s: %w", one.ID, err)
		}
		for _, secret := range secrets {
			candidates = append(candidates, candidate{one.ID, secret})
		}
	}
	return verdicts(c, candidates)
}

func verdicts(c *models.CapturedRequest, candidates []candidate) ([]models.SignatureVerdict, error) {
	var sent map[string][]string
	if err := json.Unmarshal(c.Headers, &sent); err != nil {
		return nil, fmt.Errorf("decode a captured request's headers: %w", err)
	}
	headers := http.Header{} // a copy's names are not in net/http's case
	for name, values := range sent {
		for _, value := range values {
			headers.Add(name, value)
		}
	}
	return []models.SignatureVerdict{botixVerdict(c, headers, candidates), standardVerdict(c, headers, candidates)}, nil
}

// botixVerdict judges X-BOTIX-Signature: the hex HMAC of the body under each
// secret, separated by commas.
func botixVerdict(c *models.CapturedRequest, headers http.Header, candidates []candidate) models.SignatureVerdict {
	v := models.SignatureVerdict{Scheme: models.SchemeBotix}
	if missing(&v, headers, headerBotix) {
		return v
	}
	for one := range strings.SplitSeq(strings.Join(headers.Values(headerBotix), ","), ",") {
		one = strings.TrimSpace(one)
		if raw, err := hex.DecodeString(one); err != nil || len(raw) != digestBytes {
			return malformed(v, headerBotix)
		}
		v.Received = append(v.Received, strings.ToLower(one))
	}
	if c.Truncated {
		v.Status = models.SignatureUnknowable
		return v
	}
	v.Signed = c.Body
	for _, one := range candidates {
		v.Expected = append(v.Expected, models.SignatureDigest{
			Candidate: one.id, Digest: webhooks.Sign("", c.ReceivedAt, c.Body, []webhooks.Secret{one.secret}).Body(),
		})
	}
	match(&v)
	return v
}

// standardVerdict judges the three headers of Standard Webhooks.
func standardVerdict(c *models.CapturedRequest, headers http.Header, candidates []candidate) models.SignatureVerdict {
	v := models.SignatureVerdict{Scheme: models.SchemeStandard}
	if missing(&v, headers, headerID, headerTimestamp, headerSignature) {
		return v
	}
	id := headers.Get(headerID)
	at, ok := timestamp(headers.Get(headerTimestamp))
	if !ok {
		return malformed(v, headerTimestamp)
	}
	v.At, v.Skew = &at, c.ReceivedAt.Sub(at)
	for one := range strings.FieldsSeq(strings.Join(headers.Values(headerSignature), " ")) {
		encoded, ours := strings.CutPrefix(one, standardVersion)
		if !ours {
			continue // another version, which other libraries may read
		}
		if raw, err := base64.StdEncoding.DecodeString(encoded); err != nil || len(raw) != digestBytes {
			return malformed(v, headerSignature)
		}
		v.Received = append(v.Received, one)
	}
	if len(v.Received) == 0 {
		return malformed(v, headerSignature)
	}
	if c.Truncated {
		v.Status = models.SignatureUnknowable
		return v
	}
	v.Signed = slices.Concat([]byte(id+"."+headers.Get(headerTimestamp)+"."), c.Body)
	for _, one := range candidates {
		v.Expected = append(v.Expected, models.SignatureDigest{
			Candidate: one.id, Digest: webhooks.Sign(id, at, c.Body, []webhooks.Secret{one.secret}).Standard(),
		})
	}
	match(&v)
	return inTime(v)
}

// missing reports whether a header is not there, and says which.
func missing(v *models.SignatureVerdict, headers http.Header, names ...string) bool {
	for _, name := range names {
		if headers.Get(name) == "" {
			v.Status, v.Header = models.SignatureMissing, name
			return true
		}
	}
	return false
}

func malformed(v models.SignatureVerdict, header string) models.SignatureVerdict {
	v.Status, v.Header = models.SignatureMalformed, header
	return v
}

// timestamp reads Unix seconds, in the one form that can be signed again.
func timestamp(text string) (time.Time, bool) {
	seconds, err := strconv.ParseInt(text, 10, 64)
	if err != nil || seconds < 0 || seconds > lastSecond || strconv.FormatInt(seconds, 10) != text {
		return time.Time{}, false
	}
	return time.Unix(seconds, 0).UTC(), true
}

// match looks for a received digest that a candidate makes.
func match(v *models.SignatureVerdict) {
	v.Status = models.SignatureWrongSecret
	for _, expected := range v.Expected {
		if slices.Contains(v.Received, expected.Digest) {
			v.Status, v.Matched = models.SignatureValid, expected.Candidate
			return
		}
	}
}

// inTime holds a good signature's timestamp against the time of receipt.
func inTime(v models.SignatureVerdict) models.SignatureVerdict {
	if v.Status != models.SignatureValid {
		return v
	}
	switch {
	case v.Skew > models.SignatureTolerance:
		v.Status = models.SignatureTooOld
	case v.Skew < -models.SignatureTolerance:
		v.Status = models.SignatureInFuture
	}
	return v
}
