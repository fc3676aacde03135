package app

import (
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/botix-pro/platform/app/models"
	"github.com/botix-pro/platform/app/store"
	"github.com/botix-pro/platform/app/webhooks"
)

func newAdmin(t *testing.T, h *harness) *Admin {
	t.Helper()
	a, err := OpenAdmin(t.Context(), h.base.cfg)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, a.Close()) })
	return a
}

// A key works from the moment it is made until at most 5 seconds after it is
// revoked, with the scopes and the plan it was given.
func TestKeysLife(t *testing.T) {
	t.Parallel()
	h := newHarness(t)
	a := newAdmin(t, h)
	project, err := a.CreateProject(t.Context(), "Rehearsal", models.ModeTest, "trial")
	require.NoError(t, err)
	secret, key, err := a.CreateKey(t.Context(), project.ID, "CI", []models.Scope{models.ScopeRead}, time.Hour)
	require.NoError(t, err)
	require.Contains(t, secret, "btx_test_")
	me := h.do(t, call{method: http.MethodGet, path: "/me", key: secret}).object(t)
	require.Equal(t, "test", me["mode"])
	require.Equal(t, []any{"read"}, me["scopes"])
	require.NotNil(t, me["expires_at"])
	require.Equal(t, http.StatusForbidden, h.do(t, call{method: http.MethodPost, path: "/contacts", body: `{}`, key: secret}).status)

	require.NoError(t, a.SetPlan(t.Context(), project.ID, "enterprise"))
	require.Eventually(t, func() bool {
		return h.do(t, call{method: http.MethodGet, path: "/me", key: secret}).header.Get("X-RateLimit-Limit") == "10000"
	}, 10*time.Second, 200*time.Millisecond, "a plan change takes effect within 10 seconds")

	require.NoError(t, a.RevokeKey(t.Context(), project.ID, key.ID))
	revoked := time.Now()
	require.Eventually(t, func() bool {
		return h.do(t, call{method: http.MethodGet, path: "/me", key: secret}).status == http.StatusUnauthorized
	}, 5*time.Second, 100*time.Millisecond)
	require.Less(t, time.Since(revoked), 5*time.Second)
	require.ErrorIs(t, a.RevokeKey(t.Context(), h.project, key.ID), store.ErrNotFound, "not another project's key")
}

func TestExpiredKeyIsRefused(t *testing.T) {
	t.Parallel()
	h := newHarness(t)
	secret, _, err := newAdmin(t, h).CreateKey(t.Context(), h.project, "short", []models.Scope{models.ScopeRead}, time.Nanosecond)
	require.NoError(t, err)
	require.Equal(t, models.CodeAPIKeyInvalid, h.do(t, call{method: http.MethodGet, path: "/me", key: secret}).code(t))
}

func TestProjectHasAtMostTwentyActiveKeys(t *testing.T) {
	t.Parallel()
	h := newHarness(t)
	a := newAdmin(t, h)
	for range store.MaxActiveKeys - 1 { // the harness has one
		_, _, err := a.CreateKey(t.Context(), h.project, "k", []models.Scope{models.ScopeRead}, 0)
		require.NoError(t, err)
	}
	_, _, err := a.CreateKey(t.Context(), h.project, "one too many", []models.Scope{models.ScopeRead}, 0)
	require.ErrorIs(t, err, store.ErrTooManyKeys)
	keys, err := a.Keys(t.Context(), h.project)
	require.NoError(t, err)
	require.Len(t, keys, store.MaxActiveKeys)
	require.NoError(t, a.RevokeKey(t.Context(), h.project, keys[0].ID))
	_, _, err = a.CreateKey(t.Context(), h.project, "again", []models.Scope{models.ScopeRead}, 0)
	require.NoError(t, err)
}

func TestUseOfAKeyIsRecordedWithoutAWritePerRequest(t *testing.T) {
	t.Parallel()
	h := newHarness(t)
	a := newAdmin(t, h)
	for range 3 {
		h.get(t, "/me")
	}
	keys, err := a.Keys(t.Context(), h.project)
	require.NoError(t, err)
	require.Nil(t, keys[0].LastUsedAt, "requests write nothing")
	h.notes.uses.Flush(t.Context())
	keys, err = a.Keys(t.Context(), h.project)
	require.NoError(t, err)
	require.WithinDuration(t, time.Now(), *keys[0].LastUsedAt, time.Minute)
}

