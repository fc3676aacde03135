package handlers

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"time"

	"github.com/botix-pro/platform/api"
	"github.com/botix-pro/platform/app/middleware"
	"github.com/botix-pro/platform/app/models"
	"github.com/botix-pro/platform/app/store"
)

// maxReason is the length of a settlement's reason, in characters.
const maxReason = 500

// createMessage is POST /messages: the intent and its message.queued event. A
// worker hands it to its channel.
func (a *API) createMessage(ctx context.Context, tx *store.Tx, r *middleware.Request) (middleware.Result, error) {
	input, err := decode[api.MessageCreate](r)
	if err != nil {
		return middleware.Result{}, err
	}
	message, err := composeMessage(ctx, tx, r, input)
	if err != nil {
		return middleware.Result{}, err
	}
	message.APIVersion, message.RequestID = r.APIVersion, r.ID
	if err := tx.CreateMessage(message); err != nil {
		return middleware.Result{}, fmt.Errorf("create message: %w", err)
	}
	return middleware.Result{
		Status: http.StatusAccepted, Body: message.View(), Location: "/messages/" + message.ID, ETag: messageTag(message),
	}, nil
}

// composeMessage checks what is said of a message against the contact and the
// project's channels.
func composeMessage(ctx context.Context, tx *store.Tx, r *middleware.Request, input api.MessageCreate) (*models.Message, error) {
	draft := models.MessageDraft{
		Channel: models.Channel(input.Channel), Text: input.Text, Template: input.Template, SendAt: (*time.Time)(input.SendAt),
	}
	if len(input.Variables) > 0 && input.Variables.Kind() != 'n' {
		draft.Variables = input.Variables
	}
	found := faults{draft.Check(tx.Now())}
	contact, err := messageContact(ctx, tx, input.ContactID, &found)
	if err != nil || len(found.Faults) > 0 {
		return nil, errors.Join(err, found.err())
	}
	message, problems := draft.Compose(r.Caller.Project.Mode, contact)
	if err := models.Faults(problems).Err(); err != nil {
		return nil, err
	}
	return message, checkChannel(ctx, tx, message.Channel)
}

// messageContact returns the contact that a message is for; one that does not
// exist is added to what is wrong.
func messageContact(ctx context.Context, tx *store.Tx, id string, found *faults) (*models.Contact, error) {
	if models.ValidID(models.PrefixContact, id) {
		contact, err := tx.ShareContact(ctx, id)
		if err == nil {
			return contact, nil
		}
		if !errors.Is(err, store.ErrNotFound) {
			return nil, fmt.Errorf("find the contact: %w", err)
		}
	}
	found.add("/contact_id", fieldNotFound, "There is no such contact in this project.")
	return nil, nil //nolint:nilnil // what is wrong is in found
}

func checkChannel(ctx context.Context, tx *store.Tx, channel models.Channel) error {
	has, err := tx.HasChannel(ctx, channel)
	if err != nil {
		return fmt.Errorf("check the channel: %w", err)
	}
	if has {
		return nil
	}
	problem := models.NewError(models.CodeChannelNotConfigured, "The project has no settings for the channel %s.", channel)
	problem.Fields = []models.FieldError{{Pointer: "/channel", Code: "NOT_CONFIGURED", Detail: "This channel has to be set up first."}}
	return problem
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
	return middleware.Result{Status: http.StatusOK, Body: message.ViewWith(decisions), ETag: messageTag(message)}, nil
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
	message, err := lockMessage(ctx, tx, r)
	if err != nil {
		return middleware.Result{}, err
	}
	switch {
	case !message.Status.CanBecome(models.MessageCancelled):
		return middleware.Result{}, models.NewError(models.CodeNotCancellable, "The message is %s.", message.Status)
	case message.MaybeSent:
		return middleware.Result{}, models.NewError(models.CodeNotCancellable,
			"An earlier try may have succeeded: the message is to be repeated under its key, which tells.")
	}
	if err := tx.CancelMessage(message); err != nil {
		return middleware.Result{}, fmt.Errorf("cancel message: %w", err)
	}
	return middleware.Result{Status: http.StatusOK, Body: message.View(), ETag: messageTag(message)}, nil
}

// settleMessage is POST /messages/{id}/settle: a person says what nobody else
// can tell.
func (a *API) settleMessage(ctx context.Context, tx *store.Tx, r *middleware.Request) (middleware.Result, error) {
	input, err := decode[api.MessageSettle](r)
	if err != nil {
		return middleware.Result{}, err
	}
	to := models.MessageStatus(input.Status)
	var found faults
	if !models.MessageUnknown.CanBecome(to) {
		found.add("/status", fieldRange, "A message is settled as sent, delivered or failed.")
	}
	found.Length("/reason", input.Reason, 1, maxReason)
	if err := found.err(); err != nil {
		return middleware.Result{}, err
	}
	message, err := lockMessage(ctx, tx, r)
	if err != nil {
		return middleware.Result{}, err
	}
	if message.Status != models.MessageUnknown {
		return middleware.Result{}, models.NewError(models.CodeMessageNotUnknown, "The message is %s; only an unknown one can be settled.", message.Status)
	}
	decision := models.MessageSettlement{KeyID: r.Caller.Key.ID, ToStatus: to, Reason: input.Reason, RequestID: r.ID}
	if err := tx.SettleMessage(message, &decision); err != nil {
		return middleware.Result{}, fmt.Errorf("settle message: %w", err)
	}
	// Nothing leads back to unknown: it is the message's only decision.
	shown := message.ViewWith([]models.MessageSettlement{decision})
	return middleware.Result{Status: http.StatusOK, Body: shown, ETag: messageTag(message)}, nil
}

func lockMessage(ctx context.Context, tx *store.Tx, r *middleware.Request) (*models.Message, error) {
	id, err := pathID(r, models.PrefixMessage)
	if err != nil {
		return nil, err
	}
	message, err := tx.LockMessage(ctx, id)
	if err != nil {
		return nil, fmt.Errorf("lock message: %w", err)
	}
	return message, checkMatch(r, messageTag(message))
}

// messageTag names the message's version: every step changes it.
func messageTag(m *models.Message) string {
	return fmt.Sprintf(`"%s-%d-%d"`, m.Status, m.AttemptCount, m.UpdatedAt.UnixMicro())
}
