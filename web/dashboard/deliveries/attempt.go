package deliveries

import (
	"fmt"
	"net/http"
	"net/url"

	"github.com/botix-pro/platform/app/models"
	"github.com/botix-pro/platform/app/store"
	"github.com/botix-pro/platform/web/dashboard/parts"
	"github.com/botix-pro/platform/web/ui"
)

// attemptView is one attempt on a page of its own.
type attemptView struct {
	ui.Shell
	Texts  *words
	Head   ui.Head
	Detail *detailView
}

// detailView is everything about one attempt.
type detailView struct {
	Texts     *words
	Words     *ui.Words
	ID        string
	EventType string
	Diagnosis string
	Docs      string // about the reason; empty: it was delivered
	State     *stateView
	About     aboutView
	Request   requestView
	Answer    *answerView // nil: none came
	IDs       []ui.IDLine
	Curl      string
}

// aboutView is the attempt itself.
type aboutView struct {
	Outcome ui.Pill
	Error   string // what exactly went wrong; may be empty
	Number  string
	Started ui.Instant
	Took    string
	Next    *ui.Instant // when the next attempt is due; nil: none is planned
	Timing  timingView
}

// timingView is how an attempt's duration is made up.
type timingView struct {
	Name  string
	Parts []timingPart
}

// timingPart is one part of an attempt's duration, with its place in the bar of
// a thousand units.
type timingPart struct {
	Kind, Name, Took string
	X, Width         int
}

// requestView is what was sent.
type requestView struct {
	URL     string
	Headers []ui.HeaderLine
	Payload ui.BodyView
	Raw     string // where the bytes are
}

// answerView is what came back.
type answerView struct {
	Status  int
	Headers []ui.HeaderLine
	Body    ui.BodyView
	Raw     string // where the bytes are
}

// showAttempt is one attempt's own page.
func (s *Section) showAttempt(v *ui.Visit) (ui.Reply, error) {
	detail, err := s.detail(v, v.PathValue("id"))
	if err != nil {
		return ui.Reply{}, err
	}
	texts := wordsIn(v.Locale.Language)
	return s.views.Page("attempt", attemptView{
		Shell: v.Shell(texts.Attempt.Title, ui.NavDeliveries), Texts: texts, Detail: detail,
		Head: ui.Head{
			Crumb: &ui.Link{Name: texts.Attempt.Back, Address: Path}, Title: texts.Attempt.Title, ID: detail.ID, Lead: detail.EventType,
		},
	})
}

// attemptFragment is what the script puts under a row of the list.
func (s *Section) attemptFragment(v *ui.Visit) (ui.Reply, error) {
	detail, err := s.detail(v, v.PathValue("id"))
	if err != nil {
		return ui.Reply{}, err
	}
	return s.views.Fragment("attempt", "detail", detail)
}

// detail reads an attempt with all that stands beside it.
func (s *Section) detail(v *ui.Visit, id string) (*detailView, error) {
	attempt, delivery, event, err := s.attempt(v, id)
	if err != nil {
		return nil, err
	}
	view := readerOf(v).detail(attempt, delivery, event)
	if view.State, err = s.stateBeside(v, delivery, attempt.ID); err != nil {
		return nil, err
	}
	view.IDs, err = s.withCause(v, view.IDs, event.RequestID)
	return view, err
}

// attempt reads an attempt. What cannot be an attempt's id is not asked for.
func (s *Section) attempt(v *ui.Visit, id string) (*models.WebhookAttempt, *models.WebhookDelivery, *models.Event, error) {
	if !models.ValidID(models.PrefixAttempt, id) {
		return nil, nil, nil, fmt.Errorf("an attempt's id: %w", store.ErrNotFound)
	}
	attempt, delivery, event, err := s.queries.WebhookAttempt(v.Context(), v.Member.Project.ID, id)
	if err != nil {
		return nil, nil, nil, fmt.Errorf("read the attempt: %w", err)
	}
	return attempt, delivery, event, nil
}

// withCause adds the API request behind an event, and its idempotency key where
// the log has it.
func (s *Section) withCause(v *ui.Visit, lines []ui.IDLine, request string) ([]ui.IDLine, error) {
	if request == "" {
		return lines, nil
	}
	key, err := s.queries.OperationOfRequest(v.Context(), v.Member.Project.ID, request)
	if err != nil {
		return nil, fmt.Errorf("find the operation: %w", err)
	}
	m := readerOf(v)
	return append(lines, ui.IDLines(m.shared,
		ui.IDLine{Name: m.words.Attempt.CausingID, Value: request, Address: requestAddress(request)},
		ui.IDLine{Name: m.words.Attempt.Operation, Value: key, Address: parts.OperationAddress(key)})...), nil
}

// requestAddress is the page about an API request.
func requestAddress(id string) string { return ui.Root + parts.PathRequests + url.QueryEscape(id) }

// payload is the body that was sent, as a file.
func (s *Section) payload(v *ui.Visit) (ui.Reply, error) {
	attempt, _, event, err := s.attempt(v, v.PathValue("id"))
	if err != nil {
		return ui.Reply{}, err
	}
	return download(attempt.ID+"-payload.json", event.Body), nil
}

// answerBody is the body that came back, as a file.
func (s *Section) answerBody(v *ui.Visit) (ui.Reply, error) {
	attempt, _, _, err := s.attempt(v, v.PathValue("id"))
	if err != nil {
		return ui.Reply{}, err
	}
	return download(attempt.ID+"-answer.bin", attempt.ResponseBody), nil
}

