package middleware

import (
	"context"
	"errors"
	"net/netip"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"github.com/labstack/echo/v4"
	"github.com/maypok86/otter/v2"
	"github.com/redis/go-redis/v9"

	"github.com/botix-pro/platform/app/idempotency"
	"github.com/botix-pro/platform/app/models"
	"github.com/botix-pro/platform/app/ratelimit"
	"github.com/botix-pro/platform/app/store"
	"github.com/botix-pro/platform/internal/clock"
)

const (
	// callerTTL bounds how long a server may act on what it knew about a key, from
	// the moment it asked: a revoked key stops working within 5 seconds, a plan's
	// new limit holds within 10 (contract §1, §4).
	callerTTL  = 4 * time.Second
	maxCallers = 100_000
	// provenTTL is how long a key that worked is asked about as ever, also from an
	// address that is over its limit; unprovenEvery is how often such an address
	// may ask about another one.
	provenTTL     = time.Hour
	unprovenEvery = time.Second
	lookUpTimeout = 3 * time.Second
)

// Callers finds out whom a key speaks for.
type Callers interface {
	CallerByKeyHash(ctx context.Context, hash []byte) (*models.Caller, error)
}

// known is what a question found out: whom a key speaks for, nil for an unknown
// one, at the time at which it was asked.
type known struct {
	caller *models.Caller
	asked  time.Time
}

// Auth is PublicApiAuth: it finds the caller behind the API key, counts the
// request against the plan's limit and announces the limit on the answer.
type Auth struct {
	callers   Callers
	cache     *otter.Cache[string, known]
	proven    *otter.Cache[string, struct{}]   // hashes of keys that were valid lately
	exhausted *otter.Cache[string, *exhausted] // by address, until its window ends
	limiter   *ratelimit.Limiter
	clock     clock.Clock
	uses      *KeyUses
	answers   Answers
	strangers int
}

// Answers says what Redis is going to be asked about an idempotency key, nil for
// nothing: [idempotency.Cache].
type Answers interface {
	Ask(ctx context.Context, project models.ProjectID, key string) *idempotency.Question
}

// NewAuth returns the middleware. strangers is how many requests a minute one
// address may make without a valid key. What a request's idempotency key makes
// answers ask travels with the question about the limit.
func NewAuth(callers Callers, limiter *ratelimit.Limiter, uses *KeyUses, answers Answers, clk clock.Clock, strangers int) *Auth {
	return &Auth{
		callers: callers, limiter: limiter, uses: uses, answers: answers, clock: clk, strangers: strangers,
		cache: otter.Must(&otter.Options[string, known]{
			MaximumSize: maxCallers,
			ExpiryCalculator: otter.ExpiryWritingFunc(func(e otter.Entry[string, known]) time.Duration {
				return max(callerTTL-clk.Now().Sub(e.Value.asked), time.Millisecond)
			}),
		}),
		proven: otter.Must(&otter.Options[string, struct{}]{
			MaximumSize: maxCallers, ExpiryCalculator: otter.ExpiryWriting[string, struct{}](provenTTL),
		}),
		exhausted: otter.Must(&otter.Options[string, *exhausted]{
			MaximumSize: maxCallers,
			ExpiryCalculator: otter.ExpiryWritingFunc(func(e otter.Entry[string, *exhausted]) time.Duration {
				return max(e.Value.decision.ResetAfter, time.Millisecond)
			}),
		}),
	}
}

// PublicAPI lets only requests with a usable key pass, within its plan's limit.
func (a *Auth) PublicAPI(next echo.HandlerFunc) echo.HandlerFunc {
	return func(c echo.Context) error {
		if err := a.admit(c); err != nil {
			return err
		}
		return next(c)
	}
}

