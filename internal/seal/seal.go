// Package seal encrypts what must not be readable in a copy of the database:
// signing secrets, credentials, stored answers that hold one.
//
// A sealed value is AES-256-GCM: one byte that names the key, a random 12-byte
// nonce, the ciphertext with its tag. What it belongs to (a table and a row) is
// authenticated beside it, so a value cannot be moved to another row.
package seal

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
)

// KeySize is the length in bytes of an encryption key.
const KeySize = 32

// ErrUnsealable is returned for a value that was made with an unknown key, for
// another row, or has been changed.
var ErrUnsealable = errors.New("sealed value cannot be opened with the configured keys")

// Box seals with its first key and opens with any of them, so keys can be
// rotated by putting the new one in front.
type Box struct {
	first byte
	keys  map[byte]cipher.AEAD
}

// NewKey returns a random key in the form [New] takes: base64 of 32 bytes.
func NewKey() string {
	raw := make([]byte, KeySize)
	_, _ = rand.Read(raw) // documented never to fail
	return base64.StdEncoding.EncodeToString(raw)
}

// New returns a Box for base64 keys, newest first.
func New(keys []string) (*Box, error) {
	if len(keys) == 0 {
		return nil, errors.New("no encryption key given")
	}
	box := &Box{keys: make(map[byte]cipher.AEAD, len(keys))}
	for i, encoded := range keys {
		id, aead, err := open(encoded)
		if err != nil {
			return nil, fmt.Errorf("encryption key %d: %w", i+1, err)
		}
		if _, taken := box.keys[id]; taken {
			return nil, fmt.Errorf("encryption key %d: its fingerprint equals another key's; generate a new one", i+1)
		}
		if i == 0 {
			box.first = id
		}
		box.keys[id] = aead
	}
	return box, nil
}

func open(encoded string) (byte, cipher.AEAD, error) {
	raw, err := base64.StdEncoding.DecodeString(encoded)
	if err != nil || len(raw) != KeySize {
		return 0, nil, fmt.Errorf("must be base64 of %d random bytes", KeySize)
	}
	block, err := aes.NewCipher(raw)
	if err != nil {
		return 0, nil, fmt.Errorf("prepare AES: %w", err)
	}
	aead, err := cipher.NewGCM(block)
	if err != nil {
		return 0, nil, fmt.Errorf("prepare GCM: %w", err)
	}
	return sha256.Sum256(raw)[0], aead, nil
}

// Seal encrypts plain for the row named by owner.
func (b *Box) Seal(plain []byte, owner string) []byte {
	aead := b.keys[b.first]
	sealed := make([]byte, 1+aead.NonceSize(), 1+aead.NonceSize()+len(plain)+aead.Overhead())
	sealed[0] = b.first
	nonce := sealed[1:]
	_, _ = rand.Read(nonce)                               // documented never to fail
	return aead.Seal(sealed, nonce, plain, []byte(owner)) //nolint:gosec // the nonce was just filled with randomness
}

// Open decrypts what Seal made for the same owner, or returns [ErrUnsealable].
func (b *Box) Open(sealed []byte, owner string) ([]byte, error) {
	if len(sealed) == 0 {
		return nil, ErrUnsealable
	}
	aead, ok := b.keys[sealed[0]]
	if !ok || len(sealed) < 1+aead.NonceSize() {
		return nil, ErrUnsealable
	}
	nonce, text := sealed[1:1+aead.NonceSize()], sealed[1+aead.NonceSize():]
	plain, err := aead.Open(nil, nonce, text, []byte(owner))
	if err != nil {
		return nil, ErrUnsealable
	}
	return plain, nil
}
