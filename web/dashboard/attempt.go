package dashboard

import (
	"fmt"
	"net/http"
	"time"

	"github.com/botix-pro/platform/app/models"
	"github.com/botix-pro/platform/app/store"
)

// attemptView is one attempt on a page of its own.
type attemptView struct {
	shell
	Detail *detailView
}

// detailView is everything about one attempt.
type detailView struct {
	Words     *messages
	ID        string
	EventType string
	Diagnosis string
	Next      *sentence // nil: nothing to add
	About     aboutView
	Request   requestView
	Answer    *answerView // nil: none came
	IDs       []idLine
}

// aboutView is the attempt itself.
type aboutView struct {
	Outcome  outcomeView
	Error    string // what exactly went wrong; may be empty
	Number   string
	Delivery string // the delivery's state in words
	Started  instant
	Took     string
	Next     *instant // when the next attempt is due; nil: none is planned
	Timing   []timingPart
}

// timingPart is one part of an attempt's duration.
type timingPart struct{ Name, Took string }

// requestView is what was sent.
type requestView struct {
	URL     string
	Headers []headerLine
	Payload contentView
}

// answerView is what came back.
type answerView struct {
	Status  int
	Headers []headerLine
	Body    contentView
}

// contentView is a body with what is said about it.
type contentView struct {
	ID   string // the element's, unique on the page
	Name string // for screen readers
	Text string
	Note string
}

// idLine is an identifier to copy.
type idLine struct {
	Name, Value, CopyName string
	Link                  string // a page about it; may be empty
}

// showAttempt is one attempt's own page.
func (d *Dashboard) showAttempt(r *http.Request, m member) (reply, error) {
	detail, err := d.detail(r, m.Project.ID, r.PathValue("id"))
	if err != nil {
		return reply{}, err
	}
	return d.views.render("attempt", http.StatusOK, attemptView{shell: d.shell(d.words.Attempt.Title, &m), Detail: detail})
}

// attemptFragment is what the script puts under a row of the list.
func (d *Dashboard) attemptFragment(r *http.Request, m member) (reply, error) {
	detail, err := d.detail(r, m.Project.ID, r.PathValue("id"))
	if err != nil {
		return reply{}, err
	}
	return d.views.fragment("attempt", "detail", detail)
}

// detail reads an attempt. What cannot be an attempt's id is not asked for.
func (d *Dashboard) detail(r *http.Request, project models.ProjectID, id string) (*detailView, error) {
	if !models.ValidID(models.PrefixAttempt, id) {
		return nil, fmt.Errorf("an attempt's id: %w", store.ErrNotFound)
	}
	attempt, delivery, event, err := d.queries.WebhookAttempt(r.Context(), project, id)
	if err != nil {
		return nil, fmt.Errorf("read the attempt: %w", err)
	}
	return d.words.detail(attempt, delivery, event, d.clock.Now()), nil
}

func (m *messages) detail(a *models.WebhookAttempt, d *models.WebhookDelivery, e *models.Event, now time.Time) *detailView {
	return &detailView{
		Words: m, ID: a.ID, EventType: visible(a.EventType),
		Diagnosis: m.diagnose(*a), Next: m.next(*a, *d, now),
		About: m.about(a, d), Request: m.request(a, e), Answer: m.answer(a), IDs: m.ids(a, e),
	}
}

func (m *messages) about(a *models.WebhookAttempt, d *models.WebhookDelivery) aboutView {
	view := aboutView{
		Outcome: m.outcome(*a), Error: visible(a.Error), Delivery: word(m.Attempt.Deliveries, d.Status),
		Number:  fmt.Sprintf(m.Attempt.AutomaticF, a.Number, max(d.AttemptCount, a.Number)),
		Started: m.instant(a.StartedAt), Took: m.duration(a.Timing.DurationMs), Timing: m.timing(a.Timing),
	}
	if a.Manual {
		view.Number = fmt.Sprintf(m.Attempt.ManualF, a.Number, max(d.AttemptCount, a.Number))
	}
	if d.Status.Due() && d.NextAttemptAt != nil {
		next := m.instant(*d.NextAttemptAt)
		view.Next = &next
	}
	return view
}

// timing lists the parts of the duration. A part that did not happen (a
// connection used again needs no DNS) is said to be so.
func (m *messages) timing(t models.AttemptTiming) []timingPart {
	parts := []timingPart{
		{m.Attempt.DNS, m.duration(t.DNSMs)}, {m.Attempt.Connect, m.duration(t.ConnectMs)}, {m.Attempt.TLS, m.duration(t.TLSMs)},
		{m.Attempt.FirstByte, m.duration(t.FirstByteMs)}, {m.Attempt.Total, m.duration(t.DurationMs)},
	}
	for i, ms := range []int{t.DNSMs, t.ConnectMs, t.TLSMs, t.FirstByteMs} {
		if ms == 0 {
			parts[i].Took = "–"
		}
	}
	return parts
}

func (m *messages) request(a *models.WebhookAttempt, e *models.Event) requestView {
	return requestView{
		URL: visible(a.URL), Headers: showHeaders(a.RequestHeaders),
		Payload: m.content(a.ID+"-payload", m.Attempt.Payload, showPayload(e.Body)),
	}
}

func (m *messages) answer(a *models.WebhookAttempt) *answerView {
	if a.StatusCode == nil {
		return nil
	}
	view := &answerView{
		Status: *a.StatusCode, Headers: showHeaders(a.ResponseHeaders),
		Body: m.content(a.ID+"-body", m.Attempt.Body, showBytes(a.ResponseBody, a.ResponseTruncated)),
	}
	if a.ResponseTruncated {
		view.Body.Note += " " + fmt.Sprintf(m.Attempt.CutF, m.size(len(a.ResponseBody)))
	}
	return view
}

func (m *messages) content(id, name string, c content) contentView {
	view := contentView{ID: id, Name: name, Text: c.Text, Note: fmt.Sprintf(m.Attempt.SizeF, m.size(c.Size))}
	if c.Hex {
		view.Note += " " + m.Attempt.Hex
	}
	return view
}

// ids lists what the attempt is known by. An event that no API request caused
// has no such id.
func (m *messages) ids(a *models.WebhookAttempt, e *models.Event) []idLine {
	lines := []idLine{
		{Name: m.Attempt.EventID, Value: a.EventID}, {Name: m.Attempt.DeliveryID, Value: a.DeliveryID},
		{Name: m.Attempt.AttemptID, Value: a.ID, Link: pathAttempts + a.ID}, {Name: m.Attempt.EndpointID, Value: a.EndpointID},
		{Name: m.Attempt.RequestID, Value: a.RequestID},
	}
	if e.RequestID != "" {
		lines = append(lines, idLine{Name: m.Attempt.CausingID, Value: e.RequestID})
	}
	for i := range lines {
		lines[i].Value = visible(lines[i].Value)
		lines[i].CopyName = fmt.Sprintf(m.CopyOfF, lines[i].Name)
	}
	return lines
}
