package webhooks

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/botix-pro/platform/app/models"
)

const (
	secretPrefix   = "whsec_"
	newSecretBytes = 32
	minSecretBytes = 24 // Standard Webhooks: 192 bits
	maxSecretBytes = 64 // Standard Webhooks: 512 bits
)

// Secret is a signing secret, written "whsec_" and the base64 of its 24 to 64
// bytes. Both signature schemes use those bytes as their key (contract §5). It
// prints masked, so that it can reach a log only through [Secret.Reveal].
type Secret struct {
	key []byte
}

// NewSecret makes a secret of 32 random bytes.
func NewSecret() Secret {
	key := make([]byte, newSecretBytes)
	_, _ = rand.Read(key) // documented never to fail: it ends the process instead
	return Secret{key: key}
}

// ParseSecret reads a secret in its written form. Its errors say what is wrong
// without repeating the secret.
func ParseSecret(text string) (Secret, error) {
	if text != strings.TrimSpace(text) {
		return Secret{}, errors.New("the signing secret has white space around it")
	}
	encoded, found := strings.CutPrefix(text, secretPrefix)
	if !found {
		return Secret{}, fmt.Errorf("the signing secret does not start with %q", secretPrefix)
	}
	key, err := base64.StdEncoding.DecodeString(encoded)
	if err != nil {
		return Secret{}, fmt.Errorf("the signing secret is not base64 after %q", secretPrefix)
	}
	if len(key) < minSecretBytes || len(key) > maxSecretBytes {
		return Secret{}, fmt.Errorf("the signing secret holds %d bytes; it must hold %d to %d",
			len(key), minSecretBytes, maxSecretBytes)
	}
	return Secret{key: key}, nil
}

// ActiveSecrets parses the secrets that sign at the given time, in their order:
// the newest first, then those whose overlap has not ended.
func ActiveSecrets(stored []models.EndpointSecret, at time.Time) ([]Secret, error) {
	var active []Secret
	for _, s := range stored {
		if s.ExpiresAt != nil && !at.Before(*s.ExpiresAt) {
			continue
		}
		secret, err := ParseSecret(s.Value)
		if err != nil {
			return nil, fmt.Errorf("read endpoint secret: %w", err)
		}
		active = append(active, secret)
	}
	return active, nil
}

// Reveal returns the written form, to be stored sealed or shown once.
func (s Secret) Reveal() string {
	return secretPrefix + base64.StdEncoding.EncodeToString(s.key)
}

// String masks the secret.
func (s Secret) String() string { return secretPrefix + models.Masked }

// GoString masks the secret in %#v.
func (s Secret) GoString() string { return s.String() }

// Sign signs a body as both schemes ask for (contract §5) under each secret,
// newest first: the body alone, and the "id.timestamp.body" of Standard Webhooks,
// where at is the attempt's start and what webhook-timestamp says in Unix seconds.
func Sign(id string, at time.Time, body []byte, secrets []Secret) models.Signatures {
	head := strconv.AppendInt(append([]byte(id), '.'), at.Unix(), 10)
	head = append(head, '.')
	signatures := make(models.Signatures, 0, 2*sha256.Size*len(secrets))
	for _, secret := range secrets {
		mac := hmac.New(sha256.New, secret.key)
		mac.Write(body)
		signatures = mac.Sum(signatures)
		mac.Reset()
		mac.Write(head)
		mac.Write(body)
		signatures = mac.Sum(signatures)
	}
	return signatures
}