// Unmatched is for requests that no route answers: it counts and announces
// like [Auth.PublicAPI], but a missing key is no reason to hide that the path
// does not exist.
func (a *Auth) Unmatched(next echo.HandlerFunc) echo.HandlerFunc {
	return func(c echo.Context) error {
		err := a.admit(c)
		var refused *models.Error
		if err != nil && (!errors.As(err, &refused) || refused.Code != models.CodeAPIKeyMissing) {
			return err
		}
		return next(c)
	}
}

func (a *Auth) admit(c echo.Context) error {
	secret, err := bearer(c.Request().Header.Values(echo.HeaderAuthorization))
	if err != nil {
		return a.refuse(c, err)
	}
	hash := models.HashAPIKey(secret)
	if decision, held := a.held(network(c.RealIP()), hash); held {
		announce(c, decision)
		return limited(decision)
	}
	caller, err := a.identify(c.Request().Context(), hash)
	if err != nil {
		return a.refuse(c, err)
	}
	c.Set(keyCaller, caller)
	a.uses.note(caller.Key.ID, a.clock.Now())
	if key, err := idempotency.ParseKey(c.Request().Header.Values(idempotency.Header)); err == nil {
		if asked := a.answers.Ask(c.Request().Context(), caller.Project.ID, key); asked != nil {
			c.Set(keyAsked, asked)
			return a.count(c, caller.Key.ID, caller.Plan.Limits.APIRatePerMinute, asked)
		}
	}
	return a.count(c, caller.Key.ID, caller.Plan.Limits.APIRatePerMinute)
}

// refuse counts a request without a valid key against its address, and answers
// with err unless the address has used up its own limit. A key that could not
// be checked may be valid: its owner is told that, and not to slow down.
func (a *Auth) refuse(c echo.Context, err error) error {
	address := network(c.RealIP())
	decision := a.limiter.Allow(c.Request().Context(), "address:"+address, a.strangers)
	announce(c, decision)
	if decision.Allowed {
		return err
	}
	a.exhausted.SetIfAbsent(address, &exhausted{decision: decision})
	if models.AsError(err).ServerFault() {
		return err
	}
	return limited(decision)
}

// exhausted is an address that has used up what it may ask without a valid key.
type exhausted struct {
	decision ratelimit.Decision
	asked    atomic.Int64 // when a question about a key was last let through, Unix milliseconds
}

// mayAsk lets one question through every unprovenEvery.
func (e *exhausted) mayAsk(now time.Time) bool {
	last, next := e.asked.Load(), now.UnixMilli()
	return next-last >= unprovenEvery.Milliseconds() && e.asked.CompareAndSwap(last, next)
}

// held reports whether a key is not worth a question to the database now: its
// address is exhausted, and nobody has seen the key work. So a flood of random
// keys with true checksums costs an address's limit and then next to nothing,
// while a valid key beside it that is new to this server gets in with patience.
func (a *Auth) held(address string, hash []byte) (ratelimit.Decision, bool) {
	known, found := a.exhausted.GetIfPresent(address)
	if !found {
		return ratelimit.Decision{}, false
	}
	now, decision := a.clock.Now(), known.decision
	decision.ResetAfter = decision.Reset.Sub(now)
	_, cached := a.cache.GetIfPresent(string(hash))
	_, proven := a.proven.GetIfPresent(string(hash))
	return decision, decision.ResetAfter > 0 && !cached && !proven && !known.mayAsk(now)
}

func (a *Auth) count(c echo.Context, subject string, limit int, along ...redis.Cmder) error {
	decision := a.limiter.Allow(c.Request().Context(), subject, limit, along...)
	announce(c, decision)
	if decision.Allowed {
		return nil
	}
	return limited(decision)
}

// limited is the refusal of a request beyond a limit.
func limited(decision ratelimit.Decision) error {
	err := models.NewError(models.CodeRateLimitExceeded, "%d requests a minute are allowed; the window ends at %s.",
		decision.Limit, models.FormatTime(decision.Reset))
	err.RetryAfter = max(decision.ResetAfter, time.Second)
	return err
}

