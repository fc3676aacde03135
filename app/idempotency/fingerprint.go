package idempotency

import (
	"crypto/sha256"
	"encoding/binary"
	"hash"
	"mime"
	"net/url"
	"strings"
)

// NewFingerprint begins the SHA-256 over everything that makes two requests the
// same operation: method, escaped path and query as received, media type without
// parameters in lower case, and the body's bytes, which the caller writes to it.
// Each part but the body, which is the last, is preceded by its length, so no two
// different requests are written alike.
func NewFingerprint(method string, target *url.URL, contentType string) hash.Hash {
	sum := sha256.New()
	for _, part := range []string{method, target.EscapedPath(), target.RawQuery, mediaType(contentType)} {
		var length [8]byte
		binary.BigEndian.PutUint64(length[:], uint64(len(part)))
		sum.Write(length[:])
		sum.Write([]byte(part))
	}
	return sum
}

func mediaType(contentType string) string {
	if parsed, _, err := mime.ParseMediaType(contentType); err == nil {
		return parsed
	}
	bare, _, _ := strings.Cut(contentType, ";")
	return strings.ToLower(strings.TrimSpace(bare))
}
