package endpoints

import (
	"context"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/botix-pro/platform/api"
	"github.com/botix-pro/platform/app/actions"
	"github.com/botix-pro/platform/app/models"
	"github.com/botix-pro/platform/app/store"
	"github.com/botix-pro/platform/web/dashboard/parts"
	"github.com/botix-pro/platform/web/ui"
)

// kept stands for a header's value that is there and not shown; left as it is, the
// value stays.
const kept = "***"

// formView is the page of a form.
type formView struct {
	ui.Shell

	Head ui.Head
	Form ui.FormView
}

func (s *Section) newForm(v *ui.Visit) (ui.Reply, error) {
	if err := owner(v); err != nil {
		return ui.Reply{}, err
	}
	blank := url.Values{"event_types": {"*"}, "max_in_flight": {strconv.Itoa(models.DefaultMaxInFlight)}}
	blank.Set("url", v.URL.Query().Get("url")) // a bin's, from the inspector
	return s.form(v, http.StatusOK, nil, blank, "", nil)
}

// form shows the form of a new endpoint, or of one that is there, with what was
// typed and what is wrong with it.
func (s *Section) form(v *ui.Visit, status int, e *models.WebhookEndpoint, values url.Values, tag string, faults []models.FieldError) (ui.Reply, error) {
	texts := wordsIn(v.Locale.Language)
	view := formView{Shell: v.Shell(texts.New, ui.NavEndpoints)}
	view.Form = ui.FormView{
		Action: Path, Once: v.Once(), Submit: texts.Create, Fields: fields(texts, values), Back: &ui.Link{Name: view.Words.Cancel, Address: Path},
	}
	view.Head = ui.Head{Crumb: &ui.Link{Name: texts.Title, Address: Path}, Title: texts.New, Lead: texts.NewLead}
	if e != nil {
		view.Title, view.Here = texts.EditTitle, Path+"/"+e.ID+"/edit"
		view.Head = ui.Head{Crumb: &ui.Link{Name: ui.HostOf(e.URL), Address: Path + "/" + e.ID}, Title: texts.EditTitle, ID: e.ID, Lead: texts.EditLead}
		view.Form.Action, view.Form.Once, view.Form.Submit, view.Form.Back = Path+"/"+e.ID, "", texts.Save, back(v, e)
		view.Form.Fields = append(view.Form.Fields, parts.Version(tag))
	}
	if faults != nil {
		view.Form.Blame(v.Locale, parts.WordsOf(v).NotValid, faults)
	}
	return s.views.Render("form", status, view)
}

func fields(texts *words, values url.Values) []ui.Field {
	return []ui.Field{
		{Name: "url", Label: texts.URL, Kind: "url", Value: values.Get("url"), Hint: texts.URLHint, Needed: true},
		{Name: "description", Label: texts.Description, Kind: "text", Value: values.Get("description")},
		{Name: "event_types", Label: texts.Types, Kind: ui.FieldCode, Rows: 4, Value: values.Get("event_types"), Hint: texts.TypesHint, Needed: true},
		{Name: "headers", Label: texts.Headers, Kind: ui.FieldCode, Rows: 3, Value: values.Get("headers"), Hint: texts.HeadersHint},
		{Name: "max_in_flight", Label: texts.InFlight, Kind: "number", Value: values.Get("max_in_flight"), Hint: texts.InFlightHint},
		{Name: "rate_per_second", Label: texts.Rate, Kind: "number", Value: values.Get("rate_per_second"), Hint: texts.RateHint},
	}
}

// valuesOf are an endpoint's fields as the form shows them: no header's value.
func valuesOf(e *models.WebhookEndpoint) url.Values {
	var headers []string
	for _, name := range slices.Sorted(maps.Keys(e.Headers)) {
		headers = append(headers, name+": "+kept)
	}
	values := url.Values{
		"url": {e.URL}, "description": {e.Description}, "event_types": {strings.Join(e.EventTypes, "\n")},
		"headers": {strings.Join(headers, "\n")}, "max_in_flight": {strconv.Itoa(e.MaxInFlight)},
	}
	if e.RatePerSecond != nil {
		values.Set("rate_per_second", strconv.Itoa(*e.RatePerSecond))
	}
	return values
}

// readForm reads what was typed; found is about what cannot be read at all.
func readForm(form url.Values) (input api.WebhookEndpointCreate, found models.Faults) {
	description := strings.TrimSpace(form.Get("description"))
	input = api.WebhookEndpointCreate{
		URL: strings.TrimSpace(form.Get("url")), Description: &description, EventTypes: parts.Lines(form.Get("event_types")), Headers: map[string]string{},
		MaxInFlight: number(form, "max_in_flight", &found), RatePerSecond: number(form, "rate_per_second", &found),
	}
	for _, line := range parts.Lines(form.Get("headers")) {
		name, value, ok := strings.Cut(line, ":")
		if !ok {
			found.Add("/headers", models.FieldFormat, "A line is a name, a colon and a value.")
			continue
		}
		input.Headers[strings.TrimSpace(name)] = strings.TrimSpace(value)
	}
	return input, found
}

