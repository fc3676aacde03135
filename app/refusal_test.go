package app

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/botix-pro/platform/app/middleware"
	"github.com/botix-pro/platform/app/models"
	"github.com/botix-pro/platform/app/store"
)

// ending is how an execution ends instead of as it would have.
type ending func(middleware.Result) (middleware.Result, error)

func returns(err error) ending {
	return func(middleware.Result) (middleware.Result, error) { return middleware.Result{}, err }
}

// endingOnce serves the API with one difference: the first execution of
// PATCH /contacts/{id} does its work and then ends in its own way. It returns
// how many executions there were.
func (h *harness) endingOnce(t *testing.T, end ending) *atomic.Int32 {
	t.Helper()
	var runs atomic.Int32
	routes := apiRoutes(h.base)
	for i, route := range routes {
		if route.Method != http.MethodPatch || route.Path != "/contacts/:id" {
			continue
		}
		routes[i].Mutate = func(ctx context.Context, tx *store.Tx, r *middleware.Request) (middleware.Result, error) {
			result, err := route.Mutate(ctx, tx, r)
			if runs.Add(1) == 1 && err == nil {
				return end(result)
			}
			return result, err
		}
	}
	h.serve(t, routes)
	return &runs
}

// renaming is a request that renames a new contact, and the contact before it.
func (h *harness) renaming(t *testing.T) (call, answer) {
	t.Helper()
	before := h.post(t, "/contacts", `{"name":"Ada"}`)
	return call{method: http.MethodPatch, path: before.header.Get("Location"), body: `{"name":"Grace"}`, idempotency: "k"}, before
}

// requireUntouched fails if anything of the rename is there.
func (h *harness) requireUntouched(t *testing.T, before answer) {
	t.Helper()
	require.Equal(t, before.body, h.get(t, before.header.Get("Location")).body)
	require.Empty(t, h.get(t, "/events?type=contact.updated").object(t)["data"])
}

// A 4xx about the object's state that an execution returns rolls back what it
// did and is the operation's answer for good, on every server.
func TestReturnedRefusalIsReplayedAsItWasAnswered(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		err    error
		status int
	}{
		"404":         {models.NewError(models.CodeNotFound, "Gone."), http.StatusNotFound},
		"409":         {models.NewError(models.CodeContactExists, "Taken, <b>really</b>."), http.StatusConflict},
		"412":         {models.NewError(models.CodePreconditionFailed, "Changed."), http.StatusPreconditionFailed},
		"wrapped 409": {fmt.Errorf("update: %w", models.NewError(models.CodeContactExists, "Taken.")), http.StatusConflict},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := newHarness(t)
			patch, before := h.renaming(t)
			runs := h.endingOnce(t, returns(test.err))
			first := h.do(t, patch)
			require.Equal(t, test.status, first.status, "%s", first.body)
			require.Equal(t, "operation", first.object(t)["scope"])
			require.Equal(t, "not_applied", first.object(t)["outcome"])
			require.Empty(t, first.header.Get("Idempotent-Replayed"))
			h.requireUntouched(t, before)

			again := h.do(t, patch)
			require.EqualValues(t, 1, runs.Load())
			requireReplay(t, first, again)
			h.serve(t, apiRoutes(h.base)) // a second server, on which nothing fails
			requireReplay(t, first, h.do(t, patch))
			h.requireUntouched(t, before)
			require.Equal(t, "completed", h.get(t, "/idempotency-keys/k").object(t)["status"])
		})
	}
}

// requireReplay holds a repeat's answer against the first one: everything but
// what belongs to the physical exchange is the same (contract §3).
func requireReplay(t *testing.T, first, again answer) {
	t.Helper()
	require.Equal(t, first.status, again.status)
	require.Equal(t, string(first.body), string(again.body))
	require.Equal(t, "true", again.header.Get("Idempotent-Replayed"))
	require.Equal(t, first.header.Get("X-Request-Id"), again.header.Get("X-Original-Request-Id"))
	require.NotEqual(t, first.header.Get("X-Request-Id"), again.header.Get("X-Request-Id"))
	require.Equal(t, described(first.header), described(again.header))
}

// described is the headers without those of the physical exchange.
func described(header http.Header) http.Header {
	rest := header.Clone()
	for _, name := range []string{
		"Date", "X-Request-Id", "X-Original-Request-Id", "Idempotent-Replayed",
		"X-RateLimit-Limit", "X-RateLimit-Remaining", "X-RateLimit-Reset", "RateLimit", "RateLimit-Policy",
	} {
		rest.Del(name)
	}
	return rest
}

// What is our fault, or the caller can correct, rolls back everything and leaves
// the key free: the repeat executes.
func TestFaultDoesNotStickToTheKey(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		end    ending
		status int
	}{
		"returned error":  {returns(errors.New("out of luck")), http.StatusInternalServerError},
		"panic":           {func(middleware.Result) (middleware.Result, error) { panic("out of luck") }, http.StatusInternalServerError},
		"unencodable":     {func(r middleware.Result) (middleware.Result, error) { r.Body = func() {}; return r, nil }, http.StatusInternalServerError},
		"unreachable":     {returns(models.Unavailable(errors.New("gone"), models.NotApplied)), http.StatusServiceUnavailable},
		"invalid content": {returns(models.Invalid()), http.StatusUnprocessableEntity},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := newHarness(t)
			patch, before := h.renaming(t)
			runs := h.endingOnce(t, test.end)
			first := h.do(t, patch)
			require.Equal(t, test.status, first.status, "%s", first.body)
			require.Equal(t, "not_applied", first.object(t)["outcome"])
			require.NotContains(t, string(first.body), "luck", "the cause is ours to know")
			h.requireUntouched(t, before)
			require.Equal(t, http.StatusNotFound, h.get(t, "/idempotency-keys/k").status)

			executed := h.do(t, patch)
			require.Equal(t, http.StatusOK, executed.status, "%s", executed.body)
			require.EqualValues(t, 2, runs.Load())
			require.Equal(t, "Grace", executed.object(t)["name"])
			require.Empty(t, executed.header.Get("Idempotent-Replayed"))
			require.Len(t, h.get(t, "/events?type=contact.updated").object(t)["data"], 1)
			requireReplay(t, executed, h.do(t, patch))
		})
	}
}
