package app

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"reflect"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/stretchr/testify/require"

	"github.com/botix-pro/platform/app/models"
	"github.com/botix-pro/platform/app/store"
	"github.com/botix-pro/platform/internal/config"
)

// events returns the project's events, oldest first, as type and body.
func (h *harness) events(t *testing.T) []models.Event {
	t.Helper()
	rows, err := h.base.store.DB().QueryContext(t.Context(),
		`SELECT type, body, request_id FROM events WHERE project_id = $1 ORDER BY id`, string(h.project))
	require.NoError(t, err)
	defer func() { _ = rows.Close() }()
	var list []models.Event
	for rows.Next() {
		var e models.Event
		require.NoError(t, rows.Scan(&e.Type, &e.Body, &e.RequestID))
		list = append(list, e)
	}
	require.NoError(t, rows.Err())
	return list
}

func (h *harness) contact(t *testing.T, body string) answer {
	t.Helper()
	made := h.do(t, call{method: http.MethodPost, path: "/contacts", body: body})
	require.Equal(t, http.StatusCreated, made.status, "%s", made.body)
	return made
}

func TestPatchMergesAndSaysWhatChanged(t *testing.T) {
	t.Parallel()
	h := newHarness(t)
	made := h.contact(t, `{"name":"Ada","email":"ada@example.com","tags":["a"],"identities":{"telegram":"1","vk":"2"},"attributes":{"a":{"b":1,"c":2},"d":3}}`)
	path := made.header.Get("Location")
	patched := h.do(t, call{
		method: http.MethodPatch, path: path, header: map[string]string{"Content-Type": "application/merge-patch+json"},
		body: `{"email":null,"tags":["b"],"identities":{"vk":null,"sms":"3"},"attributes":{"a":{"b":null},"e":1.0}}`,
	})
	require.Equal(t, http.StatusOK, patched.status, "%s", patched.body)
	got := patched.object(t)
	require.Equal(t, "Ada", got["name"], "an absent field is untouched")
	require.Nil(t, got["email"], "null clears")
	require.Equal(t, map[string]any{"telegram": "1", "sms": "3"}, got["identities"])
	require.Contains(t, string(patched.body), `"attributes":{"a":{"c":2},"d":3,"e":1.0}`)
	require.NotEqual(t, made.header.Get("ETag"), patched.header.Get("ETag"))
	require.Equal(t, string(patched.body), string(h.do(t, call{method: http.MethodGet, path: path}).body))

	events := h.events(t)
	require.Len(t, events, 2)
	require.Equal(t, models.EventContactUpdated, events[1].Type)
	require.Contains(t, string(events[1].Body), `"changed_fields":["attributes","email","identities","tags"]`)
	require.Equal(t, patched.header.Get("X-Request-Id"), events[1].RequestID)

	same := h.do(t, call{method: http.MethodPatch, path: path, body: `{"name":"Ada"}`})
	require.Equal(t, patched.header.Get("ETag"), same.header.Get("ETag"))
	require.Len(t, h.events(t), 2, "a change that changes nothing is no event")
}

func TestIfMatchGuardsAgainstLostUpdates(t *testing.T) {
	t.Parallel()
	h := newHarness(t)
	made := h.contact(t, `{"external_id":"x"}`)
	path, first := made.header.Get("Location"), map[string]string{"If-Match": made.header.Get("ETag")}
	require.Equal(t, http.StatusOK, h.do(t, call{method: http.MethodPatch, path: path, body: `{"name":"A"}`, header: first}).status)
	for _, stale := range []call{
		{method: http.MethodPatch, path: path, body: `{"name":"B"}`, header: first},
		{method: http.MethodPut, path: "/contacts/by-external-id/x", body: `{"name":"B"}`, header: first},
		{method: http.MethodPut, path: "/contacts/by-external-id/none", body: `{"name":"B"}`, header: first},
		{method: http.MethodDelete, path: path, header: first},
	} {
		stale.idempotency = "stale-" + stale.method + stale.path
		refused := h.do(t, stale)
		require.Equal(t, models.CodePreconditionFailed, refused.code(t))
		require.Equal(t, "operation", refused.object(t)["scope"])
		again := h.do(t, stale)
		require.Equal(t, refused.body, again.body, "a 412 replays as that 412")
		require.Equal(t, "true", again.header.Get("Idempotent-Replayed"))
	}
}

