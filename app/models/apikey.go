package models

import (
	"crypto/rand"
	"crypto/sha256"
	"fmt"
	"hash/crc32"
	"math/big"
	"strings"
)

// The shape of an API key: btx_<mode>_<32 random base62 characters><6 base62
// characters of CRC-32 over everything before them>. The checksum rejects a
// mistyped key without a query and lets secret scanners match without false
// alarms.
const (
	keyBrand          = "btx_"
	keySecretLength   = 32
	keyChecksumLength = 6
	keyShownLength    = 13 // "btx_live_" and four characters: enough to recognise, useless to an attacker
	base62            = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
)

// NewAPIKeySecret returns a fresh key for the mode, 190 bits of randomness.
func NewAPIKeySecret(mode Mode) (string, error) {
	var b strings.Builder
	b.WriteString(keyBrand + string(mode) + "_")
	for range keySecretLength {
		n, err := rand.Int(rand.Reader, big.NewInt(int64(len(base62))))
		if err != nil {
			return "", fmt.Errorf("read randomness for an API key: %w", err)
		}
		b.WriteByte(base62[n.Int64()])
	}
	return b.String() + keyChecksum(b.String()), nil
}

// WellFormedAPIKey reports whether secret has the shape of a key and its
// checksum fits. It says nothing about whether such a key was ever issued.
func WellFormedAPIKey(secret string) bool {
	rest, ok := strings.CutPrefix(secret, keyBrand)
	if !ok {
		return false
	}
	mode, random, ok := strings.Cut(rest, "_")
	if !ok || (mode != string(ModeLive) && mode != string(ModeTest)) || len(random) != keySecretLength+keyChecksumLength {
		return false
	}
	split := len(secret) - keyChecksumLength
	return keyChecksum(secret[:split]) == secret[split:]
}

// HashAPIKey returns the SHA-256 under which a key is stored. A plain hash is
// enough: the key is random, so there is nothing to guess.
func HashAPIKey(secret string) []byte {
	sum := sha256.Sum256([]byte(secret))
	return sum[:]
}

// ShownPrefix returns the part of a key that may be displayed and logged.
func ShownPrefix(secret string) string {
	return secret[:min(len(secret), keyShownLength)]
}

func keyChecksum(body string) string {
	sum := crc32.ChecksumIEEE([]byte(body))
	var out [keyChecksumLength]byte
	for i := range out {
		out[keyChecksumLength-1-i] = base62[sum%62]
		sum /= 62
	}
	return string(out[:])
}
