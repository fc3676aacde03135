package contacts

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/botix-pro/platform/api"
	"github.com/botix-pro/platform/app/actions"
	"github.com/botix-pro/platform/app/models"
	"github.com/botix-pro/platform/app/store"
	"github.com/botix-pro/platform/web/dashboard/parts"
	"github.com/botix-pro/platform/web/ui"
)

// formView is the page of a form.
type formView struct {
	ui.Shell

	Head ui.Head
	Form ui.FormView
}

// newForm is the form for a new contact.
func (s *Section) newForm(v *ui.Visit) (ui.Reply, error) {
	return s.form(v, http.StatusOK, nil, blank(v))
}

func blank(v *ui.Visit) ui.FormView {
	w := wordsIn(v)
	return ui.FormView{
		Once:   v.Once(),
		Action: Path, Submit: w.Create, Fields: fields(w, url.Values{"attributes": {"{}"}}),
		Back: &ui.Link{Name: ui.WordsIn(v.Locale.Language).Cancel, Address: Path},
	}
}

func (s *Section) form(v *ui.Visit, status int, contact *models.Contact, form ui.FormView) (ui.Reply, error) {
	w := wordsIn(v)
	view := formView{Shell: v.Shell(w.New, ui.NavContacts), Form: form}
	view.Head = ui.Head{Crumb: &ui.Link{Name: w.Title, Address: Path}, Title: w.New, Lead: w.NewLead}
	if contact != nil {
		view.Title = w.EditTitle
		view.Head = ui.Head{
			Crumb: &ui.Link{Name: title(w, contact), Address: Path + "/" + contact.ID}, Title: w.EditTitle, ID: contact.ID, Lead: w.EditLead,
		}
	}
	return s.views.Render("form", status, view)
}

// fields are the form's controls with their values.
func fields(w *words, values url.Values) []ui.Field {
	return []ui.Field{
		{Name: "name", Label: w.Name, Kind: "text", Value: values.Get("name")},
		{Name: "email", Label: w.Email, Kind: "text", Value: values.Get("email")},
		{Name: "phone", Label: w.Phone, Kind: "tel", Value: values.Get("phone"), Hint: w.PhoneHint},
		{Name: "external_id", Label: w.ExternalID, Kind: "text", Value: values.Get("external_id"), Hint: w.ExternalIDHint},
		{Name: "tags", Label: w.Tags, Kind: ui.FieldArea, Rows: 3, Value: values.Get("tags"), Hint: w.TagsHint},
		{Name: "identities", Label: w.Identities, Kind: ui.FieldArea, Rows: 3, Value: values.Get("identities"), Hint: w.IdentitiesHint},
		{Name: "attributes", Label: w.Attributes, Kind: ui.FieldCode, Rows: 8, Value: values.Get("attributes"), Hint: w.AttributesHint},
	}
}

// valuesOf are a contact's fields as the form shows them.
func valuesOf(c *models.Contact) url.Values {
	values := url.Values{"tags": {strings.Join(c.Tags, "\n")}, "attributes": {indented(c.Attributes)}}
	for name, text := range map[string]*string{"name": c.Name, "email": c.Email, "phone": c.Phone, "external_id": c.ExternalID} {
		if text != nil {
			values.Set(name, *text)
		}
	}
	var lines []string
	for _, channel := range slices.Sorted(maps.Keys(c.Identities)) {
		lines = append(lines, channel+" = "+c.Identities[channel])
	}
	values.Set("identities", strings.Join(lines, "\n"))
	return values
}

// indented is JSON for people, its numbers as they were written.
func indented(raw []byte) string {
	value := jsontext.Value(raw).Clone()
	if err := value.Indent(jsontext.CanonicalizeRawInts(false), jsontext.WithIndent("  ")); err != nil {
		return string(raw)
	}
	return string(value)
}

// typed is what a form says of a contact.
type typed struct {
	name, email, phone, externalID *string // nil: left empty
	tags                           []string
	identities                     map[string]string
	attributes                     jsontext.Value
}

// readForm reads what was typed; the error is about the fields that cannot be
// read at all.
func readForm(form url.Values) (typed, error) {
	t := typed{
		name: filled(form, "name"), email: filled(form, "email"), phone: filled(form, "phone"), externalID: filled(form, "external_id"),
		tags: parts.Lines(form.Get("tags")), identities: map[string]string{},
	}
	var found models.Faults
	for _, line := range parts.Lines(form.Get("identities")) {
		channel, address, ok := strings.Cut(line, "=")
		if !ok {
			found.Add("/identities", models.FieldFormat, "A line is a channel, =, and the address there: %q.", ui.Shorten(line, 40))
			continue
		}
		t.identities[strings.TrimSpace(channel)] = strings.TrimSpace(address)
	}
	text := strings.TrimSpace(form.Get("attributes"))
	if text == "" {
		text = "{}"
	}
	var wrapped struct {
		Attributes jsontext.Value `json:"attributes"`
	}
	err := models.DecodeObject([]byte(`{"attributes":`+text+`}`), &wrapped)
	if faults, ok := parts.Faults(err); ok {
		found = append(found, under("attributes", faults)...)
	} else if err != nil {
		return t, fmt.Errorf("read the attributes: %w", err)
	}
	t.attributes = wrapped.Attributes
	return t, found.Err()
}

// under makes faults that may have lost their pointer be about a field.
func under(field string, faults []models.FieldError) []models.FieldError {
	for i := range faults {
		if !strings.HasPrefix(faults[i].Pointer, "/"+field) {
			faults[i].Pointer = "/" + field
		}
	}
	return faults
}