// The forms of If-Match that the description shows: several versions, and any.
func TestIfMatchTakesSeveralAndAny(t *testing.T) {
	t.Parallel()
	h := newHarness(t)
	made := h.contact(t, `{"name":"Ada"}`)
	var parameter *openapi3.Parameter
	for _, p := range description(t).Components.Parameters {
		if p.Value.Name == "If-Match" {
			parameter = p.Value
		}
	}
	several := parameter.Examples["several"].Value.Value.(string)
	change := func(match string) int {
		return h.do(t, call{
			method: http.MethodPatch, path: made.header.Get("Location"), body: `{"tags":["x"]}`, header: map[string]string{"If-Match": match},
		}).status
	}
	require.Equal(t, http.StatusPreconditionFailed, change(several))
	require.Equal(t, http.StatusOK, change(several+", "+made.header.Get("ETag")))
	require.Equal(t, http.StatusOK, change(parameter.Examples["any"].Value.Value.(string)))
}

// Changes to an external_id, upserts and imports want the same locks, in
// whatever order they come: none is told of a fault of ours.
func TestExternalIDsAreLockedInOneOrder(t *testing.T) {
	t.Parallel()
	h := newHarness(t, func(c *config.Config) { c.DatabaseMaxConns = 16 })
	h.project, h.key = h.newProject(t, "enterprise")
	path := h.contact(t, `{"external_id":"a"}`).header.Get("Location")
	patch := func(id string) call {
		return call{method: http.MethodPatch, path: path, body: `{"external_id":"` + id + `"}`}
	}
	put := func(id string) call {
		return call{method: http.MethodPut, path: "/contacts/by-external-id/" + id, body: `{"name":"` + models.NewID("", h.base.clock.Now()) + `"}`}
	}
	var everybody sync.WaitGroup
	for _, c := range []func(string) call{patch, put, patch, put} {
		for _, id := range []string{"a", "b"} {
			everybody.Go(func() {
				for range 40 {
					got := h.do(t, c(id))
					require.Less(t, got.status, http.StatusInternalServerError, "%s", got.body)
				}
			})
		}
	}
	everybody.Go(func() { // what an import does
		for range 80 {
			_, err := h.base.store.Write(t.Context(), h.project, func(tx *store.Tx) error {
				_, err := tx.LockContactsByExternalID(t.Context(), []string{"a", "b"})
				return err
			})
			require.NoError(t, err)
		}
	})
	everybody.Wait()
}

func TestDeletedContactIsGoneAndItsDeletionReplays(t *testing.T) {
	t.Parallel()
	h := newHarness(t)
	path := h.contact(t, `{"name":"Ada"}`).header.Get("Location")
	remove := call{method: http.MethodDelete, path: path, idempotency: "gone"}
	require.Equal(t, http.StatusNoContent, h.do(t, remove).status)
	require.Equal(t, http.StatusNotFound, h.do(t, call{method: http.MethodGet, path: path}).status)
	again := h.do(t, remove)
	require.Equal(t, http.StatusNoContent, again.status, "the same deletion, repeated, is still done")
	require.Equal(t, "true", again.header.Get("Idempotent-Replayed"))
	require.Equal(t, http.StatusNotFound, h.do(t, call{method: http.MethodDelete, path: path}).status, "another deletion finds nothing")
	events := h.events(t)
	require.Equal(t, models.EventContactDeleted, events[len(events)-1].Type)
	require.Contains(t, string(events[len(events)-1].Body), `"name":"Ada"`)
}

func TestUpsertCreatesThenReplaces(t *testing.T) {
	t.Parallel()
	h := newHarness(t)
	put := func(id, body string) answer {
		return h.do(t, call{method: http.MethodPut, path: "/contacts/by-external-id/" + url.PathEscape(id), body: body})
	}
	made := put("crm/1 ü", `{"name":"Ada","tags":["a"]}`)
	require.Equal(t, http.StatusCreated, made.status, "%s", made.body)
	require.Equal(t, "crm/1 ü", made.object(t)["external_id"])
	replaced := put("crm/1 ü", `{"email":"ada@example.com"}`)
	require.Equal(t, http.StatusOK, replaced.status)
	require.Equal(t, made.object(t)["id"], replaced.object(t)["id"])
	require.Nil(t, replaced.object(t)["name"], "what is left out is cleared")
	require.Equal(t, models.CodeValidationFailed, put(strings.Repeat("x", 256), `{}`).code(t))
}

// An upsert replaces or creates whatever a PATCH does to the same external_id
// meanwhile.
func TestUpsertNeverLosesToAChange(t *testing.T) {
	t.Parallel()
	h := newHarness(t)
	for round := range 40 {
		id := fmt.Sprintf("race-%d", round)
		other := h.contact(t, `{}`).header.Get("Location")
		var wg sync.WaitGroup
		var put answer
		wg.Go(func() {
			put = h.do(t, call{method: http.MethodPut, path: "/contacts/by-external-id/" + id, body: `{"name":"A"}`})
		})
		wg.Go(func() {
			h.do(t, call{method: http.MethodPatch, path: other, body: fmt.Sprintf(`{"external_id":%q}`, id)})
		})
		wg.Wait()
		require.Contains(t, []int{http.StatusOK, http.StatusCreated}, put.status, "%s", put.body)
	}
}

