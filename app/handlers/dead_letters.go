package handlers

import (
	"context"
	"fmt"
	"net/http"
	"strings"

	"github.com/botix-pro/platform/api"
	"github.com/botix-pro/platform/app/middleware"
	"github.com/botix-pro/platform/app/models"
	"github.com/botix-pro/platform/app/store"
)

const deadLetterObject = "dead_letter"

// listDeadLetters is GET /dead-letters, newest first.
func (a *API) listDeadLetters(ctx context.Context, r *middleware.Request) (middleware.Result, error) {
	page, span, err := listOf(r, models.PrefixDeadLetter, "endpoint_id", "event_type", "cause")
	if err != nil {
		return middleware.Result{}, err
	}
	filter := store.DeadLetterFilter{
		Span: span, EndpointID: parameter(r.Query, "endpoint_id"), EventType: parameter(r.Query, "event_type"), Cause: parameter(r.Query, "cause"),
	}
	letters, err := a.store.DeadLetters(ctx, r.Project(), filter, page)
	if err != nil {
		return middleware.Result{}, fmt.Errorf("list dead letters: %w", err)
	}
	letters, next := pageOut(letters, page, func(l models.DeadLetter) string { return l.ID })
	list := api.DeadLetterList{Data: make([]api.DeadLetter, len(letters)), NextCursor: next}
	for i := range letters {
		list.Data[i] = showDeadLetter(&letters[i])
	}
	return middleware.Result{Status: http.StatusOK, Body: list}, nil
}

// readDeadLetter is GET /dead-letters/{id}.
func (a *API) readDeadLetter(ctx context.Context, r *middleware.Request) (middleware.Result, error) {
	id, err := pathID(r, models.PrefixDeadLetter)
	if err != nil {
		return middleware.Result{}, err
	}
	letter, err := a.store.DeadLetter(ctx, r.Project(), id)
	if err != nil {
		return middleware.Result{}, fmt.Errorf("read dead letter: %w", err)
	}
	return middleware.Result{Status: http.StatusOK, Body: showDeadLetter(letter), ETag: fmt.Sprintf(`"%d"`, letter.ExpiresAt.UnixMicro())}, nil
}

// listDeadLetterGroups is GET /dead-letters/groups, by endpoint and cause.
func (a *API) listDeadLetterGroups(ctx context.Context, r *middleware.Request) (middleware.Result, error) {
	if err := onlyParameters(r.Query, "limit", "cursor", "endpoint_id"); err != nil {
		return middleware.Result{}, err
	}
	page, err := pageBy(r.Query, func(mark string) bool {
		endpoint, _, found := strings.Cut(mark, groupMark)
		return found && models.ValidID(models.PrefixEndpoint, endpoint)
	})
	if err != nil {
		return middleware.Result{}, err
	}
	endpoint, cause, _ := strings.Cut(page.Before, groupMark)
	after := models.DeadLetterGroup{EndpointID: endpoint, Cause: models.DeadLetterCause(cause)}
	groups, err := a.store.DeadLetterGroups(ctx, r.Project(), parameter(r.Query, "endpoint_id"), after, page.Limit)
	if err != nil {
		return middleware.Result{}, fmt.Errorf("group dead letters: %w", err)
	}
	groups, next := pageOut(groups, page, func(g models.DeadLetterGroup) string { return g.EndpointID + groupMark + string(g.Cause) })
	list := api.DeadLetterGroupList{Data: make([]api.DeadLetterGroup, len(groups)), NextCursor: next}
	for i, g := range groups {
		list.Data[i] = api.DeadLetterGroup{
			EndpointID: g.EndpointID, Cause: string(g.Cause), Count: g.Count, FirstAt: api.Timestamp(g.First), LastAt: api.Timestamp(g.Last),
		}
	}
	return middleware.Result{Status: http.StatusOK, Body: list}, nil
}

// groupMark parts endpoint and cause in a cursor.
const groupMark = " "

func showDeadLetter(l *models.DeadLetter) api.DeadLetter {
	return api.DeadLetter{
		ID: l.ID, Object: deadLetterObject, DeliveryID: l.DeliveryID, EndpointID: l.EndpointID, EventID: l.EventID, EventType: l.EventType,
		Cause: string(l.Cause), AttemptID: l.AttemptID, CreatedAt: api.Timestamp(l.CreatedAt), ExpiresAt: api.Timestamp(l.ExpiresAt),
	}
}