// number reads a whole number; nil where nothing was typed.
func number(form url.Values, name string, found *models.Faults) *int {
	text := strings.TrimSpace(form.Get(name))
	if text == "" {
		return nil
	}
	value, err := strconv.Atoi(text)
	if err != nil {
		found.Add("/"+name, models.FieldType, "This is no whole number.")
		return nil
	}
	return &value
}

// create makes an endpoint, as POST /webhook-endpoints does, and shows its secret.
func (s *Section) create(v *ui.Visit) (ui.Reply, error) {
	if err := owner(v); err != nil {
		return ui.Reply{}, err
	}
	posted, err := v.Form()
	if err != nil {
		return ui.Reply{}, err
	}
	input, found := readForm(posted)
	draft := &actions.EndpointDraft{WebhookEndpointCreate: input}
	var made string
	if err = found.Err(); err == nil {
		err = draft.Check(v.Context(), s.urls)
	}
	if err == nil {
		made, err = s.desk.Do(v, parts.Deed{Action: "webhook_endpoint.created"}, func(_ context.Context, tx *store.Tx) (string, error) {
			endpoint, _, err := actions.CreateEndpoint(tx, draft)
			if err != nil {
				return "", err //nolint:wrapcheck // the desk says what was done
			}
			return endpoint.ID, nil
		})
	}
	if faults, ok := parts.Faults(err); ok {
		return s.form(v, http.StatusUnprocessableEntity, nil, posted, "", faults)
	}
	if err != nil {
		return ui.Reply{}, parts.Refused(v, err)
	}
	return s.secret(v, made, visible(draft.Warnings))
}

func visible(warnings []string) []string {
	shown := make([]string, len(warnings))
	for i, warning := range warnings {
		shown[i] = ui.Visible(warning)
	}
	return shown
}

func (s *Section) editForm(v *ui.Visit) (ui.Reply, error) {
	endpoint, err := s.endpoint(v)
	if err != nil {
		return ui.Reply{}, err
	}
	return s.form(v, http.StatusOK, endpoint, valuesOf(endpoint), actions.EndpointTag(endpoint), nil)
}

// update changes an endpoint, as PATCH /webhook-endpoints/{id} with If-Match does.
func (s *Section) update(v *ui.Visit) (ui.Reply, error) {
	endpoint, err := s.endpoint(v)
	if err != nil {
		return ui.Reply{}, err
	}
	posted, err := v.Form()
	if err != nil {
		return ui.Reply{}, err
	}
	input, found := readForm(posted)
	patch := &actions.EndpointPatch{WebhookEndpointUpdate: patchTo(endpoint, input)}
	tag := posted.Get(parts.VersionField)
	if err = found.Err(); err == nil {
		err = patch.Check(v.Context(), s.urls)
	}
	if err == nil {
		_, err = s.desk.Do(v, parts.Deed{Action: "webhook_endpoint.updated"}, func(ctx context.Context, tx *store.Tx) (string, error) {
			_, err := actions.UpdateEndpoint(ctx, tx, parts.CauseOf(v, tag), endpoint.ID, patch)
			return endpoint.ID, err
		})
	}
	if faults, ok := parts.Faults(err); ok {
		return s.form(v, http.StatusUnprocessableEntity, endpoint, posted, tag, faults)
	}
	if err != nil {
		return ui.Reply{}, parts.Refused(v, err)
	}
	reply := ui.Redirect(Path + "/" + endpoint.ID)
	reply.Notice = strings.Join(append([]string{wordsIn(v.Locale.Language).Saved}, visible(patch.Warnings)...), " ")
	return reply, nil
}

// patchTo is the merge patch that makes an endpoint what was typed. The URL is in
// it only when it is another: DNS is asked about that one.
func patchTo(e *models.WebhookEndpoint, input api.WebhookEndpointCreate) api.WebhookEndpointUpdate {
	patch := api.WebhookEndpointUpdate{
		Description: api.Some(*input.Description), EventTypes: api.Some([]string(input.EventTypes)),
		MaxInFlight: api.OrNull(input.MaxInFlight), RatePerSecond: api.OrNull(input.RatePerSecond),
	}
	if input.URL != e.URL {
		patch.URL = api.Some(input.URL)
	}
	headers := map[string]*string{}
	for name := range e.Headers {
		headers[name] = nil
	}
	for name, value := range input.Headers {
		if _, known := e.Headers[name]; known && value == kept {
			delete(headers, name)
			continue
		}
		headers[name] = &value
	}
	patch.Headers = api.Some(headers)
	return patch
}