// Many upserts and creations of one external_id at once make one contact, and
// no upsert is told that it exists.
func TestConcurrentUpsertsMakeOneContact(t *testing.T) {
	t.Parallel()
	h := newHarness(t)
	var wg sync.WaitGroup
	for i := range 20 {
		wg.Go(func() {
			put := h.do(t, call{method: http.MethodPut, path: "/contacts/by-external-id/x", body: fmt.Sprintf(`{"name":"%d"}`, i)})
			require.Contains(t, []int{http.StatusOK, http.StatusCreated}, put.status, "%s", put.body)
			post := h.do(t, call{method: http.MethodPost, path: "/contacts", body: `{"external_id":"x"}`})
			require.Contains(t, []int{http.StatusConflict, http.StatusCreated}, post.status)
		})
	}
	wg.Wait()
	require.Len(t, h.do(t, call{method: http.MethodGet, path: "/contacts"}).object(t)["data"], 1)
}

func TestTakenExternalIDIsAConflictThatReplays(t *testing.T) {
	t.Parallel()
	h := newHarness(t)
	h.contact(t, `{"external_id":"x"}`)
	other := h.contact(t, `{"external_id":"y"}`).header.Get("Location")
	for _, c := range []call{
		{method: http.MethodPost, path: "/contacts", body: `{"external_id":"x"}`, idempotency: "a"},
		{method: http.MethodPatch, path: other, body: `{"external_id":"x"}`, idempotency: "b"},
	} {
		refused := h.do(t, c)
		require.Equal(t, models.CodeContactExists, refused.code(t))
		require.Equal(t, refused.body, h.do(t, c).body)
	}
}

func TestListFilters(t *testing.T) {
	t.Parallel()
	h := newHarness(t)
	first := h.contact(t, `{"external_id":"1","email":"Ada@Example.com","phone":"+442071234567","tags":["vip","it's"]}`).object(t)
	second := h.contact(t, `{"external_id":"2","email":"bob@example.com","tags":["vip"]}`).object(t)
	for query, want := range map[string][]any{
		"external_id=1":                      {first["id"]},
		"email=ada@example.com":              {first["id"]},
		"phone=%2B442071234567":              {first["id"]},
		"tag=vip":                            {second["id"], first["id"]},
		"tag=it%27s":                         {first["id"]},
		"tag=vip&external_id=2":              {second["id"]},
		"tag=%25":                            {},
		"updated_since=2999-01-01T00:00:00Z": {},
		"updated_since=" + first["updated_at"].(string): {second["id"], first["id"]},
	} {
		require.Eventually(t, func() bool { // what changed just now is shown a moment later
			list := h.do(t, call{method: http.MethodGet, path: "/contacts?" + query})
			ids := []any{}
			for _, row := range list.object(t)["data"].([]any) {
				ids = append(ids, row.(map[string]any)["id"])
			}
			return reflect.DeepEqual(want, ids)
		}, 10*time.Second, 20*time.Millisecond, query)
	}
	require.Equal(t, models.CodeInvalidRequest, h.do(t, call{method: http.MethodGet, path: "/contacts?updated_since=yesterday"}).code(t))
}

// A row whose transaction was open while a poll passed it comes with a later
// poll: none that began after it is shown before it.
func TestPollByUpdatedSinceMissesNothing(t *testing.T) {
	t.Parallel()
	h := newHarness(t)
	slow, _, err := h.base.store.BeginOperation(t.Context(), h.project, "slow")
	require.NoError(t, err)
	defer slow.Rollback(context.Background())
	began := slow.Now()
	quick := h.contact(t, `{"external_id":"quick"}`)
	require.Equal(t, http.StatusCreated, quick.status)

	poll := "/contacts?updated_since=" + models.FormatTime(began)
	require.Empty(t, h.do(t, call{method: http.MethodGet, path: poll}).object(t)["data"],
		"what began after an open transaction is not shown before it")
	contact := &models.Contact{
		ID: models.NewID(models.PrefixContact, began), Tags: []string{}, Identities: map[string]string{}, Attributes: []byte("{}"),
		CreatedAt: began, UpdatedAt: began,
	}
	require.NoError(t, slow.CreateContact(contact))
	require.NoError(t, slow.CommitOperation(t.Context(), &models.IdempotencyRecord{
		Key: "slow", Fingerprint: make([]byte, 32), Method: "POST", Path: "/contacts", Answer: models.Answer{Status: 201, Body: []byte{}},
	}, 3600e9))
	require.Eventually(t, func() bool {
		return len(h.do(t, call{method: http.MethodGet, path: poll}).object(t)["data"].([]any)) == 2
	}, 10e9, 50e6, "both come once both are committed")
}
