package contacts

import (
	"context"
	"fmt"
	"maps"
	"net/url"
	"slices"

	"github.com/botix-pro/platform/app/actions"
	"github.com/botix-pro/platform/app/models"
	"github.com/botix-pro/platform/app/store"
	"github.com/botix-pro/platform/web/dashboard/parts"
	"github.com/botix-pro/platform/web/ui"
)

// contactView is the page of one contact.
type contactView struct {
	ui.Shell

	Texts      *words
	Shared     *parts.Words
	Head       ui.Head
	Edit, Send ui.Link
	Delete     ui.Confirm
	Facts      []ui.Fact
	Tags       []string
	Identities []ui.Fact
	Attributes ui.BodyView
	Events     ui.Table
	Messages   ui.Table
	AllSent    ui.Link
	Runs       ui.Table
	AllRuns    ui.Link
}

// show is one contact, with what was sent to it and which scenarios it went
// through.
func (s *Section) show(v *ui.Visit) (ui.Reply, error) {
	contact, err := s.contact(v)
	if err != nil {
		return ui.Reply{}, err
	}
	view := contactPage(v, contact)
	beside := store.Page{Limit: parts.RowsBeside}
	messages, err := s.queries.Messages(v.Context(), v.Member.Project.ID, store.MessageFilter{ContactID: &contact.ID}, beside)
	if err != nil {
		return ui.Reply{}, fmt.Errorf("list a contact's messages: %w", err)
	}
	runs, err := s.queries.Runs(v.Context(), v.Member.Project.ID, store.RunFilter{ContactID: &contact.ID}, beside)
	if err != nil {
		return ui.Reply{}, fmt.Errorf("list a contact's runs: %w", err)
	}
	events, err := s.queries.EventsAbout(v.Context(), v.Member.Project.ID, "contact.", contact.ID, &contact.CreatedAt, &contact.UpdatedAt)
	if err != nil {
		return ui.Reply{}, fmt.Errorf("list a contact's events: %w", err)
	}
	view.Messages, view.Runs, view.Events = parts.Messages(v, messages), parts.Runs(v, runs), parts.Events(v, events)
	return s.views.Page("contact", view)
}

// contact reads the contact that the path names.
func (s *Section) contact(v *ui.Visit) (*models.Contact, error) {
	id, err := parts.ID(v, models.PrefixContact)
	if err != nil {
		return nil, err
	}
	contact, err := s.queries.Contact(v.Context(), v.Member.Project.ID, id)
	if err != nil {
		return nil, fmt.Errorf("read a contact: %w", err)
	}
	return contact, nil
}

func contactPage(v *ui.Visit, c *models.Contact) contactView {
	w := wordsIn(v)
	ofContact := url.Values{"contact": {c.ID}}.Encode()
	view := contactView{
		Shell: v.Shell(w.One, ui.NavContacts), Texts: w, Shared: parts.WordsOf(v),
		Edit: ui.Link{Name: w.Edit, Address: Path + "/" + c.ID + "/edit"}, Delete: deletion(v, c),
		Send:    ui.Link{Name: w.Send, Address: ui.Root + "/messages/new?" + ofContact},
		AllSent: ui.Link{Name: w.AllMessages, Address: ui.Root + "/messages?" + ofContact},
		AllRuns: ui.Link{Name: w.AllRuns, Address: ui.Root + "/runs?" + ofContact},
		Facts:   facts(v, c),
	}
	view.Head = ui.Head{
		Crumb: &ui.Link{Name: w.Title, Address: Path}, Title: title(w, c), ID: c.ID,
		Updated: view.Updated(), Refresh: &ui.Link{Name: view.Words.Refresh, Address: Path + "/" + c.ID},
	}
	for _, tag := range c.Tags {
		view.Tags = append(view.Tags, ui.Visible(tag))
	}
	for _, channel := range slices.Sorted(maps.Keys(c.Identities)) {
		view.Identities = append(view.Identities, ui.Fact{Name: ui.Visible(channel), Cell: ui.Cell{Text: ui.Visible(c.Identities[channel]), Code: true}})
	}
	shown := ui.ShowPayload(c.Attributes)
	view.Attributes = ui.BodyView{ID: "attributes", Name: w.Attributes, Text: shown.Text, Note: v.Locale.Size(int64(shown.Size))}
	return view
}