// announce sets the limit's headers: the contract's three and the IETF draft's
// two (draft-ietf-httpapi-ratelimit-headers).
func announce(c echo.Context, d ratelimit.Decision) {
	header := c.Response().Header()
	limit, remaining := strconv.Itoa(d.Limit), strconv.Itoa(d.Remaining)
	header.Set("X-RateLimit-Limit", limit)
	header.Set("X-RateLimit-Remaining", remaining)
	header.Set("X-RateLimit-Reset", strconv.FormatInt(d.Reset.Unix(), 10))
	header.Set("RateLimit-Policy", `"default";q=`+limit+`;w=60`)
	header.Set("RateLimit", `"default";r=`+remaining+`;t=`+seconds(d.ResetAfter))
}

// identify returns the caller behind a key's hash.
func (a *Auth) identify(ctx context.Context, hash []byte) (*models.Caller, error) {
	caller, err := a.find(ctx, hash)
	if err != nil {
		return nil, models.Unavailable(err, models.NotApplied) // never 401 when the key could not be checked
	}
	if caller == nil || !caller.Key.Usable(a.clock.Now()) {
		return nil, models.NewError(models.CodeAPIKeyInvalid, "The API key is unknown, revoked or expired.")
	}
	return caller, nil
}

// find asks the database at most once per key and callerTTL. An unknown key is
// remembered as nil: keys are random, so none becomes known later.
func (a *Auth) find(ctx context.Context, hash []byte) (*models.Caller, error) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), lookUpTimeout)
	defer cancel()
	found, err := a.cache.Get(ctx, string(hash), otter.LoaderFunc[string, known](
		func(ctx context.Context, hash string) (known, error) {
			asked := a.clock.Now()
			caller, err := a.callers.CallerByKeyHash(ctx, []byte(hash))
			switch {
			case errors.Is(err, store.ErrNotFound):
				a.proven.Invalidate(hash)
				return known{asked: asked}, nil // "unknown" is worth remembering
			case err == nil:
				a.proven.Set(hash, struct{}{})
			}
			return known{caller, asked}, err
		}))
	return found.caller, err
}

// bearer extracts the key from the Authorization header (RFC 6750 §2.1).
func bearer(authorization []string) (string, error) {
	if len(authorization) == 0 {
		return "", models.NewError(models.CodeAPIKeyMissing, "Send the API key as Authorization: Bearer btx_….")
	}
	scheme, secret, _ := strings.Cut(authorization[0], " ")
	switch {
	case len(authorization) > 1:
		return "", models.NewError(models.CodeAPIKeyInvalid, "The Authorization header was sent more than once.")
	case !strings.EqualFold(scheme, "Bearer"):
		return "", models.NewError(models.CodeAPIKeyInvalid, "The Authorization header must use the Bearer scheme.")
	case !models.WellFormedAPIKey(strings.TrimSpace(secret)):
		return "", models.NewError(models.CodeAPIKeyInvalid, "The API key is mistyped or cut: its checksum does not fit.")
	}
	return strings.TrimSpace(secret), nil
}

// network is the part of an address that one subscriber cannot leave: the whole
// of an IPv4 address, the /64 of an IPv6 one (contract §4).
func network(ip string) string {
	addr, err := netip.ParseAddr(ip)
	if err != nil {
		return ip
	}
	addr = addr.Unmap()
	if addr.Is4() {
		return addr.String()
	}
	prefix, err := addr.WithZone("").Prefix(64)
	if err != nil {
		return addr.String()
	}
	return prefix.String()
}

// RequireScope lets only keys with the scope pass.
func RequireScope(scope models.Scope) echo.MiddlewareFunc {
	return func(next echo.HandlerFunc) echo.HandlerFunc {
		return func(c echo.Context) error {
			if scope != "" && !callerOf(c).May(scope) {
				return models.NewError(models.CodeScopeInsufficient, "This route needs the scope %q.", scope)
			}
			return next(c)
		}
	}
}