func filled(form url.Values, name string) *string {
	value := strings.TrimSpace(form.Get(name))
	if value == "" {
		return nil
	}
	return &value
}

// create makes a contact, as POST /contacts does.
func (s *Section) create(v *ui.Visit) (ui.Reply, error) {
	posted, err := v.Form()
	if err != nil {
		return ui.Reply{}, err
	}
	var made string
	t, err := readForm(posted)
	if err == nil {
		made, err = s.desk.Do(v, parts.Deed{Action: "contact.created"}, func(_ context.Context, tx *store.Tx) (string, error) {
			contact, err := actions.CreateContact(tx, parts.CauseOf(v, ""), api.ContactCreate{
				Name: t.name, Email: t.email, Phone: t.phone, ExternalID: t.externalID,
				Tags: t.tags, Identities: t.identities, Attributes: t.attributes,
			})
			if err != nil {
				return "", err
			}
			return contact.ID, nil
		})
	}
	if err != nil {
		form := blank(v)
		form.Fields = fields(wordsIn(v), posted)
		return s.wrong(v, nil, form, err)
	}
	reply := ui.Redirect(Path + "/" + made)
	reply.Notice = wordsIn(v).Created
	return reply, nil
}

// wrong shows a form again, with what is wrong with it; what was typed stays.
func (s *Section) wrong(v *ui.Visit, contact *models.Contact, form ui.FormView, err error) (ui.Reply, error) {
	faults, ok := parts.Faults(err)
	if !ok {
		return ui.Reply{}, parts.Refused(v, err)
	}
	form.Blame(v.Locale, parts.WordsOf(v).NotValid, faults)
	return s.form(v, http.StatusUnprocessableEntity, contact, form)
}

// editForm is the form for a contact that is there.
func (s *Section) editForm(v *ui.Visit) (ui.Reply, error) {
	contact, err := s.contact(v)
	if err != nil {
		return ui.Reply{}, err
	}
	return s.form(v, http.StatusOK, contact, editing(v, contact, valuesOf(contact)))
}

func editing(v *ui.Visit, contact *models.Contact, values url.Values) ui.FormView {
	w := wordsIn(v)
	return ui.FormView{
		Action: Path + "/" + contact.ID, Submit: w.Save,
		Fields: append(fields(w, values), parts.Version(actions.ContactTag(contact))),
		Back:   &ui.Link{Name: ui.WordsIn(v.Locale.Language).Cancel, Address: Path + "/" + contact.ID},
	}
}

// update changes a contact, as PATCH /contacts/{id} with If-Match does: what was
// typed becomes the merge patch that leads there from the version the reader saw.
func (s *Section) update(v *ui.Visit) (ui.Reply, error) {
	contact, err := s.contact(v)
	if err != nil {
		return ui.Reply{}, err
	}
	posted, err := v.Form()
	if err != nil {
		return ui.Reply{}, err
	}
	t, err := readForm(posted)
	if err == nil {
		_, err = s.desk.Do(v, parts.Deed{Action: "contact.updated"}, func(ctx context.Context, tx *store.Tx) (string, error) {
			_, err := actions.UpdateContact(ctx, tx, parts.CauseOf(v, posted.Get(parts.VersionField)), contact.ID, patchTo(contact, t))
			return contact.ID, err
		})
	}
	switch {
	case parts.Conflict(err):
		return s.conflict(v, posted)
	case errors.Is(err, store.ErrNotFound):
		return ui.Reply{}, err
	case err != nil:
		form := editing(v, contact, posted)
		form.Fields[len(form.Fields)-1] = parts.Version(posted.Get(parts.VersionField))
		return s.wrong(v, contact, form, err)
	}
	reply := ui.Redirect(Path + "/" + contact.ID)
	reply.Notice = wordsIn(v).Saved
	return reply, nil
}

// conflict shows what was typed beside what the contact has become meanwhile.
// Saving again is about the contact as it is now.
func (s *Section) conflict(v *ui.Visit, posted url.Values) (ui.Reply, error) {
	contact, err := s.contact(v)
	if err != nil {
		return ui.Reply{}, err
	}
	w := wordsIn(v)
	form := editing(v, contact, posted)
	form.Problem.Title = w.Conflict
	now := valuesOf(contact)
	for i := range form.Fields {
		field := &form.Fields[i]
		value := now.Get(field.Name)
		if field.Kind == ui.FieldHidden || value == strings.ReplaceAll(field.Value, "\r\n", "\n") {
			continue
		}
		field.Error = fmt.Sprintf(w.NowF, parts.Excerpt(value))
		form.Problem.Items = append(form.Problem.Items, ui.Link{Name: field.Label + ": " + field.Error, Address: "#" + field.Name})
	}
	return s.form(v, http.StatusConflict, contact, form)
}

// patchTo is the merge patch that makes a contact what was typed.
func patchTo(contact *models.Contact, t typed) api.ContactUpdate {
	patch := api.ContactUpdate{
		Name: api.OrNull(t.name), Email: api.OrNull(t.email), Phone: api.OrNull(t.phone), ExternalID: api.OrNull(t.externalID),
		Tags: api.Some(t.tags), Attributes: api.Some(difference(contact.Attributes, t.attributes)),
	}
	identities := map[string]*string{}
	for channel := range contact.Identities {
		identities[channel] = nil
	}
	for channel, address := range t.identities {
		identities[channel] = &address
	}
	patch.Identities = api.Some(identities)
	return patch
}
