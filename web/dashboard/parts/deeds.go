package parts

import (
	"context"
	"errors"
	"fmt"
	"net/http"

	"github.com/botix-pro/platform/app/actions"
	"github.com/botix-pro/platform/app/models"
	"github.com/botix-pro/platform/app/store"
	"github.com/botix-pro/platform/web/ui"
)

// Writer commits what a function queues, in one transaction.
type Writer interface {
	// Repeated returns the subject of what a form did when it was sent before.
	Repeated(ctx context.Context, project models.ProjectID, action, once string) (subject string, err error)
	Write(ctx context.Context, project models.ProjectID, fn func(*store.Tx) error) ([]store.Lane, error)
}

// Desk is where members' deeds are done.
type Desk struct {
	Store Writer
	Hint  func([]store.Lane) // announces lanes that got a delivery
}

// Deed is what a member does: its name in the audit trail ("contact.updated") and
// more about it, which may be empty.
type Deed struct{ Action, Detail string }

// Do does a deed: fn queues it and names its subject, which Do returns. Who did it
// is kept beside it, and its webhooks are announced. A form with [ui.FieldOnce]
// acts once: sent again, it gives the subject of the first time, and what fn did
// is undone.
func (d Desk) Do(v *ui.Visit, deed Deed, fn func(ctx context.Context, tx *store.Tx) (subject string, err error)) (subject string, err error) {
	entry := v.Audit(deed.Action, "", deed.Detail)
	lanes, err := d.Store.Write(v.Context(), v.Member.Project.ID, func(tx *store.Tx) error {
		if entry.Subject, err = fn(v.Context(), tx); err != nil {
			return err
		}
		tx.Audit(entry)
		return nil
	})
	if err != nil && entry.Once != nil {
		if first, repeated := d.Store.Repeated(v.Context(), v.Member.Project.ID, deed.Action, *entry.Once); repeated == nil {
			return first, nil
		}
	}
	if err != nil {
		return "", fmt.Errorf("%s: %w", deed.Action, err)
	}
	d.Hint(lanes)
	return entry.Subject, nil
}

// VersionField is the hidden field that holds the tag of what the reader saw.
const VersionField = "version"

// Version is the hidden field that holds a tag.
func Version(tag string) ui.Field {
	return ui.Field{Name: VersionField, Kind: ui.FieldHidden, Value: tag}
}

// CauseOf is a member's deed at the pages. tag, if not empty, is what the object
// must still be at.
func CauseOf(v *ui.Visit, tag string) actions.Cause {
	cause := actions.Cause{Project: v.Member.Project, APIVersion: v.Member.Project.APIVersion}
	if tag != "" {
		cause.Match, cause.Exists = actions.Expect(tag), true
	}
	return cause
}

// ID is the path's id, or [store.ErrNotFound] where it cannot be one.
func ID(v *ui.Visit, prefix string) (string, error) {
	id := v.PathValue("id")
	if !models.ValidID(prefix, id) {
		return "", store.ErrNotFound
	}
	return id, nil
}

// Faults are the fields that an error is about; ok is false where it is about
// none.
func Faults(err error) (fields []models.FieldError, ok bool) {
	var known *models.Error
	if !errors.As(err, &known) {
		return nil, false
	}
	switch known.Code {
	case models.CodeValidationFailed, models.CodeMalformedJSON, models.CodeChannelNotConfigured:
		return known.Fields, true
	case models.CodeContactExists:
		return []models.FieldError{{Pointer: "/external_id", Code: models.FieldDuplicate, Detail: known.Detail}}, true
	default:
		return nil, false
	}
}

// Conflict reports whether the object is another than the reader saw.
func Conflict(err error) bool { return is(err, models.CodePreconditionFailed) }

// Refused turns what the platform refuses into a page that says why. Any other
// error stays as it is.
func Refused(v *ui.Visit, err error) error {
	w := WordsOf(v)
	var known *models.Error
	if !errors.As(err, &known) {
		return err
	}
	refusal := ui.Refusal{Status: http.StatusConflict, Title: w.Refused, Text: ui.Visible(known.Detail)}
	switch known.Code {
	case models.CodePreconditionFailed:
		refusal.Title, refusal.Text = w.Changed, w.ChangedText
	case models.CodeNotCancellable, models.CodeMessageNotUnknown:
		refusal.Title, refusal.Text = w.NotCancellable, w.NotCancellableText
	case models.CodeNotFound:
		return store.ErrNotFound
	default: // the detail says it
	}
	return refusal
}

func is(err error, code models.Code) bool {
	var known *models.Error
	return errors.As(err, &known) && known.Code == code
}
