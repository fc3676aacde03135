package idempotency

import (
	"crypto/sha256"
	"encoding/binary"
	"mime"
	"net/url"
	"strings"
)

// Fingerprint is the SHA-256 over everything that makes two requests the same
// operation: method, escaped path and query as received, media type without
// parameters in lower case, and the body's bytes. Each part is preceded by its
// length, so no two different requests are written alike.
func Fingerprint(method string, target *url.URL, contentType string, body []byte) []byte {
	hash := sha256.New()
	for _, part := range [][]byte{
		[]byte(method), []byte(target.EscapedPath()), []byte(target.RawQuery), []byte(mediaType(contentType)), body,
	} {
		var length [8]byte
		binary.BigEndian.PutUint64(length[:], uint64(len(part)))
		hash.Write(length[:])
		hash.Write(part)
	}
	return hash.Sum(nil)
}

func mediaType(contentType string) string {
	if parsed, _, err := mime.ParseMediaType(contentType); err == nil {
		return parsed
	}
	bare, _, _ := strings.Cut(contentType, ";")
	return strings.ToLower(strings.TrimSpace(bare))
}
