package endpoints

import (
	"context"
	"fmt"
	"net/http"

	"github.com/botix-pro/platform/app/actions"
	"github.com/botix-pro/platform/app/models"
	"github.com/botix-pro/platform/app/store"
	"github.com/botix-pro/platform/web/dashboard/parts"
	"github.com/botix-pro/platform/web/ui"
)

// posted is the endpoint of a form's path, and the form's cause, at the version
// that it names if it names one.
func posted(v *ui.Visit) (id string, cause actions.Cause, err error) {
	form, err := v.Form()
	if err != nil {
		return "", cause, err
	}
	id, err = parts.ID(v, models.PrefixEndpoint)
	return id, parts.CauseOf(v, form.Get(parts.VersionField)), err
}

// do does a deed to the endpoint of the path and leads back to it.
func (s *Section) do(
	v *ui.Visit, action, notice string, deed func(ctx context.Context, tx *store.Tx, cause actions.Cause, id string) error,
) (ui.Reply, error) {
	id, cause, err := posted(v)
	if err != nil {
		return ui.Reply{}, err
	}
	_, err = s.desk.Do(v, parts.Deed{Action: action}, func(ctx context.Context, tx *store.Tx) (string, error) { return id, deed(ctx, tx, cause, id) })
	if err != nil {
		return ui.Reply{}, parts.Refused(v, err)
	}
	answer := ui.Redirect(Path + "/" + id)
	answer.Notice = notice
	return answer, nil
}

func (s *Section) pause(v *ui.Visit) (ui.Reply, error) {
	return s.do(v, "webhook_endpoint.paused", wordsIn(v.Locale.Language).Paused,
		func(ctx context.Context, tx *store.Tx, cause actions.Cause, id string) error {
			_, err := actions.PauseEndpoint(ctx, tx, cause, id)
			return err
		})
}

// resume says what becomes of what was held: sent unless the form says dropped, or
// held on.
func (s *Section) resume(v *ui.Visit) (ui.Reply, error) {
	form, err := v.Form()
	if err != nil {
		return ui.Reply{}, err
	}
	held := models.DeliveryPending
	switch form.Get("held") {
	case "discard":
		held = models.DeliveryCancelled
	case "keep":
		held = ""
	}
	return s.do(v, "webhook_endpoint.resumed", wordsIn(v.Locale.Language).Resumed,
		func(ctx context.Context, tx *store.Tx, cause actions.Cause, id string) error {
			_, err := actions.ResumeEndpoint(ctx, tx, cause, id, held)
			return err
		})
}

// test sends a test event and leads back, where it can be watched.
func (s *Section) test(v *ui.Visit) (ui.Reply, error) {
	id, cause, err := posted(v)
	if err != nil {
		return ui.Reply{}, err
	}
	delivery, err := s.desk.Do(v, parts.Deed{Action: "webhook_endpoint.tested", Detail: id}, func(ctx context.Context, tx *store.Tx) (string, error) {
		sent, err := actions.TestEndpoint(ctx, tx, cause, id)
		if err != nil {
			return "", err //nolint:wrapcheck // the desk says what was done
		}
		return sent.ID, nil
	})
	if err != nil {
		return ui.Reply{}, parts.Refused(v, err)
	}
	answer := ui.Redirect(Path + "/" + id + "?" + paramTest + "=" + delivery + "#test")
	answer.Notice = wordsIn(v.Locale.Language).Tested
	return answer, nil
}

// owner refuses whoever is none: a secret is for owners.
func owner(v *ui.Visit) error {
	if v.Member.Role == models.RoleOwner {
		return nil
	}
	texts := wordsIn(v.Locale.Language)
	return ui.Refusal{Status: http.StatusForbidden, Title: texts.OwnersTitle, Text: texts.OwnersText}
}

// rotate gives the endpoint a new secret, which is on the page that answers only.
// The form sent twice gives one: the one before would be lost otherwise, and with
// it every delivery until the receiver is changed.
func (s *Section) rotate(v *ui.Visit) (ui.Reply, error) {
	if err := owner(v); err != nil {
		return ui.Reply{}, err
	}
	id, cause, err := posted(v)
	if err != nil {
		return ui.Reply{}, err
	}
	_, err = s.desk.Do(v, parts.Deed{Action: "webhook_endpoint.secret_rotated"}, func(ctx context.Context, tx *store.Tx) (string, error) {
		_, _, _, err := actions.RotateSecret(ctx, tx, cause, id, overlap)
		return id, err
	})
	if err != nil {
		return ui.Reply{}, parts.Refused(v, err)
	}
	return s.secret(v, id, nil)
}