// Purging frees space and changes no answer.
func TestPurgeChangesNoAnswer(t *testing.T) {
	t.Parallel()
	h := newHarness(t)
	post := call{method: http.MethodPost, path: "/contacts", body: `{}`, idempotency: "k"}
	require.Equal(t, http.StatusCreated, h.do(t, post).status)
	age := func(interval string) answer {
		_, err := h.base.store.DB().ExecContext(t.Context(),
			`UPDATE idempotency_keys SET expires_at = now() - $2::interval WHERE project_id = $1`, string(h.project), interval)
		require.NoError(t, err)
		before := h.do(t, post)
		purge(t.Context(), h.base)
		return before
	}
	require.Equal(t, models.CodeIdempotencyKeyExpired, age("1 minute").code(t))
	after := h.do(t, post)
	require.Equal(t, models.CodeIdempotencyKeyExpired, after.code(t))
	require.Equal(t, "applied", after.object(t)["outcome"])
	require.Contains(t, after.object(t)["detail"], "/contacts/ctc_")
	var bytes int
	count := `SELECT coalesce(sum(octet_length(body)), -1) FROM idempotency_keys WHERE project_id = $1`
	require.NoError(t, h.base.store.DB().QueryRowContext(t.Context(), count, string(h.project)).Scan(&bytes))
	require.Zero(t, bytes, "the answer's bytes are gone")
	_, err := h.base.store.DB().ExecContext(t.Context(),
		`UPDATE idempotency_keys SET expires_at = now() - interval '8 days' WHERE project_id = $1`, string(h.project))
	require.NoError(t, err)
	purge(t.Context(), h.base)
	require.NoError(t, h.base.store.DB().QueryRowContext(t.Context(), count, string(h.project)).Scan(&bytes))
	require.Equal(t, -1, bytes, "the tombstone is gone")
}

// Operators find what went to the archive, and bring it back with the address that
// the configuration names.
func TestArchivesAreListedAndRestored(t *testing.T) {
	t.Parallel()
	h := newHarness(t)
	h.base.cfg.ArchiveURL = "file://" + t.TempDir() + "/new/folder"
	a := newAdmin(t, h)
	project, err := a.CreateProject(t.Context(), "Shop", models.ModeLive, "enterprise")
	require.NoError(t, err)
	plantExpired(t, h, project.ID)
	bucket, err := openArchive(t.Context(), h.base.cfg.ArchiveURL)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, bucket.Close()) })
	keeper := webhooks.NewKeeper(webhooks.KeeperConfig{Store: h.base.store, Archive: bucket, Log: h.base.log})
	var archives []models.Archive
	require.Eventually(t, func() bool { // the database is shared: others' keepers may take turns
		keeper.Expire(t.Context())
		archives, err = a.Archives(t.Context(), project.ID, "")
		return err == nil && len(archives) == 1
	}, 10*time.Second, 10*time.Millisecond)
	require.Equal(t, 1, archives[0].Letters)

	for _, want := range []int{1, 0} {
		restored, err := a.RestoreArchive(t.Context(), project.ID, archives[0].Object)
		require.NoError(t, err)
		require.Equal(t, Restored{Object: archives[0].Object, Restored: want}, restored)
	}
	_, err = a.RestoreArchive(t.Context(), h.project, archives[0].Object)
	require.ErrorIs(t, err, store.ErrNotFound, "not another project's")
	a.archiveURL = ""
	_, err = a.RestoreArchive(t.Context(), project.ID, archives[0].Object)
	require.ErrorContains(t, err, "ARCHIVE_URL")
}

// plantExpired plants a dead letter whose retention is over, with all it belongs to.
func plantExpired(t *testing.T, h *harness, project models.ProjectID) {
	t.Helper()
	for _, statement := range []string{
		`INSERT INTO events (project_id, id, type, source, api_version, request_id, body, created_at)
		 VALUES ($1, 'evt_1', 'a.b', 'api', '2026-12-01', 'req_1', '{}', now())`,
		`INSERT INTO webhook_deliveries (project_id, id, event_id, event_type, endpoint_id, status) VALUES ($1, 'whd_1', 'evt_1', 'a.b', 'whe_1', 'dead_letter')`,
		`INSERT INTO dead_letters (project_id, id, delivery_id, endpoint_id, event_id, event_type, cause, expires_at)
		 VALUES ($1, 'dlq_1', 'whd_1', 'whe_1', 'evt_1', 'a.b', 'http_401', now())`,
	} {
		_, err := h.base.store.DB().ExecContext(t.Context(), statement, string(project))
		require.NoError(t, err)
	}
}