func download(name string, body []byte) ui.Reply {
	return ui.Reply{Status: http.StatusOK, Download: true, Body: body, Header: http.Header{
		"Content-Type": {"application/octet-stream"}, "Content-Disposition": {`attachment; filename="` + name + `"`},
	}}
}

func (m reader) detail(a *models.WebhookAttempt, d *models.WebhookDelivery, e *models.Event) *detailView {
	view := &detailView{
		Texts: m.words, Words: m.shared, ID: a.ID, EventType: ui.Visible(a.EventType), Diagnosis: m.diagnose(*a),
		About: m.about(a, d), Request: m.request(a, e), Answer: m.answer(a), IDs: m.ids(a),
		Curl: curlOf(a.URL, a.RequestHeaders, e.Body),
	}
	if a.ErrorClass != nil {
		view.Docs = pathDocs + "#" + url.PathEscape(string(*a.ErrorClass))
	}
	return view
}

func (m reader) about(a *models.WebhookAttempt, d *models.WebhookDelivery) aboutView {
	view := aboutView{
		Outcome: m.outcome(*a), Error: ui.Visible(a.Error),
		Number:  fmt.Sprintf(m.words.Attempt.AutomaticF, a.Number, max(d.AttemptCount, a.Number)),
		Started: m.Time(a.StartedAt), Took: m.milliseconds(a.Timing.DurationMs), Timing: m.timing(a.Timing),
	}
	if a.Manual {
		view.Number = fmt.Sprintf(m.words.Attempt.ManualF, a.Number, max(d.AttemptCount, a.Number))
	}
	if d.Status.Due() && d.NextAttemptAt != nil {
		next := m.Time(*d.NextAttemptAt)
		view.Next = &next
	}
	return view
}

// timing lists the parts of the duration. A part that did not happen (a
// connection used again needs no DNS) is said to be so. The rest is the answer's
// body, once the first byte has come.
func (m reader) timing(t models.AttemptTiming) timingView {
	w := m.words.Attempt
	rest := 0
	if t.FirstByteMs > 0 {
		rest = max(t.DurationMs-t.DNSMs-t.ConnectMs-t.TLSMs-t.FirstByteMs, 0)
	}
	view, sum, at := timingView{Name: w.Timing}, 0, 0
	all := []struct {
		kind, name string
		ms         int
	}{{"dns", w.DNS, t.DNSMs}, {"connect", w.Connect, t.ConnectMs}, {"tls", w.TLS, t.TLSMs}, {"wait", w.FirstByte, t.FirstByteMs}, {"rest", w.Rest, rest}}
	for _, part := range all {
		sum += part.ms
	}
	for _, part := range all {
		shown := timingPart{Kind: part.kind, Name: part.name, Took: "–", X: at}
		if part.ms > 0 {
			shown.Took = m.milliseconds(part.ms)
			shown.Width = part.ms * barUnits / max(sum, t.DurationMs, 1)
		}
		at += shown.Width
		view.Parts = append(view.Parts, shown)
	}
	view.Parts = append(view.Parts, timingPart{Kind: "all", Name: w.Total, Took: m.milliseconds(t.DurationMs)})
	return view
}

// barUnits is the width of the bar that shows where the time went.
const barUnits = 1000

func (m reader) request(a *models.WebhookAttempt, e *models.Event) requestView {
	return requestView{
		URL: ui.Visible(a.URL), Headers: ui.ShowHeaders(a.RequestHeaders), Raw: pathAttempts + a.ID + "/payload",
		Payload: m.content(a.ID+"-payload", m.words.Attempt.Payload, ui.ShowPayload(e.Body)),
	}
}

func (m reader) answer(a *models.WebhookAttempt) *answerView {
	if a.StatusCode == nil {
		return nil
	}
	view := &answerView{
		Raw: pathAttempts + a.ID + "/answer", Status: *a.StatusCode, Headers: ui.ShowHeaders(a.ResponseHeaders),
		Body: m.content(a.ID+"-body", m.words.Attempt.Body, ui.ShowBytes(a.ResponseBody, a.ResponseTruncated)),
	}
	if a.ResponseTruncated {
		view.Body.Note += " " + fmt.Sprintf(m.words.Attempt.CutF, m.bytes(len(a.ResponseBody)))
	}
	return view
}

func (m reader) content(id, name string, c ui.Content) ui.BodyView {
	view := ui.BodyView{ID: id, Name: name, Text: c.Text, Note: fmt.Sprintf(m.words.Attempt.SizeF, m.bytes(c.Size))}
	if c.Hex {
		view.Note += " " + m.words.Attempt.Hex
	}
	return view
}

// ids lists what the attempt is known by.
func (m reader) ids(a *models.WebhookAttempt) []ui.IDLine {
	texts := m.words.Attempt
	return ui.IDLines(m.shared,
		ui.IDLine{Name: texts.EventID, Value: a.EventID, Address: Path + "?" + paramID + "=" + url.QueryEscape(a.EventID)},
		ui.IDLine{Name: texts.DeliveryID, Value: a.DeliveryID, Address: Path + "/" + a.DeliveryID},
		ui.IDLine{Name: texts.AttemptID, Value: a.ID, Address: pathAttempts + a.ID},
		ui.IDLine{Name: texts.EndpointID, Value: a.EndpointID, Address: pathEndpoints + a.EndpointID},
		ui.IDLine{Name: texts.RequestID, Value: a.RequestID})
}
