package actions

import (
	"context"
	"errors"
	"fmt"

	"github.com/botix-pro/platform/app/models"
	"github.com/botix-pro/platform/app/store"
)

// maxReason is the length of a settlement's reason, in characters.
const maxReason = 500

// MessageTag names the message's version: every step changes it.
func MessageTag(m *models.Message) string {
	return fmt.Sprintf(`"%s-%d-%d"`, m.Status, m.AttemptCount, m.UpdatedAt.UnixMicro())
}

// CreateMessage queues a message to a contact, with its message.queued event. A
// worker hands it to its channel.
func CreateMessage(ctx context.Context, tx *store.Tx, cause Cause, contactID string, draft models.MessageDraft) (*models.Message, error) {
	message, err := composeMessage(ctx, tx, cause, contactID, draft)
	if err != nil {
		return nil, err
	}
	message.APIVersion, message.RequestID = cause.APIVersion, cause.RequestID
	if err := tx.CreateMessage(message); err != nil {
		return nil, fmt.Errorf("create message: %w", err)
	}
	return message, nil
}

// composeMessage checks what is said of a message against the contact and the
// project's channels.
func composeMessage(ctx context.Context, tx *store.Tx, cause Cause, contactID string, draft models.MessageDraft) (*models.Message, error) {
	found := models.Faults(draft.Check(tx.Now()))
	contact, err := messageContact(ctx, tx, contactID, &found)
	if err != nil || len(found) > 0 {
		return nil, errors.Join(err, found.Err())
	}
	message, problems := draft.Compose(cause.Project.Mode, contact)
	if err := models.Faults(problems).Err(); err != nil {
		return nil, err
	}
	return message, checkChannel(ctx, tx, message.Channel)
}

// messageContact returns the contact that a message is for; one that does not
// exist is added to what is wrong.
func messageContact(ctx context.Context, tx *store.Tx, id string, found *models.Faults) (*models.Contact, error) {
	if models.ValidID(models.PrefixContact, id) {
		contact, err := tx.ShareContact(ctx, id)
		if err == nil {
			return contact, nil
		}
		if !errors.Is(err, store.ErrNotFound) {
			return nil, fmt.Errorf("find the contact: %w", err)
		}
	}
	found.Add("/contact_id", models.FieldNotFound, "There is no such contact in this project.")
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

// CancelMessage calls a queued message off, with its event.
func CancelMessage(ctx context.Context, tx *store.Tx, cause Cause, id string) (*models.Message, error) {
	message, err := lockMessage(ctx, tx, cause, id)
	if err != nil {
		return nil, err
	}
	switch {
	case !message.Status.CanBecome(models.MessageCancelled):
		return nil, models.NewError(models.CodeNotCancellable, "The message is %s.", message.Status)
	case message.MaybeSent:
		return nil, models.NewError(models.CodeNotCancellable,
			"An earlier try may have succeeded: the message is to be repeated under its key, which tells.")
	}
	if err := tx.CancelMessage(message); err != nil {
		return nil, fmt.Errorf("cancel message: %w", err)
	}
	return message, nil
}

// SettleMessage records what a person says of a message that nobody else can
// tell about, with its event. decision says who, what and why: ToStatus, Reason,
// and KeyID, or UserID and UserEmail.
func SettleMessage(ctx context.Context, tx *store.Tx, cause Cause, id string, decision *models.MessageSettlement) (*models.Message, error) {
	var found models.Faults
	if !models.MessageUnknown.CanBecome(decision.ToStatus) {
		found.Add("/status", models.FieldRange, "A message is settled as sent, delivered or failed.")
	}
	found.Length("/reason", decision.Reason, 1, maxReason)
	if err := found.Err(); err != nil {
		return nil, err
	}
	message, err := lockMessage(ctx, tx, cause, id)
	if err != nil {
		return nil, err
	}
	if message.Status != models.MessageUnknown {
		return nil, models.NewError(models.CodeMessageNotUnknown, "The message is %s; only an unknown one can be settled.", message.Status)
	}
	decision.RequestID = cause.RequestID
	if err := tx.SettleMessage(message, decision); err != nil {
		return nil, fmt.Errorf("settle message: %w", err)
	}
	return message, nil
}

func lockMessage(ctx context.Context, tx *store.Tx, cause Cause, id string) (*models.Message, error) {
	message, err := tx.LockMessage(ctx, id)
	if err != nil {
		return nil, fmt.Errorf("lock message: %w", err)
	}
	return message, cause.match(MessageTag(message))
}