// secretView is a page that shows a secret, once: it answers a form, is at no
// address, and is kept by nobody.
type secretView struct {
	ui.Shell

	Texts    *words
	Head     ui.Head
	Secret   string
	Until    *ui.Sentence // how long the one before signs as well; nil: there is none
	Warnings []string
	Next     ui.Link
}

// secret shows the newest secret of an endpoint.
func (s *Section) secret(v *ui.Visit, id string, warnings []string) (ui.Reply, error) {
	endpoint, err := s.queries.Endpoint(v.Context(), v.Member.Project.ID, id)
	if err != nil {
		return ui.Reply{}, fmt.Errorf("read the endpoint: %w", err)
	}
	if len(endpoint.Secrets) == 0 {
		return ui.Reply{}, store.ErrNotFound // it was deleted meanwhile
	}
	texts := wordsIn(v.Locale.Language)
	view := secretView{Shell: v.Shell(texts.Secret, ui.NavEndpoints), Texts: texts, Secret: endpoint.Secrets[0].Value, Warnings: warnings}
	if len(endpoint.Secrets) > 1 && endpoint.Secrets[1].ExpiresAt != nil {
		view.Until = v.Locale.At(texts.SecretUntil, *endpoint.Secrets[1].ExpiresAt)
	}
	view.Here = Path + "/" + id
	view.Head = ui.Head{Crumb: &ui.Link{Name: ui.HostOf(endpoint.URL), Address: view.Here}, Title: texts.Secret, ID: id}
	view.Next = ui.Link{Name: texts.Stored, Address: view.Here}
	return s.views.Page("secret", view)
}

func deletion(v *ui.Visit, e *models.WebhookEndpoint) ui.Confirm {
	texts := wordsIn(v.Locale.Language)
	address := Path + "/" + e.ID + "/delete"
	return ui.Confirm{
		ID: "delete", Open: texts.Delete, Address: address, Title: texts.DeleteTitle, Text: texts.DeleteText,
		Form: ui.FormView{Action: address, Submit: texts.Delete, Danger: true, Back: back(v, e)},
	}
}

// remove deletes the endpoint and leads to the list.
func (s *Section) remove(v *ui.Visit) (ui.Reply, error) {
	answer, err := s.do(v, "webhook_endpoint.deleted", wordsIn(v.Locale.Language).Deleted, actions.DeleteEndpoint)
	if err == nil {
		answer.Header.Set("Location", Path)
	}
	return answer, err
}

// askView is a question on a page of its own.
type askView struct {
	ui.Shell

	Head    ui.Head
	Confirm ui.Confirm
}

func (s *Section) ask(v *ui.Visit, question func(*models.WebhookEndpoint) (ui.Confirm, error)) (ui.Reply, error) {
	endpoint, err := s.endpoint(v)
	if err != nil {
		return ui.Reply{}, err
	}
	confirm, err := question(endpoint)
	if err != nil {
		return ui.Reply{}, err
	}
	return s.views.Page("confirm", askView{
		Shell: v.Shell(confirm.Title, ui.NavEndpoints), Confirm: confirm,
		Head: ui.Head{Crumb: &ui.Link{Name: ui.HostOf(endpoint.URL), Address: Path + "/" + endpoint.ID}, Title: confirm.Title, ID: endpoint.ID},
	})
}

func (s *Section) askDelete(v *ui.Visit) (ui.Reply, error) {
	return s.ask(v, func(e *models.WebhookEndpoint) (ui.Confirm, error) { return deletion(v, e), nil })
}

func (s *Section) askRotate(v *ui.Visit) (ui.Reply, error) {
	return s.ask(v, func(e *models.WebhookEndpoint) (ui.Confirm, error) { return rotation(v, e), nil })
}

func (s *Section) askResume(v *ui.Visit) (ui.Reply, error) {
	return s.ask(v, func(e *models.WebhookEndpoint) (ui.Confirm, error) {
		held, err := s.queries.CountHeld(v.Context(), v.Member.Project.ID, e.ID, maxHeld)
		if err != nil {
			return ui.Confirm{}, fmt.Errorf("count what is held: %w", err)
		}
		return resumption(v, e, held, v.URL.Query().Get("held") == "discard"), nil
	})
}
