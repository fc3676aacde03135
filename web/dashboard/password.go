package dashboard

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/alexedwards/argon2id"

	"github.com/botix-pro/platform/app/models"
	"github.com/botix-pro/platform/app/store"
	"github.com/botix-pro/platform/internal/clock"
)

// passwordCost is OWASP's first recommendation for Argon2id (Password Storage
// Cheat Sheet): 19 MiB, two passes, one lane. It is fixed rather than taken
// from the machine, so that every server's hashes cost the same.
var passwordCost = &argon2id.Params{Memory: 19 << 10, Iterations: 2, Parallelism: 1, SaltLength: 16, KeyLength: 32}

const (
	maxEmailBytes    = 254
	maxPasswordBytes = 1024

	// Tries before waiting, and the wait for each one more.
	addressBurst    = 20
	addressInterval = 6 * time.Second
	accountBurst    = 5
	accountInterval = time.Minute
)

// errWrongCredentials covers an unknown user and a wrong password alike.
var errWrongCredentials = errors.New("unknown user or wrong password")

// throttledError says that there were too many tries, and until when to wait.
type throttledError struct{ wait time.Duration }

func (e throttledError) Error() string { return "too many sign-in attempts, wait " + e.wait.String() }

// HashPassword returns the Argon2id hash of a password in PHC form, for
// [models.User]. Passwords have 1 to 1024 bytes.
func HashPassword(password string) (string, error) {
	if password == "" || len(password) > maxPasswordBytes {
		return "", fmt.Errorf("a password has 1 to %d bytes", maxPasswordBytes)
	}
	hash, err := argon2id.CreateHash(password, passwordCost)
	if err != nil {
		return "", fmt.Errorf("hash the password: %w", err)
	}
	return hash, nil
}

// gate decides who may sign in.
type gate struct {
	queries   Queries
	byAddress *throttle
	byAccount *throttle
	nobody    string        // the hash that an unknown user's password is held against
	slots     chan struct{} // bounds the memory and processors that hashing takes
}

func newGate(queries Queries, clk clock.Clock) (*gate, error) {
	nobody, err := HashPassword("the password of nobody")
	if err != nil {
		return nil, err
	}
	return &gate{
		queries: queries, nobody: nobody,
		byAddress: newThrottle(clk, addressBurst, addressInterval),
		byAccount: newThrottle(clk, accountBurst, accountInterval),
		slots:     make(chan struct{}, runtime.GOMAXPROCS(0)),
	}, nil
}

// admit returns the user whom the credentials belong to, errWrongCredentials,
// or a throttledError. Every try is counted before it is judged, so that
// parallel ones cannot slip through; a successful one clears the account.
func (g *gate) admit(ctx context.Context, network, email, password string) (*models.User, error) {
	if wait := g.byAddress.take(network); wait > 0 {
		return nil, throttledError{wait}
	}
	email = strings.ToLower(strings.TrimSpace(email))
	if !possibleEmail(email) {
		return nil, g.check(ctx, password, g.nobody, false)
	}
	if wait := g.byAccount.take(email); wait > 0 {
		return nil, throttledError{wait}
	}
	user, err := g.queries.UserByEmail(ctx, email)
	if errors.Is(err, store.ErrNotFound) {
		return nil, g.check(ctx, password, g.nobody, false)
	}
	if err != nil {
		return nil, fmt.Errorf("look for the user: %w", err)
	}
	if err := g.check(ctx, password, user.PasswordHash, true); err != nil {
		return nil, err
	}
	g.byAccount.forget(email)
	return user, nil
}

// check compares a password with a hash and takes the same time whether or not
// there is such a user.
func (g *gate) check(ctx context.Context, password, hash string, exists bool) error {
	select {
	case g.slots <- struct{}{}:
		defer func() { <-g.slots }()
	case <-ctx.Done():
		return fmt.Errorf("wait for a turn to check the password: %w", ctx.Err())
	}
	if len(password) > maxPasswordBytes {
		password = "" // no password is empty
	}
	match, err := argon2id.ComparePasswordAndHash(password, hash)
	if err != nil {
		return fmt.Errorf("check the password: %w", err)
	}
	if !match || !exists {
		return errWrongCredentials
	}
	return nil
}

// possibleEmail reports whether the database can be asked for the address.
func possibleEmail(email string) bool {
	return len(email) <= maxEmailBytes && utf8.ValidString(email) && !strings.ContainsRune(email, 0) &&
		strings.Contains(email, "@")
}