// title is what a contact is called: its name, or else what else it has.
func title(w *words, c *models.Contact) string {
	for _, text := range []*string{c.Name, c.Email, c.Phone, c.ExternalID} {
		if text != nil && *text != "" {
			return parts.Excerpt(*text)
		}
	}
	return w.One
}

func facts(v *ui.Visit, c *models.Contact) []ui.Fact {
	w, shared := wordsIn(v), parts.WordsOf(v)
	return []ui.Fact{
		{Name: w.Name, Cell: whole(c.Name)}, {Name: w.Email, Cell: whole(c.Email)}, {Name: w.Phone, Cell: whole(c.Phone)},
		{Name: w.ExternalID, Cell: whole(c.ExternalID)},
		{Name: shared.Created, Cell: parts.Moment(v.Locale.Time(c.CreatedAt))}, {Name: shared.Updated, Cell: parts.Moment(v.Locale.Time(c.UpdatedAt))},
		{Name: shared.Version, Cell: ui.Cell{Text: v.Locale.Number(c.Version)}},
	}
}

func whole(text *string) ui.Cell {
	if text == nil {
		return ui.Cell{}
	}
	return ui.Cell{Text: ui.Visible(*text)}
}

// deletion asks whether to delete a contact.
func deletion(v *ui.Visit, c *models.Contact) ui.Confirm {
	w := wordsIn(v)
	address := Path + "/" + c.ID + "/delete"
	return ui.Confirm{
		ID: "delete", Open: w.Delete, Address: address, Title: fmt.Sprintf(w.DeleteTitleF, title(w, c)), Text: w.DeleteText,
		Form: ui.FormView{
			Action: address, Submit: w.Delete, Danger: true, Fields: []ui.Field{parts.Version(actions.ContactTag(c))},
			Back: &ui.Link{Name: ui.WordsIn(v.Locale.Language).Cancel, Address: Path + "/" + c.ID},
		},
	}
}

// askView is a page that asks before something is done.
type askView struct {
	ui.Shell

	Head    ui.Head
	Confirm ui.Confirm
}

// askDelete is the question on a page of its own.
func (s *Section) askDelete(v *ui.Visit) (ui.Reply, error) {
	contact, err := s.contact(v)
	if err != nil {
		return ui.Reply{}, err
	}
	confirm := deletion(v, contact)
	return s.views.Page("confirm", askView{
		Shell: v.Shell(confirm.Title, ui.NavContacts), Confirm: confirm,
		Head: ui.Head{Crumb: &ui.Link{Name: wordsIn(v).Title, Address: Path}, Title: confirm.Title, ID: contact.ID},
	})
}

// delete takes the contact away, as DELETE /contacts/{id} does.
func (s *Section) delete(v *ui.Visit) (ui.Reply, error) {
	id, err := parts.ID(v, models.PrefixContact)
	if err != nil {
		return ui.Reply{}, err
	}
	form, err := v.Form()
	if err != nil {
		return ui.Reply{}, err
	}
	_, err = s.desk.Do(v, parts.Deed{Action: "contact.deleted"}, func(ctx context.Context, tx *store.Tx) (string, error) {
		return id, actions.DeleteContact(ctx, tx, parts.CauseOf(v, form.Get(parts.VersionField)), id)
	})
	if err != nil {
		return ui.Reply{}, parts.Refused(v, err)
	}
	reply := ui.Redirect(Path)
	reply.Notice = wordsIn(v).Deleted
	return reply, nil
}
