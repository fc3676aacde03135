package handlers

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"time"

	"github.com/botix-pro/platform/api"
	"github.com/botix-pro/platform/app/actions"
	"github.com/botix-pro/platform/app/middleware"
	"github.com/botix-pro/platform/app/models"
	"github.com/botix-pro/platform/app/store"
)

// createMessage is POST /messages: the intent and its message.queued event. A
// worker hands it to its channel.
func (a *API) createMessage(ctx context.Context, tx *store.Tx, r *middleware.Request) (middleware.Result, error) {
	input, err := decode[api.MessageCreate](r)
	if err != nil {
		return middleware.Result{}, err
	}
	draft := models.MessageDraft{
		Channel: models.Channel(input.Channel), Text: input.Text, Template: input.Template, SendAt: (*time.Time)(input.SendAt),
	}
	if len(input.Variables) > 0 && input.Variables.Kind() != 'n' {
		draft.Variables = input.Variables
	}
	message, err := actions.CreateMessage(ctx, tx, causeOf(r), input.ContactID, draft)
	if err != nil {
		return middleware.Result{}, err
	}
	return middleware.Result{
		Status: http.StatusAccepted, Body: message.View(), Location: "/messages/" + message.ID, ETag: actions.MessageTag(message),
	}, nil
}

// readMessage is GET /messages/{id}, with what people decided about it.
func (a *API) readMessage(ctx context.Context, r *middleware.Request) (middleware.Result, error) {
	id, err := pathID(r, models.PrefixMessage)
	if err != nil {
		return middleware.Result{}, err
	}
	message, err := a.store.Message(ctx, r.Project(), id)
	if err != nil {
		return middleware.Result{}, fmt.Errorf("read message: %w", err)
	}
	decisions, err := a.store.Settlements(ctx, r.Project(), id)
	if err != nil {
		return middleware.Result{}, fmt.Errorf("read message: %w", err)
	}
	return middleware.Result{Status: http.StatusOK, Body: message.ViewWith(decisions), ETag: actions.MessageTag(message)}, nil
}

// listMessages is GET /messages, newest first.
func (a *API) listMessages(ctx context.Context, r *middleware.Request) (middleware.Result, error) {
	page, span, err := listOf(r, models.PrefixMessage, "contact_id", "channel", "status")
	if err != nil {
		return middleware.Result{}, err
	}
	filter := store.MessageFilter{
		Span: span, ContactID: parameter(r.Query, "contact_id"), Channel: parameter(r.Query, "channel"), Status: parameter(r.Query, "status"),
	}
	if filter.Status != nil && !slices.Contains(models.MessageStatuses(), models.MessageStatus(*filter.Status)) {
		return middleware.Result{}, badParameter("status", "There is no such status of a message.")
	}
	if filter.Channel != nil && !models.Channel(*filter.Channel).Valid() {
		return middleware.Result{}, badParameter("channel", "There is no such channel.")
	}
	messages, err := a.store.Messages(ctx, r.Project(), filter, page)
	if err != nil {
		return middleware.Result{}, fmt.Errorf("list messages: %w", err)
	}
	messages, next := pageOut(messages, page, func(m models.Message) string { return m.ID })
	list := models.MessageList{Data: make([]models.MessageView, len(messages)), NextCursor: next}
	for i := range messages {
		list.Data[i] = messages[i].View()
	}
	return middleware.Result{Status: http.StatusOK, Body: list}, nil
}

// cancelMessage is POST /messages/{id}/cancel.
func (a *API) cancelMessage(ctx context.Context, tx *store.Tx, r *middleware.Request) (middleware.Result, error) {
	if err := noBody(r); err != nil {
		return middleware.Result{}, err
	}
	id, err := pathID(r, models.PrefixMessage)
	if err != nil {
		return middleware.Result{}, err
	}
	message, err := actions.CancelMessage(ctx, tx, causeOf(r), id)
	if err != nil {
		return middleware.Result{}, err
	}
	return middleware.Result{Status: http.StatusOK, Body: message.View(), ETag: actions.MessageTag(message)}, nil
}

// settleMessage is POST /messages/{id}/settle: a person says what nobody else
// can tell.
func (a *API) settleMessage(ctx context.Context, tx *store.Tx, r *middleware.Request) (middleware.Result, error) {
	input, err := decode[api.MessageSettle](r)
	if err != nil {
		return middleware.Result{}, err
	}
	id, err := pathID(r, models.PrefixMessage)
	if err != nil {
		return middleware.Result{}, err
	}
	decision := models.MessageSettlement{KeyID: &r.Caller.Key.ID, ToStatus: models.MessageStatus(input.Status), Reason: input.Reason}
	message, err := actions.SettleMessage(ctx, tx, causeOf(r), id, &decision)
	if err != nil {
		return middleware.Result{}, err
	}
	// Nothing leads back to unknown: it is the message's only decision.
	shown := message.ViewWith([]models.MessageSettlement{decision})
	return middleware.Result{Status: http.StatusOK, Body: shown, ETag: actions.MessageTag(message)}, nil
}
